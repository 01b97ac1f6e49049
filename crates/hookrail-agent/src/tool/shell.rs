//! The tool that runs a command line. It checks nothing: hooks decide whether a command runs.

use std::fmt::Write as _;
use std::time::Duration;

use hookrail::guard::{ToolFailure, ToolOutput};
use hookrail_spawn::{CancelToken, CaptureLimits, ChildCommand, ChildEnd, Environment};

use super::ToolResult;
use super::schema::Arguments;
use super::workspace::Workspace;

/// The variable that shows a process that the tool started it.
pub const TOOL_VARIABLE: &str = "HOOKRAIL_AGENT";

/// The timeout of a call that names none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// The highest timeout that a call can ask for.
const MAX_TIMEOUT: Duration = Duration::from_secs(600);
/// The time that a command has to end by itself after a timeout or a cancellation.
const TERMINATION_GRACE: Duration = Duration::from_secs(2);
/// The number of bytes of each output stream that are kept. A command that writes more to stdout fails.
const OUTPUT_LIMIT: usize = 256 << 10;

pub(super) async fn run(workspace: &Workspace, arguments: &Arguments, cancel: &CancelToken) -> ToolResult {
    let command_line = arguments.text("command");
    let timeout = arguments.number("timeout_ms").map_or(DEFAULT_TIMEOUT, Duration::from_millis).min(MAX_TIMEOUT);
    let environment = std::env::vars_os().collect::<Environment>().with(TOOL_VARIABLE, "1");
    let command = shell_command(&command_line)
        .cwd(workspace.root())
        .env(std::sync::Arc::new(environment))
        .timeout(timeout)
        .grace(TERMINATION_GRACE)
        .cancel_grace(TERMINATION_GRACE)
        .limits(CaptureLimits { stdout_keep: OUTPUT_LIMIT, stderr_keep: OUTPUT_LIMIT, ..CaptureLimits::default() });
    let finished = hookrail_spawn::run(&command, cancel)
        .await
        .map_err(|error| ToolFailure(format!("the command cannot be run: {error}")))?;
    let mut out = finished.stdout.text_lossy().into_owned();
    let errors = finished.stderr.text_lossy();
    if !errors.trim().is_empty() {
        let _ = write!(out, "{}[stderr]\n{errors}", if out.is_empty() || out.ends_with('\n') { "" } else { "\n" });
    }
    if let Some(termination) = finished.termination {
        // The result must not be returned while processes of the command still run.
        termination.finish().await;
    }
    let failed = |how: String| Err(ToolFailure(format!("{how}\n{out}").trim_end().to_owned()));
    match finished.end {
        ChildEnd::Exited(0) => Ok(ToolOutput::text(if out.is_empty() { "(no output)" } else { &out })),
        ChildEnd::Exited(code) => failed(format!("the command exited with {code}")),
        ChildEnd::Signalled(signal) => failed(format!("the command was ended by signal {signal}")),
        ChildEnd::TimedOut => failed(format!("the command timed out after {} ms", timeout.as_millis())),
        ChildEnd::NotStarted => failed(format!("the command did not start within {} ms", timeout.as_millis())),
        ChildEnd::Cancelled => failed("the command was interrupted by the user".to_owned()),
        ChildEnd::OutputLimit => failed(format!("the command wrote more than {OUTPUT_LIMIT} bytes")),
        ChildEnd::StatusUnknown => failed("how the command ended is not known".to_owned()),
    }
}

#[cfg(unix)]
fn shell_command(command_line: &str) -> ChildCommand {
    ChildCommand::new("/bin/sh").arg("-c").arg(command_line)
}

#[cfg(not(unix))]
fn shell_command(command_line: &str) -> ChildCommand {
    ChildCommand::new("cmd").arg("/C").arg(command_line)
}

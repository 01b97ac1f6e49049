//! Running command lines.

use std::fmt::Write as _;
use std::time::Duration;

use hookrail::guard::{ToolFailure, ToolOutput};
use hookrail_spawn::{CancelToken, CaptureLimits, ChildCommand, ChildEnd, Environment};

use super::place::Workspace;
use super::schema::Arguments;

const DEFAULT: Duration = Duration::from_secs(120);
const LONGEST: Duration = Duration::from_secs(600);
const GRACE: Duration = Duration::from_secs(2);
const KEPT: usize = 256 << 10;

pub(super) async fn run(
    place: &Workspace,
    arguments: &Arguments,
    cancel: &CancelToken,
) -> Result<ToolOutput, ToolFailure> {
    let line = arguments.text("command");
    let time = arguments.number("timeout_ms").map_or(DEFAULT, Duration::from_millis).min(LONGEST);
    let environment: Environment = std::env::vars_os().collect();
    let command = shell(&line)
        .cwd(place.root())
        .env(std::sync::Arc::new(environment))
        .timeout(time)
        .grace(GRACE)
        .cancel_grace(GRACE)
        .limits(CaptureLimits { stdout_keep: KEPT, stderr_keep: KEPT, ..CaptureLimits::default() });
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
        ChildEnd::TimedOut => failed(format!("the command timed out after {} ms", time.as_millis())),
        ChildEnd::Cancelled => failed("the command was interrupted by the user".to_owned()),
        ChildEnd::OutputLimit => failed(format!("the command wrote more than {KEPT} bytes")),
        ChildEnd::StatusUnknown => failed("how the command ended is not known".to_owned()),
    }
}

#[cfg(unix)]
fn shell(line: &str) -> ChildCommand {
    ChildCommand::new("/bin/sh").arg("-c").arg(line)
}

#[cfg(not(unix))]
fn shell(line: &str) -> ChildCommand {
    ChildCommand::new("cmd").arg("/C").arg(line)
}

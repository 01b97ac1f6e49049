//! Running a program as `pi.exec` does, for the embedding program itself.

use std::path::PathBuf;
use std::time::Duration;

use hookrail_spawn::{CancelToken, ChildCommand, ChildEnd};

/// How [`exec_command`] runs a program.
#[derive(Clone, Debug, Default)]
pub struct ExecCommandOptions {
    /// The working directory; without one, that of this process.
    pub cwd: Option<PathBuf>,
    /// The time after which the program is ended; without one, it runs as long as it takes.
    pub timeout: Option<Duration>,
}

/// What a program wrote and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecResult {
    /// What it wrote to standard output, with bytes that are not UTF-8 replaced.
    pub stdout: String,
    /// What it wrote to standard error, likewise.
    pub stderr: String,
    /// Its exit status; 128 and the number of the signal if one ended it.
    pub code: i32,
    /// Whether it was ended because its time was up.
    pub killed: bool,
}

/// Why a program could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ExecError {
    /// In words.
    pub message: String,
}

/// As good as no limit.
const NO_TIMEOUT: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// The time that a program has to exit after SIGTERM.
const GRACE: Duration = Duration::from_secs(1);

/// The status of a program that was ended here, as a shell reports it.
const ENDED: i32 = 143;

/// Runs a program without a shell and without input, and waits for its end; a program that is ended takes its whole group
/// with it. Must be called inside a tokio runtime with input, output and time enabled.
///
/// # Errors
/// When the program cannot be started, or writes more than is kept.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// use hookrail::module::{ExecCommandOptions, exec_command};
///
/// let result = exec_command("git", &["--version"], &ExecCommandOptions::default()).await;
/// match result {
///     Ok(result) => println!("{} ended with {}", result.stdout.trim(), result.code),
///     Err(error) => println!("{error}"),
/// }
/// # });
/// ```
pub async fn exec_command(program: &str, args: &[&str], options: &ExecCommandOptions) -> Result<ExecResult, ExecError> {
    let failed = |why: String| ExecError { message: format!("`{program}` could not be run: {why}") };
    let command = ChildCommand::new(program)
        .args(args.iter().copied())
        .timeout(options.timeout.unwrap_or(NO_TIMEOUT))
        .grace(GRACE);
    let command = match options.cwd.as_deref() {
        Some(cwd) => command.cwd(cwd),
        None => command,
    };
    let mut finished =
        hookrail_spawn::run(&command, &CancelToken::new()).await.map_err(|error| failed(error.to_string()))?;
    if let Some(termination) = finished.termination.take() {
        termination.finish().await;
    }
    let (code, killed) = match finished.end {
        ChildEnd::Exited(code) => (code, false),
        ChildEnd::Signalled(signal) => (128 + signal, false),
        ChildEnd::StatusUnknown => (0, false),
        ChildEnd::OutputLimit => return Err(failed("it wrote too much".to_owned())),
        // It was ended here, because its time was up.
        ChildEnd::TimedOut | ChildEnd::NotStarted | ChildEnd::Cancelled => (ENDED, true),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(ExecResult { stdout: text(&finished.stdout.bytes), stderr: text(&finished.stderr.bytes), code, killed })
}

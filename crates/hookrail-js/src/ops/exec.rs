//! Processes, through the same control as command hooks: in a group of their own, with limits on what they write, and
//! gone when their time is up.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use hookrail_spawn::{CancelToken, Command, End, Environment, Limits, SpawnError};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::text::{bytes, latin1};
use super::{Args, Need, OpError, op, require};
use crate::processes::{Ended, Processes};
use crate::shared::{Op, Shared};

/// As good as no limit.
const NO_TIMEOUT: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// How long a process may tidy up.
const GRACE: Duration = Duration::from_secs(1);

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A process to be started, and whether its output is wanted as bytes.
struct Wanted {
    command: Command,
    program: String,
    as_bytes: bool,
}

pub(super) fn begin(shared: &Arc<Shared>, number: u32, args: &Args) -> Result<Op, OpError> {
    let wanted = wanted(shared, args)?;
    let cancel = CancelToken::new();
    shared.cancels.lock().insert(number, cancel.clone());
    let processes = shared.processes.clone();
    Ok(op(async move {
        let ended = driven(&processes, wanted.command.clone(), cancel).await?;
        result(&wanted, ended)
    }))
}

/// Starts a process and waits for its end; none when there was nobody to tell of it. It ends with whoever waits.
pub(super) async fn driven(
    processes: &Processes,
    command: Command,
    cancel: CancelToken,
) -> Result<Option<Ended>, OpError> {
    let unwanted = CancelOnDrop(cancel.clone());
    let (reply, ended) = oneshot::channel();
    // Whoever waited may be gone by then, here and below.
    let tell = |ended| drop(reply.send(ended));
    processes.start(command, cancel, tell).map_err(not_driven)?;
    let ended = ended.await;
    drop(unwanted);
    Ok(ended.ok())
}

/// Waits for a process; the module stands still meanwhile.
pub(super) fn wait(shared: &Arc<Shared>, args: &Args) -> Result<Value, OpError> {
    let wanted = wanted(shared, args)?;
    let (reply, ended) = mpsc::channel();
    let tell = move |ended| drop(reply.send(ended));
    let cancel = CancelToken::new();
    shared.processes.start(wanted.command.clone(), cancel.clone(), tell).map_err(not_driven)?;
    let ended = match shared.budget.wall_left() {
        Some(left) => ended.recv_timeout(left),
        None => ended.recv().map_err(Into::into),
    };
    if ended.as_ref().is_err_and(|why| *why == mpsc::RecvTimeoutError::Timeout) {
        // Whoever waits for the call waits on this thread, so nobody else can say that its time is up.
        shared.budget.stop_for_time();
        cancel.cancel();
    }
    result(&wanted, ended.ok())
}

/// Ends a process that nobody waits for any more.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn not_driven(error: io::Error) -> OpError {
    OpError::new(format!("there is no thread for processes: {error}"))
}

fn wanted(shared: &Shared, args: &Args) -> Result<Wanted, OpError> {
    let program = args.text(0)?.to_owned();
    require(shared, Need::Run, &format!("running `{program}`"))?;
    let words = args.value(1).as_array().map(Vec::as_slice).unwrap_or_default();
    let options = args.value(2);
    let world = shared.world.lock();
    let cwd = options.get("cwd").and_then(Value::as_str).map_or_else(|| world.cwd.clone(), |cwd| world.cwd.join(cwd));
    let timeout = options.get("timeout").and_then(Value::as_f64).filter(|ms| *ms > 0.0);
    let timeout = timeout.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok()).unwrap_or(NO_TIMEOUT);
    let mut environment = match options.get("env").and_then(Value::as_object) {
        Some(given) => given.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect(),
        None => Environment::clone(&world.environment),
    };
    let depth = world.environment.get("HOOKRAIL_DEPTH").and_then(|depth| depth.to_str()?.parse::<u32>().ok());
    environment =
        environment.with("HOOKRAIL_PROTOCOL", "1").with("HOOKRAIL_DEPTH", (depth.unwrap_or(0) + 1).to_string());
    let limits = Limits { stdout_keep: 16 << 20, stderr_keep: 4 << 20, ..Limits::default() };
    let command = Command::new(&program)
        .args(words.iter().filter_map(Value::as_str))
        .env(Arc::new(environment))
        .cwd(cwd)
        .timeout(timeout)
        .grace(GRACE)
        .limits(limits)
        .marker("HOOKRAIL_RUN_ID", run_id());
    let command = match options.get("input").and_then(Value::as_str) {
        Some(input) => command.stdin(bytes(input)?),
        None => command,
    };
    Ok(Wanted { command, program, as_bytes: options.get("bytes").and_then(Value::as_bool).unwrap_or(false) })
}

/// Unique on this machine, because processes are found by it when they have to end.
pub(super) fn run_id() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{}-{:x}-module-{}", std::process::id(), now.as_nanos(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn result(wanted: &Wanted, ended: Option<Ended>) -> Result<Value, OpError> {
    let ended = ended.ok_or_else(|| OpError::new("the process could not be waited for"))?;
    let finished = ended.map_err(|error| failure(wanted, &error))?;
    let (code, killed) = match finished.end {
        End::Exited(code) => (code, false),
        End::Signalled(signal) => (128 + signal, false),
        End::OutputLimit => return Err(OpError::new("the process wrote more than 16 MiB").code("ENOBUFS")),
        End::StatusUnknown => (0, false),
        // Ended by its time or by its signal.
        _ => (143, true),
    };
    let text = |bytes: &[u8]| if wanted.as_bytes { latin1(bytes) } else { String::from_utf8_lossy(bytes).into_owned() };
    Ok(json!({
        "stdout": text(&finished.stdout.bytes),
        "stderr": text(&finished.stderr.bytes),
        "code": code,
        "killed": killed,
    }))
}

fn failure(wanted: &Wanted, error: &SpawnError) -> OpError {
    let kind = match error {
        SpawnError::ProgramNotFound { .. } | SpawnError::WorkingDirectoryMissing { .. } => io::ErrorKind::NotFound,
        SpawnError::NotExecutable { .. } | SpawnError::BadFormat { .. } => io::ErrorKind::PermissionDenied,
        other => return OpError::new(format!("`{}` could not be started: {other}", wanted.program)),
    };
    OpError::io(&io::Error::from(kind), "spawn", Path::new(&wanted.program))
}

//! Processes, through the same control as command hooks: in a group of their own, with limits on what they write, and
//! gone when their time is up.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use hookrail_spawn::{CancelToken, Command, End, Environment, Limits, Sandbox, SpawnError, run_id};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::answer::{quote_bytes, quote_text};
use super::permission::require_run;
use super::text::bytes;
use super::{Answer, OpError, decode, pending, text};
use crate::processes::{Ended, NotDriven, Processes, Wanted, WhenFull};
use crate::shared::{PendingOp, Shared};

/// As good as no limit.
const NO_TIMEOUT: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// How long a process may tidy up.
const GRACE: Duration = Duration::from_secs(1);

/// How much of its output is kept, as for a command hook.
const LARGEST: usize = 8 << 20;

/// What is to be told about a process.
struct About {
    program: String,
    /// Whether its output is wanted as bytes.
    as_bytes: bool,
    /// How long the answer may be.
    most: usize,
}

/// What a module asks about processes and about the one it is in: the working directory, the variables that it sees, whether
/// another process is there. `Cancel` ends a task that was begun; `Wait` runs a process while the module stands still.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub(super) enum ProcessOp<'a> {
    Cwd {},
    About {},
    Env {},
    Alive { pid: u32 },
    Cancel { task: u32 },
    Wait(Exec<'a>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) enum ProcessTask<'a> {
    Exec(Exec<'a>),
}

/// A process that a module wants.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub(super) struct Exec<'a> {
    program: String,
    args: &'a RawValue,
    options: Option<Options<'a>>,
}

impl ProcessOp<'_> {
    pub(super) fn run(self, shared: &Arc<Shared>) -> Result<Answer, OpError> {
        match self {
            Self::Cwd {} => Answer::of(&shared.world().cwd.to_string_lossy()),
            Self::About {} => Ok(text::about_process().into()),
            Self::Env {} => Ok(text::environment(&shared.world()).into()),
            Self::Alive { pid } => text::is_alive(pid),
            Self::Cancel { task } => {
                let cancel = shared.lock().cancels.get(&task).cloned();
                if let Some(cancel) = cancel {
                    cancel.cancel();
                }
                Ok(Answer::nothing())
            }
            Self::Wait(exec) => exec.wait(shared),
        }
    }
}

impl Exec<'_> {
    pub(super) fn begin(self, shared: &Arc<Shared>, number: u32) -> Result<PendingOp, OpError> {
        let (wanted, about) = self.wanted(shared, WhenFull::Wait)?;
        let cancel = CancelToken::new();
        shared.lock().cancels.insert(number, cancel.clone());
        let processes = shared.processes.clone();
        Ok(pending(shared, async move {
            let ended = driven(&processes, wanted, cancel).await?;
            result(&about, ended)
        }))
    }

    fn wait(self, shared: &Arc<Shared>) -> Result<Answer, OpError> {
        // A place may be one that only the module itself could make free, and it stands still.
        let (wanted, about) = self.wanted(shared, WhenFull::Refuse)?;
        let (reply, ended) = mpsc::channel();
        let tell = move |ended| drop(reply.send(ended));
        let cancel = CancelToken::new();
        shared.processes.start(wanted, cancel.clone(), tell).map_err(not_driven)?;
        let (left, stop) = shared.lock().budget.waiting_left();
        let ended = ended.recv_timeout(left);
        if ended.as_ref().is_err_and(|why| *why == mpsc::RecvTimeoutError::Timeout) {
            // The thread that has the turn waits here, so nothing else notices that the time is up.
            shared.stop(stop);
            cancel.cancel();
        }
        result(&about, ended.ok())
    }

    fn wanted(self, shared: &Shared, when_full: WhenFull) -> Result<(Wanted, About), OpError> {
        let Self { program, args, options } = self;
        require_run(shared, &program)?;
        let owner = shared.owner()?;
        let words: Vec<Value> = decode(args.get(), "the list of arguments")?;
        let options = options.unwrap_or_default();
        let world = shared.world();
        let cwd = options.cwd.as_ref().map_or_else(|| world.cwd.clone(), |cwd| world.cwd.join(cwd));
        let timeout = options.timeout.filter(|ms| *ms > 0.0);
        let timeout = timeout.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok()).unwrap_or(NO_TIMEOUT);
        let mut environment: Environment = match options.env {
            Some(given) => {
                let given: BTreeMap<String, Value> = decode(given.get(), "the environment")?;
                given.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect()
            }
            // A process inherits what its module sees. Variables whose names are not text are left out.
            None => {
                let seen =
                    |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| world.capabilities.shows_variable(name));
                world.environment.iter().filter(|(name, _)| seen(name)).collect()
            }
        };
        // The runs around this one find the process by these, whatever the module shows to it.
        for name in ["HOOKRAIL_RUN_ID", "HOOKRAIL_RUN_ID_OUTER"] {
            if let Some(outer) = world.environment.get(name) {
                environment = environment.with(name, outer);
            }
        }
        let depth = world.environment.get("HOOKRAIL_DEPTH").and_then(|depth| depth.to_str()?.parse::<u32>().ok());
        environment = environment
            .with("HOOKRAIL_PROTOCOL", "1")
            .with("HOOKRAIL_DEPTH", depth.unwrap_or(0).saturating_add(1).to_string());
        if let Some(sandbox) = &world.sandbox {
            for name in ["TMPDIR", "TMP", "TEMP"] {
                environment = environment.with(name, sandbox.temporary_folder());
            }
        }
        let limits = Limits { stdout_keep: LARGEST, ..Limits::default() };
        let command = Command::new(&program)
            .args(words.iter().filter_map(Value::as_str))
            .cwd(cwd)
            .timeout(timeout)
            .grace(GRACE)
            .limits(limits)
            .marker("HOOKRAIL_RUN_ID", run_id());
        let command = in_sandbox(command, world.sandbox.as_ref());
        let command = match options.input.map(|input| serde_json::from_str::<Option<String>>(input.get())) {
            Some(Ok(Some(input))) => command.stdin(bytes(&input)?),
            Some(Err(error)) => return Err(OpError::type_error(format!("the input is not text: {error}"))),
            Some(Ok(None)) | None => command,
        };
        let wanted = Wanted { command, environment: Arc::new(environment), owner, places: 1, when_full };
        Ok((wanted, About { program, as_bytes: options.bytes, most: shared.account.most() }))
    }
}

/// Starts a process and waits for its end; none when that was not reported. The process ends when the waiting is given up.
pub(super) async fn driven(
    processes: &Processes,
    wanted: Wanted,
    cancel: CancelToken,
) -> Result<Option<Ended>, OpError> {
    let unwanted = CancelOnDrop(cancel.clone());
    let (reply, ended) = oneshot::channel();
    // The receiver may be gone by then, here and below.
    let tell = |ended| drop(reply.send(ended));
    processes.start(wanted, cancel, tell).map_err(not_driven)?;
    let ended = ended.await;
    drop(unwanted);
    Ok(ended.ok())
}

/// Ends a process when the waiting for it is given up.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn not_driven(why: NotDriven) -> OpError {
    match why {
        NotDriven::NoThread(error) => OpError::new(format!("there is no thread for processes: {error}")).code("EAGAIN"),
        NotDriven::Full => OpError::new("as many processes of the module are running as there may be").code("EAGAIN"),
    }
}

/// What a module says about a process. What can be large stays text.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Options<'a> {
    cwd: Option<String>,
    timeout: Option<f64>,
    #[serde(borrow)]
    env: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    bytes: bool,
}

/// The command in the sandbox that the module's processes run in, if there is one.
pub(super) fn in_sandbox(command: Command, sandbox: Option<&Arc<Sandbox>>) -> Command {
    match sandbox {
        Some(sandbox) => command.sandbox(Arc::clone(sandbox)),
        None => command,
    }
}

fn result(about: &About, ended: Option<Ended>) -> Result<Answer, OpError> {
    let ended = ended.ok_or_else(|| OpError::new("the process could not be waited for"))?;
    let finished = ended.how.map_err(|error| failure(about, &error))?;
    let (code, killed) = match finished.end {
        End::Exited(code) => (code, false),
        End::Signalled(signal) => (128 + signal, false),
        End::OutputLimit => {
            return Err(OpError::new(format!("the process wrote more than {} MiB", LARGEST >> 20)).code("ENOBUFS"));
        }
        End::StatusUnknown => (0, false),
        // Ended by its time or by its signal.
        End::TimedOut | End::Cancelled => (143, true),
    };
    let mut out = String::from("{");
    for (name, written) in [("stdout", finished.stdout.bytes), ("stderr", finished.stderr.bytes)] {
        // Writing to a text does not fail.
        let _ = write!(out, "\"{name}\":");
        let left = about.most.saturating_sub(out.len());
        if about.as_bytes {
            quote_bytes(&mut out, &written, left)?;
        } else {
            let text = String::from_utf8(written)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
            quote_text(&mut out, &text, left)?;
        }
        out.push(',');
    }
    let _ = write!(out, "\"code\":{code},\"killed\":{killed}}}");
    Ok(Answer::written(out))
}

fn failure(about: &About, error: &SpawnError) -> OpError {
    let kind = match error {
        SpawnError::ProgramNotFound { .. } | SpawnError::WorkingDirectoryMissing { .. } => io::ErrorKind::NotFound,
        SpawnError::NotExecutable { .. } | SpawnError::BadFormat { .. } => io::ErrorKind::PermissionDenied,
        other => return OpError::new(format!("`{}` could not be started: {other}", about.program)),
    };
    OpError::io(&io::Error::from(kind), "spawn", Path::new(&about.program))
}

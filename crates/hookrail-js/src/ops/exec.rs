//! Processes that a module starts. They are run as those of command hooks are: in a process group, with limits on their
//! output, and ended when their time is used up.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use hookrail::module::{ModulesOwner, discoverable_modules};
use hookrail_spawn::{CancelToken, CaptureLimits, ChildCommand, ChildEnd, Environment, SpawnError, run_id};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::permission::{FinalLink, require_read, require_run};
use super::text::bytes;
use super::{OpAnswer, OpError, PendingOp, decode, text};
use crate::op_answer::Bytes;
use crate::processes::{EndedProcess, NotStarted, ProcessRequest, WhenFull};
use crate::shared::Shared;

/// A year, which stands for no timeout.
const NO_TIMEOUT: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// How long a process may take to exit after SIGTERM.
const TERMINATION_GRACE: Duration = Duration::from_secs(1);

/// The number of bytes of its output that are kept, which is as much as for a command hook.
const OUTPUT_LIMIT: usize = 8 << 20;

/// What the report about a process needs to know.
struct About {
    program: String,
    /// Whether the module wants the output as bytes.
    as_bytes: bool,
    /// The most bytes that the report may have.
    most: usize,
}

/// Operations on processes, and on the process that the module is in: its working directory, the variables that the
/// module may see, the modules that agents would find there, whether another process exists. `Cancel` ends a task that was started; `Wait` runs a process and
/// blocks the module.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum ProcessOp {
    Cwd {},
    About {},
    Env {},
    Discover { cwd: String, home: Option<String> },
    Alive { pid: u32 },
    Cancel { task: u32 },
    Wait(ExecRequest),
}

/// A request to start a process.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExecRequest {
    program: String,
    args: Box<RawValue>,
    options: Option<ProcessOptions>,
}

impl ProcessOp {
    pub(super) fn run(self, shared: &Shared) -> Result<OpAnswer, OpError> {
        match self {
            Self::Cwd {} => OpAnswer::serialize(&shared.world().cwd.to_string_lossy()),
            Self::About {} => Ok(text::about_process().into()),
            Self::Discover { cwd, home } => discover(shared, Path::new(&cwd), home.as_deref().map(Path::new)),
            Self::Env {} => Ok(text::environment(&shared.world()).into()),
            Self::Alive { pid } => text::is_alive(pid),
            Self::Cancel { task } => {
                if let Some(cancel) = shared.state().cancels.get(&task) {
                    cancel.cancel();
                }
                Ok(OpAnswer::nothing())
            }
            Self::Wait(exec) => exec.wait(shared),
        }
    }
}

/// A module file that was found, as the prelude reads it.
#[derive(Serialize)]
struct FoundModule {
    path: String,
    /// Why it is not loaded.
    refused: Option<&'static str>,
}

/// The module files of a project and its user. A module of the user does not bring those of a project into force, which only
/// a grant does.
fn discover(shared: &Shared, cwd: &Path, home: Option<&Path>) -> Result<OpAnswer, OpError> {
    require_read(shared, cwd, FinalLink::Followed)?;
    let owner = shared.world().owner;
    let found = discoverable_modules(cwd, home).into_iter().map(|module| {
        let is_foreign = module.owner == ModulesOwner::Project && owner == ModulesOwner::User;
        let refused = is_foreign.then_some("it belongs to the project, which was not granted to this module");
        FoundModule { path: module.path.to_string_lossy().into_owned(), refused }
    });
    OpAnswer::serialize(&found.collect::<Vec<_>>())
}

impl ExecRequest {
    pub(super) fn begin(self, shared: &Shared, number: u32) -> Result<PendingOp, OpError> {
        let (wanted, about) = self.wanted(shared, WhenFull::Wait)?;
        let driven = driven(shared, wanted, &about.program, number);
        Ok(Box::pin(async move { result(&about, driven.await?) }))
    }

    fn wait(self, shared: &Shared) -> Result<OpAnswer, OpError> {
        // Not `WhenFull::Wait`: the place may be taken by a process that only the module could end, and the module is
        // blocked here.
        let (wanted, about) = self.wanted(shared, WhenFull::Refuse)?;
        let (reply, ended) = mpsc::channel();
        let tell = move |ended| drop(reply.send(ended));
        let cancel = CancelToken::new();
        let processes = &shared.config.processes;
        processes.start(wanted, processes.announce(&about.program), cancel.clone(), tell)?;
        let (left, stop) = shared.state().budget.waiting_left();
        let ended = ended.recv_timeout(left);
        if ended.as_ref().is_err_and(|why| *why == mpsc::RecvTimeoutError::Timeout) {
            // This thread has the turn and is blocked here, so nothing else enforces the time limit.
            shared.stop(stop);
            cancel.cancel();
        }
        result(&about, ended.ok())
    }

    fn wanted(self, shared: &Shared, when_full: WhenFull) -> Result<(ProcessRequest, About), OpError> {
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
            // A process inherits the variables that its module may see. A variable whose name is not UTF-8 is left out.
            None => {
                let seen =
                    |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| world.capabilities.shows_variable(name));
                world.environment.iter().filter(|(name, _)| seen(name)).collect()
            }
        };
        // The engine finds its processes by these variables, so the module cannot hide them.
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
        let limits = CaptureLimits { stdout_keep: OUTPUT_LIMIT, ..CaptureLimits::default() };
        let command = ChildCommand::new(&program)
            .args(words.iter().filter_map(Value::as_str))
            .cwd(cwd)
            .timeout(timeout)
            .grace(TERMINATION_GRACE)
            .limits(limits)
            .marker("HOOKRAIL_RUN_ID", run_id());
        let command = world.sandbox.iter().cloned().fold(command, ChildCommand::sandbox);
        let command = match options.input {
            Some(input) => command.stdin(bytes(&input)?),
            None => command,
        };
        let wanted = ProcessRequest { command, environment: Arc::new(environment), owner, places: 1, when_full };
        Ok((wanted, About { program, as_bytes: options.bytes, most: shared.account.most }))
    }
}

/// Starts a process as the task of this number and waits for its end. The result is `None` if its end was not reported.
/// The process ends when the task is cancelled and when this future is dropped.
pub(super) fn driven(
    shared: &Shared,
    wanted: ProcessRequest,
    program: &str,
    number: u32,
) -> impl Future<Output = Result<Option<EndedProcess>, OpError>> + Send + use<> {
    let cancel = CancelToken::new();
    shared.state().cancels.insert(number, cancel.clone());
    let processes = shared.config.processes.clone();
    // The process is counted before it starts, so that a shutdown in between waits for it as for a running one.
    let announced = processes.announce(program);
    async move {
        let _unwanted = CancelOnDrop(cancel.clone());
        let (reply, ended) = oneshot::channel();
        // The receiver is dropped if the task was cancelled.
        processes.start(wanted, announced, cancel, |ended| drop(reply.send(ended)))?;
        Ok(ended.await.ok())
    }
}

/// Ends a process when the future that waits for it is dropped.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl From<NotStarted> for OpError {
    fn from(why: NotStarted) -> Self {
        let message = match why {
            NotStarted::NoThread(error) => format!("there is no thread for processes: {error}"),
            NotStarted::Full => "as many processes of the module are running as there may be".to_owned(),
        };
        Self::new(message).code("EAGAIN")
    }
}

/// The options of a process. Members that can be large stay text.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ProcessOptions {
    cwd: Option<String>,
    timeout: Option<f64>,
    env: Option<Box<RawValue>>,
    input: Option<String>,
    bytes: bool,
}

fn result(about: &About, ended: Option<EndedProcess>) -> Result<OpAnswer, OpError> {
    let ended = ended.ok_or_else(|| OpError::new("the process could not be waited for"))?;
    let finished = ended.how.map_err(|error| failure(about, &error))?;
    let (code, killed) = match finished.end {
        ChildEnd::Exited(code) => (code, false),
        ChildEnd::Signalled(signal) => (128 + signal, false),
        ChildEnd::OutputLimit => {
            return Err(OpError::new(format!("the process wrote more than {} MiB", OUTPUT_LIMIT >> 20)).code("ENOBUFS"));
        }
        ChildEnd::StatusUnknown => (0, false),
        // Ended by its timeout or by its abort signal. 143 is what a shell reports for SIGTERM.
        ChildEnd::TimedOut | ChildEnd::NotStarted | ChildEnd::Cancelled => (143, true),
    };
    let written = |bytes| {
        if about.as_bytes { OutputText::Bytes(Bytes(bytes)) } else { OutputText::Text(String::from_utf8_lossy(bytes)) }
    };
    let (stdout, stderr) = (written(&finished.stdout.bytes), written(&finished.stderr.bytes));
    OpAnswer::serialize_within(about.most, &ExecReport { stdout, stderr, code, killed })
}

/// The report about a process that has ended, as the prelude reads it.
#[derive(Serialize)]
struct ExecReport<'a> {
    stdout: OutputText<'a>,
    stderr: OutputText<'a>,
    code: i32,
    killed: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OutputText<'a> {
    Bytes(Bytes<'a>),
    Text(Cow<'a, str>),
}

fn failure(about: &About, error: &SpawnError) -> OpError {
    let kind = match error {
        SpawnError::ProgramNotFound { .. } | SpawnError::WorkingDirectoryMissing { .. } => io::ErrorKind::NotFound,
        SpawnError::NotExecutable { .. } | SpawnError::BadFormat { .. } => io::ErrorKind::PermissionDenied,
        other => return OpError::new(format!("`{}` could not be started: {other}", about.program)),
    };
    OpError::io(&io::Error::from(kind), "spawn", Path::new(&about.program))
}

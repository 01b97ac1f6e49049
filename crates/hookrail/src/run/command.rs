//! Running a command hook as a process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hookrail_spawn::{
    CancelToken, CapturedStream, ChildCommand, ChildEnd, ChildExit, ChildResult, NulPlace, SpawnError, Survivors,
    Termination, run_id,
};

use super::answer_wait::HookRole;
use super::end::{HeldAnswer, Output, ProcessEnd, RawEnd, SpawnFailure};
use super::limits::EngineLimits;
use super::module_environment::ModuleEnvironment;
use super::pool::ProcessPool;
use super::project_share::{ProjectShare, ShareUse};
use super::request::PlannedRun;
use super::runner::ModuleContext;
use super::sandboxes::{SandboxPlace, Sandboxes};
use super::shell::{Shell, shell};
use super::{Environment, RunLedger};
use crate::hook::exec_options::CommandShell;
use crate::hook::{Action, Authority, http};

/// The environment variable that marks all processes of a run.
pub(super) const RUN_ID: &str = "HOOKRAIL_RUN_ID";

/// What all hook processes of an engine share.
#[derive(Debug)]
pub(crate) struct ProcessContext {
    pub(crate) environment: Arc<Environment>,
    /// How many engines are around this one, each in a hook of the next.
    pub(crate) depth: u32,
    /// The project's directory.
    pub(crate) project: PathBuf,
    /// The shell that the user chose for command lines that are written for bash.
    pub(crate) instead_of_bash: Option<PathBuf>,
    /// The program that sends events to web servers, if there is one.
    pub(crate) http_program: Option<PathBuf>,
    /// What the user's environment names of the project as places of code.
    pub(crate) project_share: Arc<ProjectShare>,
    /// What hooks may use.
    pub(crate) limits: EngineLimits,
    /// Where running processes are recorded.
    pub(crate) ledger: Option<RunLedger>,
    /// The sandboxes of their processes.
    pub(crate) sandboxes: Sandboxes,
    /// The environment of modules in the configuration that was loaded last.
    pub(crate) module_environment: ModuleEnvironment,
}

impl ProcessContext {
    /// The base of the paths of sandbox profiles.
    pub(crate) fn sandbox_place(&self) -> SandboxPlace<'_> {
        SandboxPlace { project: &self.project, environment: &self.environment }
    }

    /// The world of a module that works in this directory. Only processes of the project's modules get the project's share.
    pub(crate) fn module_world(&self, cwd: &Path, authority: Authority) -> ModuleContext {
        let mut world = self.module_environment.world(cwd, &self.project);
        if authority == Authority::Project && !self.project_share.is_empty() {
            world.environment = Arc::new(self.project_share.put_back(&world.environment, ShareUse::Programs));
        }
        world
    }
}

/// What the run of a command hook needs beside its request.
#[derive(Clone, Copy)]
pub(crate) struct ProcessRun<'r> {
    pub(crate) world: &'r ProcessContext,
    /// Processes that are kept from one event to the next.
    pub(crate) pool: &'r ProcessPool,
    pub(crate) cancel: &'r CancelToken,
}

/// The result of running a command hook.
pub(crate) struct ProcessResult {
    pub(crate) end: ProcessEnd,
    /// Terminations that are not complete, so that the event need not wait for them.
    pub(crate) terminations: Vec<Termination>,
}

impl From<ProcessEnd> for ProcessResult {
    fn from(end: ProcessEnd) -> Self {
        Self { end, terminations: Vec::new() }
    }
}

/// Runs a command to its end.
pub(super) async fn run_command(context: ProcessRun<'_>, request: &PlannedRun) -> ProcessResult {
    let ProcessRun { world, cancel, .. } = context;
    let began = Instant::now();
    let environment = Arc::new(environment(world, request));
    let Some(command) = program(world, request) else {
        return ProcessEnd::new(RawEnd::Unusable("it has no command".into()), began.elapsed()).into();
    };
    let command = clothed(command, world, &environment, request).marker(RUN_ID, run_id());
    match hookrail_spawn::run(&command.stdin(Arc::clone(request.input.shared())), cancel).await {
        Ok(finished) => ended(finished, request),
        Err(error) => ProcessEnd::new(RawEnd::SpawnFailed(failure(&error, &request.cwd)), began.elapsed()).into(),
    }
}

pub(super) fn ended(finished: ChildResult, request: &PlannedRun) -> ProcessResult {
    let how = match (finished.end, finished.exit) {
        // A hook that exceeded the output limit and then exited has still answered with its exit code.
        (ChildEnd::OutputLimit, Some(ChildExit::Code(code))) if code != 0 => RawEnd::Exited(code),
        (ChildEnd::OutputLimit, Some(ChildExit::Signal(signal))) if finished.termination.is_none() => {
            RawEnd::Signalled(signal)
        }
        (ChildEnd::Exited(code), _) => RawEnd::Exited(code),
        (ChildEnd::Signalled(signal), _) => RawEnd::Signalled(signal),
        (ChildEnd::TimedOut, _) => RawEnd::TimedOut(request.timeout),
        (ChildEnd::NotStarted, _) => RawEnd::NotStarted(request.timeout),
        (ChildEnd::Cancelled, _) => RawEnd::Cancelled,
        (ChildEnd::OutputLimit, _) => RawEnd::OutputLimit,
        (ChildEnd::StatusUnknown, _) => RawEnd::StatusUnknown,
    };
    let survivors = match finished.survivors {
        Survivors::Seen(count) => count,
        Survivors::Unknown => 1,
        Survivors::NoneSeen | Survivors::LeftToTermination => 0,
    };
    let (stdout, stderr) = (output(finished.stdout), output(finished.stderr));
    let held = finished.held.map(|held| HeldAnswer { waited: held.waited, holders: held.holders });
    let is_guard = request.answer_wait.role == HookRole::Guard;
    let how = match how {
        RawEnd::Exited(0) if held.is_some() && is_guard && stdout.lossy().trim().is_empty() => RawEnd::HeldBack,
        how => how,
    };
    let end = ProcessEnd { stdout, stderr, survivors, held, ..ProcessEnd::new(how, finished.elapsed) };
    ProcessResult { end, terminations: finished.termination.into_iter().collect() }
}

/// The command of the hook's entry: a shell with a command line, or a program with arguments.
fn program(world: &ProcessContext, request: &PlannedRun) -> Option<ChildCommand> {
    match &request.hook.action {
        Action::Shell(line) => {
            let Shell { program, flags } = shell(request.shell, world.instead_of_bash.as_deref());
            let line = request.command.as_deref().unwrap_or(line);
            // The shell's own messages begin with the name that the original calls it by.
            let name = match request.shell {
                CommandShell::Bash => program.file_name().unwrap_or(program.as_os_str()).to_owned(),
                CommandShell::Posix => program.clone().into_os_string(),
            };
            Some(ChildCommand::new(program).arg0(name).args(flags.iter().copied()).arg(line))
        }
        Action::Program(words) => {
            let (program, arguments) = words.split_first()?;
            Some(ChildCommand::new(program).args(arguments))
        }
        Action::Http(_) => Some(ChildCommand::new(world.http_program.as_ref()?).args([http::COMMAND])),
        _ => None,
    }
}

/// The variables that name the folder for temporary files.
const TEMPORARY_FOLDER: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// The environment of a hook, except for the run number. It is made for every start. That costs little, because the
/// variables are shared and not copied.
fn environment(world: &ProcessContext, request: &PlannedRun) -> Environment {
    let mut environment = Environment::clone(request.hook.environment.as_ref().unwrap_or(&world.environment));
    // The dialect's variables come last, so that an event cannot replace the one with the project's directory.
    for (name, value) in request.event.variables().iter().chain(request.variables.iter()) {
        environment = environment.with(name, value);
    }
    if let Action::Http(target) = &request.hook.action {
        environment = environment.with(http::TARGET_VARIABLE, target.to_json());
    }
    if let Some(sandbox) = &request.sandbox {
        for name in TEMPORARY_FOLDER {
            environment = environment.with(name, sandbox.temporary_folder());
        }
    }
    environment
        .with("HOOKRAIL_PROTOCOL", "1")
        .with("HOOKRAIL_DEPTH", (world.depth + 1).to_string())
        .with("PWD", request.cwd.as_os_str())
}

/// The command with its input, environment, directory and limits.
fn clothed(
    command: ChildCommand,
    world: &ProcessContext,
    environment: &Arc<Environment>,
    request: &PlannedRun,
) -> ChildCommand {
    let mut command = bounded(command, world, request);
    if let Some(ledger) = &world.ledger {
        command = command.recorded_in(ledger);
    }
    if let Some(sandbox) = &request.sandbox {
        command = command.sandbox(Arc::clone(sandbox));
    }
    command.env(Arc::clone(environment)).cwd(working_directory(&request.cwd))
}

/// The command with the limits of a run.
fn bounded(command: ChildCommand, world: &ProcessContext, request: &PlannedRun) -> ChildCommand {
    let limits = world.limits.for_trust(&request.hook.trust).output.for_spawn();
    let command = command.timeout(request.timeout).grace(request.grace).cancel_grace(request.cancel_grace);
    command.limits(limits).late_output(request.answer_wait)
}

/// The limits of one exchange with a process that was started before.
pub(super) fn use_of_a_process(world: &ProcessContext, request: &PlannedRun) -> ChildCommand {
    bounded(ChildCommand::new(""), world, request)
}

/// The command of a worker; none if its entry has none. It still needs a run number.
pub(super) fn worker_command(world: &ProcessContext, request: &PlannedRun) -> Option<ChildCommand> {
    let environment = Arc::new(environment(world, request).with("HOOKRAIL_WORKER", "1"));
    Some(clothed(program(world, request)?, world, &environment, request))
}

/// Rejects an empty path, which would mean the host's own directory.
fn working_directory(cwd: &Path) -> &Path {
    if cwd.as_os_str().is_empty() { Path::new(".") } else { cwd }
}

pub(super) fn output(captured: CapturedStream) -> Output {
    Output { bytes: captured.bytes, total: captured.total }
}

pub(super) fn failure(error: &SpawnError, cwd: &Path) -> SpawnFailure {
    let name = |program: &std::ffi::OsString| program.to_string_lossy().into_owned();
    match error {
        SpawnError::WorkingDirectoryMissing { directory } => SpawnFailure::MissingDirectory(directory.clone()),
        SpawnError::WorkingDirectoryUnusable { directory, .. } => SpawnFailure::UnusableDirectory(directory.clone()),
        // No file system has such a directory.
        SpawnError::NulByte { place: NulPlace::WorkingDirectory } => SpawnFailure::UnusableDirectory(cwd.to_owned()),
        SpawnError::ProgramNotFound { program } => SpawnFailure::NotFound(name(program)),
        SpawnError::NotExecutable { program } | SpawnError::BadFormat { program } => {
            SpawnFailure::NotExecutable(name(program))
        }
        other => SpawnFailure::Other(with_sources(other)),
    }
}

/// The error with its causes.
pub(super) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}

//! The trait through which a satellite crate runs module hooks, and the values that cross it.
//!
//! Nothing here knows what a module is written in, or which events there are.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::Sandbox;

use super::Environment;
use super::end::Output;
use crate::hook::Trust;
use crate::hook::capabilities::Capabilities;
use crate::hook::host::Host;
pub use crate::hook::host::HostFuture;
use crate::json::Json;
use crate::run::RawEnd;
use crate::trust::NamedFile;
use crate::trust::places::ProtectedPlaces;

/// Runs the handlers of modules. The engine itself has no JavaScript engine; a host that wants module hooks
/// registers a runner with the builder.
///
/// Implementers own the modules' runtimes, their limits and their threads, and keep the wall-clock time, because the
/// time in which the user is asked is not counted. `call` is polled on a thread that the engine needs and must not
/// block it; dropping the future means the answer is not wanted any more.
///
/// ```
/// use hookrail::ModuleRunner;
/// use hookrail::host::HostFuture;
/// use hookrail::module::{CutOffProcess, ModuleCall, ModuleReturn};
/// use hookrail::process::RawEnd;
///
/// /// A runner that refuses every module.
/// struct NoModules;
///
/// impl ModuleRunner for NoModules {
///     fn call<'a>(&'a self, call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
///         let why = format!("{} is not run here", call.module.display());
///         Box::pin(async move { ModuleReturn::new(RawEnd::Unusable(why.into())) })
///     }
///
///     fn shutdown(&self) -> HostFuture<'_, Vec<CutOffProcess>> {
///         Box::pin(async { Vec::new() })
///     }
/// }
/// ```
pub trait ModuleRunner: Send + Sync {
    /// Calls every handler a module registered for an event.
    fn call<'a>(&'a self, call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn>;

    /// Like `call`, but the first poll may do the work on the thread that makes it, and blocks that thread for as long
    /// as the module works without waiting for anything. If the module has answered by then, the future is ready at
    /// once. Implementers do all such work in the first poll, enter no runtime in it and block on none, so that it may
    /// be made in `tokio::task::block_in_place`. The engine calls this where the thread waits for the answer anyway.
    fn call_here<'a>(&'a self, call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        self.call(call)
    }

    /// Loads a module to learn what it registers. Blocks the caller. The module has no capability but reading
    /// meanwhile.
    ///
    /// Calls run the version that was inspected last without a failure, also when its files are broken or gone by then:
    /// the engine uses it until a later inspection succeeds.
    fn inspect(&self, module: &Path, world: &ModuleContext) -> ModuleInspection {
        let _ = (module, world);
        ModuleInspection::Unknown("the runner cannot look into modules".to_owned())
    }

    /// The files that the last inspection of a module read or looked for, with what was in them. They are watched.
    fn inspected_files(&self, module: &Path, world: &ModuleContext) -> Vec<NamedFile> {
        let _ = (module, world);
        Vec::new()
    }

    /// Forgets a module that is not configured any more, with everything it is doing.
    fn forget(&self, module: &Path) {
        let _ = module;
    }

    /// Runs a command that a module registered.
    fn command<'a>(&'a self, command: ModuleCommand<'a>) -> HostFuture<'a, ModuleReturn> {
        let how = RawEnd::Unusable(format!("the runner has no command `{}`", command.name).into());
        Box::pin(std::future::ready(ModuleReturn::new(how)))
    }

    /// Says whom to tell when a module registers a handler after it was inspected. The next inspection has its event.
    fn tell_of_late_handlers(&self, told: Arc<dyn Fn() + Send + Sync>) {
        let _ = told;
    }

    /// Ends everything that modules are doing, and waits until nothing is left. No call follows. Returns the processes that
    /// did not end by themselves in the time they were given.
    ///
    /// It has no default, because a runner that wraps another one and forgets to pass this on leaves the processes of
    /// its modules behind.
    fn shutdown(&self) -> HostFuture<'_, Vec<CutOffProcess>>;

    /// Lets a module render a message that it registered a renderer for; `None` means the default rendering.
    fn render<'a>(&'a self, render: ModuleRender<'a>) -> HostFuture<'a, Option<Vec<String>>> {
        let _ = render;
        Box::pin(std::future::ready(None))
    }
}

/// The surroundings of a module.
#[derive(Clone, Debug)]
pub struct ModuleContext {
    /// The working directory.
    pub cwd: PathBuf,
    /// The project, to which the paths of scopes are relative.
    pub project: PathBuf,
    /// Files and folders that it must not change, whatever its capabilities are: they decide which hooks run.
    pub protected: Arc<ProtectedPlaces>,
    /// The environment that its processes inherit, and that it sees as far as its capabilities allow.
    pub environment: Arc<Environment>,
    /// What it may do.
    pub capabilities: Capabilities,
    /// The owner of the module.
    pub owner: ModulesOwner,
    /// The only files that it may load, with their content, if the user has reviewed them.
    pub covered: Option<Arc<[NamedFile]>>,
    /// The sandbox in which its processes run, if a layer with more authority imposes one.
    pub sandbox: Option<Arc<Sandbox>>,
}

impl ModuleContext {
    /// Surroundings with the default capabilities. The working directory is taken as the project.
    #[must_use]
    pub fn new(cwd: impl Into<PathBuf>, environment: Arc<Environment>) -> Self {
        let cwd = cwd.into();
        Self {
            project: cwd.clone(),
            cwd,
            protected: Arc::default(),
            environment,
            capabilities: Capabilities::default(),
            owner: ModulesOwner::default(),
            covered: None,
            sandbox: None,
        }
    }

    /// The surroundings with a sandbox for the module's processes.
    #[must_use]
    pub fn in_sandbox(mut self, sandbox: Option<Arc<Sandbox>>) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// The surroundings as a grant allows them: the module may load only the files that were reviewed, and has no
    /// capability beyond the grant.
    #[must_use]
    pub fn covering(mut self, trust: &Trust) -> Self {
        self.owner = if *trust == Trust::NotNeeded { ModulesOwner::User } else { ModulesOwner::Project };
        self.covered = None;
        if let Trust::Granted(fingerprint) = trust {
            self.covered = Some(fingerprint.shared_files());
            if let Some(left) = fingerprint.capabilities() {
                self.capabilities = self.capabilities.intersection(left);
            }
        }
        self
    }

    /// The surroundings with a project in which these files and folders must not be changed.
    #[must_use]
    pub fn protecting(mut self, project: &Path, protected: Arc<ProtectedPlaces>) -> Self {
        self.project = project.to_owned();
        self.protected = protected;
        self
    }

    /// The surroundings with other capabilities.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }
}

/// The owner of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModulesOwner {
    /// The user, or the embedding program.
    #[default]
    User,
    /// The project.
    Project,
}

/// One call of a module.
pub struct ModuleCall<'a> {
    /// The module's file.
    pub module: &'a Path,
    /// The event, in the module's own words.
    pub event: &'a str,
    /// The event's payload as JSON text.
    pub payload: &'a str,
    /// The wall-clock time that the handlers have, without the time in which the user is asked.
    pub timeout: Duration,
    /// Its surroundings.
    pub world: ModuleContext,
    /// The way back to the embedding program.
    pub host: Arc<dyn Host>,
}

/// One run of a module's command.
pub struct ModuleCommand<'a> {
    /// The module's file.
    pub module: &'a Path,
    /// The command's name.
    pub name: &'a str,
    /// What the user typed after it.
    pub arguments: &'a str,
    /// Its surroundings.
    pub world: ModuleContext,
    /// The way back to the embedding program.
    pub host: Arc<dyn Host>,
}

/// A message for a module to render.
pub struct ModuleRender<'a> {
    /// The module's file.
    pub module: &'a Path,
    /// The message, with its `customType`.
    pub message: &'a Json,
    /// Whether the message is shown in full.
    pub expanded: bool,
    /// The width in columns.
    pub width: usize,
    /// Its surroundings.
    pub world: ModuleContext,
    /// The way back to the embedding program.
    pub host: Arc<dyn Host>,
}

/// The result of calling a module.
#[derive(Clone, Debug)]
pub struct ModuleReturn {
    /// How it ended.
    pub how: RawEnd,
    /// What its handlers returned although one of them failed.
    pub partial: Option<Json>,
    /// Messages about other failures.
    pub failures: Vec<String>,
    /// Names of members in the result that have no meaning in this event, beside others that have.
    pub unknown_members: Vec<String>,
    /// Results, in an event that can be denied, that say nothing about it. They have no effect.
    pub unreadable: Vec<UnreadableResult>,
    /// Why operations were refused that need a capability which the module does not have here.
    pub refusals: Vec<String>,
    /// Messages it sent to the conversation.
    pub messages: Vec<Json>,
    /// Entries it added to the session.
    pub entries: Vec<Json>,
    /// What it printed.
    pub stdout: Output,
    /// What it printed as errors.
    pub stderr: Output,
}

impl ModuleReturn {
    /// A result with nothing beside the end.
    #[must_use]
    pub fn new(how: RawEnd) -> Self {
        Self {
            how,
            partial: None,
            failures: Vec::new(),
            unknown_members: Vec::new(),
            unreadable: Vec::new(),
            refusals: Vec::new(),
            messages: Vec::new(),
            entries: Vec::new(),
            stdout: Output::default(),
            stderr: Output::default(),
        }
    }
}

/// A result of a handler that says nothing about its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadableResult {
    /// A member of an object in which no member has a meaning.
    Member(String),
    /// A value that is no object, in words.
    Value(String),
}

/// A process that a module started and that was still running when the shutdown could not wait any longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutOffProcess {
    /// The module's file.
    pub module: PathBuf,
    /// The program, as the module named it.
    pub program: String,
    /// The time that it was given to end by itself.
    pub granted: Duration,
}

/// The result of an inspection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleInspection {
    /// It registered these.
    Registered(Registrations),
    /// What it registers cannot be known before it runs, for this reason.
    Unknown(String),
    /// It cannot be loaded.
    Failed(LoadFailure),
    /// The machine had no thread, descriptor or memory for it at that moment. That says nothing about the module, so
    /// the result must not be kept: the module is inspected again at the next event, or called without an inspection.
    OutOfResources(LoadFailure),
}

/// What a module registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registrations {
    /// The events it has handlers for, in the module's own words, in the order it named them.
    pub events: Vec<String>,
    /// Its commands, in order.
    pub commands: Vec<RegisteredCommand>,
    /// The types of messages that it renders.
    pub renderers: Vec<String>,
    /// Functions that it called while it was loaded and that its runner does not have. The rest of the module is in
    /// force.
    pub unsupported: Vec<String>,
    /// What it registered and cannot be called. The rest of the module is in force.
    pub mistakes: Vec<RegistrationMistake>,
    /// What it exports under the name `enforce`.
    pub enforce: EnforceExport,
    /// What it exports under the name `if`, as JSON; an empty text if that cannot be written so.
    pub condition: Option<String>,
    /// Why it may register more while it runs: its factory left work behind that had not ended, or was refused
    /// something that a call is not refused.
    pub unsettled: Option<String>,
}

impl Registrations {
    /// Adds events that are not among those it has.
    pub fn add_events(&mut self, events: impl IntoIterator<Item = String>) {
        for event in events {
            if !self.events.contains(&event) {
                self.events.push(event);
            }
        }
    }
}

/// A registration that cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrationMistake {
    /// What the module wanted to register.
    pub kind: RegistrationKind,
    /// The event, the command or the type of messages.
    pub name: String,
    /// What stands in the place of a function, in words.
    pub given: String,
}

/// What a module can register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationKind {
    /// A handler of an event.
    Handler,
    /// A command.
    Command,
    /// A renderer of messages.
    Renderer,
}

/// What a module exports under the name `enforce`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EnforceExport {
    /// Nothing, or true: what it answers counts.
    #[default]
    Enforced,
    /// False: it has no effect.
    Shadow,
    /// Something that is neither true nor false. What it answers counts.
    NotBoolean,
}

/// A command that a module registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredCommand {
    /// Its name, without a slash.
    pub name: String,
    /// What it says about itself.
    pub description: Option<String>,
}

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoadFailure {
    /// What is wrong.
    pub message: String,
    /// Where it is wrong, when that is known.
    pub place: Option<LoadPlace>,
}

/// A place in a module's source. Lines and columns count from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadPlace {
    /// The file.
    pub file: PathBuf,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl LoadFailure {
    /// A failure without a place.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None }
    }

    /// The failure with its place.
    #[must_use]
    pub fn at(mut self, file: impl Into<PathBuf>, line: u32, column: u32) -> Self {
        self.place = Some(LoadPlace { file: file.into(), line, column });
        self
    }
}

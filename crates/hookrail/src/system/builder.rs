//! Describing a hook system before it exists.

mod disabled;
mod loading;
mod missing;

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Semaphore;

use self::loading::default_store;
use super::HookSystem;
use super::detached::SessionStarts;
use super::drive::EngineShared;
use super::engine::EngineRuntime;
use super::late_words::LateWords;
use super::notify::Sender;
use super::recording::{Recording, TRACE};
use super::remote::RemoteAccess;
use super::shadow::{ShadowParts, StartElsewhere};
use crate::config::diagnostic::Diagnostic;
use crate::config::source::SourceKind;
use crate::config::user_folders::{UserFolderFault, UserFolderProblem, user_folder_problems_with};
use crate::dialect::snapshot::Switch;
use crate::dialect::{self, Bundles, ConfiguredHooks, DialectId, Plugins, path_in, text_in};
use crate::event::Event;
use crate::hook::native::ClosureThreads;
use crate::hook::remote::RemoteClient;
use crate::hook::sandbox::SandboxProfile;
use crate::hook::{Hook, OnFailure};
use crate::record::breadcrumb::DebugLog;
use crate::record::{HostIdentity, OnRecordFailure, Recorder};
use crate::run::project_share::ProjectShare;
use crate::run::{
    Capabilities, EngineLimits, Environment, ModuleEnvironment, ModuleRunner, OutputLimits, ProcessContext,
    ProcessPool, RunLedger, RunLimits, Sandboxes, with_private_byte_code,
};
use crate::tools::{ToolColumn, ToolNames, ToolTable};
use crate::trust::protect::{HostTools, Protect};
use crate::trust::session_facts::SessionFacts;
use crate::trust::{FilePlaces, TrustStore};

/// Describes a hook system.
///
/// ```
/// use hookrail::{Environment, HookSystem, OnFailure};
///
/// let hooks = HookSystem::builder(std::env::temp_dir())
///     .environment(Environment::new().with("HOME", "/home/me"))
///     .on_load_failure(OnFailure::Block)
///     .most_processes(8)
///     .build();
/// assert!(hooks.snapshot().hooks().is_empty());
/// ```
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    project: PathBuf,
    environment: Option<Environment>,
    trust: Option<Arc<dyn TrustStore>>,
    project_trust: ProjectTrust,
    switch: Switch,
    dialects: Option<Vec<DialectId>>,
    enabled_dialects: Vec<DialectId>,
    run_by_agent: Vec<PathBuf>,
    modules: Option<Arc<dyn ModuleRunner>>,
    remote: Option<Arc<dyn RemoteClient>>,
    hooks: Vec<Hook>,
    plugins: Plugins,
    bundles: Bundles,
    configured: ConfiguredHooks,
    module_files: Vec<PathBuf>,
    limits: EngineLimits,
    most_processes: usize,
    shadow_elsewhere: Option<Arc<StartElsewhere>>,
    ledger: Option<RunLedger>,
    tools: Vec<ToolNames>,
    tool_table: Option<Arc<ToolTable>>,
    findings: Vec<Diagnostic>,
    files: Vec<PathBuf>,
    own_sources: Vec<OwnSource>,
    on_load_failure: OnFailure,
    disabled_rules: Vec<String>,
    shell: Option<PathBuf>,
    http_program: Option<PathBuf>,
    protect: Protect,
    host_tools: HostTools,
    session_memory: Option<PathBuf>,
    protected: Vec<PathBuf>,
    sandbox_floors: Vec<Arc<SandboxProfile>>,
    rehearsal: Rehearsal,
    on_redaction: Option<OnRedaction>,
    engine_runtime: EngineRuntime,
    recorder: Option<Arc<dyn Recorder>>,
    on_record_failure: OnRecordFailure,
    host_identity: Option<HostIdentity>,
    user_need: UserNeed,
    user_problems: Vec<UserFolderProblem>,
}

/// Returns the problem of a text that cannot be put in force.
type Check = dyn Fn(&str) -> Result<(), Diagnostic> + Send + Sync;

/// A callback of the host for the time in which secrets are withheld from hooks.
type OnRedaction = Arc<dyn Fn() + Send + Sync>;

/// A source that the embedding program reads itself, with its check for a broken text.
#[derive(Clone)]
struct OwnSource {
    file: PathBuf,
    kind: SourceKind,
    check: Arc<Check>,
}

/// How far the project is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProjectTrust {
    #[default]
    AsGranted,
    ForThisRun,
}

/// What folders of the user that cannot be found do to events that can be denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum UserNeed {
    /// As other sources that cannot be used: `on_load_failure` decides.
    #[default]
    Reported,
    /// They are denied.
    Required,
}

/// Whether hooks may change anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rehearsal {
    #[default]
    No,
    Yes,
}

/// A description that was built into a system.
pub(super) struct Settings {
    described: Builder,
    pub(super) parts: Arc<EngineShared>,
    disabled: disabled::Disabled,
}

impl Builder {
    pub(super) fn new(project: PathBuf) -> Self {
        Self { project, most_processes: 64, ..Self::default() }
    }

    /// The environment that hooks inherit and that says where configuration is. By default it is taken from this
    /// process once, when the system is built.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Sets the store that knows what was trusted. By default it is a file in the user's state directory.
    pub fn trust_store(mut self, store: impl TrustStore + 'static) -> Self {
        self.trust = Some(Arc::new(store));
        self
    }

    /// Trusts the project and the hooks that it has when the system is built, as long as the system lives. A hook that
    /// appears later, or whose content changes, needs a grant; see
    /// [`Trust::ForThisRun`](crate::hook::Trust::ForThisRun).
    pub fn trust_project(mut self) -> Self {
        self.project_trust = ProjectTrust::ForThisRun;
        self
    }

    /// Turns all hooks off, for this reason.
    pub fn hooks_off(mut self, why: &str) -> Self {
        self.switch = Switch::Off(why.into());
        self
    }

    /// Lets only these dialects take part.
    pub fn only_dialects(mut self, dialects: Vec<DialectId>) -> Self {
        self.dialects = Some(dialects);
        self
    }

    /// Reads the hooks of a dialect that is off by default, because the agent that it belongs to runs them itself. A project's
    /// hooks need a grant all the same. Without this none of the dialect's files is read, and none of its hooks runs.
    ///
    /// ```
    /// use hookrail::{DialectId, Environment, HookSystem};
    ///
    /// assert!(DialectId::Codex.needs_enabling());
    /// let builder = HookSystem::builder(std::env::temp_dir()).environment(Environment::new());
    /// let hooks = builder.enable_dialect(DialectId::Codex).build();
    /// # drop(hooks);
    /// ```
    pub fn enable_dialect(mut self, dialect: DialectId) -> Self {
        if !self.enabled_dialects.contains(&dialect) {
            self.enabled_dialects.push(dialect);
        }
        self
    }

    /// Names files that the agent reads itself, whose hooks it runs: none of theirs runs here, whichever dialect they belong to.
    pub fn run_by_agent(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.run_by_agent.extend(files);
        self
    }

    /// Sets the runner of module hooks. Without one they fail to start.
    pub fn runner(mut self, modules: impl ModuleRunner + 'static) -> Self {
        self.modules = Some(Arc::new(modules));
        self
    }

    /// Sets the client that asks remote hooks. Without one they fail, and their failure policies apply: no event leaves the
    /// program.
    pub fn remote_client(mut self, client: impl RemoteClient + 'static) -> Self {
        self.remote = Some(Arc::new(client));
        self
    }

    /// Loads no plugins.
    pub fn no_plugins(mut self) -> Self {
        self.plugins = Plugins::LeftAlone;
        self
    }

    /// Leaves out every bundle of a fleet, and the enrolment of the machine. This is for a host that tries hooks out in a folder of
    /// its own, such as one that runs test cases, and not for one that guards an agent.
    pub fn no_bundles(mut self) -> Self {
        self.bundles = Bundles::LeftOut;
        self
    }

    /// Leaves out every hook that is configured anywhere: only those that were named with [`Builder::module`] and
    /// [`Builder::hook`] take part. What the settings say about all hooks, such as sandboxes and secrets, stays in force.
    pub fn only_named_hooks(mut self) -> Self {
        self.plugins = Plugins::LeftAlone;
        self.configured = ConfiguredHooks::LeftOut;
        self
    }

    /// Adds a module hook by its file, as the user named it; a relative path is relative to the project.
    pub fn module(mut self, file: impl Into<PathBuf>) -> Self {
        self.module_files.push(file.into());
        self
    }

    /// What module hooks may do. By default they read and write files and start processes, without network.
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.limits.all_hooks.capabilities = capabilities;
        self
    }

    /// How much is kept of what a hook process writes.
    pub fn output_limits(mut self, limits: OutputLimits) -> Self {
        self.limits.all_hooks.output = limits;
        self
    }

    /// Leaves the hooks that the project brings no more than this. It takes from what all hooks have and never adds,
    /// and hooks from elsewhere notice nothing of it.
    pub fn narrow_project(mut self, limits: RunLimits) -> Self {
        self.limits.project = Some(limits);
        self
    }

    /// Records hook processes for as long as they run. If this program is killed, the next one that opens a ledger in
    /// the same directory ends those that it left, and no others. One ledger serves all hook systems of a program.
    pub fn record_running_hooks(mut self, ledger: &RunLedger) -> Self {
        self.ledger = Some(ledger.clone());
        self
    }

    /// Names a file that this description was made from, and what was noticed in it. The file is one of
    /// [`HookSystem::protected_paths`], and the findings come before those of all hooks.
    pub fn described_by(mut self, file: impl Into<PathBuf>, findings: Vec<Diagnostic>) -> Self {
        self.files.push(file.into());
        self.findings.extend(findings);
        self
    }

    /// Names a file that this description was made from, with a check that tells a good text from a broken one. What
    /// the file said when the system was built stays in force as long as the system lives; while the file is empty,
    /// broken, unreadable or gone, every outcome says so.
    pub fn described_by_source(
        mut self,
        file: impl Into<PathBuf>,
        check: impl Fn(&str) -> Result<(), Diagnostic> + Send + Sync + 'static,
    ) -> Self {
        self.own_sources.push(OwnSource { file: file.into(), kind: SourceKind::User, check: Arc::new(check) });
        self
    }

    /// Names a file of the system layer that this description was made from, as [`Self::described_by_source`] does for one of
    /// the user. While it exists and cannot be used, every event that can be denied is denied.
    pub fn described_by_system_source(
        mut self,
        file: impl Into<PathBuf>,
        check: impl Fn(&str) -> Result<(), Diagnostic> + Send + Sync + 'static,
    ) -> Self {
        self.own_sources.push(OwnSource { file: file.into(), kind: SourceKind::System, check: Arc::new(check) });
        self
    }

    /// What a source of configuration that exists and cannot be used does to events that can be denied, while there is
    /// no earlier version of it. By default they are allowed, and a diagnostic says what is missing. What a project
    /// brings that was not trusted is never missed, and an unusable source of the system layer always denies.
    pub fn on_load_failure(mut self, policy: OnFailure) -> Self {
        self.on_load_failure = policy;
        self
    }

    /// Switches rules of the user and of the project off, by their names. A rule of the system layer stays on.
    pub fn disabled_rules(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.disabled_rules.extend(names);
        self
    }

    /// The shell for command lines that are written for bash. By default that is bash in one of the places where systems have
    /// it, else `/bin/sh`; it is never looked for on the search path.
    pub fn shell(mut self, program: impl Into<PathBuf>) -> Self {
        self.shell = Some(program.into());
        self
    }

    /// The program that sends the events of hooks of type `http`, by its absolute path: the `hookrail` command. Without it such
    /// hooks are listed and not run, and a guard among them fails: no event leaves the program.
    pub fn http_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.http_program = Some(program.into());
        self
    }

    /// Denies every event that can be denied while the folders of the user cannot be found: `HOME` is missing, relative or
    /// inside the project, or another variable names a folder inside the project. This is for a host that guards an agent:
    /// guards of the user may be there. Without it [`Builder::on_load_failure`] decides.
    pub fn require_user_folders(mut self) -> Self {
        self.user_need = UserNeed::Required;
        self
    }

    /// What happens to a tool call that would change what decides which hooks run, or that would loosen guards, where there
    /// is a guard. By default a person is asked. See [`HookSystem::protected_places`].
    pub fn protect(mut self, protect: Protect) -> Self {
        self.protect = protect;
        self
    }

    /// Adds a file or folder to [`HookSystem::protected_places`].
    pub fn protects(mut self, place: impl Into<PathBuf>) -> Self {
        self.protected.push(place.into());
        self
    }

    /// Says that the host's own tools refuse to write the protected places. Such a call is denied, because to ask about it
    /// would be in vain.
    pub fn tools_refuse_protected_places(mut self) -> Self {
        self.host_tools = HostTools::Refuse;
        self
    }

    /// Remembers in this folder, between events and processes, what a person approved in a session. A program gives the folder
    /// that holds its other state. Without one every call asks again.
    pub fn remember_sessions(mut self, state: impl Into<PathBuf>) -> Self {
        self.session_memory = Some(state.into());
        self
    }

    /// Where sessions are remembered; nowhere for a host that only tries events out.
    fn session_facts(&self) -> Option<SessionFacts> {
        let memory = self.session_memory.as_ref().filter(|_| self.rehearsal == Rehearsal::No)?;
        Some(SessionFacts::new(memory, &self.project))
    }

    /// Lets processes of the project's hooks do no more than this, whatever their entries say. Settings of the system
    /// layer can do the same for hooks of the user.
    pub fn sandbox_floor(mut self, profile: SandboxProfile) -> Self {
        self.sandbox_floors.push(Arc::new(profile));
        self
    }

    /// Lets no hook change anything, whichever layer it comes from: processes run in the sandbox `guard` and are not started
    /// where that cannot be enforced in full, and modules may only read. For events that are fired to find out what would be
    /// decided.
    pub fn rehearse(mut self) -> Self {
        self.rehearsal = Rehearsal::Yes;
        self
    }

    /// Names what the host does when a load finds that secrets are to be withheld from hooks. What hooks do not inherit
    /// they could still read from the host's own process, so a program whose environment holds secrets closes that way
    /// here. It is called in every such load, before a hook of it runs.
    pub fn on_redaction(mut self, withhold: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_redaction = Some(Arc::new(withhold));
        self
    }

    /// Adds a hook the host made itself.
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Declares what the dialects call one of the host's tools and its arguments.
    pub fn tool(mut self, names: ToolNames) -> Self {
        self.tools.push(names);
        self
    }

    /// Sets the table that says what tools are called which the host did not declare. Without one their names pass unchanged.
    pub fn tool_table(mut self, table: ToolTable) -> Self {
        self.tool_table = Some(Arc::new(table));
        self
    }

    /// Says that the host has the tools of this column, under the names that they have there.
    pub fn host_tools(mut self, column: &'static ToolColumn) -> Self {
        let table = self.tool_table.take().map(|table| ToolTable::clone(&table)).unwrap_or_default();
        self.tool_table = Some(Arc::new(table.of_host(column)));
        self
    }

    /// How many hook processes run at once; more wait, and waiting does not count against their time.
    pub fn most_processes(mut self, count: usize) -> Self {
        self.most_processes = count.max(1);
        self
    }

    /// Leaves hooks that are not enforced to another process, for a program that ends with its event and must not wait
    /// for them. `start` is called once for each event that has such hooks, with the name of the event among the records
    /// if there is a recorder, and starts a process that calls [`HookSystem::run_shadow_hooks`]. The engine then runs
    /// none of them itself, unless `start` fails. Events that wait for all hooks wait for these too, and run them here.
    pub fn shadow_hooks_elsewhere<S>(mut self, start: S) -> Self
    where
        S: Fn(Option<&str>, &Event) -> std::io::Result<()> + Send + Sync + 'static,
    {
        self.shadow_elsewhere = Some(Arc::new(start));
        self
    }

    /// Records every event in which a hook takes part, exactly once, before its outcome is handed out. Without a
    /// recorder nothing is recorded.
    pub fn recorder(mut self, recorder: impl Recorder + 'static) -> Self {
        self.recorder = Some(Arc::new(recorder));
        self
    }

    /// What a failure to record an event does to it. By default the outcome says so in a diagnostic.
    pub fn on_record_failure(mut self, policy: OnRecordFailure) -> Self {
        self.on_record_failure = policy;
        self
    }

    /// Names the program that fires events, for the record.
    pub fn host_identity(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.host_identity = Some(HostIdentity { name: name.into(), version: version.into() });
        self
    }

    /// Lends the engine the tokio runtime in which the first event is fired, so that it starts no thread of its own,
    /// but for closures, and no answer has to change threads. This is for current-thread runtimes: an event that is
    /// fired inside a multi-thread runtime is driven by that runtime in any case, and there this only lends it for
    /// detached hooks too. The runtime must have been built with input, output and time enabled (`enable_all`), and it
    /// has to be driven until [`HookSystem::shutdown`] has returned: what is fired when it is gone is abandoned, which
    /// for a gate means denied. Starting a process holds a thread of the runtime for about a tenth of a millisecond. If
    /// the first event is fired outside of a runtime this changes nothing.
    pub fn lend_runtime(mut self) -> Self {
        self.engine_runtime = EngineRuntime::Lent;
        self
    }

    /// Loads all configuration. What is wrong with it is in the snapshot's diagnostics; nothing fails.
    pub fn build(mut self) -> HookSystem {
        let is_given = self.environment.is_some();
        let environment = self.environment.take().unwrap_or_else(|| std::env::vars_os().collect());
        self.project = std::path::absolute(&self.project).unwrap_or(self.project);
        let (environment, project_share) = ProjectShare::take_out(&environment, &self.project);
        let mut environment = with_private_byte_code(environment);
        let dialects = DialectId::ORDER.into_iter().filter(|dialect| dialect.is_read(&self.enabled_dialects));
        let variables = dialects.flat_map(|dialect| dialect.contract().folder_variables().iter().copied());
        self.user_problems = user_folder_problems_with(variables, &environment, &self.project);
        // A host that gives an environment without a home directory says that there is no user.
        if is_given && self.user_need == UserNeed::Reported {
            self.user_problems.retain(|problem| problem.fault != UserFolderFault::Unset);
        }
        // Nothing is read from such a folder, and no hook takes it for the user's.
        if !self.user_problems.is_empty() {
            let leads_there = |name: &OsStr| self.user_problems.iter().any(|problem| name == problem.variable);
            environment = environment.iter().filter(|(name, _)| !leads_there(name)).collect();
        }
        if self.switch == Switch::On && text_in(&environment, "HOOKRAIL_DISABLE") == Some("1") {
            let why = "HOOKRAIL_DISABLE=1 turns off all hooks but the system layer's";
            self.switch = Switch::SystemOnly(why.into());
        }
        self.trust = self.trust.or_else(|| default_store(&environment));
        let debug_log = DebugLog::new(dialect::log_files(&environment));
        let depth = text_in(&environment, "HOOKRAIL_DEPTH").and_then(|depth| depth.parse().ok()).unwrap_or(0);
        let environment = Arc::new(environment);
        if self.rehearsal == Rehearsal::Yes {
            let limits = &mut self.limits.all_hooks;
            limits.capabilities = limits.capabilities.intersection(&Capabilities::LOOK);
        }
        let recording = self.recorder.take().map(|recorder| {
            Arc::new(Recording {
                interest: recorder.interest(),
                recorder,
                on_failure: self.on_record_failure,
                host: self.host_identity.take(),
                places: FilePlaces::new(&self.project, path_in(&environment, "HOME").as_deref()),
                trace: text_in(&environment, TRACE).map(str::to_owned),
                instance: RandomState::new().build_hasher().finish(),
            })
        });
        let parts = EngineShared {
            world: ProcessContext {
                module_environment: ModuleEnvironment::new(&environment),
                environment,
                depth,
                project: self.project.clone(),
                instead_of_bash: self.shell.take(),
                http_program: self.http_program.clone(),
                project_share: Arc::new(project_share),
                limits: std::mem::take(&mut self.limits),
                ledger: self.ledger.take(),
                sandboxes: Sandboxes::default(),
            },
            modules: self.modules.take(),
            remote: RemoteAccess::new(self.remote.take(), self.rehearsal == Rehearsal::Yes),
            notify: Sender::default(),
            processes: Semaphore::new(self.most_processes),
            debug_log,
            pool: ProcessPool::default(),
            closures: ClosureThreads::default(),
            shadow: ShadowParts::new(self.shadow_elsewhere.take()),
            session_starts: SessionStarts::default(),
            late_words: LateWords::new(self.session_facts()),
            recording,
        };
        HookSystem::new(Settings { described: self, parts: Arc::new(parts), disabled: disabled::Disabled::default() })
    }
}

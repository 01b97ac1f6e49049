//! A configured hook, parsed once: a hook that exists has a valid matcher, a valid command and a valid timeout,
//! or says in its type what is missing.
//!
//! Nothing here knows how a dialect writes hooks down, or how one is run.

mod bridge_command;
pub(crate) mod capabilities;
pub(crate) mod condition;
pub(crate) mod exec_options;
pub(crate) mod files;
pub(crate) mod fingerprint;
pub(crate) mod git_branch;
pub(crate) mod grant;
pub(crate) mod host;
pub mod http;
pub(crate) mod identity;
pub(crate) mod missing_guard;
pub(crate) mod native;
pub(crate) mod permission_rules;
pub mod remote;
pub(crate) mod sandbox;
pub(crate) mod search_path;
mod shown_condition;
pub(crate) mod variables;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::Environment;

pub use bridge_command::{bridge_program, bridge_words, denies_on_failure, denying_on_failure, plain_words};
use exec_options::CommandShell;
pub use exec_options::ProcessLifetime;
pub use sandbox::{SandboxFloors, SandboxProblem, SandboxProfile, SandboxRequirement};
pub use shown_condition::{CallPart, RuledCalls, ShownCondition};

pub use crate::config::source::Authority;
use crate::config::source::{Origin, SourceKind};
use crate::dialect_id::DialectId;
use crate::event::{EventKind, Stage};
use crate::matcher::Matcher;
use crate::rules::Rule;
use crate::text::names::named;
use bridge_command::program_of;
use capabilities::Capabilities;
use condition::HookCondition;
use fingerprint::Fingerprint;
use http::HttpTarget;
use identity::IdentityCell;
use missing_guard::MissingGuard;
use native::NativeHook;
use remote::RemoteTarget;

/// One hook for one event.
///
/// ```
/// use hookrail::{Effects, EventKind, Hook, NativeHook, OnFailure};
///
/// let mut hook = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::none()));
/// hook.on_failure = OnFailure::Block;
/// assert!(hook.guards(EventKind::BeforeTool));
/// ```
#[derive(Clone, Debug)]
pub struct Hook {
    /// The event it is for. If the scope is [`EventScope::Unknown`], it is any event of the dialect.
    pub event: EventKind,
    /// Whether that event is known to be the one.
    pub scope: EventScope,
    /// The dialect it is written in.
    pub dialect: DialectId,
    /// What people call it: its name, else its command, else its path.
    pub label: Arc<str>,
    /// What it says about itself.
    pub description: Option<Arc<str>>,
    /// What a host shows while it runs, if its author wrote that.
    pub status_message: Option<Arc<str>>,
    /// Where it was configured.
    pub origin: Origin,
    /// What it is compared with.
    pub matcher: Matcher,
    /// What it was compared with when it was granted, for a guard whose definition has changed since.
    pub(crate) granted_matcher: Option<Matcher>,
    /// What must hold of an event, beside the matcher, for the hook to take part.
    pub(crate) conditions: Vec<HookCondition>,
    /// What it runs.
    pub action: Action,
    /// The time after which a run is ended.
    pub timeout: Duration,
    /// What a failed run does to the operation.
    pub on_failure: OnFailure,
    /// Whether what it answers counts.
    pub enforcement: Enforcement,
    /// How long its process lives.
    pub lifetime: ProcessLifetime,
    /// Whether its event waits for it.
    pub delivery: HookDelivery,
    /// The shell that its entry names for its command line.
    pub(crate) shell: Option<CommandShell>,
    /// Whether its group asked for one hook after the other.
    pub order: GroupOrder,
    /// Whether it takes part at all, apart from trust.
    pub enablement: Enablement,
    /// What its project's own settings have to do with that.
    pub(crate) project_switch: ProjectSwitch,
    /// What was trusted when it was trusted; none for hooks that need no trust.
    pub trust: Trust,
    /// The package it belongs to, where that matters to it.
    pub owner: Option<Arc<Owner>>,
    /// The environment it inherits, where that is not the engine's own.
    pub environment: Option<Arc<Environment>>,
    /// What its processes may do; none if its entry asks for no sandbox.
    pub sandbox: Option<Arc<SandboxProfile>>,
    /// What happens if its sandbox cannot be enforced in full.
    pub sandbox_requirement: SandboxRequirement,
    /// What layers of more authority impose on its processes.
    pub sandbox_floors: Arc<[Arc<SandboxProfile>]>,
    /// What it may do to the machine, if it is a module.
    pub capabilities: Option<Capabilities>,
    /// Its name and version.
    pub(crate) identity: IdentityCell,
}

/// How much is known about the events a hook is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventScope {
    /// It is for its event and no other.
    #[default]
    One,
    /// Its events are known only when it runs, so it takes part in every event of its dialect.
    Unknown,
}

/// What a hook does when it is asked.
#[derive(Clone, Debug)]
pub enum Action {
    /// Run a command line through the shell.
    Shell(Arc<str>),
    /// Run a program with arguments, without a shell.
    Program(Arc<[String]>),
    /// Call a handler of a module.
    Module(Arc<Path>),
    /// Call a closure of the embedding program.
    Native(NativeHook),
    /// Ask a group of workers elsewhere.
    Remote(RemoteTarget),
    /// Send the event to a web server, whose reply is the answer.
    Http(HttpTarget),
    /// Answer as a rule does, without running anything.
    Rule(Arc<Rule>),
    /// Nothing: this kind of hook can be listed but not executed.
    NotExecutable(Arc<str>),
    /// Nothing: the entry is broken. It exists because it asked for a failure to have an effect.
    Unusable(Arc<str>),
    /// Nothing: the guard was granted and is missing. It exists because its absence has an effect.
    Missing(Arc<MissingGuard>),
}

/// A command as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandText {
    /// A line for a shell.
    Line(Arc<str>),
    /// A program and its arguments.
    Words(Arc<[String]>),
}

impl Action {
    /// The command, if this is one.
    pub(crate) fn command(&self) -> Option<CommandText> {
        match self {
            Self::Shell(line) => Some(CommandText::Line(Arc::clone(line))),
            Self::Program(words) => Some(CommandText::Words(Arc::clone(words))),
            Self::Module(_)
            | Self::Native(_)
            | Self::Remote(_)
            | Self::Http(_)
            | Self::Rule(_)
            | Self::NotExecutable(_)
            | Self::Unusable(_)
            | Self::Missing(_) => None,
        }
    }

    /// Whether this calls `hookrail bridge` and does nothing else.
    pub(crate) fn calls_bridge(&self) -> bool {
        match self {
            Self::Shell(line) => bridge_program(line).is_some(),
            Self::Program(words) => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                program_of(&words).is_some()
            }
            Self::Module(_)
            | Self::Native(_)
            | Self::Remote(_)
            | Self::Http(_)
            | Self::Rule(_)
            | Self::NotExecutable(_)
            | Self::Unusable(_)
            | Self::Missing(_) => false,
        }
    }
}

named! {
    /// What a failed run does to the operation.
    ///
    /// ```
    /// use hookrail::OnFailure;
    ///
    /// // Of several policies the strictest is the greatest.
    /// assert_eq!(OnFailure::Allow.max(OnFailure::Block), OnFailure::Block);
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum OnFailure {
        /// The operation is allowed.
        #[default]
        Allow = "allow",
        /// The user is asked.
        Ask = "ask",
        /// The operation is blocked.
        Block = "block",
    }
}

named! {
    /// Whether what a hook answers counts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Enforcement {
        /// It does.
        #[default]
        Enforced = "enforced",
        /// It does not: the hook runs beside the event, its verdict is in [`Outcome::shadow`](crate::Outcome::shadow) or in
        /// a record of its own, and nothing it does has an effect on the event.
        Shadow = "shadow",
    }
}

/// Whether an event waits for a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HookDelivery {
    /// It waits for the answer.
    #[default]
    Awaited,
    /// It goes on at once, and what the hook answers has no effect on it.
    Detached,
    /// It goes on at once. What the hook says is text for the model at the next prompt, or at the end of the agent's answer.
    HeardLater,
}

/// Whether a group of hooks asked to run one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupOrder {
    /// Side by side.
    #[default]
    Parallel,
    /// One after the other.
    Sequential,
}

/// Whether a hook takes part, apart from trust.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Enablement {
    /// The hook takes part.
    #[default]
    Active,
    /// Its name is on a list of disabled hooks, here.
    Disabled(Arc<str>),
    /// Hooks of its kind are switched off explicitly, here.
    SwitchedOff(Arc<str>),
    /// Hooks of its kind are off by default, and no settings switch them on.
    NeverSwitchedOn,
    /// Its command calls `hookrail bridge`, which would ask the same hooks again.
    OwnBridge,
    /// The agent that fires the events reads the hook itself, and runs it.
    RunByAgent,
}

/// What the settings of a project have to do with whether one of its hooks takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProjectSwitch {
    /// Nothing: the user or the system decides.
    #[default]
    Nothing,
    /// They alone switch it on.
    SwitchesOn,
    /// They alone keep it from taking part.
    SwitchesOff,
}

/// Whether a hook may run as far as trust goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It comes from a place that needs no grant.
    NotNeeded,
    /// Its project was trusted for this run, and the hook was there with this content when the run began.
    ForThisRun(Fingerprint),
    /// Its content was granted.
    Granted(Fingerprint),
    /// It was never granted.
    Never(Fingerprint),
    /// Something else was granted: its content has changed.
    Changed(Fingerprint),
}

impl Trust {
    /// Whether the hook may run.
    #[must_use]
    pub fn allows(&self) -> bool {
        matches!(self, Self::NotNeeded | Self::ForThisRun(_) | Self::Granted(_))
    }

    /// Whether a run in that directory would run what was trusted, as far as that is known.
    pub(crate) fn still_holds(&self, cwd: &Path) -> bool {
        match self {
            Self::NotNeeded => true,
            Self::ForThisRun(taken) => taken.is_as_it_began(cwd),
            Self::Granted(taken) => taken.still_holds(cwd),
            Self::Never(_) | Self::Changed(_) => false,
        }
    }

    /// What the hook is; none for a hook that needs no trust.
    pub(crate) fn any_fingerprint(&self) -> Option<&Fingerprint> {
        match self {
            Self::ForThisRun(taken) | Self::Granted(taken) | Self::Never(taken) | Self::Changed(taken) => Some(taken),
            Self::NotNeeded => None,
        }
    }

    /// What a grant of the hook covers; none for a hook that needs no grant.
    #[must_use]
    pub fn fingerprint(&self) -> Option<&Fingerprint> {
        match self {
            Self::Granted(taken) | Self::Never(taken) | Self::Changed(taken) => Some(taken),
            Self::NotNeeded | Self::ForThisRun(_) => None,
        }
    }
}

/// A package of hooks that its hooks are told about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The package's identity.
    pub id: String,
    /// Where it is installed.
    pub dir: std::path::PathBuf,
    /// Where it keeps what survives its updates.
    pub data_dir: Option<std::path::PathBuf>,
}

/// The key that says whether what a hook answers counts.
pub(crate) const ENFORCE_TERM: &str = "enforce";

// Further keys of terms that a definition has fields for.
pub(crate) const ON_FAILURE_TERM: &str = "onFailure";
pub(crate) const TIMEOUT_TERM: &str = "timeout";
pub(crate) const SANDBOX_TERM: &str = "sandbox";
pub(crate) const SANDBOX_REQUIRED_TERM: &str = "sandboxRequired";

impl Hook {
    /// A hook of the embedding program itself, which needs no settings, no trust and no process.
    #[must_use]
    pub fn native(event: EventKind, name: impl Into<Arc<str>>, hook: NativeHook) -> Self {
        Self::new(event, DialectId::Native, name, Action::Native(hook), Origin::without_file(SourceKind::Native))
    }

    /// A hook with the defaults of its event and dialect, active and in need of no trust.
    #[must_use]
    pub fn new(
        event: EventKind,
        dialect: DialectId,
        label: impl Into<Arc<str>>,
        action: Action,
        origin: Origin,
    ) -> Self {
        let timeout = event.spec().column(dialect).map_or(Duration::from_secs(60), |column| column.timeout);
        Self {
            event,
            scope: EventScope::One,
            dialect,
            label: label.into(),
            description: None,
            status_message: None,
            origin,
            matcher: Matcher::everything(),
            granted_matcher: None,
            conditions: Vec::new(),
            action,
            timeout,
            on_failure: OnFailure::Allow,
            enforcement: Enforcement::Enforced,
            lifetime: ProcessLifetime::default(),
            delivery: HookDelivery::default(),
            shell: None,
            order: GroupOrder::Parallel,
            enablement: Enablement::Active,
            project_switch: ProjectSwitch::Nothing,
            trust: Trust::NotNeeded,
            owner: None,
            environment: None,
            sandbox: None,
            sandbox_requirement: SandboxRequirement::default(),
            sandbox_floors: Arc::default(),
            capabilities: None,
            identity: IdentityCell::default(),
        }
    }

    /// The same hook, not enforced: it runs, its verdict is reported, and it has no effect.
    ///
    /// ```
    /// use hookrail::{Effects, Environment, EventKind, FireOptions, Hook, HookSystem, NativeHook};
    ///
    /// let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
    /// let hooks = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(guard.shadow()).build();
    /// let outcome = hooks.fire_blocking_with(hooks.event(EventKind::BeforeTool), FireOptions::new().wait_for_all());
    /// assert!(!outcome.is_denied());
    /// assert_eq!(outcome.shadow[0].effects.reason.as_deref(), Some("not today"));
    /// ```
    #[must_use]
    pub fn shadow(mut self) -> Self {
        self.enforcement = Enforcement::Shadow;
        self
    }

    /// Whether the hook has no effect. For a hook that has changed since it was granted, what it was granted with counts,
    /// because the present setting is part of the change.
    #[must_use]
    pub fn is_shadow(&self) -> bool {
        match &self.trust {
            Trust::Changed(taken) if taken.granted().is_some() => taken.was_granted_as_shadow(),
            Trust::NotNeeded | Trust::ForThisRun(_) | Trust::Granted(_) | Trust::Never(_) | Trust::Changed(_) => {
                self.enforcement == Enforcement::Shadow
            }
        }
    }

    /// Whether no event waits for it, so that no outcome says how it ended.
    #[must_use]
    pub fn is_detached(&self) -> bool {
        let stage = self.event.spec().column(self.dialect).map(|column| column.stage);
        stage == Some(Stage::Detached) || self.delivery != HookDelivery::Awaited
    }

    /// Whether it does the work of another hook, so that only one of them runs where both match.
    #[must_use]
    pub fn does_work_of(&self, other: &Self) -> bool {
        let work = |hook: &Self| hook.dialect.contract().work_key(hook);
        self.dialect == other.dialect && work(self).is_some() && work(self) == work(other)
    }

    /// Its authority against other hooks.
    #[must_use]
    pub fn authority(&self) -> Authority {
        self.origin.kind.authority()
    }

    /// Whether the hook guards the event: a hook of the system layer, a hook whose failure has an effect, or a module
    /// that handles tool calls. A module whose events are not known may be one. A hook that is not enforced guards nothing.
    #[must_use]
    pub fn guards(&self, event: EventKind) -> bool {
        if self.is_shadow() {
            return false;
        }
        let policy = self.policy_in_force();
        match (&self.action, &self.trust) {
            // What a changed module handled is known from its grant alone.
            (Action::Module(_), Trust::Changed(_)) => policy != OnFailure::Allow && event == EventKind::BeforeTool,
            (Action::Module(_), _) if event == EventKind::BeforeTool => true,
            _ => self.authority() == Authority::System || policy != OnFailure::Allow,
        }
    }

    /// What a failure of the hook does: for a hook that has changed since it was granted, what it was granted with,
    /// because the present policy is part of the change.
    #[must_use]
    pub fn policy_in_force(&self) -> OnFailure {
        match &self.trust {
            Trust::Changed(taken) => taken.granted().map_or(self.on_failure, |grant| grant.policy(self)),
            Trust::NotNeeded | Trust::ForThisRun(_) | Trust::Granted(_) | Trust::Never(_) => self.on_failure,
        }
    }

    /// What decides whether the hook takes part: for a guard whose definition has changed, what it was granted for,
    /// because the present matcher is part of the change.
    pub(crate) fn matcher_in_force(&self) -> &Matcher {
        self.granted_matcher.as_ref().unwrap_or(&self.matcher)
    }

    /// What an entry says beside what it runs and when, as key and value, where that is not the default. A grant covers
    /// all of it: a new key that could weaken a hook is added here.
    pub(crate) fn terms(&self) -> Vec<(&'static str, String)> {
        let mut terms = self.terms_of_its_own();
        if self.on_failure != OnFailure::default() {
            terms.push((ON_FAILURE_TERM, self.on_failure.name().to_owned()));
        }
        let default = self.event.spec().column(self.dialect).map(|column| column.timeout);
        if default != Some(self.timeout) {
            terms.push((TIMEOUT_TERM, self.timeout.as_micros().to_string()));
        }
        terms
    }

    /// The terms in which two entries with the same command are no duplicates of each other, because neither can stand
    /// for the other.
    pub(crate) fn terms_of_its_own(&self) -> Vec<(&'static str, String)> {
        let mut terms = Vec::new();
        terms.extend(self.conditions.iter().filter_map(HookCondition::term));
        if let Some(shell) = self.shell {
            terms.push(("shell", shell.name().to_owned()));
        }
        match self.delivery {
            HookDelivery::Awaited => {}
            HookDelivery::Detached => terms.push(("async", "true".to_owned())),
            HookDelivery::HeardLater => terms.push(("asyncRewake", "true".to_owned())),
        }
        match self.enforcement {
            Enforcement::Enforced => {}
            Enforcement::Shadow => terms.push((ENFORCE_TERM, "false".to_owned())),
        }
        if let Some(profile) = &self.sandbox {
            terms.push((SANDBOX_TERM, profile.to_json().to_string()));
        }
        match self.sandbox_requirement {
            SandboxRequirement::Reported => {}
            SandboxRequirement::Required => terms.push((SANDBOX_REQUIRED_TERM, "true".to_owned())),
        }
        terms
    }

    /// The event it is for, when that is known.
    #[must_use]
    pub fn known_event(&self) -> Option<EventKind> {
        (self.scope == EventScope::One).then_some(self.event)
    }

    /// Whether the hook takes part and may run.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enablement == Enablement::Active
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

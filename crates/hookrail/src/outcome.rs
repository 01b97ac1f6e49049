//! The outcome of a fired event: one result for the host, with a typed reason for everything.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub(crate) mod handed_record;
pub(crate) mod skips;

use crate::config::diagnostic::{Code, Diagnostic};
use crate::event::EventKind;
pub(crate) use crate::event::effects::join;
pub use crate::event::effects::{Decision, Effects, Stop};
use crate::hook::{Hook, OnFailure};
use crate::json::Json;
use crate::outcome::handed_record::HandedRecord;
use crate::outcome::skips::Skips;
use crate::rules::RuleMatch;
use crate::text::names::named;
use crate::trust::{Digest, FilePlaces};

named! {
    /// How a planned hook ended. Exactly one of these holds for every hook that was planned.
    ///
    /// ```
    /// use hookrail::EndKind;
    ///
    /// assert_eq!(EndKind::TimedOut.name(), "timed-out");
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum EndKind {
        /// It answered.
        Answered = "answered",
        /// It ended well and said nothing.
        Silent = "silent",
        /// Its time was up.
        TimedOut = "timed-out",
        /// A signal ended it.
        Signalled = "signalled",
        /// It exited with a status other than zero.
        Exited = "exited",
        /// It could not be started.
        SpawnFailed = "spawn-failed",
        /// What it said is not an answer.
        BadOutput = "bad-output",
        /// It wrote too much.
        OutputLimit = "output-limit",
        /// The host did not want it any more.
        Cancelled = "cancelled",
        /// Its handler threw.
        Threw = "threw",
        /// It went over its memory or stack limit.
        Limit = "limit",
        /// It was not asked: its entry is broken, or it has changed since it was granted.
        Unusable = "unusable",
        /// It is answered elsewhere, and no server could be reached.
        NotConnected = "not-connected",
        /// It is answered elsewhere, and no worker was there.
        NoResponders = "no-responders",
        /// It is answered elsewhere, and the worker took no more questions.
        Overloaded = "overloaded",
        /// It is answered elsewhere, and the worker did not execute the question.
        Refused = "refused",
        /// The host did not wait for it.
        Detached = "detached",
    }
}

named! {
    /// Whether a hook did its work.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Health {
        /// It answered, or had nothing to say.
        Well = "well",
        /// It failed. Its decision then comes from its failure policy.
        Failed = "failed",
    }
}

impl Health {
    /// The health that an end alone implies: a hook that answered, or had nothing to say, is well.
    pub(crate) fn from_end(end: EndKind) -> Self {
        if matches!(end, EndKind::Answered | EndKind::Silent) { Self::Well } else { Self::Failed }
    }
}

named! {
    /// Who requires that a person approves an operation. The order is the order of strength.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Asker {
        /// Hooks that are no guards. A hook that answers the host's question can answer theirs.
        Hook = "hook",
        /// A guard, a rule or the engine itself. Only a person answers.
        Guard = "guard",
    }
}

/// One hook that was run.
///
/// ```
/// use hookrail::{Effects, EndKind, Environment, EventKind, Hook, HookSystem, NativeHook};
///
/// let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
/// let hooks = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(guard).build();
/// let outcome = hooks.fire_blocking(hooks.event(EventKind::BeforeTool));
/// let run = &outcome.runs[0];
/// assert_eq!((&*run.hook.label, run.end), ("guard", EndKind::Answered));
/// ```
#[derive(Clone, Debug)]
pub struct HookRun {
    /// Its number in the plan, which is the index of its [`RunId`](crate::process::RunId).
    pub number: usize,
    /// The hook.
    pub hook: Arc<Hook>,
    /// How it ended.
    pub end: EndKind,
    /// Whether it did its work. A hook that exits with 2 to deny is well; one that exits with 2 by accident cannot be
    /// told apart from it.
    pub health: Health,
    /// The exit status, when it exited.
    pub exit_code: Option<i32>,
    /// The signal, when one ended it.
    pub signal: Option<i32>,
    /// What it decided, or, if it failed, the decision of its failure policy.
    pub decision: Option<Decision>,
    /// When it was started, counted from the moment at which the event was fired; none if it was not started.
    pub start: Option<Duration>,
    /// How long it took.
    pub duration: Duration,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// The value that it judged, if other hooks could have changed it afterwards.
    pub judged: Option<Json>,
    /// Whether its answer changes a field that guards judge: the tool's input, the prompt, the request to the model.
    pub rewrites: bool,
    /// Why it matched, if it is a rule.
    pub rule: Option<Arc<RuleMatch>>,
}

impl HookRun {
    /// A run about which nothing is known but how it ended.
    pub(crate) fn not_asked(number: usize, hook: &Arc<Hook>, end: EndKind, health: Health) -> Self {
        Self {
            number,
            hook: Arc::clone(hook),
            end,
            health,
            exit_code: None,
            signal: None,
            decision: None,
            start: None,
            duration: Duration::ZERO,
            stdout: String::new(),
            stderr: String::new(),
            judged: None,
            rewrites: false,
            rule: None,
        }
    }
}

/// What a hook that is not enforced would have done.
///
/// ```
/// use hookrail::{Decision, Effects, Environment, EventKind, FireOptions, Hook, HookSystem, NativeHook};
///
/// let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
/// let hooks = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(guard.shadow()).build();
/// let outcome = hooks.fire_blocking_with(hooks.event(EventKind::BeforeTool), FireOptions::new().wait_for_all());
/// assert_eq!(outcome.effects.decision, None);
/// assert_eq!(outcome.shadow[0].run.decision, Some(Decision::Deny));
/// ```
#[derive(Clone, Debug)]
pub struct ShadowRun {
    /// The run. Its decision is the one that the event would have if this hook were the only one.
    pub run: HookRun,
    /// Everything it asked for, of which nothing was done.
    pub effects: Effects,
}

/// Why the engine itself decided about an event that can be denied, whatever the hooks answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A source of the system layer exists and cannot be used. The event is denied.
    SystemUnusable,
    /// A source of another layer cannot be used, and the user's setting for this case is to ask or to deny.
    LoadFailure(OnFailure),
    /// The machine or the user is enrolled in a fleet and has no bundle. The event is denied.
    BundleMissing,
    /// The bundle in force has expired, and its channel says to ask or to deny.
    BundleExpired(OnFailure),
    /// The trust store exists and cannot be used, and the project has hooks. The event is denied.
    StoreUnusable,
    /// The folders of the user cannot be found, and the host needs them. The event is denied.
    UserUnusable,
}

impl Refusal {
    /// The code of the diagnostic that comes with it.
    #[must_use]
    pub fn code(self) -> Code {
        match self {
            Self::SystemUnusable => Code::SystemUnusable,
            Self::LoadFailure(_) => Code::LoadFailure,
            Self::BundleMissing => Code::BundleMissing,
            Self::BundleExpired(_) => Code::BundleExpired,
            Self::StoreUnusable => Code::StoreUnusable,
            Self::UserUnusable => Code::UserUnusable,
        }
    }

    /// What it decides.
    #[must_use]
    pub fn decision(self) -> Decision {
        match self {
            Self::SystemUnusable
            | Self::BundleMissing
            | Self::StoreUnusable
            | Self::UserUnusable
            | Self::LoadFailure(OnFailure::Block)
            | Self::BundleExpired(OnFailure::Block) => Decision::Deny,
            // A refusal that allows is never made. If it were, asking would be the safe decision.
            Self::LoadFailure(OnFailure::Ask | OnFailure::Allow)
            | Self::BundleExpired(OnFailure::Ask | OnFailure::Allow) => Decision::Ask,
        }
    }
}

/// What single dialects add to an outcome. An outcome without any needs no allocation.
#[derive(Clone, Default)]
struct Details(Vec<Arc<dyn Any + Send + Sync>>);

impl fmt::Debug for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} details", self.0.len())
    }
}

/// The result of a fired event.
///
/// ```
/// use hookrail::{Decision, Effects, Environment, EventKind, Hook, HookSystem, NativeHook};
///
/// let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
/// let hooks = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(guard).build();
/// let outcome = hooks.fire_blocking(hooks.event(EventKind::BeforeTool).with_text("tool_name", "write_file"));
/// match outcome.effects.decision {
///     Some(Decision::Deny) => println!("denied: {}", outcome.effects.reason.unwrap_or_default()),
///     Some(Decision::Ask) => println!("ask the user first"),
///     // The tool runs with `effects.tool_input` if a hook has rewritten its input.
///     Some(Decision::Allow) | None => println!("go on, unless `effects.stop` says otherwise"),
/// }
/// # assert_eq!(outcome.effects.decision, Some(Decision::Deny));
/// ```
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What had happened.
    pub event: EventKind,
    /// What the host has to do.
    pub effects: Effects,
    /// The host's own request with the changes of hooks, if the host gave one with `contents` and hooks changed it.
    pub native_request: Option<Json>,
    /// The host's own response with the changes of hooks, if the host gave one with `candidates` and hooks changed it.
    pub native_response: Option<Json>,
    /// What single dialects add, see [`Outcome::detail`].
    details: Details,
    /// Every hook that was planned, in plan order.
    pub runs: Vec<HookRun>,
    /// The hooks that are not enforced and had answered by then, in plan order. A verdict that comes later is recorded.
    pub shadow: Vec<ShadowRun>,
    /// Every hook that did not run, and why.
    pub skipped: Skips,
    /// Everything worth saying.
    pub diagnostics: Vec<Diagnostic>,
    /// Why the engine itself answered, when it did.
    pub refusal: Option<Refusal>,
    /// The name of the event among the records, if it was recorded.
    pub recorded_as: Option<Arc<str>>,
    /// The record of the event, if the recorder leaves it to the caller that asked for the event to write it.
    pub handed_record: Option<HandedRecord>,
    /// The configuration that was in force; none if no hook takes part in the event.
    pub in_force: Option<ConfigurationId>,
}

/// The configuration in force when an event was fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationId {
    /// The digest of all its sources. Two processes with the same digest have read the same.
    pub digest: Digest,
    /// Counts the configurations that were in force in this process, from one.
    pub revision: u64,
    /// The folders in which the files of hooks are looked for.
    pub(crate) places: FilePlaces,
}

impl Outcome {
    /// The outcome of an event that no hook takes part in.
    #[must_use]
    pub fn untouched(event: EventKind) -> Self {
        Self {
            event,
            effects: Effects::default(),
            native_request: None,
            native_response: None,
            details: Details::default(),
            runs: Vec::new(),
            shadow: Vec::new(),
            skipped: Skips::default(),
            diagnostics: Vec::new(),
            refusal: None,
            recorded_as: None,
            handed_record: None,
            in_force: None,
        }
    }

    /// What only one dialect adds to an outcome, by its type, such as
    /// [`AggregatedHookResult`](crate::dialect::llxprt::AggregatedHookResult); none if no hook of that dialect took
    /// part.
    #[must_use]
    pub fn detail<T: Any>(&self) -> Option<&T> {
        self.details.0.iter().find_map(|detail| (**detail).downcast_ref())
    }

    /// Sets what a dialect adds, in place of what it added before.
    pub(crate) fn set_detail<T: Any + Send + Sync>(&mut self, detail: T) {
        self.details.0.retain(|known| !known.is::<T>());
        self.details.0.push(Arc::new(detail));
    }

    /// Takes back what hooks rewrote, because the operation does not happen.
    pub(crate) fn withdraw_rewrites(&mut self) {
        self.effects.tool_input = None;
        self.effects.prompt = None;
        self.effects.llm_request = None;
        self.native_request = None;
        self.native_response = None;
    }

    /// Who requires that a person approves the operation, if the decision is to ask.
    #[must_use]
    pub fn asked_by(&self) -> Option<Asker> {
        if self.effects.decision != Some(Decision::Ask) {
            return None;
        }
        let of_engine = |found: &Diagnostic| matches!(found.code, Code::ProtectedPlace | Code::LoosensGuard);
        let mut asking = self.runs.iter().filter(|run| run.decision == Some(Decision::Ask)).peekable();
        // What cannot be told to be a hook's is the engine's.
        let by_hooks = self.refusal.is_none() && !self.diagnostics.iter().any(of_engine) && asking.peek().is_some();
        let is_plain = by_hooks && !asking.any(|run| run.hook.guards(self.event));
        Some(if is_plain { Asker::Hook } else { Asker::Guard })
    }

    /// Whether the operation must not happen.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.effects.decision == Some(Decision::Deny)
    }
}

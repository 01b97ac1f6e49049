//! Recording what hooks decided: the trait behind a journal, and what it is given.
//!
//! A notification may be lost when its reader is slow; a recorder is called for every fired event, exactly once, before
//! the outcome is handed out. How records are written, where they are kept and what is removed from them is not known
//! here.

use std::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime};

pub(crate) mod breadcrumb;

use crate::event::{Event, EventKind};
use crate::hook::host::HostFuture;
use crate::hook::{Authority, Hook};
use crate::json::Json;
pub use crate::outcome::handed_record::HandedRecord;
use crate::outcome::{Decision, Effects, EndKind, Health, HookRun, Outcome, ShadowRun};
use crate::text::names::named;
use crate::trust::{Digest, FilePlaces, HookIdentity};

/// Takes what is to be recorded.
///
/// It may be called by several threads at once, and by threads that drive events: a call that takes long delays an
/// event.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use hookrail::recorder::{Entry, EntryKind, RecordError, Recorded, Recorder};
/// use hookrail::{Decision, Effects, Environment, EventKind, Hook, HookSystem, NativeHook};
///
/// #[derive(Default)]
/// struct Decisions(Mutex<Vec<(EventKind, Option<Decision>)>>);
///
/// impl Recorder for Decisions {
///     fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
///         if let EntryKind::Fired(fired) = &entry.kind {
///             self.0.lock().unwrap().push((fired.event.kind(), fired.outcome.effects.decision));
///         }
///         Ok(Recorded::Done)
///     }
/// }
///
/// let decisions = Arc::new(Decisions::default());
/// let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
/// let hooks = HookSystem::builder(std::env::temp_dir())
///     .environment(Environment::new())
///     .hook(guard)
///     .recorder(Arc::clone(&decisions))
///     .build();
/// hooks.fire_blocking(hooks.event(EventKind::BeforeTool));
/// assert_eq!(*decisions.0.lock().unwrap(), [(EventKind::BeforeTool, Some(Decision::Deny))]);
/// ```
pub trait Recorder: Send + Sync {
    /// Records an entry.
    ///
    /// # Errors
    /// If the entry could not be recorded. What that means for the event is decided by [`OnRecordFailure`]. After
    /// [`RecordErrorKind::Backlog`] a fired event is given once more, with the outcome that the host gets.
    fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError>;

    /// The events that are recorded although no hook takes part in them.
    fn interest(&self) -> Interest {
        Interest::default()
    }
}

impl<R: Recorder + ?Sized> Recorder for std::sync::Arc<R> {
    fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
        (**self).record(entry)
    }

    fn interest(&self) -> Interest {
        (**self).interest()
    }
}

/// How far a record has come.
pub enum Recorded {
    /// The recorder has done what it promises.
    Done,
    /// The record is written and not yet safe. The outcome is handed out when this future is ready, so that one
    /// synchronisation can serve several events.
    Syncing(HostFuture<'static, Result<(), RecordError>>),
    /// Nothing is written: the outcome carries the record to the caller that asked for the event, which writes it.
    Handed(HandedRecord),
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "Done",
            Self::Syncing(_) => "Syncing",
            Self::Handed(_) => "Handed",
        })
    }
}

named! {
    /// Which events are recorded. Events in which a hook takes part, and events about which the engine itself has
    /// something to say, always are.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Interest {
        /// No others. An event that no hook wants costs what it costs without a recorder.
        #[default]
        Asked = "asked",
        /// All events that can be denied, so that a later guard can be tried on them.
        Gating = "gating",
        /// All events.
        All = "all",
    }
}

impl Interest {
    /// Whether events of that kind are recorded although no hook takes part.
    #[must_use]
    pub fn covers(self, event: EventKind) -> bool {
        match self {
            Self::Asked => false,
            Self::Gating => event.spec().is_gating(),
            Self::All => true,
        }
    }
}

named! {
    /// What the engine does when an entry could not be recorded.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum OnRecordFailure {
        /// The outcome says so in a diagnostic; decisions are unaffected.
        #[default]
        Warn = "warn",
        /// Events that can be denied are denied: what is not recorded does not happen.
        Block = "block",
    }
}

named! {
    /// Why an entry could not be recorded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RecordErrorKind {
        /// There is no room: the disk is full, or a limit on the size of files was reached.
        NoSpace = "no-space",
        /// The place of the records may not be written.
        NotWritable = "not-writable",
        /// The place of the records is not safe: it belongs to another user, is open to others, or is a link.
        Unsafe = "unsafe",
        /// What is there already is damaged.
        Damaged = "damaged",
        /// More entries wait for a copy elsewhere than may. A fired event is not recorded yet: it is given again with an
        /// outcome that has the diagnostic [`Code::RecordFailed`](crate::Code::RecordFailed), and is recorded then.
        Backlog = "backlog",
        /// Anything else that the operating system reported.
        Io = "io",
        /// The recorder panicked.
        Panicked = "panicked",
    }
}

/// Why an entry could not be recorded, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RecordError {
    /// What kind of failure it is.
    pub kind: RecordErrorKind,
    /// The failure as a sentence without its final stop.
    pub message: String,
}

impl RecordError {
    /// An error.
    #[must_use]
    pub fn new(kind: RecordErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// The program that fires events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostIdentity {
    /// Its name.
    pub name: String,
    /// Its version; empty if it is not known.
    pub version: String,
}

/// One thing to record.
#[derive(Debug)]
pub struct Entry<'r> {
    /// When it happened. For an event, when it was fired.
    pub at: SystemTime,
    /// The program in which it happened, if that is known.
    pub host: Option<&'r HostIdentity>,
    /// The project's directory.
    pub project: &'r Path,
    /// What happened.
    pub kind: EntryKind<'r>,
}

/// What there is to record. A recorder has to know every kind: one that it does not know would be missing in its records.
#[derive(Debug)]
pub enum EntryKind<'r> {
    /// An event was fired, and this is its outcome.
    Fired(Box<FiredEntry<'r>>),
    /// A hook ended after the outcome of its event had been handed out.
    Late(LateEntry<'r>),
    /// The user answered a question that hooks had raised.
    Answered(AnsweredEntry<'r>),
    /// The host was told something else about an event than its record says, or no hook was asked about it.
    Corrected(CorrectedEntry<'r>),
    /// An agent could not be made to do what a hook meant.
    Lost(LostEntry<'r>),
    /// Trust was granted or revoked.
    Trust(TrustEntry<'r>),
}

/// A fired event and its outcome.
#[derive(Debug)]
pub struct FiredEntry<'r> {
    /// The name under which later entries refer to the event, unique among processes for all practical purposes.
    pub fire: &'r str,
    /// The event as the host fired it, before any rewrite.
    pub event: &'r Event,
    /// The W3C trace context of the event, if it has one.
    pub trace: Option<String>,
    /// The digest of the configuration in force.
    pub configuration: Digest,
    /// The outcome of the event.
    pub outcome: &'r Outcome,
    /// The hooks that ran, in plan order.
    pub runs: Vec<RunEntry<'r>>,
    /// The shadow hooks that had answered when the outcome was made, in the order of
    /// [`Outcome::shadow`](crate::Outcome::shadow).
    pub shadow: Vec<RunEntry<'r>>,
    /// The time from firing to the outcome.
    pub duration: Duration,
}

/// One run of a hook.
#[derive(Debug)]
pub struct RunEntry<'r> {
    /// The hook.
    pub hook: &'r Hook,
    /// Which hook it is, over edits of its file.
    pub id: String,
    /// Which version of the hook it is: the digest of its definition and of the files that it runs, as they are when the
    /// run is recorded: files of the project, and scripts and programs elsewhere that its command names. Of one elsewhere
    /// that has more than 1 MiB only the size and the time of the last change count.
    pub fingerprint: String,
    /// The layer that the hook comes from.
    pub layer: Authority,
    /// When it was started, counted from the moment at which the event was fired; none if it was not started, or not
    /// waited for.
    pub start: Option<Duration>,
    /// How long it took.
    pub duration: Duration,
    /// How it ended.
    pub end: EndKind,
    /// Whether it did its work.
    pub health: Health,
    /// The exit status, when it exited.
    pub exit_code: Option<i32>,
    /// What it decided, or, if it failed, the decision of its failure policy.
    pub decision: Option<Decision>,
    /// What it asked for beside its decision, if it has no effect. What hooks with an effect ask for is in the outcome.
    pub asked: Vec<AskedEffect>,
}

named! {
    /// What a shadow hook asked for beside its decision.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AskedEffect {
        /// That the agent stops.
        Stop = "stop",
        /// Another input, output, prompt, request, response or choice of tools.
        Rewrite = "rewrite",
        /// More context for the model.
        Context = "context",
    }
}

impl AskedEffect {
    fn of(effects: &Effects) -> Vec<Self> {
        let asked = [
            (Self::Stop, effects.stop.is_some()),
            (Self::Rewrite, effects.is_rewrite()),
            (Self::Context, effects.additional_context.is_some()),
        ];
        asked.into_iter().filter_map(|(effect, is_asked)| is_asked.then_some(effect)).collect()
    }
}

/// A hook that ended after the outcome of its event had been handed out.
#[derive(Debug)]
pub struct LateEntry<'r> {
    /// The event's name among the records.
    pub fire: &'r str,
    /// The session.
    pub session: &'r str,
    /// The event.
    pub event: EventKind,
    /// Why the event did not wait for it.
    pub why: LateReason,
    /// The run. Its start is counted from the moment at which the event was fired, if that is known.
    pub run: RunEntry<'r>,
    /// The reason it gave, if it gave one.
    pub reason: Option<&'r str>,
    /// Everything that a shadow hook asked for; none for other hooks.
    pub verdict: Option<&'r ShadowRun>,
}

named! {
    /// Why an event did not wait for a hook.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LateReason {
        /// Hooks of its event are not waited for.
        Detached = "detached",
        /// The hook has no effect, so it never delays an outcome.
        Shadow = "shadow",
    }
}

/// The user's answer to a question that hooks had raised.
#[derive(Debug)]
pub struct AnsweredEntry<'r> {
    /// The event's name among the records, if it was recorded.
    pub fire: Option<&'r str>,
    /// The session.
    pub session: &'r str,
    /// The event.
    pub event: EventKind,
    /// What was to happen, such as the name of a tool.
    pub operation: &'r str,
    /// The final input that the user was shown.
    pub input: &'r Json,
    /// Why hooks wanted the user to be asked.
    pub reason: Option<&'r str>,
    /// The answer.
    pub answer: PersonAnswer<'r>,
}

/// What the user answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonAnswer<'r> {
    /// The operation may happen.
    Granted,
    /// The operation must not happen, for this reason, which may be empty.
    Refused(&'r str),
    /// There was no user who could be asked.
    Unavailable,
}

impl PersonAnswer<'_> {
    /// The name used in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Refused(_) => "refused",
            Self::Unavailable => "unavailable",
        }
    }
}

/// What the host was told about an event in the place of what was recorded: because the record could not be made safe, the
/// hooks did not answer in time, the agent cannot be told what they meant, or no hook could be asked.
#[derive(Debug)]
pub struct CorrectedEntry<'r> {
    /// The event's name among the records; none if what came in could not be read as an event.
    pub fire: Option<&'r str>,
    /// The session; empty if it is not known.
    pub session: &'r str,
    /// The event, if it is known.
    pub event: Option<EventKind>,
    /// The tool, if the event is about one.
    pub tool: Option<&'r str>,
    /// The decision that the host was told.
    pub decision: Option<Decision>,
    /// Why it is another one, in words of the program that records it.
    pub reason: &'r str,
}

/// Something that an agent could not be made to do.
#[derive(Debug)]
pub struct LostEntry<'r> {
    /// The event's name among the records, if it has one.
    pub fire: Option<&'r str>,
    /// The session.
    pub session: &'r str,
    /// The event.
    pub event: EventKind,
    /// The tool, if the event is about one.
    pub tool: Option<&'r str>,
    /// The stable name of the loss, such as `loss.ask`.
    pub loss: &'r str,
    /// What took its place.
    pub instead: &'r str,
}

/// Trust that was granted or revoked.
#[derive(Debug)]
pub struct TrustEntry<'r> {
    /// Which of the two.
    pub change: TrustChange,
    /// The hook; none if the project as a whole is meant.
    pub hook: Option<&'r str>,
    /// The hook's event, if it is known.
    pub event: Option<&'r str>,
    /// The digest of the hook's definition and files in hexadecimal, if it has one.
    pub content: Option<&'r str>,
}

named! {
    /// How trust changed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TrustChange {
        /// It was granted.
        Granted = "granted",
        /// It was revoked.
        Revoked = "revoked",
        /// It was granted and is missing, and the user accepted that.
        AcceptedMissing = "accepted-missing",
    }
}

impl<'r> RunEntry<'r> {
    /// The entry of a run.
    pub(crate) fn new(places: &FilePlaces, run: &'r HookRun) -> Self {
        let hook = &*run.hook;
        let HookIdentity { id, fingerprint } = hook.identity(places);
        Self {
            hook,
            id,
            fingerprint,
            layer: hook.authority(),
            start: run.start,
            duration: run.duration,
            end: run.end,
            health: run.health,
            exit_code: run.exit_code,
            decision: run.decision,
            asked: Vec::new(),
        }
    }

    /// The entry of a run of a shadow hook.
    pub(crate) fn of_shadow(places: &FilePlaces, shadow: &'r ShadowRun) -> Self {
        Self { asked: AskedEffect::of(&shadow.effects), ..Self::new(places, &shadow.run) }
    }
}

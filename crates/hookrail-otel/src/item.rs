//! What is taken from an entry on the thread that fires events: as little as the export needs, and nothing is encoded yet.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hookrail::outcome::Health;
use hookrail::recorder::{AnsweredEntry, Entry, FiredEntry, LateEntry, RecordErrorKind, RunEntry};
use hookrail::{Decision, EndKind, EventKind};

use crate::options::InputExport;

/// The longest text of one attribute in bytes. What is longer is cut.
const LONGEST_TEXT: usize = 16 * 1024;

/// Something to export.
#[derive(Debug)]
pub(crate) enum Item {
    Fired(Box<FiredItem>),
    Late(Box<LateItem>),
    Answered(Box<AnsweredItem>),
}

/// Where an event is in the journal, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum JournalPlace {
    /// There is no journal, or it does not say.
    #[default]
    Unknown,
    /// The number of the record.
    Recorded(u64),
    /// The event was not recorded.
    Failed(RecordErrorKind),
}

#[derive(Debug)]
pub(crate) struct FiredItem {
    /// Nanoseconds since 1970.
    pub(crate) at: u64,
    pub(crate) duration: Duration,
    pub(crate) event: EventKind,
    pub(crate) fire: String,
    pub(crate) trace: Option<String>,
    pub(crate) session: String,
    pub(crate) tool: Option<String>,
    pub(crate) call: Option<String>,
    pub(crate) decision: Option<Decision>,
    pub(crate) refusal: Option<&'static str>,
    pub(crate) journal: JournalPlace,
    pub(crate) content: Option<Content>,
    pub(crate) runs: Vec<RunItem>,
}

/// What is exported only on request.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) project: String,
    pub(crate) input: String,
    pub(crate) reason: Option<String>,
}

#[derive(Debug)]
pub(crate) struct RunItem {
    pub(crate) label: Arc<str>,
    pub(crate) id: String,
    pub(crate) dialect: &'static str,
    pub(crate) layer: &'static str,
    pub(crate) start: Option<Duration>,
    pub(crate) duration: Duration,
    pub(crate) end: EndKind,
    pub(crate) health: Health,
    pub(crate) decision: Option<Decision>,
    pub(crate) role: RunRole,
}

/// Whether the event depends on the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunRole {
    Enforced,
    Shadow,
    Detached,
}

#[derive(Debug)]
pub(crate) struct LateItem {
    /// When it ended.
    pub(crate) at: u64,
    pub(crate) event: EventKind,
    pub(crate) fire: String,
    pub(crate) session: String,
    pub(crate) run: RunItem,
}

#[derive(Debug)]
pub(crate) struct AnsweredItem {
    pub(crate) at: u64,
    pub(crate) event: EventKind,
    pub(crate) fire: Option<String>,
    pub(crate) session: String,
    pub(crate) operation: String,
    pub(crate) answer: &'static str,
}

impl Item {
    /// Returns how many spans and log records it becomes if its trace is sampled.
    pub(crate) fn records(&self) -> u64 {
        match self {
            Self::Fired(fired) => 2 + fired.runs.len() as u64,
            Self::Late(_) | Self::Answered(_) => 1,
        }
    }

    pub(crate) fn fired(entry: &Entry<'_>, fired: &FiredEntry<'_>, journal: JournalPlace, inputs: InputExport) -> Self {
        let (event, outcome) = (fired.event, fired.outcome);
        let content = (inputs == InputExport::On).then(|| Content {
            project: cut(&entry.project.to_string_lossy()),
            input: cut(event.fields().to_json().text()),
            reason: outcome.effects.reason.as_deref().map(cut),
        });
        let enforced = fired.runs.iter().zip(&outcome.runs);
        // A hook that the host does not wait for is exported when it ends.
        let enforced = enforced.filter(|(run, _)| run.end != EndKind::Detached);
        let mut runs: Vec<RunItem> =
            enforced.map(|(run, ended)| RunItem::new(run, ended.health, RunRole::Enforced)).collect();
        let shadow = fired.shadow.iter().zip(&outcome.shadow);
        runs.extend(shadow.map(|(run, ended)| RunItem::new(run, ended.run.health, RunRole::Shadow)));
        let filled = |name| event.text(name).filter(|text| !text.is_empty());
        Self::Fired(Box::new(FiredItem {
            at: nanoseconds(entry.at),
            duration: fired.duration,
            event: event.kind(),
            fire: fired.fire.to_owned(),
            trace: fired.trace.clone(),
            session: event.session_id().to_owned(),
            tool: filled("tool_name"),
            call: filled("tool_call_id"),
            decision: outcome.effects.decision,
            refusal: outcome.refusal.map(|refusal| refusal.code().name()),
            journal,
            content,
            runs,
        }))
    }

    pub(crate) fn late(entry: &Entry<'_>, late: &LateEntry<'_>) -> Self {
        use hookrail::recorder::LateReason;
        let role = match late.why {
            LateReason::Detached => RunRole::Detached,
            LateReason::Shadow => RunRole::Shadow,
        };
        // Ending with its host is no failure of a hook that its host did not wait for.
        let health = match late.run.end {
            EndKind::Cancelled | EndKind::Detached => Health::Well,
            _ => late.run.health,
        };
        Self::Late(Box::new(LateItem {
            at: nanoseconds(entry.at),
            event: late.event,
            fire: late.fire.to_owned(),
            session: late.session.to_owned(),
            run: RunItem::new(&late.run, health, role),
        }))
    }

    pub(crate) fn answered(entry: &Entry<'_>, answered: &AnsweredEntry<'_>) -> Self {
        Self::Answered(Box::new(AnsweredItem {
            at: nanoseconds(entry.at),
            event: answered.event,
            fire: answered.fire.map(str::to_owned),
            session: answered.session.to_owned(),
            operation: cut(answered.operation),
            answer: answered.answer.name(),
        }))
    }
}

impl RunItem {
    fn new(run: &RunEntry<'_>, health: Health, role: RunRole) -> Self {
        Self {
            label: Arc::clone(&run.hook.label),
            id: run.id.clone(),
            dialect: run.hook.dialect.name(),
            layer: run.layer.name(),
            start: run.start,
            duration: run.duration,
            end: run.end,
            health,
            decision: run.decision,
            role,
        }
    }
}

/// Returns the nanoseconds since 1970.
pub(crate) fn nanoseconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, nanoseconds_of)
}

pub(crate) fn nanoseconds_of(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the beginning of a text that is no longer than an attribute may be.
pub(crate) fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(LONGEST_TEXT)).unwrap_or_default().to_owned()
}

//! The neutral events and small sets of them.

use std::fmt;

use super::spec::EventSpec;
use super::table;

/// Something that happens in an agent and that hooks can take part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the neutral names of the event table, which describes them")]
pub enum EventKind {
    SessionStart,
    SessionEnd,
    Prompt,
    AgentStart,
    AgentEnd,
    TurnStart,
    TurnEnd,
    ModelRoundEnd,
    BeforeTool,
    AfterTool,
    BeforeModel,
    AfterModel,
    ToolSelection,
    BeforeCompact,
    Compacting,
    AfterCompact,
    AutoCompactionStart,
    AutoCompactionEnd,
    AutoRetryStart,
    AutoRetryEnd,
    SubagentStart,
    SubagentStop,
    SessionBeforeSwitch,
    SessionSwitch,
    SessionBeforeBranch,
    SessionBranch,
    SessionBeforeTree,
    SessionTree,
    RuleTriggered,
    TodoReminder,
    Notification,
}

impl EventKind {
    /// Every event, in the order of the table.
    pub fn all() -> impl Iterator<Item = EventKind> {
        table::EVENTS.iter().map(|spec| spec.kind)
    }

    /// Everything the table says about this event.
    #[must_use]
    pub fn spec(self) -> &'static EventSpec {
        table::spec(self)
    }

    /// The neutral name, such as `before-tool`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The event's bit in an [`EventSet`].
    const fn bit(self) -> u64 {
        1 << self as u8
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of events in one word, so that "does anybody want this?" is one load and one test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventSet(u64);

impl EventSet {
    /// The set of no events.
    pub const EMPTY: Self = Self(0);

    /// Adds an event.
    pub fn insert(&mut self, kind: EventKind) {
        self.0 |= kind.bit();
    }

    /// Whether the event is in the set.
    #[must_use]
    pub fn contains(self, kind: EventKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// The word behind the set, for an atomic.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The set behind a word made by [`EventSet::bits`].
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

//! An event as one dialect knows it: the types of which dialects make their columns. Nothing here names a dialect.

use std::time::Duration;

use super::spec::FieldSpec;

/// One event in one dialect.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The dialect's name for the event.
    pub name: &'static str,
    /// The field a matcher is compared with, where there is one.
    pub matched_on: Option<&'static str>,
    /// The event's own fields in the order they are handed to a hook.
    pub fields: &'static [FieldSpec],
    /// What an answer may do.
    pub can: Abilities,
    /// Whether a deny has an effect, be it an answer or what a failure policy made of a failure.
    pub gates: bool,
    /// How several answers become one.
    pub fold: Fold,
    /// How the hooks run, where the configuration does not say.
    pub stage: Stage,
    /// The time a hook has, where the configuration does not say.
    pub timeout: Duration,
    /// Which occurrences of the event the dialect takes part in.
    pub occurrences: Occurrences,
}

/// Which occurrences of an event a dialect takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrences {
    /// Every one.
    All,
    /// Those at which the agent itself starts or ends. A session that begins or ends inside of a run is none of them.
    LaunchOnly,
}

/// What an answer to an event may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities(u16);

#[expect(missing_docs, reason = "the names say it")]
impl Abilities {
    pub const NONE: Self = Self(0);
    pub const DENY: Self = Self(1);
    pub const STOP: Self = Self(1 << 1);
    pub const REWRITE_TOOL_INPUT: Self = Self(1 << 2);
    pub const REPLACE_TOOL_OUTPUT: Self = Self(1 << 3);
    pub const ADD_CONTEXT: Self = Self(1 << 4);
    pub const REWRITE_REQUEST: Self = Self(1 << 5);
    pub const GIVE_RESPONSE: Self = Self(1 << 6);
    pub const CHOOSE_TOOLS: Self = Self(1 << 7);
    pub const REPLACE_MESSAGES: Self = Self(1 << 8);
    pub const ADD_MESSAGE: Self = Self(1 << 9);
    pub const CLEAR_CONTEXT: Self = Self(1 << 10);
    pub const RESULT: Self = Self(1 << 11);

    /// Everything an answer can do.
    pub const ALL: Self = Self((1 << 12) - 1);

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set without what is in `other`.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all of `other` is in this set.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// How the answers of several hooks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Any deny denies; texts are joined.
    AnyDenies,
    /// A later answer's fields replace an earlier one's.
    FieldReplacement,
    /// Allow-lists are united, the most restrictive mode wins.
    ToolUnion,
    /// The whole later answer lies over the earlier one.
    LastWins,
    /// Each hook sees the changes so far; the last change wins whole; a deny ends the chain.
    Stack,
    /// The first block ends the chain, otherwise the last result is used.
    FirstBlock,
    /// The last result is used, whole.
    LastResult,
    /// Each handler gets the list the one before it returned.
    ChainMessages,
    /// The first message is used.
    FirstMessage,
    /// Answers are thrown away.
    Ignore,
}

/// How the hooks of one dialect run inside one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// All at once; the answers are folded in plan order.
    Parallel,
    /// One after the other.
    Chain,
    /// All at once, and the host does not wait.
    Detached,
}

impl Stage {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parallel | Self::Detached => "parallel",
            Self::Chain => "sequential",
        }
    }
}

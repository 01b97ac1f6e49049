//! The types of a column, which describes one event in one dialect. Nothing here names a dialect.

use std::time::Duration;

use super::spec::FieldSpec;

/// One event in one dialect.
#[derive(Clone, Copy, Debug)]
pub struct DialectEvent {
    /// The dialect's name for the event.
    pub name: &'static str,
    /// The field that a matcher is compared with. If there is none, matchers have no effect.
    pub matched_on: Option<&'static str>,
    /// The event's own fields in the order they are handed to a hook.
    pub fields: &'static [FieldSpec],
    /// What an answer may do.
    pub can: Abilities,
    /// Whether a deny has an effect. This includes the deny of a failure policy, so it can be true although `can` lacks
    /// [`Abilities::DENY`].
    pub gates: bool,
    /// How several answers become one.
    pub fold: MergeRule,
    /// How the hooks run, where the configuration does not say.
    pub stage: Stage,
    /// The time a hook has, where the configuration does not say.
    pub timeout: Duration,
    /// Which occurrences of the event the dialect takes part in.
    pub occurrences: Occurrences,
}

impl DialectEvent {
    /// What most events have in common: hooks run side by side, and can do nothing.
    pub(crate) const PARALLEL: Self = Self {
        name: "",
        matched_on: None,
        fields: &[],
        can: Abilities::NONE,
        gates: false,
        fold: MergeRule::AnyDenies,
        stage: Stage::Parallel,
        timeout: Duration::from_secs(60),
        occurrences: Occurrences::All,
    };
}

/// Which occurrences of an event a dialect takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrences {
    /// Every one.
    All,
    /// Only those at which the agent itself starts or ends, and not those of a session that begins or ends while the agent
    /// runs.
    LaunchOnly,
    /// Only model calls that continue the conversation, and not those beside it, such as the one for a summary.
    ConversationOnly,
}

/// What an answer to an event may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities(u32);

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
    /// Gives the result of an event whose result has a shape of its own.
    pub const RESULT: Self = Self(1 << 11);

    /// Asks the user about the operation.
    pub const ASK: Self = Self(1 << 12);
    /// Says something to the user.
    pub const TELL_USER: Self = Self(1 << 13);
    /// Keeps the output of the operation from the user.
    pub const HIDE_OUTPUT: Self = Self(1 << 14);
    /// Denies what has happened: the reason reaches the model.
    pub const DENY_RESULT: Self = Self(1 << 15);
    /// Adds context that the dialect's own agent does not give to the model.
    pub const OFFER_CONTEXT: Self = Self(1 << 16);
    pub const REPLACE_PROMPT: Self = Self(1 << 17);

    /// Everything an answer can do.
    pub const ALL: Self = Self((1 << 18) - 1);

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
pub enum MergeRule {
    /// Any deny denies; texts are joined.
    AnyDenies,
    /// A later answer's fields replace an earlier one's. The dialect has its own rule for the decision.
    FieldReplacement,
    /// Allow-lists are united, the most restrictive mode wins.
    ToolUnion,
    /// A later answer's fields replace an earlier one's, the decision included.
    LastWins,
    /// Each hook receives the changes so far. The last change replaces the whole value. A deny ends the chain.
    Stack,
    /// The first block ends the chain, otherwise the last result is used.
    FirstBlock,
    /// The last result is used and the others are dropped.
    LastResult,
    /// Each handler gets the list the one before it returned.
    ChainMessages,
    /// The first message is used.
    FirstMessage,
    /// Answers are not used.
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
    /// The name used in JSON. It only says whether the hooks run at once or in order.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parallel | Self::Detached => "parallel",
            Self::Chain => "sequential",
        }
    }
}

//! The types of the event table: what there is to say about an event.

use std::time::Duration;

use super::kind::EventKind;
use crate::dialect::DialectId;

/// Everything there is to know about one event.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventSpec {
    /// The event.
    pub kind: EventKind,
    /// Its neutral name.
    pub name: &'static str,
    /// When it fires, for people.
    pub fires: &'static str,
    /// Whose deny counts.
    pub gating: Gating,
    /// The event in each dialect that has it.
    pub(super) columns: [Option<Column>; 3],
}

impl EventSpec {
    /// The event as that dialect knows it.
    #[must_use]
    pub fn column(&self, dialect: DialectId) -> Option<&Column> {
        let at = match dialect {
            DialectId::Llxprt => 0,
            DialectId::Xcode => 1,
            DialectId::Xcsh => 2,
            DialectId::Native => return None,
        };
        self.columns.get(at).and_then(Option::as_ref)
    }

    /// Whether a deny from a hook of that dialect counts.
    #[must_use]
    pub fn gated_by(&self, dialect: DialectId) -> bool {
        match self.gating {
            Gating::Nobody => false,
            Gating::Everybody => true,
            Gating::Only(one) => one == dialect || dialect == DialectId::Native,
        }
    }

    /// The field a matcher of that dialect is compared with.
    #[must_use]
    pub fn matched_on(&self, dialect: DialectId) -> Option<&'static str> {
        match dialect {
            DialectId::Native => self.columns.iter().flatten().find_map(|column| column.matched_on),
            _ => self.column(dialect).and_then(|column| column.matched_on),
        }
    }

    /// Whether any deny counts.
    #[must_use]
    pub fn is_gating(&self) -> bool {
        !matches!(self.gating, Gating::Nobody)
    }
}

/// Whose deny of an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gating {
    /// The event cannot be denied.
    Nobody,
    /// Every dialect's deny counts.
    Everybody,
    /// Only this dialect's deny counts.
    Only(DialectId),
}

/// One event in one dialect.
#[derive(Debug)]
#[non_exhaustive]
pub struct Column {
    /// The dialect's name for the event.
    pub name: &'static str,
    /// The field a matcher is compared with, where there is one.
    pub matched_on: Option<&'static str>,
    /// The event's own fields in the order they are handed to a hook.
    pub fields: &'static [FieldSpec],
    /// What an answer may do.
    pub can: Abilities,
    /// How several answers become one.
    pub fold: Fold,
    /// How the hooks run, where the configuration does not say.
    pub stage: Stage,
    /// The time a hook has, where the configuration does not say.
    pub timeout: Duration,
}

/// A field of an event.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FieldSpec {
    /// The neutral name.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether a hook may rely on it.
    pub required: bool,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Text.
    Text,
    /// An object.
    Object,
    /// A list.
    List,
    /// True or false.
    Flag,
    /// A number.
    Number,
    /// Anything.
    Any,
}

/// What an answer to an event may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities(pub(super) u16);

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

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is in this set.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// How the answers of several hooks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// The first block ends the chain, otherwise the last result counts.
    FirstBlock,
    /// The last result counts, whole.
    LastResult,
    /// Each handler gets the list the one before it returned.
    ChainMessages,
    /// The first message counts.
    FirstMessage,
    /// Answers are thrown away.
    Ignore,
}

/// How the hooks of one dialect run inside one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

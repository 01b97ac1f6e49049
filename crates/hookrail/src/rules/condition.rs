//! Conditions of rules, as data that was checked.

use hookrail_shell::{Class, FactKind, FactSet, FlowKind, GitFact, Why};
use regex::Regex;

use super::command_pattern::CommandPattern;
use super::path_pattern::PathPattern;
use crate::event::EventKind;

/// Alternatives, one of which must hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) alternatives: Vec<Vec<Clause>>,
    /// The facts without any of which it does not hold.
    needs: Option<FactSet>,
}

impl Condition {
    pub(crate) fn new(alternatives: Vec<Vec<Clause>>) -> Self {
        let needs = |clauses: &Vec<Clause>| clauses.iter().find_map(Clause::needs);
        let needs = alternatives.iter().map(needs).try_fold(FactSet::default(), |all, needs| Some(all.union(needs?)));
        Self { alternatives, needs }
    }

    /// Whether a call that has only facts of these kinds is surely not meant: most calls have few, and most conditions need one.
    pub(crate) fn rules_out(&self, kinds: impl FnOnce() -> FactSet) -> bool {
        self.needs.is_some_and(|needs| !needs.meets(kinds()))
    }

    /// Whether it asks what a session did before.
    pub(crate) fn asks_about_sessions(&self) -> bool {
        self.alternatives.iter().flatten().any(|clause| match clause {
            Clause::Session(_) => true,
            Clause::Not(condition) => condition.asks_about_sessions(),
            Clause::Event(_)
            | Clause::RunsOrWrites
            | Clause::Tool(_)
            | Clause::Agent(_)
            | Clause::Commands(_)
            | Clause::Paths(..)
            | Clause::Executes(_)
            | Clause::Network(_)
            | Clause::Git(_)
            | Clause::Flow(_)
            | Clause::EnvDump
            | Clause::Content(_)
            | Clause::Prompt(_) => false,
        })
    }
}

/// One key of a condition.
#[derive(Clone, Debug)]
pub(crate) enum Clause {
    /// The event is one of these.
    Event(Vec<EventKind>),
    /// The call runs a command or writes.
    RunsOrWrites,
    /// The tool is one of these.
    Tool(Vec<String>),
    /// The agent is one of these.
    Agent(Vec<String>),
    /// A command fits.
    Commands(Vec<CommandPattern>),
    /// A path that is used in one of these ways fits.
    Paths(PathKey, Vec<PathCondition>),
    /// Code that is run fits.
    Executes(Vec<String>),
    /// A host that is connected to fits.
    Network(Vec<HostCondition>),
    /// Something happens to a repository.
    Git(Vec<GitFact>),
    /// Something flows.
    Flow(Vec<FlowKind>),
    /// All variables are printed.
    EnvDump,
    /// A text that is written or sent fits.
    Content(Vec<ContentPattern>),
    /// The user's prompt fits.
    Prompt(Vec<Regex>),
    /// The session has done something before.
    Session(SessionCondition),
    /// This does not hold.
    Not(Box<Condition>),
}

impl Clause {
    /// The facts without any of which it does not hold; none if it is about something else.
    fn needs(&self) -> Option<FactSet> {
        Some(FactSet::of(match self {
            Self::Commands(_) | Self::Flow(_) => &[FactKind::Commands],
            Self::Paths(key, _) => key.kinds(),
            Self::Executes(_) => &[FactKind::Executes],
            Self::Network(_) => &[FactKind::Network],
            Self::Git(_) => &[FactKind::Git],
            Self::EnvDump => &[FactKind::Reads],
            Self::Event(_)
            | Self::RunsOrWrites
            | Self::Tool(_)
            | Self::Agent(_)
            | Self::Content(_)
            | Self::Prompt(_)
            | Self::Session(_)
            | Self::Not(_) => return None,
        }))
    }
}

/// How a path is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathKey {
    Reads,
    Writes,
    Deletes,
    /// Any of the three.
    Touches,
}

impl PathKey {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Deletes => "deletes",
            Self::Touches => "touches",
        }
    }

    /// The facts that decide it.
    pub(crate) const fn kinds(self) -> &'static [FactKind] {
        match self {
            Self::Reads => &[FactKind::Reads],
            Self::Writes => &[FactKind::Writes],
            Self::Deletes => &[FactKind::Deletes],
            Self::Touches => &[FactKind::Reads, FactKind::Writes, FactKind::Deletes],
        }
    }
}

/// What a path has to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathCondition {
    /// One of these fits; with none every path does.
    pub(crate) globs: Vec<PathPattern>,
    /// None of these fits.
    pub(crate) except: Vec<PathPattern>,
    /// It lies in none of these.
    pub(crate) outside: Vec<PathPattern>,
    /// It lies in one of these; with none anywhere.
    pub(crate) inside: Vec<PathPattern>,
    /// It decides which hooks run.
    pub(crate) is_guard_place: bool,
}

/// What a host has to be.
#[derive(Clone, Debug)]
pub(crate) enum HostCondition {
    Fits(String),
    Except(Vec<String>),
}

/// What a text has to contain.
#[derive(Clone, Debug)]
pub(crate) enum ContentPattern {
    Fits(Regex),
    /// A known form of a key.
    Secrets,
}

/// What the session has to have done before.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionCondition {
    pub(crate) read: Vec<PathPattern>,
    pub(crate) wrote: Vec<PathPattern>,
    pub(crate) ran: Vec<CommandPattern>,
    pub(crate) since: Since,
}

/// How far back a session is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Since {
    /// Its beginning.
    #[default]
    Session,
    /// So many seconds ago.
    Seconds(u64),
}

/// Classes of what is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClassSet(u8);

impl ClassSet {
    /// Those that a deny or ask rule matches if it says nothing.
    pub(crate) const DEFAULT: Self = Self(bit(Class::Hidden) | bit(Class::Unparsable) | bit(Class::Bound));
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn of(classes: &[Class]) -> Self {
        Self(classes.iter().fold(0, |set, class| set | bit(*class)))
    }

    /// Whether every class of another set is in this one.
    pub(crate) fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether what is not known for this reason counts.
    pub(crate) fn has(self, why: Why) -> bool {
        self.0 & bit(why.class()) != 0
    }
}

/// Every class, by its name.
pub(crate) const CLASSES: [Class; 6] =
    [Class::Hidden, Class::Unparsable, Class::Bound, Class::Inline, Class::Opaque, Class::Remote];

const fn bit(class: Class) -> u8 {
    match class {
        Class::Hidden => 1,
        Class::Unparsable => 2,
        Class::Bound => 4,
        Class::Inline => 8,
        Class::Opaque => 16,
        Class::Remote => 32,
    }
}

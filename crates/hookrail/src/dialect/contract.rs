//! The contract: everything the engine wants to know of a dialect, and the way from a [`DialectId`] to the dialect.
//!
//! A dialect implements [`Dialect`], which the engine holds as an object, and [`Protocol`], for which the part of an event is
//! made. Neither knows a dialect by name.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::load::{LoadContext, LoadMemory, Loaded};
use super::registry::{DialectId, with_dialects};
use crate::breadcrumb::Breadcrumb;
use crate::diagnostic::Diagnostic;
use crate::event::{Column, Event, EventKind, Stage};
use crate::firing::{AnyPart, Part, PartPlan, Plan};
use crate::hook::{Authority, Hook, OnFailure};
use crate::json::Json;
use crate::matcher::Matcher;
use crate::outcome::{Decision, Effects, EndKind, Health, Outcome};
use crate::run::{Environment, RunEnd, RunInput};
use crate::snapshot::Policy;

/// What a dialect is: its events, its configuration, and what it adds to documents and logs. All of it is pure, apart from
/// [`Dialect::load`].
///
/// A method has a default only if nothing, or what the dialect's columns say, is the right answer for a dialect that has
/// never heard of it.
pub(crate) trait Dialect: Sync {
    /// The event as this dialect knows it; none if the dialect does not have it.
    fn column(&self, kind: EventKind) -> Option<&'static Column>;

    /// Loads every hook of this dialect. What was read or looked for is told to the reading, which is what is watched.
    fn load(&self, context: &mut LoadContext<'_, '_>, memory: &mut LoadMemory) -> Loaded;

    /// Folders that the environment names for what this dialect keeps. Modules must not change what is in them.
    fn folders(&self, _environment: &Environment) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Variables that hold the project's directory in the environment of its hooks. What commands name through others is
    /// not known before they run, so a grant cannot cover it.
    fn project_variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// How the hooks run in an event, given those that match.
    fn stage(&self, kind: EventKind, _matching: &[&Arc<Hook>]) -> Stage {
        self.column(kind).map_or(Stage::Chain, |column| column.stage)
    }

    /// The text a matcher is compared with, in the dialect's own words.
    fn matcher_subject(&self, event: &Event, field: &str) -> String {
        event.text(field).unwrap_or_default()
    }

    /// The matcher that a hook with that pattern has. A pattern that cannot be read matches everything, because hooks that
    /// guard are asked for it.
    fn matcher(&self, kind: EventKind, pattern: &str) -> Matcher;

    /// What makes two hooks of one event the same work, if the dialect runs the same work only once.
    fn same_work(&self, _hook: &Hook) -> Option<String> {
        None
    }

    /// Records in the dialect's own detail of an outcome that the engine itself refused the event, with these effects.
    fn refused(&self, _outcome: &mut Outcome, _effects: &Effects) {}

    /// Makes the dialect's own detail of an outcome agree with what the whole event came to.
    fn settle(&self, _outcome: &mut Outcome) {}

    /// What only this dialect puts into the document of an outcome.
    fn outcome_members(&self, _outcome: &Outcome) -> Vec<(&'static str, Json)> {
        Vec::new()
    }

    /// What only this dialect puts into the document of a plan.
    fn plan_members(&self, _plan: &Plan) -> Vec<(&'static str, Json)> {
        Vec::new()
    }

    /// What a run leaves in the log of this dialect.
    fn run_log(&self, _hook: &Hook, _kind: EventKind, _end: &RunEnd) -> Vec<Breadcrumb> {
        Vec::new()
    }

    /// What an error of the engine itself leaves in the log of this dialect.
    fn engine_log(&self, _kind: EventKind, _why: &str) -> Vec<Breadcrumb> {
        Vec::new()
    }

    /// The file in which the log is kept, if the environment asks for that.
    fn log_file(&self, _environment: &Environment) -> Option<PathBuf> {
        None
    }
}

/// What the engine and a hook of a dialect say to each other, and what several answers come to. All of it is pure.
pub(crate) trait Protocol: Dialect + 'static {
    /// Which one it is in the registry, which also gives its name.
    const ID: DialectId;

    /// A parsed answer.
    type Answer: Send + Sync + 'static;

    /// How long a hook may tidy up after it was told to end.
    const GRACE: Duration;

    /// The same when the host does not want the hook any more.
    const CANCEL_GRACE: Duration = Self::GRACE;

    /// Whether what a hook receives depends on the event and the chain so far only, and not on the hook.
    const SAME_INPUT_FOR_ALL: bool = false;

    /// How long a shutdown waits for a detached hook of that event; none if it waits for the hook's own time.
    fn drain(_kind: EventKind) -> Option<Duration> {
        None
    }

    /// How the hook is started.
    fn launch(_hook: &Hook, _event: &Event) -> Launch {
        Launch::default()
    }

    /// What the hook receives. `before` holds the replies of the chain so far.
    fn input(hook: &Hook, event: &Event, before: &[Reply<Self::Answer>]) -> RunInput;

    /// Makes an answer of a raw end, and an effect of a failure.
    fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Self::Answer>;

    /// Replaces the tool input that an answer rewrites, if it rewrites one and `settle` has another: that is how the several
    /// names of one argument are kept in step.
    fn settle_tool_input(answer: &mut Self::Answer, settle: &dyn Fn(&Json) -> Option<Json>);

    /// Applies one answer's rewrite to the event, as the stage wants it, and says whether a chain goes on.
    fn pass_on(event: &mut Event, stage: Stage, reply: &Reply<Self::Answer>) -> Flow;

    /// Whether an answer changes a field of the event that the hook was asked about.
    fn changes(event: &Event, stage: Stage, reply: &Reply<Self::Answer>, field: &str) -> bool {
        let mut after = event.clone();
        Self::pass_on(&mut after, stage, reply);
        after.field(field) != event.field(field)
    }

    /// Makes one of all answers, in plan order, and applies their rewrites to the event. In a chain the rewrites
    /// were passed on already.
    fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Self::Answer>]) -> Folded;
}

/// How a hook is started.
#[derive(Debug, Default)]
pub(crate) struct Launch {
    /// The command line for the shell, where that is not the hook's own text.
    pub(crate) command: Option<Arc<str>>,
    /// Variables to add to its environment.
    pub(crate) variables: Arc<[(String, String)]>,
    /// Folders that must be there before it starts.
    pub(crate) folders: Vec<PathBuf>,
}

/// What a dialect made of one run.
#[derive(Debug)]
pub(crate) struct Reply<A> {
    pub(crate) hook: Arc<Hook>,
    pub(crate) end: EndKind,
    /// What the hook decided, or what its failure policy made of it.
    pub(crate) decision: Option<Decision>,
    pub(crate) answer: Option<A>,
    /// Whether the hook did its work, which a block is too.
    pub(crate) health: Health,
    /// How much the answer weighs; the machine fills it in.
    pub(crate) authority: Authority,
    pub(crate) duration: Duration,
    /// What kept the hook from answering, in words; the machine fills it in.
    pub(crate) failure: Option<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<A> Reply<A> {
    /// What a dialect made of a raw end.
    pub(crate) fn new(
        hook: &Arc<Hook>,
        end: &RunEnd,
        kind: EndKind,
        decision: Option<Decision>,
        answer: Option<A>,
    ) -> Self {
        Self {
            hook: Arc::clone(hook),
            end: kind,
            decision,
            answer,
            health: Health::of(kind),
            authority: Authority::default(),
            duration: end.duration(),
            failure: None,
            diagnostics: Vec::new(),
        }
    }
}

/// Whether a chain goes on after a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    On,
    Over,
}

/// What folding needs to know besides the answers.
pub(crate) struct FoldContext<'a> {
    pub(crate) stage: Stage,
    pub(crate) policy: &'a Policy,
    /// The event as it was before this dialect's part.
    pub(crate) before: &'a Event,
}

/// One dialect's part of an event, folded.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    pub(crate) effects: Effects,
    /// What only this dialect puts into the outcome.
    pub(crate) detail: Option<Box<dyn OutcomeDetail>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What only one dialect puts into an outcome.
pub(crate) trait OutcomeDetail: fmt::Debug + Send + Sync {
    /// Records the detail of the dialect's part.
    fn record(self: Box<Self>, outcome: &mut Outcome);

    /// Adds the detail of a second look at the final input, which came to those effects.
    fn amend(self: Box<Self>, outcome: &mut Outcome, effects: &Effects);
}

macro_rules! dispatch {
    ($($group:ident { $(
        $(#[doc = $doc:literal])+ $(#[cfg($($when:tt)*)])?
        $dialect:ident $name:literal, $title:literal, in $folder:ident keeping [$($kept:literal),*];
    )+ })+) => {
        impl DialectId {
            /// The dialect itself.
            pub(crate) fn contract(self) -> &'static dyn Dialect {
                match self {
                    $($($(#[cfg($($when)*)])? Self::$dialect => &super::$folder::$dialect,)+)+
                }
            }

            /// The state machine that runs the dialect's part of an event.
            pub(crate) fn part(self, plan: &PartPlan, first_run: usize) -> Box<dyn AnyPart> {
                match self {
                    $($($(#[cfg($($when)*)])?
                        Self::$dialect => Box::new(Part::<super::$folder::$dialect>::new(plan, first_run)),
                    )+)+
                }
            }
        }

        $($($(#[cfg($($when)*)])?
            const _: () = assert!(
                <super::$folder::$dialect as Protocol>::ID as usize == DialectId::$dialect as usize,
                "a dialect stands in the registry under the name of another one"
            );
        )+)+
    };
}

with_dialects!(dispatch);

impl DialectId {
    /// The variables that hold the project's directory, of all dialects.
    pub(crate) fn project_variables() -> impl Iterator<Item = &'static str> {
        Self::ORDER.into_iter().flat_map(|dialect| dialect.contract().project_variables()).copied()
    }
}

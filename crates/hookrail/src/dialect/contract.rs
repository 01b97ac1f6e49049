//! The contract between the engine and a dialect, and the look-up from a [`DialectId`] to the dialect.
//!
//! A dialect implements [`Dialect`], which the engine uses as a trait object, and [`Protocol`], over which the state
//! machine of a part is generic. Neither trait names a dialect.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::load::{LoadContext, LoadMemory, Loaded};
use crate::config::diagnostic::Diagnostic;
use crate::dialect::snapshot::Policy;
use crate::dialect_id::{DialectId, with_dialects};
use crate::event::{DialectEvent, Event, EventKind, Stage};
use crate::hook::exec_options::CommandShell;
use crate::hook::{Authority, Hook, OnFailure};
use crate::json::Json;
use crate::matcher::Matcher;
use crate::outcome::{Decision, Effects, EndKind, Health, Outcome};
use crate::record::breadcrumb::Breadcrumb;
use crate::run::{ChildExit, Environment, ExitMeaning, RunEnd, RunInput};
use crate::tools::{ToolColumn, Tools};

/// What a dialect is: its events, its configuration, and what it adds to documents and logs. All of it is pure, apart
/// from [`Dialect::load`].
///
/// A method has a default only if doing nothing, or following the dialect's columns, is right for every dialect that
/// does not implement it.
pub(crate) trait Dialect: Sync {
    /// The event as this dialect knows it; none if the dialect does not have it.
    fn column(&self, kind: EventKind) -> Option<&'static DialectEvent>;

    /// Loads every hook of this dialect. Everything that is read or looked for is recorded by the reader, because it is
    /// watched.
    fn load(&self, context: &mut LoadContext<'_, '_>, memory: &mut LoadMemory) -> Loaded;

    /// The variables that name folders of the user from which this dialect reads hooks.
    fn folder_variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// The files and folders of the machine from which this dialect reads hooks.
    fn machine_places(&self, _environment: &Environment) -> Vec<PathBuf> {
        Vec::new()
    }

    /// What the dialect calls the tools; none if its hooks get the host's names.
    fn tools(&self) -> Option<&'static ToolColumn> {
        None
    }

    /// Variables that hold the project's directory in the environment of its hooks. A path through any other variable
    /// is not known before the command runs, so a grant cannot cover it.
    fn project_variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// The variable with the folder of the plugin or extension that a hook belongs to.
    fn owner_variable(&self) -> Option<&'static str> {
        None
    }

    /// How the hooks run in an event, given those that match.
    fn stage(&self, kind: EventKind, _matching: &[&Arc<Hook>]) -> Stage {
        self.column(kind).map_or(Stage::Chain, |column| column.stage)
    }

    /// The text that a matcher is compared with, in the dialect's names.
    fn matcher_subject(&self, event: &Event, field: &str) -> String {
        event.text(field).unwrap_or_default()
    }

    /// Whether a matcher is compared with the dialect's own name of a tool alone, where the dialect has one, and not with the name
    /// that the host gave.
    fn matches_own_names_only(&self) -> bool {
        false
    }

    /// Further names by which a matcher selects the tool of that name in this dialect.
    fn matched_as(&self, _tool: &str) -> &'static [&'static str] {
        &[]
    }

    /// The matcher for a pattern. An invalid pattern matches everything, because the hook may be a guard.
    fn matcher(&self, kind: EventKind, pattern: &str) -> Matcher;

    /// The key of a hook's work. Of several hooks with the same key only one runs; none if the dialect runs all.
    fn work_key(&self, _hook: &Hook) -> Option<String> {
        None
    }

    /// What an answer can do about an event that cannot be denied, as advice for an author who tried to deny it; none if
    /// answers have no effect there.
    fn instead_of_deny(&self, _kind: EventKind) -> Option<String> {
        None
    }

    /// Records in the dialect's own detail of an outcome that the engine itself refused the event, with these effects.
    fn record_refusal(&self, _outcome: &mut Outcome, _effects: &Effects) {}

    /// Makes the dialect's own detail of an outcome agree with the final effects of the event. `event` is the event as the
    /// last hook left it, if hooks ran.
    fn finalize(&self, _outcome: &mut Outcome, _event: Option<&Event>) {}

    /// Adds the dialect's own detail about a call that the event's call carries.
    fn take_carried(&self, _outcome: &mut Outcome, _carried: &Outcome) {}

    /// What a hook that is heard later says for the model; none if it says nothing.
    fn late_words(&self, _end: &RunEnd) -> Option<String> {
        None
    }

    /// The members that this dialect adds to the document of an outcome.
    fn outcome_members(&self, _outcome: &Outcome) -> Vec<(&'static str, Json)> {
        Vec::new()
    }

    /// The members that this dialect adds to the document of a plan in which its hooks run like that.
    fn plan_members(&self, _stage: Stage) -> Vec<(&'static str, Json)> {
        Vec::new()
    }

    /// The log lines of this dialect about a run.
    fn run_log(&self, _hook: &Hook, _kind: EventKind, _end: &RunEnd) -> Vec<Breadcrumb> {
        Vec::new()
    }

    /// The log lines of this dialect about an error of the engine itself.
    fn engine_log(&self, _kind: EventKind, _why: &str) -> Vec<Breadcrumb> {
        Vec::new()
    }

    /// The file of the dialect's log, if the environment asks for one.
    fn log_file(&self, _environment: &Environment) -> Option<PathBuf> {
        None
    }
}

/// The protocol between the engine and the hooks of a dialect, and how several answers combine. All of it is pure.
pub(crate) trait Protocol: Dialect + 'static {
    /// Its entry in the registry, which also gives its name.
    const ID: DialectId;

    /// A parsed answer.
    type Answer: Send + Sync + 'static;

    /// How long a hook may take to exit after SIGTERM.
    const GRACE: Duration;

    /// The same if the host cancels the hook.
    const CANCEL_GRACE: Duration = Self::GRACE;

    /// What to do about a status that is a failure although the author most likely meant a refusal; none if no status
    /// refuses in this dialect and nothing else does in its place.
    const EXIT_STATUS_HINT: Option<&'static str> = None;

    /// Whether the input of a hook depends only on the event and the chain so far, and not on the hook.
    const SAME_INPUT_FOR_ALL: bool = false;

    /// What the end of a process says before its output is read.
    fn exit_meaning(exit: ChildExit) -> ExitMeaning {
        match exit {
            ChildExit::Code(0) => ExitMeaning::AnswerOnStdout,
            ChildExit::Code(_) | ChildExit::Signal(_) | ChildExit::Unknown => ExitMeaning::DecidesAlone,
        }
    }

    /// How long a shutdown waits for a detached hook of that event; none for the hook's own timeout.
    fn drain(_kind: EventKind) -> Option<Duration> {
        None
    }

    /// How the hook is started.
    fn launch(_hook: &Hook, _event: &Event) -> Launch {
        Launch::default()
    }

    /// The input of the hook. `before` holds the replies of the chain so far.
    fn input(hook: &Hook, event: &Event, before: &[Reply<Self::Answer>]) -> RunInput;

    /// Turns a raw end into an answer, and a failure into its effect.
    fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Self::Answer>;

    /// Replaces the tool input that an answer rewrites, if it rewrites one and `merge` has another: that is how the several
    /// names of one argument are kept in step.
    fn merge_tool_input(answer: &mut Self::Answer, merge: &dyn Fn(&Json) -> Option<Json>);

    /// Applies the rewrite of one answer to the event, as the stage requires, and returns whether a chain continues.
    fn apply_answer(event: &mut Event, stage: Stage, reply: &Reply<Self::Answer>) -> Flow;

    /// Whether an answer changes the field of the event that guards judge.
    fn changes(event: &Event, stage: Stage, reply: &Reply<Self::Answer>, field: &str) -> bool {
        let mut after = event.clone();
        Self::apply_answer(&mut after, stage, reply);
        after.field(field) != event.field(field)
    }

    /// Folds all answers in plan order, and applies their rewrites to the event. In a chain the rewrites were applied
    /// already.
    fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Self::Answer>]) -> Folded;
}

/// Code that has to know the type of a dialect.
pub(crate) trait ProtocolVisitor {
    /// What the code returns.
    type Output;

    /// Runs the code for that dialect.
    fn visit<D: Protocol>(self) -> Self::Output;
}

/// How a hook is started.
#[derive(Debug, Default)]
pub(crate) struct Launch {
    /// The command line for the shell, if it differs from the hook's own text.
    pub(crate) command: Option<Arc<str>>,
    /// Variables to add to its environment.
    pub(crate) variables: Arc<[(String, String)]>,
    /// Folders that are created before it starts.
    pub(crate) folders: Vec<PathBuf>,
    /// The shell that its command line is given to.
    pub(crate) shell: CommandShell,
    /// Why it is not started for this event, if a value of the event could run as code.
    pub(crate) refused: Option<Arc<str>>,
}

/// The result of reading one run.
#[derive(Debug)]
pub(crate) struct Reply<A> {
    pub(crate) hook: Arc<Hook>,
    pub(crate) end: EndKind,
    /// What the hook decided, or, if it failed, the decision of its failure policy.
    pub(crate) decision: Option<Decision>,
    pub(crate) answer: Option<A>,
    /// Whether the hook did its work. A block counts as work done.
    pub(crate) health: Health,
    /// The authority of the hook, which the state machine sets.
    pub(crate) authority: Authority,
    pub(crate) duration: Duration,
    /// Why the hook could not answer, as a sentence, which the state machine sets.
    pub(crate) failure: Option<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<A> Reply<A> {
    /// The result of reading a raw end.
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
            health: Health::from_end(kind),
            authority: Authority::default(),
            duration: end.duration(),
            failure: None,
            diagnostics: Vec::new(),
        }
    }
}

/// Whether a chain continues after a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    End,
}

/// What folding needs to know besides the answers.
pub(crate) struct FoldContext<'a> {
    pub(crate) stage: Stage,
    pub(crate) policy: &'a Policy,
    /// What tools are called.
    pub(crate) tools: &'a Tools,
    /// The event as it was before this dialect's part.
    pub(crate) before: &'a Event,
}

/// One dialect's part of an event, folded.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    pub(crate) effects: Effects,
    /// What this dialect adds to the outcome.
    pub(crate) detail: Option<Box<dyn OutcomeDetail>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What one dialect adds to an outcome.
pub(crate) trait OutcomeDetail: fmt::Debug + Send + Sync {
    /// Records the detail of the dialect's part.
    fn record(self: Box<Self>, outcome: &mut Outcome);

    /// Adds the detail of asking guards again about the final input, with the resulting effects.
    fn amend(self: Box<Self>, outcome: &mut Outcome, effects: &Effects);
}

macro_rules! dispatch {
    ($($group:ident { $(
        $(#[doc = $doc:literal])+ $(#[cfg($($when:tt)*)])?
        $dialect:ident $name:literal, $title:literal, in $folder:ident keeping [$($kept:literal),*] $(if $off:ident)?;
    )+ })+) => {
        impl DialectId {
            /// The dialect itself.
            pub(crate) fn contract(self) -> &'static dyn Dialect {
                match self {
                    $($($(#[cfg($($when)*)])? Self::$dialect => &super::$folder::$dialect,)+)+
                }
            }

            /// Gives a visitor the dialect as a type.
            pub(crate) fn with_protocol<V: ProtocolVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $($($(#[cfg($($when)*)])? Self::$dialect => visitor.visit::<super::$folder::$dialect>(),)+)+
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

    /// The variables in which its hooks find the project's directory, the usual one first.
    #[must_use]
    pub fn variables_of_project(self) -> &'static [&'static str] {
        self.contract().project_variables()
    }

    /// The variable in which its hooks find the folder of the plugin or extension that they belong to.
    #[must_use]
    pub fn variable_of_owner(self) -> Option<&'static str> {
        self.contract().owner_variable()
    }
}

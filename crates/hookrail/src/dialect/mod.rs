//! Dialects: how one agent family writes hooks down, what it puts on a hook's standard input, how a hook answers,
//! and how several answers combine.
//!
//! Wire shapes live here and nowhere else. A dialect is pure apart from loading its files; it neither starts
//! processes nor knows when or where its hooks run.

mod columns;
mod command_hooks;
pub mod llxprt;
mod load;
pub(crate) mod native;
mod sandbox;
pub mod xcode;
pub(crate) mod xcsh;

pub use columns::find_event;

pub(crate) use load::{Inspector, Loaded, Loader, Plugins, Sources, path_in, text_in};

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::breadcrumb::Breadcrumb;
use crate::diagnostic::Diagnostic;
use crate::event::{Column, Event, EventKind, Stage};
use crate::firing::{AnyPart, Part, PartPlan};
use crate::hook::{Authority, Hook, OnFailure};
use crate::matcher::{Matcher, OnInvalid};
use crate::outcome::{Aggregated, Decision, Effects, EndKind};
use crate::run::{Environment, RunEnd, RunInput};
use crate::snapshot::Policy;

/// A family of hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DialectId {
    /// Command hooks in settings files.
    Llxprt,
    /// Command hooks of plugins.
    Xcode,
    /// Hooks that are JavaScript or TypeScript modules.
    Xcsh,
    /// Closures of the embedding program.
    Native,
}

impl DialectId {
    /// The order in which dialects take part in an event.
    pub const ORDER: [Self; 4] = [Self::Llxprt, Self::Xcode, Self::Xcsh, Self::Native];

    /// The dialects that are written in files.
    pub const CONFIGURED: [Self; 3] = [Self::Llxprt, Self::Xcode, Self::Xcsh];

    /// The name used in JSON, on the command line and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Llxprt => "llxprt",
            Self::Xcode => "xcode",
            Self::Xcsh => "xcsh",
            Self::Native => "native",
        }
    }

    /// The dialect of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ORDER.into_iter().find(|dialect| dialect.name() == name)
    }
}

impl fmt::Display for DialectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a dialect contributes to a fired event. All of it is pure.
pub(crate) trait Dialect: Send + 'static {
    /// A parsed answer.
    type Answer: Send + Sync + 'static;

    /// The event as this dialect knows it; none if the dialect does not have it.
    fn column(kind: EventKind) -> Option<&'static Column>;

    /// How long a hook may tidy up after it was told to end.
    const GRACE: Duration;

    /// Whether what a hook receives depends on the event and the chain so far only, and not on the hook.
    const SAME_INPUT_FOR_ALL: bool = false;

    /// What the hook receives. `before` holds the replies of the chain so far.
    fn input(hook: &Hook, event: &Event, before: &[Reply<Self::Answer>]) -> RunInput;

    /// The same when the host does not want the hook any more.
    const CANCEL_GRACE: Duration = Self::GRACE;

    /// How long a shutdown waits for a detached hook of that event; none when it waits for the hook's own time.
    fn drain(_kind: EventKind) -> Option<Duration> {
        None
    }

    /// How the hook is started.
    fn launch(hook: &Hook, event: &Event) -> Launch {
        Launch { variables: Self::variables(hook, event), ..Launch::default() }
    }

    /// Variables to add to the hook's environment.
    fn variables(_hook: &Hook, _event: &Event) -> Arc<[(String, String)]> {
        Arc::from([])
    }

    /// Makes an answer of a raw end, and an effect of a failure.
    fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Self::Answer>;

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

/// Whether a hook did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// It answered, or had nothing to say.
    Well,
    /// It failed. What it decided is then what its failure policy made of that.
    Failed,
}

impl Health {
    /// What the end alone tells: whoever answered or kept silent is well.
    pub(crate) fn of(end: EndKind) -> Self {
        if matches!(end, EndKind::Answered | EndKind::Silent) { Self::Well } else { Self::Failed }
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
    pub(crate) aggregated: Option<Aggregated>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The event as a dialect knows it.
fn column(dialect: DialectId, kind: EventKind) -> Option<&'static Column> {
    match dialect {
        DialectId::Llxprt => llxprt::Llxprt::column(kind),
        DialectId::Xcode => xcode::Xcode::column(kind),
        DialectId::Xcsh => xcsh::Xcsh::column(kind),
        DialectId::Native => native::Native::column(kind),
    }
}

/// The state machine that runs one dialect's part of an event.
pub(crate) fn part(dialect: DialectId, plan: &PartPlan, first_run: usize) -> Box<dyn AnyPart> {
    match dialect {
        DialectId::Llxprt => Box::new(Part::<llxprt::Llxprt>::new(plan, first_run)),
        DialectId::Xcode => Box::new(Part::<xcode::Xcode>::new(plan, first_run)),
        DialectId::Xcsh => Box::new(Part::<xcsh::Xcsh>::new(plan, first_run)),
        DialectId::Native => Box::new(Part::<native::Native>::new(plan, first_run)),
    }
}

/// How a dialect's hooks run in an event, given those that match.
pub(crate) fn stage(dialect: DialectId, kind: EventKind, matching: &[&Arc<Hook>]) -> Stage {
    match dialect {
        DialectId::Llxprt => llxprt::stage(matching),
        DialectId::Xcode | DialectId::Xcsh | DialectId::Native => {
            kind.spec().column(dialect).map_or(Stage::Chain, |column| column.stage)
        }
    }
}

/// The text a matcher is compared with, in the dialect's own words.
pub(crate) fn matcher_subject(dialect: DialectId, event: &Event, field: &str) -> String {
    match dialect {
        DialectId::Llxprt => llxprt::matcher_subject(event, field),
        DialectId::Xcode | DialectId::Xcsh | DialectId::Native => event.text(field).unwrap_or_default(),
    }
}

/// The matcher that a guard of the dialect has with that pattern; none matches everything, and so does one that cannot
/// be read.
pub(crate) fn guards_matcher(dialect: DialectId, kind: EventKind, pattern: Option<&str>) -> Matcher {
    match (dialect, pattern) {
        (DialectId::Llxprt, Some(pattern)) => {
            <llxprt::Llxprt as command_hooks::CommandDialect>::compile_matcher(kind, pattern, OnInvalid::MatchAll)
                .matcher
        }
        (DialectId::Xcode, Some(pattern)) => xcode::compile_matcher(pattern).matcher,
        (DialectId::Xcsh | DialectId::Native, _) | (_, None) => Matcher::everything(),
    }
}

/// What makes two hooks of one event the same work, where the dialect runs the same work only once.
pub(crate) fn same_work(hook: &Hook) -> Option<String> {
    match hook.dialect {
        DialectId::Llxprt => llxprt::same_work(hook),
        DialectId::Xcode | DialectId::Xcsh | DialectId::Native => None,
    }
}

/// Adds what a second look came to to the aggregate of its dialect.
pub(crate) fn amend_aggregate(first: &mut Aggregated, second: Aggregated, effects: &Effects) {
    llxprt::amend_aggregate(first, second, effects);
}

/// What a run leaves in the log of its dialect, where that has one.
pub(crate) fn breadcrumbs(hook: &Hook, kind: EventKind, end: &RunEnd) -> Vec<Breadcrumb> {
    match hook.dialect {
        DialectId::Xcode => xcode::breadcrumbs(hook, kind, end),
        DialectId::Llxprt | DialectId::Xcsh | DialectId::Native => Vec::new(),
    }
}

/// What an error of the engine itself leaves in the log.
pub(crate) fn engine_breadcrumb(kind: EventKind, why: &str) -> Breadcrumb {
    xcode::engine_breadcrumb(kind, why)
}

/// The file in which breadcrumbs are kept, where the environment asks for that.
pub(crate) fn breadcrumb_file(environment: &Environment) -> Option<PathBuf> {
    xcode::breadcrumb_file(environment)
}

/// A field's neutral name as dialects that are written in JavaScript spell it: `message_count` as `messageCount`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut text, word| {
        let mut letters = word.chars();
        text.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        text.push_str(letters.as_str());
        text
    })
}

/// What a failure does under the hook's own policy, as a decision.
pub(crate) fn failure_decision(on_failure: OnFailure) -> Option<Decision> {
    match on_failure {
        OnFailure::Allow => None,
        OnFailure::Ask => Some(Decision::Ask),
        OnFailure::Block => Some(Decision::Deny),
    }
}

/// The reason shown when a failure has an effect.
pub(crate) fn failure_reason(hook: &Hook, on_failure: OnFailure, end: EndKind) -> String {
    if hook.authority() == Authority::System && hook.on_failure < on_failure {
        return format!("system hook `{hook}` could not be asked ({}), so the operation is denied", end.name());
    }
    format!("hook `{hook}` gave no verdict ({}) and is set to {} on failure", end.name(), on_failure.name())
}

/// What a failure does under the hook's own policy, as effects.
fn failure_effects(hook: &Hook, on_failure: OnFailure, end: EndKind) -> Option<Effects> {
    let decision = failure_decision(on_failure)?;
    Some(Effects {
        decision: Some(decision),
        reason: Some(failure_reason(hook, on_failure, end)),
        ..Effects::default()
    })
}

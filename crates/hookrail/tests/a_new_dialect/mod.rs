//! The smallest complete dialect. It shows that a folder and a line in the registry are enough, and what they must hold.
//!
//! A hook reads `event tool` on one line and answers with one: `no, because …`, `note: …`, or nothing.

mod dialect_tests;
mod events;
mod load;

use std::sync::Arc;
use std::time::Duration;

use super::{
    Dialect, DialectId, Flow, FoldContext, Folded, LoadContext, LoadMemory, Loaded, Protocol, Reply, failure_decision,
};
use crate::event::{DialectEvent, Event, EventKind, Stage};
use crate::hook::{Hook, OnFailure};
use crate::json::Json;
use crate::matcher::{Language, MatchScope, Matcher, OnInvalid};
use crate::outcome::{Decision, Effects, EndKind};
use crate::run::sentences::failure_reason;
use crate::run::{RawEnd, RunEnd, RunInput};

/// The dialect.
pub(crate) struct TestDialect;

/// What a hook said, or what its failure means.
pub(crate) enum Answer {
    No(String),
    Ask(String),
    Note(String),
}

impl Answer {
    fn read(line: &str) -> Option<Self> {
        if let Some(reason) = line.strip_prefix("no, because ") {
            return Some(Self::No(reason.to_owned()));
        }
        line.strip_prefix("note: ").map(|text| Self::Note(text.to_owned()))
    }

    fn of_failure(hook: &Hook, on_failure: OnFailure, kind: EndKind, how: &RawEnd) -> Option<Self> {
        let reason = failure_reason(hook, on_failure, kind, how);
        match failure_decision(on_failure)? {
            Decision::Deny => Some(Self::No(reason)),
            Decision::Ask => Some(Self::Ask(reason)),
            Decision::Allow => None,
        }
    }

    fn effects(&self) -> Effects {
        match self {
            Self::No(reason) => Effects::deny(reason),
            Self::Ask(reason) => Effects::ask(reason),
            Self::Note(text) => Effects::none().with_context(text),
        }
    }
}

impl Dialect for TestDialect {
    fn column(&self, kind: EventKind) -> Option<&'static DialectEvent> {
        events::column(kind)
    }

    fn load(&self, context: &mut LoadContext<'_, '_>, _memory: &mut LoadMemory) -> Loaded {
        load::load(context)
    }

    fn matcher(&self, _kind: EventKind, pattern: &str) -> Matcher {
        Matcher::compile(pattern, Language::GlobOrRegex, MatchScope::Whole, OnInvalid::MatchAll).matcher
    }
}

impl Protocol for TestDialect {
    const ID: DialectId = DialectId::TestDialect;

    type Answer = Answer;

    const GRACE: Duration = Duration::from_millis(500);

    fn input(_hook: &Hook, event: &Event, _before: &[Reply<Answer>]) -> RunInput {
        let name = Self.column(event.kind()).map_or("", |column| column.name);
        let line = format!("{name} {}\n", event.text("tool_name").unwrap_or_default());
        Arc::<[u8]>::from(line.into_bytes()).into()
    }

    fn read(hook: &Arc<Hook>, on_failure: OnFailure, _kind: EventKind, end: &RunEnd) -> Reply<Answer> {
        let failed = |kind: EndKind| (kind, Answer::of_failure(hook, on_failure, kind, end.how()));
        let (kind, answer) = match (end.how(), end.failure()) {
            (RawEnd::Exited(0), None) => match Answer::read(end.stdout().lossy().trim()) {
                Some(answer) => (EndKind::Answered, Some(answer)),
                None => (EndKind::Silent, None),
            },
            (_, Some(failure)) => failed(failure),
            // What only another runner returns is no answer of a command.
            (_, None) => failed(EndKind::BadOutput),
        };
        let decision = answer.as_ref().and_then(|answer| answer.effects().decision);
        Reply::new(hook, end, kind, decision, answer)
    }

    fn merge_tool_input(_answer: &mut Answer, _merge: &dyn Fn(&Json) -> Option<Json>) {}

    /// No answer rewrites anything.
    fn apply_answer(_event: &mut Event, _stage: Stage, reply: &Reply<Answer>) -> Flow {
        if reply.decision == Some(Decision::Deny) { Flow::End } else { Flow::Continue }
    }

    fn fold(_context: &FoldContext<'_>, _event: &mut Event, replies: &[Reply<Answer>]) -> Folded {
        let mut folded = Folded::default();
        for answer in replies.iter().filter_map(|reply| reply.answer.as_ref()) {
            folded.effects.absorb(answer.effects());
        }
        folded
    }
}

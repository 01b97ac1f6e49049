//! Closures of the embedding program: answers are neutral effects already, so there is no wire shape.

mod events;

use std::sync::Arc;
use std::time::Duration;

use super::{Dialect, DialectId, Flow, FoldContext, Folded, LoadContext, Loaded, Reply};
use crate::event::{Column, Event, EventKind, Stage};
use crate::hook::{Authority, Hook, OnFailure};
use crate::matcher::Matcher;
use crate::outcome::{Decision, Effects, EndKind, Health};
use crate::run::{How, RunEnd, RunInput};

pub(crate) struct Native;

impl Dialect for Native {
    const ID: DialectId = DialectId::Native;

    const TITLE: &'static str = "closures of the embedding program";

    fn column(kind: EventKind) -> Option<&'static Column> {
        events::column(kind)
    }

    type Memory = ();

    /// Closures are given to the builder, not read from files.
    fn load(_context: &mut LoadContext<'_, '_>, _memory: &mut ()) -> Loaded {
        Loaded::default()
    }

    fn matcher(_kind: EventKind, _pattern: &str) -> Matcher {
        Matcher::everything()
    }

    fn same_work(_hook: &Hook) -> Option<String> {
        None
    }

    type Answer = Effects;

    const GRACE: Duration = Duration::ZERO;

    fn input(_hook: &Hook, _event: &Event, _before: &[Reply<Effects>]) -> RunInput {
        Arc::<[u8]>::from([]).into()
    }

    fn read(hook: &Arc<Hook>, on_failure: OnFailure, _kind: EventKind, end: &RunEnd) -> Reply<Effects> {
        let failed = |end: EndKind| (end, super::failure_effects(hook, on_failure, end));
        let (kind, answer) = match &end.how {
            How::Decided(effects) if **effects == Effects::default() => (EndKind::Silent, None),
            How::Decided(effects) => (EndKind::Answered, Some((**effects).clone())),
            How::TimedOut(_) => failed(EndKind::TimedOut),
            How::Threw(_) => failed(EndKind::Threw),
            How::SpawnFailed(_) => failed(EndKind::SpawnFailed),
            _ => failed(EndKind::Cancelled),
        };
        let decision = answer.as_ref().and_then(|effects| effects.decision);
        Reply {
            hook: Arc::clone(hook),
            end: kind,
            decision,
            answer,
            health: Health::of(kind),
            authority: Authority::default(),
            duration: end.duration,
            failure: None,
            diagnostics: Vec::new(),
        }
    }

    fn pass_on(event: &mut Event, _stage: Stage, reply: &Reply<Effects>) -> Flow {
        if let Some(effects) = &reply.answer {
            apply(event, effects);
        }
        if reply.decision == Some(Decision::Deny) { Flow::Over } else { Flow::On }
    }

    fn fold(_context: &FoldContext<'_>, _event: &mut Event, replies: &[Reply<Effects>]) -> Folded {
        let mut folded = Folded::default();
        for effects in replies.iter().filter_map(|reply| reply.answer.clone()) {
            folded.effects.absorb(effects);
        }
        folded
    }
}

/// Lets rewrites flow on to whoever comes next.
fn apply(event: &mut Event, effects: &Effects) {
    let fields = [
        ("tool_input", effects.tool_input.clone()),
        ("llm_request", effects.llm_request.clone()),
        ("llm_response", effects.llm_response.clone()),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            event.set(name, value);
        }
    }
    if let Some(prompt) = &effects.prompt {
        event.set("prompt", crate::json::Json::string(prompt));
    }
}

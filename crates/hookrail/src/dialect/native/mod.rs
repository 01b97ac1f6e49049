//! Closures of the embedding program: answers are neutral effects already, so there is no wire shape.

mod events;

use std::sync::Arc;
use std::time::Duration;

use super::{Dialect, DialectId, Flow, FoldContext, Folded, LoadContext, LoadMemory, Loaded, Protocol, Reply};
use crate::event::{DialectEvent, Event, EventKind, Stage};
use crate::hook::{Hook, OnFailure};
use crate::json::Json;
use crate::matcher::Matcher;
use crate::outcome::{Decision, Effects, EndKind};
use crate::run::{RawEnd, RunEnd, RunInput};

pub(crate) struct Native;

impl Dialect for Native {
    fn column(&self, kind: EventKind) -> Option<&'static DialectEvent> {
        events::column(kind)
    }

    /// Closures are given to the builder, not read from files.
    fn load(&self, _context: &mut LoadContext<'_, '_>, _memory: &mut LoadMemory) -> Loaded {
        Loaded::default()
    }

    fn matcher(&self, _kind: EventKind, _pattern: &str) -> Matcher {
        Matcher::everything()
    }
}

impl Protocol for Native {
    const ID: DialectId = DialectId::Native;

    type Answer = Effects;

    const GRACE: Duration = Duration::ZERO;

    fn input(_hook: &Hook, _event: &Event, _before: &[Reply<Effects>]) -> RunInput {
        Arc::<[u8]>::from([]).into()
    }

    fn read(hook: &Arc<Hook>, on_failure: OnFailure, _kind: EventKind, end: &RunEnd) -> Reply<Effects> {
        let failed = |kind: EndKind| (kind, super::failure_effects(hook, on_failure, kind, end.how()));
        let (kind, answer) = match (end.how(), end.failure()) {
            (RawEnd::Decided(effects), _) if **effects == Effects::default() => (EndKind::Silent, None),
            (RawEnd::Decided(effects), _) => (EndKind::Answered, Some((**effects).clone())),
            (_, Some(failure)) => failed(failure),
            // What only another runner returns is no answer of a closure.
            (_, None) => failed(EndKind::BadOutput),
        };
        let decision = answer.as_ref().and_then(|effects| effects.decision);
        Reply::new(hook, end, kind, decision, answer)
    }

    fn merge_tool_input(answer: &mut Effects, merge: &dyn Fn(&Json) -> Option<Json>) {
        if let Some(merged) = answer.tool_input.as_ref().and_then(merge) {
            answer.tool_input = Some(merged);
        }
    }

    fn apply_answer(event: &mut Event, _stage: Stage, reply: &Reply<Effects>) -> Flow {
        if let Some(effects) = &reply.answer {
            apply(event, effects);
        }
        if reply.decision == Some(Decision::Deny) { Flow::End } else { Flow::Continue }
    }

    fn fold(_context: &FoldContext<'_>, _event: &mut Event, replies: &[Reply<Effects>]) -> Folded {
        let mut folded = Folded::default();
        for effects in replies.iter().filter_map(|reply| reply.answer.clone()) {
            folded.effects.absorb(effects);
        }
        folded
    }
}

/// Lets rewrites flow on to the next hook. The other effects concern the host and not the event.
fn apply(event: &mut Event, effects: &Effects) {
    let Effects {
        tool_input,
        llm_request,
        llm_response,
        prompt,
        decision: _,
        reason: _,
        stop: _,
        system_message: _,
        suppress_output: _,
        clear_context: _,
        additional_context: _,
        tool_output: _,
        messages: _,
        entries: _,
        tool_config: _,
        result: _,
    } = effects;
    for (name, value) in [("tool_input", tool_input), ("llm_response", llm_response)] {
        if let Some(value) = value {
            event.set(name, value.clone());
        }
    }
    if let Some(request) = llm_request {
        event.set_request(request.clone());
    }
    if let Some(prompt) = prompt {
        event.set("prompt", Json::string(prompt));
    }
}

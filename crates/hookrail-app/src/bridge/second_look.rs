//! A call that hooks change when they answer the agent's question about it has passed its guards as it was before: they are asked
//! about the changed call too.

use hookrail::{Decision, Effects, Event, EventKind, Json};
use hookrail_bridge::{AgentRequest, EventResult};

/// The request with the calls, if hooks have changed them in the answer to a question.
pub(super) fn changed_calls(request: &AgentRequest, results: &[EventResult]) -> AgentRequest {
    let changed = |(event, result): (&Event, &EventResult)| {
        let input = result.effects.tool_input.clone()?;
        (result.effects.decision == Some(Decision::Allow)).then(|| call_of(event, input))
    };
    let is_question = request.kind() == EventKind::PermissionRequest;
    let events = request.events.iter().zip(results).filter(|_| is_question).filter_map(changed).collect();
    AgentRequest { events, ..request.clone() }
}

/// The call that a question is about, with another input.
fn call_of(question: &Event, input: Json) -> Event {
    let call = Event::new(EventKind::BeforeTool, question.cwd())
        .session(question.session_id())
        .transcript(question.transcript_path())
        .at_time(question.timestamp());
    let fields = question.fields().iter().filter(|(name, _)| *name != "permission_suggestions");
    fields.fold(call, |call, (name, value)| call.with(name, value.clone())).with("tool_input", input)
}

/// Lets what guards say about changed calls restrict the answers: a deny denies, a question leaves the agent's own to the user,
/// and a further change is a deny.
pub(super) fn restrict(results: &mut [EventResult], again: Vec<EventResult>) {
    let changed = results.iter_mut().filter(|result| result.effects.tool_input.is_some());
    for (result, again) in changed.zip(again) {
        let effects = match again.effects.decision {
            Some(Decision::Deny) => again.effects,
            _ if again.effects.tool_input.is_some() => {
                Effects::deny("a hook wants to change an input that was changed after it had answered")
            }
            Some(Decision::Ask) => {
                Effects { decision: Some(Decision::Ask), tool_input: None, ..result.effects.clone() }
            }
            Some(Decision::Allow) | None => continue,
        };
        *result = EventResult { effects, denied_by: again.denied_by, asked_by: again.asked_by };
    }
}

#[cfg(test)]
mod tests {
    use hookrail::Asker;
    use hookrail_bridge::{Agent, Incoming, NoisyEvents, Reading, request};

    use super::*;

    fn asked(event: &str) -> AgentRequest {
        let payload = format!(
            r#"{{"session_id": "s", "cwd": "/p", "transcript_path": "/t", "permission_mode": "default",
                "hook_event_name": "{event}", "tool_name": "Bash", "tool_input": {{"command": "ls"}},
                "permission_suggestions": []}}"#
        );
        let incoming = Incoming {
            agent: Agent::claude(),
            event: None,
            payload: payload.as_bytes(),
            variable: &|_| None,
            noisy: NoisyEvents::Filtered,
        };
        let Ok(Reading::Fire(request)) = request::read(&incoming) else { panic!("nothing is fired") };
        *request
    }

    fn answered(effects: Effects) -> Vec<EventResult> {
        vec![EventResult { effects, ..EventResult::default() }]
    }

    fn rewritten() -> Json {
        Json::parse(r#"{"command":"rm x"}"#).unwrap()
    }

    #[test]
    fn a_call_that_is_changed_in_the_answer_to_a_question_is_a_call_again() {
        let changed = |event: &str, effects: Effects| changed_calls(&asked(event), &answered(effects)).events;
        let allowed = Effects::allow().with_tool_input(rewritten());
        let calls = changed("PermissionRequest", allowed.clone());
        let [call] = calls.as_slice() else { panic!("{calls:?}") };
        assert_eq!((call.kind(), call.session_id()), (EventKind::BeforeTool, "s"));
        assert_eq!(call.field("tool_input").map(Json::text), Some(rewritten().text()));
        assert_eq!((call.text("tool_name").as_deref(), call.field("permission_suggestions")), (Some("Bash"), None));
        // Without an allow the rewrite does not reach the agent, and a call itself was judged already.
        let unanswered = Effects::none().with_tool_input(rewritten());
        for (event, effects) in
            [("PermissionRequest", Effects::allow()), ("PermissionRequest", unanswered), ("PreToolUse", allowed)]
        {
            assert!(changed(event, effects).is_empty(), "{event}");
        }
    }

    #[test]
    fn guards_can_only_restrict_what_was_answered() {
        let restricted = |again: EventResult| {
            let mut results = answered(Effects::allow().with_tool_input(rewritten()));
            restrict(&mut results, vec![again]);
            let effects = results.remove(0).effects;
            (effects.decision, effects.tool_input.is_some())
        };
        let of = |effects: Effects| EventResult { effects, asked_by: Some(Asker::Guard), ..EventResult::default() };
        assert_eq!(restricted(of(Effects::none())), (Some(Decision::Allow), true));
        assert_eq!(restricted(of(Effects::allow())), (Some(Decision::Allow), true));
        assert_eq!(restricted(of(Effects::deny("no"))), (Some(Decision::Deny), false));
        assert_eq!(restricted(of(Effects::ask("sure?"))), (Some(Decision::Ask), false));
        let again = Effects::none().with_tool_input(Json::empty_object());
        assert_eq!(restricted(of(again)), (Some(Decision::Deny), false));
    }
}

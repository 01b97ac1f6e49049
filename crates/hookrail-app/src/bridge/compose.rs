//! The fourth step: what hooks and the bridge itself have to say becomes one answer.

use hookrail_bridge::{
    AgentRequest, Answer, AnswerOptions, AnswerStatus, BridgeSession, EventResult, UnfinishedResponse,
};

use super::fire::Fired;
use super::notices::{Notices, disabled_notice, load_failure_notices};

/// An answer, and what it leaves behind.
pub(super) struct Composed {
    pub(super) answer: Answer,
    /// What the answer is made of: the results of the hooks, then those of the bridge itself.
    pub(super) results: Vec<EventResult>,
    /// What the session remembers if the answer is given.
    pub(super) session: BridgeSession,
}

/// Makes the answer.
pub(super) fn compose(
    request: &AgentRequest,
    fired: &Fired,
    about_trust: Notices,
    pieces: Option<&UnfinishedResponse>,
    session: &BridgeSession,
    options: AnswerOptions,
) -> Composed {
    let mut session = session.clone();
    let notices = about_trust
        .and(load_failure_notices(&fired.load_failures, request, &mut session.reported))
        .and(disabled_notice(request));
    let mut results: Vec<EventResult> = fired.results.iter().cloned().chain(notices.results).collect();
    let lost = pieces.and_then(|pieces| pieces.fit(&mut results));
    let unseen = pieces.and_then(UnfinishedResponse::warning);
    let mut answer = Answer::compose(request, &results, options, &mut session);
    // With another status standard error is the reason that the model gets, and nothing else.
    if answer.status == AnswerStatus::Answered {
        let warnings = fired.warnings.iter().chain(&notices.warnings).chain(&unseen);
        let warnings = warnings.map(|warning| format!("hookrail: {warning}"));
        let lines: Vec<String> = answer.stderr.take().into_iter().chain(warnings).collect();
        answer.stderr = (!lines.is_empty()).then(|| lines.join("\n"));
    }
    if let Some(lost) = lost {
        *session.losses.entry(lost.name()).or_default() += 1;
        answer.losses.push(lost);
    }
    Composed { answer, results, session }
}

#[cfg(test)]
mod tests {
    use hookrail::Effects;
    use hookrail_bridge::{Agent, Incoming, NoisyEvents, Reading, request};

    use super::*;

    /// The answer about an event of Qwen Code, which reads a denial from standard error with status 2, and where the user is not
    /// told anything before a tool.
    fn composed(event: &str, effects: Effects, session: &BridgeSession) -> Composed {
        let payload = r#""session_id": "s", "cwd": "/", "transcript_path": "/t", "prompt": "hello",
            "tool_name": "run_shell_command", "tool_input": {"command": "ls"}"#;
        let payload = format!(r#"{{"hook_event_name": "{event}", {payload}}}"#);
        let incoming = Incoming {
            agent: Agent::from_name("qwen").unwrap(),
            event: None,
            payload: payload.as_bytes(),
            variable: &|_| None,
            noisy: NoisyEvents::Filtered,
        };
        let Ok(Reading::Fire(request)) = request::read(&incoming) else { panic!("nothing is fired") };
        let fired = Fired {
            results: vec![EventResult { effects, ..EventResult::default() }],
            warnings: vec!["the event was not recorded".to_owned()],
            load_failures: vec!["`a.json` cannot be used".to_owned()],
            ..Fired::default()
        };
        compose(&request, &fired, Notices::default(), None, session, AnswerOptions::default())
    }

    #[test]
    fn warnings_are_lines_of_every_answer_and_the_user_is_told_once_where_that_is_possible() {
        let lines = "hookrail: the event was not recorded\nhookrail: `a.json` cannot be used";
        let mut session = BridgeSession::default();
        for (event, notices) in [("PreToolUse", 0), ("UserPromptSubmit", 1), ("UserPromptSubmit", 0)] {
            let composed = composed(event, Effects::none(), &session);
            assert_eq!(composed.answer.stderr.as_deref(), Some(lines), "{event}");
            // The first result is that of the hook.
            assert_eq!(composed.results.len(), 1 + notices, "{event}");
            session = composed.session;
        }
    }

    #[test]
    fn a_denial_has_its_reason_alone_and_leaves_the_session_that_it_was_made_from() {
        let session = BridgeSession::default();
        let denied = composed("PreToolUse", Effects::deny("no"), &session);
        assert_eq!(denied.answer.decision, Some(hookrail::Decision::Deny));
        assert_eq!(session, BridgeSession::default());
        // The model reads standard error as the reason, and nothing else.
        assert_eq!(denied.answer.status, AnswerStatus::Denied);
        assert!(!denied.answer.stderr.unwrap_or_default().contains("not recorded"));
    }
}

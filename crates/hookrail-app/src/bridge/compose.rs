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

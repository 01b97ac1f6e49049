//! The first step: what an agent sends becomes a request, or is answered without asking any hook.

use std::io;
use std::time::Duration;

use hookrail::recorder::CorrectedEntry;
use hookrail::{Decision, Event, EventKind};
use hookrail_bridge::{
    Agent, AgentRequest, Answer, AnswerStatus, Incoming, OnError, Pass, Reading, RefusedRequest, RequestError,
    ResponsePiece, request,
};

use super::deadline::Deadline;
use super::session_file::{SessionError, SessionFiles};
use super::{BridgeCall, BridgeIo, give, record};
use crate::failure::Failure;

/// Makes a request of the payload. Its events stand in absolute directories and have the names under which they are recorded.
pub(super) fn read(payload: io::Result<Vec<u8>>, call: &BridgeCall) -> Result<Reading, RefusedRequest> {
    let incoming = Incoming {
        agent: call.agent,
        event: call.event.as_deref(),
        payload: payload.as_deref().unwrap_or_default(),
        variable: &|name| std::env::var(name).ok(),
        noisy: call.noisy,
    };
    if let Err(error) = &payload {
        return Err(incoming.refused(RequestError::Unreadable { message: error.to_string() }));
    }
    Ok(match request::read(&incoming)? {
        Reading::Fire(request) => Reading::Fire(Box::new(ready(*request))),
        Reading::Pass(pass) => Reading::Pass(pass),
    })
}

fn ready(request: AgentRequest) -> AgentRequest {
    // Against the working directory of this process, which a server does not have.
    let events = request.events.into_iter().map(in_absolute_directory);
    AgentRequest { events: record::with_names(events).collect(), ..request }
}

fn in_absolute_directory(event: Event) -> Event {
    match std::path::absolute(event.cwd()) {
        Ok(directory) if directory != event.cwd() => event.in_directory(directory),
        Ok(_) | Err(_) => event,
    }
}

/// Answers what is not fired.
pub(super) fn answer_pass(call: &BridgeCall, pass: &Pass, deadline: Deadline, io: &dyn BridgeIo) -> AnswerStatus {
    let answer = match pass {
        Pass::PieceOfResponse(piece) => match keep_piece(piece, deadline.lock_patience()) {
            Ok(()) => Answer::silent(),
            Err(error) => {
                let event = piece.agent.event_name(EventKind::AfterModel).and_then(|name| piece.agent.find_event(name));
                Answer::failure(piece.agent, event, Failure::from(error).message(), call.on_error)
            }
        },
        Pass::UnknownEvent { .. } | Pass::EmptyPrompt | Pass::RepeatedEvent => {
            tracing::debug!(target: "hookrail::bridge", ?pass, "nothing is fired");
            Answer::passed(call.agent, pass)
        }
    };
    let event = call.event.as_deref().and_then(|name| call.agent.find_event(name));
    give::give(&answer, event, io)
}

/// Keeps a piece of a response for the event of the last one.
fn keep_piece(piece: &ResponsePiece, patience: Duration) -> Result<(), SessionError> {
    // Without a session the pieces of unrelated responses would be mixed, so the last one is judged alone.
    let Some(key) = &piece.session else { return Ok(()) };
    let locked = SessionFiles::of(piece.agent)?.lock_named(key, patience)?;
    let mut session = locked.session().clone();
    session.keep_piece(piece);
    locked.save(session)
}

/// Answers what cannot be used.
pub(super) fn answer_refused(
    call: &BridgeCall,
    refused: &RefusedRequest,
    deadline: Deadline,
    io: &'static dyn BridgeIo,
) -> AnswerStatus {
    let answer = Answer::refusal(refused, call.on_error);
    let status = give::give(&answer, refused.event, io);
    // The agent has the status only when this process ends, and another process may hold the journal.
    let ends = give::on_deadline_thread(move || {
        std::thread::sleep(deadline.left());
        io.end_process(status);
    });
    if ends.is_ok() {
        let told = CorrectedEntry {
            fire: None,
            session: &refused.session_id,
            event: refused.event.map(|event| event.kind),
            tool: None,
            decision: answer.decision,
            reason: &refused.error.to_string(),
        };
        record::record_unread(Some(refused.agent), told);
    }
    status
}

/// A command line that cannot be parsed and begins like a call of the bridge.
#[derive(Clone, Copy, Debug)]
pub struct Misuse<'m> {
    /// What stands in the place of the agent.
    pub agent: Option<&'m str>,
    /// What stands in the place of the event.
    pub event: Option<&'m str>,
    /// What the call asks for if the bridge fails.
    pub on_error: OnError,
}

/// Whether the agent is denied what it calls for, which is recorded: it would take any other status for a permission. The end of
/// an answer is not denied, because that would keep the agent going.
pub fn answer_misuse(misuse: Misuse<'_>) -> AnswerStatus {
    if misuse.on_error == OnError::Allow {
        return AnswerStatus::Answered;
    }
    let agent = misuse.agent.and_then(Agent::from_name);
    let event = agent.zip(misuse.event).and_then(|(agent, event)| agent.find_event(event));
    if event.is_some_and(|event| !event.kind.spec().is_gating() || event.kind == EventKind::AgentEnd) {
        return AnswerStatus::Answered;
    }
    let reason = "the command line of the bridge cannot be used";
    let (event, decision) = (event.map(|event| event.kind), Some(Decision::Deny));
    record::record_unread(agent, CorrectedEntry { fire: None, session: "", event, tool: None, decision, reason });
    AnswerStatus::Denied
}

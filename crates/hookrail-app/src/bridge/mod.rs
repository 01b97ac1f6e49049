//! What an agent calls as its hook: one payload in, one answer out, in steps that hand on values.
//!
//! ```text
//! read ── request ──► open ── session ──► fire ── results ──► compose ── answer, session ──► give ──► record
//! ```
//!
//! A second thread waits for the deadline and competes for the turn to answer, and for nothing else. Every error in a gating event
//! denies it, because all agents let a tool run when its hook fails in an unknown way.

mod compose;
mod deadline;
mod fire;
mod give;
mod notices;
mod open;
mod read;
mod record;
mod second_look;
#[cfg(unix)]
mod served;
#[cfg(unix)]
mod server;
pub mod session_file;
mod shadow_process;
mod trust_notice;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use hookrail::recorder::HostIdentity;
use hookrail::{Builder, Event, Json};
use hookrail_bridge::{
    Agent, AgentRequest, Answer, AnswerOptions, AnswerStatus, Lateness, NoisyEvents, OnError, Reading,
};

use crate::failure::Result;
use crate::folders::state_folder;
use compose::compose;
pub use deadline::Deadline;
pub use fire::event_result;
use fire::{Fired, fire};
use give::{AnswerTurn, Turn};
use open::{Opened, open, open_project};
pub use read::{Misuse, answer_misuse};
use record::{Given, RecordedRequest};
use session_file::{LockedSession, SessionFiles};
pub use shadow_process::run_shadow_hooks;
use trust_notice::trust_notices;

/// A call of the bridge, as the command line describes it.
#[derive(Clone, Debug)]
pub struct BridgeCall {
    /// The agent that calls.
    pub agent: Agent,
    /// The event, for agents whose payload does not name it.
    pub event: Option<String>,
    /// The time after which gating events are denied.
    pub deadline: Option<Duration>,
    /// What happens to a gating event if the bridge itself fails.
    pub on_error: OnError,
    /// What the answer may do.
    pub answer: AnswerOptions,
    /// What hooks that wait for trust mean for a gating event.
    pub waiting: WaitingHooksPolicy,
    /// What is fired although the agent fires it far more often than it happens.
    pub noisy: NoisyEvents,
    /// Who runs the hooks.
    pub runner: BridgeRunner,
}

/// What hooks that wait for trust mean for a gating event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingHooksPolicy {
    /// The user is told at the start of a session.
    Told,
    /// They deny gating events until they are trusted.
    Deny,
}

/// Who runs the hooks of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BridgeRunner {
    /// The running server of this user, if there is one that can be used.
    ServerOrOwn,
    /// This process.
    Own,
}

/// What a call of the bridge has of its process. Standard output and the exit status belong to the agent: nothing but the answer is
/// written there.
pub trait BridgeIo: Sync {
    /// Reads the payload, for no longer than the deadline allows.
    ///
    /// # Errors
    ///
    /// The payload did not arrive as a whole.
    fn read_payload(&self, deadline: Deadline) -> io::Result<Vec<u8>>;

    /// Writes an answer where the agent reads it.
    fn write_answer(&self, answer: &Answer) -> Delivery;

    /// Writes a line to standard error.
    fn warn(&self, line: &str);

    /// Ends this process at once with the status of its answer.
    fn end_process(&self, status: AnswerStatus);
}

/// What became of the document of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was written, or there is none.
    Written,
    /// No one can have read it.
    Lost,
}

/// Answers one call of an agent: at the deadline at the latest, and ends soon after it. The status is that of the answer.
pub fn run(call: &BridgeCall, io: &'static dyn BridgeIo) -> AnswerStatus {
    let deadline = Deadline::begin(call.deadline);
    let request = match read::read(io.read_payload(deadline), call) {
        Ok(Reading::Fire(request)) => *request,
        Ok(Reading::Pass(pass)) => return read::answer_pass(call, &pass, deadline, io),
        Err(refused) => return read::answer_refused(call, &refused, deadline, io),
    };
    let (agent, event, recorded) = (request.agent, request.event, RecordedRequest::of(&request));
    let failed = |failure: &str| Answer::failure(agent, Some(event), failure, call.on_error);
    let turn = match AnswerTurn::begin(&request, deadline, io) {
        Ok(turn) => turn,
        Err(error) => return give::give(&failed(&format!("there is no thread for it: {error}")), Some(event), io),
    };
    let answering = AssertUnwindSafe(|| answer(call, request, &recorded, &turn, deadline, io));
    // A panic would leave the agent without an answer until the deadline.
    let failure = match catch_unwind(answering) {
        Ok(Ok(status)) => return status,
        Ok(Err(failure)) => failure.message().to_owned(),
        Err(_) => "an internal error occurred".to_owned(),
    };
    let answer = failed(&failure);
    let status = turn.give(&answer);
    recorded.record_unasked(&answer, &failure);
    status
}

/// The steps from a request to its records. A failure denies a gating event and is reported for any other.
fn answer(
    call: &BridgeCall,
    request: AgentRequest,
    recorded: &RecordedRequest,
    turn: &AnswerTurn,
    deadline: Deadline,
    io: &dyn BridgeIo,
) -> Result<AnswerStatus> {
    let store = SessionFiles::of(request.agent)?;
    let Opened { request, session, stopped, pieces, repository, folder } =
        open(&store, request, deadline.lock_patience())?;
    if let Some(answer) = stopped {
        let status = turn.give(&answer);
        recorded.record_unasked(&answer, "a hook stopped the agent before");
        return Ok(status);
    }
    let opened = open_project(&request, repository.as_deref(), folder)?;
    let (fired, running) = fire(call, &opened, &request, deadline)?;
    let given = match fired.late {
        Some(lateness) => {
            give_late(turn, &request, &fired, lateness, || session.lock(&store, &request, deadline.reserve() / 4).ok())
        }
        None => {
            let about_trust = trust_notices(call, &fired, &opened, &request);
            let locked = session.lock(&store, &request, deadline.lock_patience())?;
            let composed = compose(&request, &fired, about_trust, pieces.as_ref(), locked.session(), call.answer);
            match turn.take() {
                Turn::Ours => {
                    locked.save(composed.session)?;
                    turn.give(&composed.answer);
                    Given { answer: composed.answer, results: composed.results }
                }
                Turn::Lost => {
                    let lateness = Lateness::Deadline(deadline.limit());
                    give_late(turn, &request, &fired, lateness, || Some(locked))
                }
            }
        }
    };
    running.end(&request, deadline);
    let decided: Vec<_> = fired.results.iter().map(|result| result.effects.decision).collect();
    recorded.record_given(&given, &decided, fired.journal, &opened.project, io);
    Ok(turn.give(&given.answer))
}

/// Answers without the hooks. The agent then has its answer, so a session that cannot be locked does not matter any more.
fn give_late(
    turn: &AnswerTurn,
    request: &AgentRequest,
    fired: &Fired,
    lateness: Lateness,
    lock: impl FnOnce() -> Option<LockedSession>,
) -> Given {
    let answer = Answer::late(request.agent, request.event, lateness);
    // After a signal the deadline is not reached yet.
    turn.give(&answer);
    if let Some(locked) = lock() {
        let mut session = locked.session().clone();
        session.answered_late(request, &answer.losses);
        let _ = locked.save(session);
    }
    Given { answer, results: fired.results.clone() }
}

/// The name under which events of an agent are recorded, here and by a server.
fn recorded_host(agent: Agent) -> HostIdentity {
    HostIdentity { name: format!("hookrail bridge {agent}"), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// The fields of an event, as another process is given them.
pub fn event_input(event: &Event) -> Json {
    let mut members = event.fields().clone();
    let base = [
        ("session_id", event.session_id().to_owned()),
        ("transcript_path", event.transcript_path().to_owned()),
        ("timestamp", event.timestamp().to_owned()),
        ("cwd", event.cwd().to_string_lossy().into_owned()),
    ];
    for (name, text) in base {
        members.set(name, Json::string(&text));
    }
    members.to_json()
}

/// Lets a hook system that answers an agent remember what a person approved in a session.
pub fn with_session_memory(builder: Builder) -> Builder {
    match state_folder() {
        Some(state) => builder.remember_sessions(state.join("hookrail")),
        None => builder,
    }
}

//! The client of remote hooks.
//!
//! Events are driven by many short-lived runtimes, and a connection has to outlive them. So the connection belongs to a thread of
//! its own, which is started by the first question: a program whose hooks ask nothing connects to nothing.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Request as NatsRequest, RequestErrorKind};
use hookrail::Json;
use hookrail::host::HostFuture;
use hookrail::remote::{GroupName, RemoteClient, RemoteFailure, RemoteQuestion};
use hookrail_bus::{ErrorCode, FromServer, Message as _, Request, ToServer};
use tokio::sync::{mpsc, oneshot, watch};

use crate::name::Name;
use crate::nats::{FleetMember, NatsConnection, NatsError, ReconnectPace};

/// The part of a question's time that is left for saying why there was no answer.
const REPORT_TIME: Duration = Duration::from_millis(20);

/// Asks groups of workers over the servers of a fleet.
pub struct AskClient {
    /// The member, or why no question can be asked.
    member: Result<FleetMember, RemoteFailure>,
    questions: OnceLock<Result<mpsc::UnboundedSender<PendingQuestion>, RemoteFailure>>,
}

/// A question on its way to the thread of the client.
struct PendingQuestion {
    question: RemoteQuestion,
    answer: oneshot::Sender<Result<Json, RemoteFailure>>,
}

impl AskClient {
    /// Makes the client of a member. It connects when the first question is asked.
    #[must_use]
    pub fn new(member: FleetMember) -> Self {
        Self { member: Ok(member), questions: OnceLock::new() }
    }

    /// Makes a client whose configuration cannot be used: every question fails with the reason.
    #[must_use]
    pub fn unusable(problem: String) -> Self {
        Self { member: Err(RemoteFailure::NotConnected(problem)), questions: OnceLock::new() }
    }

    /// Makes the client of a worker, which asks nothing. Workers that asked each other would go on without an end.
    #[must_use]
    pub fn of_worker() -> Self {
        let refusal = "this server is a worker itself and asks no others".to_owned();
        Self { member: Err(RemoteFailure::Refused(refusal)), questions: OnceLock::new() }
    }

    fn questions(&self) -> Result<&mpsc::UnboundedSender<PendingQuestion>, RemoteFailure> {
        let start = || self.member.clone().and_then(start_thread);
        self.questions.get_or_init(start).as_ref().map_err(Clone::clone)
    }
}

impl std::fmt::Debug for AskClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AskClient").field("member", &self.member.as_ref().map(FleetMember::id)).finish_non_exhaustive()
    }
}

impl RemoteClient for AskClient {
    fn ask<'a>(&'a self, question: &'a RemoteQuestion) -> HostFuture<'a, Result<Json, RemoteFailure>> {
        Box::pin(async {
            let ended = || RemoteFailure::NotConnected("the thread of the client has ended".to_owned());
            let (sender, answer) = oneshot::channel();
            let pending = PendingQuestion { question: question.clone(), answer: sender };
            self.questions()?.send(pending).map_err(|_| ended())?;
            answer.await.unwrap_or_else(|_| Err(ended()))
        })
    }
}

/// Starts the thread of a client. It ends when the client is dropped.
fn start_thread(member: FleetMember) -> Result<mpsc::UnboundedSender<PendingQuestion>, RemoteFailure> {
    let problem = |what: &str, error: std::io::Error| RemoteFailure::NotConnected(format!("{what}: {error}"));
    let (sender, questions) = mpsc::unbounded_channel();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| problem("the client cannot be started", error))?;
    std::thread::Builder::new()
        .name("hookrail-ask".to_owned())
        .spawn(move || {
            runtime.block_on(answer_questions(member, questions));
            // A connection that is being made must not hold up the end of the program.
            runtime.shutdown_background();
        })
        .map_err(|error| problem("the client has no thread", error))?;
    Ok(sender)
}

async fn answer_questions(member: FleetMember, mut questions: mpsc::UnboundedReceiver<PendingQuestion>) {
    let link = AskLink { member: Arc::new(member), state: watch::Sender::new(AskLinkState::Idle) };
    while let Some(PendingQuestion { question, mut answer }) = questions.recv().await {
        let link = link.clone();
        tokio::spawn(async move {
            let answered = tokio::select! {
                answered = link.ask(&question) => answered,
                // The time of the hook is up, or its event was cancelled.
                () = answer.closed() => return,
            };
            let _ = answer.send(answered);
        });
    }
}

/// The connection of a client, and how it came about.
#[derive(Clone)]
struct AskLink {
    member: Arc<FleetMember>,
    state: watch::Sender<AskLinkState>,
}

#[derive(Clone)]
enum AskLinkState {
    Idle,
    Connecting,
    Connected(NatsConnection),
    Failed(String),
}

impl AskLink {
    async fn ask(&self, question: &RemoteQuestion) -> Result<Json, RemoteFailure> {
        let time = question.timeout.saturating_sub(REPORT_TIME.min(question.timeout / 10));
        match tokio::time::timeout(time, self.exchange(question)).await {
            Ok(answered) => answered,
            Err(_) => Err(self.reason_of_silence(question)),
        }
    }

    async fn exchange(&self, question: &RemoteQuestion) -> Result<Json, RemoteFailure> {
        let subject = self.subject(&question.group)?;
        let connection = self.connection().await?;
        let client = connection.client();
        // A request without a connection would be sent whenever there is one again, long after its hook has failed.
        let mut changes = connection.state();
        while client.connection_state() != State::Connected {
            if changes.changed().await.is_err() {
                return Err(RemoteFailure::NotConnected("the connection is closed".to_owned()));
            }
        }
        let request = Request::new(question.event_name, question.input.clone()).named(&*question.correlation_id);
        let body = ToServer::Request(Box::new(request)).encode(usize::MAX);
        let request = NatsRequest::new().payload(body.into()).timeout(None);
        let reply = client.send_request(subject, request).await.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => RemoteFailure::NoResponders,
            RequestErrorKind::TimedOut => RemoteFailure::TimedOut(question.timeout),
            RequestErrorKind::MaxPayloadExceeded | RequestErrorKind::InvalidSubject => {
                RemoteFailure::Refused(error.to_string())
            }
            RequestErrorKind::Other => RemoteFailure::NotConnected(error.to_string()),
        })?;
        read_answer(&question.correlation_id, &reply.payload)
    }

    fn subject(&self, group: &GroupName) -> Result<String, RemoteFailure> {
        let name: Name = group.as_str().parse().map_err(|error| RemoteFailure::Refused(format!("{error}")))?;
        Ok(self.member.subjects().ask(&name))
    }

    /// Returns the connection. It is made by a task of its own, so that a question whose time is up does not end a connection that
    /// the next one can use.
    async fn connection(&self) -> Result<NatsConnection, RemoteFailure> {
        let mut state = self.state.subscribe();
        let begins = self.state.send_if_modified(|state| {
            let begins = matches!(state, AskLinkState::Idle | AskLinkState::Failed(_));
            if begins {
                *state = AskLinkState::Connecting;
            }
            begins
        });
        if begins {
            let link = self.clone();
            tokio::spawn(async move {
                let connected = link.member.connect(ReconnectPace::AtOnce).await;
                link.state.send_replace(match connected {
                    Ok(connection) => AskLinkState::Connected(connection),
                    Err(error) => AskLinkState::Failed(error.to_string()),
                });
            });
        }
        let is_settled = |state: &AskLinkState| matches!(state, AskLinkState::Connected(_) | AskLinkState::Failed(_));
        let settled = state.wait_for(is_settled).await.map(|state| state.clone());
        match settled {
            Ok(AskLinkState::Connected(connection)) => Ok(connection),
            Ok(AskLinkState::Failed(problem)) => Err(RemoteFailure::NotConnected(problem)),
            Ok(AskLinkState::Idle | AskLinkState::Connecting) | Err(_) => {
                Err(RemoteFailure::NotConnected("no connection was made".to_owned()))
            }
        }
    }

    /// Returns why a question had no answer when its time was up.
    fn reason_of_silence(&self, question: &RemoteQuestion) -> RemoteFailure {
        let AskLinkState::Connected(connection) = self.state.borrow().clone() else {
            return RemoteFailure::NotConnected(format!("not within {} ms", question.timeout.as_millis()));
        };
        if connection.client().connection_state() != State::Connected {
            return RemoteFailure::NotConnected("the connection was lost".to_owned());
        }
        match self.subject(&question.group).map(|subject| connection.silence(&subject)) {
            // A server that does not permit a question says so beside it.
            Ok(NatsError::NotPermitted(refusal)) => RemoteFailure::Refused(refusal),
            Ok(_) | Err(_) => RemoteFailure::TimedOut(question.timeout),
        }
    }
}

/// Reads the reply to a question.
fn read_answer(correlation_id: &str, reply: &[u8]) -> Result<Json, RemoteFailure> {
    let not_understood = |why: String| RemoteFailure::NotUnderstood(why);
    let message = FromServer::decode(reply).map_err(|refusal| not_understood(refusal.error.to_string()))?;
    let FromServer::Response(response) = message else {
        return Err(not_understood("it is a message of another kind".to_owned()));
    };
    // A worker that could not read the question answers under a name of its own.
    if response.success() && response.correlation_id != correlation_id {
        return Err(not_understood("it answers another question".to_owned()));
    }
    match response.result {
        Ok(report) => Ok(report.document()),
        Err(error) => Err(match error.known() {
            Some(ErrorCode::Overloaded | ErrorCode::ShuttingDown) => RemoteFailure::Overloaded(error.message),
            _ => RemoteFailure::Refused(error.to_string()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> Result<Json, RemoteFailure> {
        read_answer("q", reply.as_bytes())
    }

    #[test]
    fn an_answer_is_the_outcome_of_this_question_and_nothing_else() {
        let answer = |id: &str, rest: &str| {
            format!(r#"{{"type":"HOOK_EXECUTION_RESPONSE","payload":{{"correlationId":"{id}",{rest}}}}}"#)
        };
        let outcome = r#""success":true,"outcome":{"event":"before-tool","decision":"deny"}"#;
        assert!(read(&answer("q", outcome)).unwrap().text().contains("deny"));
        assert!(matches!(read(&answer("other", outcome)), Err(RemoteFailure::NotUnderstood(_))));
        for nonsense in ["", "no", r#"{"type":"pong","payload":{}}"#, &answer("q", r#""success":true"#)] {
            assert!(matches!(read(nonsense), Err(RemoteFailure::NotUnderstood(_))), "{nonsense}");
        }
        let refused = |code: &str| {
            read(&answer("q", &format!(r#""success":false,"error":{{"code":"{code}","message":"m"}}"#))).unwrap_err()
        };
        assert_eq!(refused("overloaded"), RemoteFailure::Overloaded("m".to_owned()));
        assert_eq!(refused("shutting_down"), RemoteFailure::Overloaded("m".to_owned()));
        assert_eq!(refused("system_unusable"), RemoteFailure::Refused("m (system_unusable)".to_owned()));
    }
}

//! The transport of a worker: a member of a queue group, of which each question reaches one.
//!
//! NATS knows no connections between clients, so every question is a connection of its own with one message. The bus then treats
//! it as it treats a client of a socket: the same turns, limits, metrics and shutdown.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Message, Subject, Subscriber};
use futures_util::StreamExt as _;
use hookrail::remote::GroupName;
use hookrail_bus::transport::Pending;
use hookrail_bus::{
    BusError, ConnectionClosed, ErrorCode, FromServer, Listener, Message as _, MessageLimits, MessageRefusal,
    MessageSink, MessageSource, MessageWeight, Received, ToServer, Transport,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::nats::{NatsConnection, NatsError};

/// How long a worker waits for the server while it leaves its group.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// A worker of a group, which takes its questions.
pub struct AskWorker {
    connection: NatsConnection,
    subject: String,
    questions: Subscriber,
    /// One slot for each question that may run. Without one a question is refused at once, so that its client can ask another
    /// worker: one that waits here may be answered after its client has given up.
    slots: Arc<Semaphore>,
    membership: watch::Sender<Membership>,
    changes: watch::Receiver<Membership>,
    /// How many questions were accepted and not read yet.
    unread: watch::Sender<usize>,
    subscription: SubscriptionState,
}

/// How far the subscription of a worker has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubscriptionState {
    /// It brings questions.
    Open,
    /// The server was told to send no more.
    Closing,
    /// It ended without being closed.
    Lost,
}

/// Whether a worker belongs to its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    Member,
    /// It takes no new questions. Those that have reached it are still to be accepted.
    Leaving,
    /// It has accepted every question that has reached it.
    Left,
}

/// Ends the membership of a worker.
#[derive(Clone, Debug)]
pub struct WorkerHandle {
    connection: NatsConnection,
    membership: watch::Sender<Membership>,
    unread: watch::Sender<usize>,
}

impl AskWorker {
    /// Joins a group. `limit` is how many questions the worker has at once.
    ///
    /// # Errors
    /// If the servers cannot be used.
    pub async fn join(
        connection: NatsConnection,
        subject: String,
        group: &GroupName,
        limit: usize,
    ) -> Result<(Self, WorkerHandle), NatsError> {
        let client = connection.client();
        let questions = client
            .queue_subscribe(subject.clone(), group.as_str().to_owned())
            .await
            .map_err(NatsError::request("joining the group"))?;
        // The server has the subscription when it has answered this.
        client.flush().await.map_err(NatsError::request("joining the group"))?;
        let (membership, unread) = (watch::Sender::new(Membership::Member), watch::Sender::new(0));
        let handle =
            WorkerHandle { connection: connection.clone(), membership: membership.clone(), unread: unread.clone() };
        let changes = membership.subscribe();
        let slots = Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS)));
        let subscription = SubscriptionState::Open;
        Ok((Self { connection, subject, questions, slots, membership, changes, unread, subscription }, handle))
    }

    /// Makes a connection of a question; nothing if its sender wants no answer.
    fn exchange(&self, message: Message) -> Option<AskExchange> {
        let reply = message.reply.clone()?;
        let slot = Arc::clone(&self.slots).try_acquire_owned().ok();
        let question = if slot.is_some() { Question::Waiting(message) } else { Question::Unwanted(message) };
        Some(AskExchange {
            client: self.connection.client().clone(),
            reply,
            question,
            slot,
            limits: None,
            weight: MessageWeight::default(),
            unread: Some(UnreadQuestion::new(&self.unread)),
        })
    }
}

impl std::fmt::Debug for AskWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AskWorker").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl WorkerHandle {
    /// Leaves the group: the server gives questions to other workers from now on. Returns when every question that has reached this
    /// worker runs or is answered, or the server does not confirm it.
    pub async fn leave(&self) {
        self.membership.send_if_modified(|membership| {
            let is_member = *membership == Membership::Member;
            if is_member {
                *membership = Membership::Leaving;
            }
            is_member
        });
        let mut changes = self.membership.subscribe();
        let mut unread = self.unread.subscribe();
        let left = async {
            let _ = changes.wait_for(|membership| *membership == Membership::Left).await;
            let _ = unread.wait_for(|count| *count == 0).await;
        };
        // A server that is gone sends no questions either.
        let _ = tokio::time::timeout(LEAVE_TIMEOUT, left).await;
    }

    /// Waits until the server has every answer.
    pub async fn flush(&self) {
        let _ = tokio::time::timeout(LEAVE_TIMEOUT, self.connection.client().flush()).await;
    }
}

impl Listener for AskWorker {
    type Connection = AskExchange;
    type Error = NatsError;

    fn accept(&mut self) -> Pending<'_, io::Result<Option<AskExchange>>> {
        Box::pin(async {
            loop {
                let membership = *self.changes.borrow_and_update();
                match membership {
                    Membership::Leaving if self.subscription == SubscriptionState::Open => {
                        // The stream of questions ends when the server has confirmed it.
                        self.questions.drain().await.map_err(io::Error::other)?;
                        self.subscription = SubscriptionState::Closing;
                    }
                    Membership::Member | Membership::Leaving => {}
                    Membership::Left => return std::future::pending().await,
                }
                let message = tokio::select! {
                    message = self.questions.next() => message,
                    _ = self.changes.changed(), if membership == Membership::Member => continue,
                };
                match message.map(|message| self.exchange(message)) {
                    Some(Some(exchange)) => return Ok(Some(exchange)),
                    Some(None) => {}
                    None => {
                        if self.subscription == SubscriptionState::Open {
                            self.subscription = SubscriptionState::Lost;
                        }
                        self.membership.send_replace(Membership::Left);
                    }
                }
            }
        })
    }

    fn check(&mut self) -> Result<(), NatsError> {
        if self.subscription == SubscriptionState::Lost {
            let problem = "the connection is closed".to_owned();
            return Err(NatsError::Request { what: "taking questions", problem });
        }
        let refusal = self.connection.state().borrow().refusal.clone();
        match refusal.filter(|refusal| refusal.contains("Subscription") && refusal.contains(&self.subject)) {
            Some(refusal) => Err(NatsError::NotPermitted(refusal)),
            None => Ok(()),
        }
    }
}

/// One question, and the place of its answer.
pub struct AskExchange {
    client: Client,
    reply: Subject,
    question: Question,
    slot: Option<OwnedSemaphorePermit>,
    limits: Option<MessageLimits>,
    weight: MessageWeight,
    /// Dropped when the bus wants the next message, and so has begun with this one: a worker that leaves its group waits for that,
    /// because a bus that is drained does not read what it has not read.
    unread: Option<UnreadQuestion>,
}

/// Counts one question while it exists.
struct UnreadQuestion(watch::Sender<usize>);

impl UnreadQuestion {
    fn new(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for UnreadQuestion {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// How far the question of an exchange has come.
enum Question {
    /// It is to be read.
    Waiting(Message),
    /// It waits for room. It stays here when the future that waits is dropped.
    Reserving(Message, Pending<'static, MessageWeight>),
    /// There is no slot for it.
    Unwanted(Message),
    /// It was read.
    Taken,
}

impl std::fmt::Debug for AskExchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AskExchange").field("reply", &self.reply).finish_non_exhaustive()
    }
}

impl Transport<ToServer, FromServer> for AskExchange {
    fn split(mut self: Box<Self>) -> (Box<dyn MessageSource<ToServer>>, Box<dyn MessageSink<FromServer>>) {
        let answer = ReplySubject { client: self.client.clone(), reply: self.reply.clone(), _slot: self.slot.take() };
        (self, Box::new(answer))
    }

    fn set_limits(&mut self, limits: MessageLimits) {
        self.limits = Some(limits);
    }
}

impl MessageSource<ToServer> for AskExchange {
    fn next(&mut self) -> Pending<'_, Received<ToServer>> {
        Box::pin(async {
            loop {
                if let Question::Reserving(_, room) = &mut self.question {
                    self.weight = room.await;
                }
                match std::mem::replace(&mut self.question, Question::Taken) {
                    Question::Waiting(message) => {
                        let Some(limits) = &self.limits else { return read_question(&message.payload) };
                        if message.payload.len() > limits.longest() {
                            return Received::Refused(MessageRefusal::too_long(&message.payload, limits.longest()));
                        }
                        let room = limits.reserve(message.payload.len());
                        self.question = Question::Reserving(message, room);
                    }
                    Question::Reserving(message, _) => return read_question(&message.payload),
                    Question::Unwanted(message) => {
                        let error = "this worker has as many requests as its `--limit` allows; ask another one";
                        let error = BusError::new(ErrorCode::Overloaded, error);
                        return Received::Refused(MessageRefusal {
                            error,
                            ..MessageRefusal::too_long(&message.payload, 0)
                        });
                    }
                    Question::Taken => {
                        self.unread = None;
                        return Received::End;
                    }
                }
            }
        })
    }

    /// The client cannot be seen, only its question.
    fn gone(&mut self) -> Pending<'_, ()> {
        if matches!(self.question, Question::Taken) {
            self.unread = None;
        }
        Box::pin(std::future::pending())
    }

    fn weight(&mut self) -> MessageWeight {
        std::mem::take(&mut self.weight)
    }
}

/// Reads a question. What only programs of the same user may ask of a server is refused.
fn read_question(body: &[u8]) -> Received<ToServer> {
    let message = match ToServer::decode(body) {
        Ok(message) => message,
        Err(refusal) => return Received::Refused(refusal),
    };
    let correlation_id = message.correlation_id().map(str::to_owned);
    let refused = |error| Received::Refused(MessageRefusal { correlation_id, error });
    match message {
        ToServer::Request(request) => match request.from_another_machine() {
            Ok(request) => Received::Message(ToServer::Request(Box::new(request))),
            Err(error) => refused(error),
        },
        ToServer::Ping(_) => Received::Message(message),
        ToServer::Hello(_) | ToServer::Cancel(_) | ToServer::Subscribe(_) | ToServer::Reload(_) => {
            refused(BusError::new(ErrorCode::UnsupportedType, "a worker takes requests only"))
        }
    }
}

/// Where the answer to a question goes. The question has its slot until then.
struct ReplySubject {
    client: Client,
    reply: Subject,
    _slot: Option<OwnedSemaphorePermit>,
}

impl MessageSink<FromServer> for ReplySubject {
    fn send(&mut self, message: FromServer) -> Pending<'_, Result<(), ConnectionClosed>> {
        Box::pin(async move {
            let body = message.encode(self.client.max_payload());
            self.client.publish(self.reply.clone(), body.into()).await.map_err(|_| ConnectionClosed)
        })
    }

    fn is_text(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_machine_may_not_ask_is_refused_under_its_name() {
        let request = |rest: &str| {
            format!(
                r#"{{"type":"HOOK_EXECUTION_REQUEST","payload":{{"correlationId":"q","eventName":"BeforeTool","input":{{"tool_name":"x","cwd":"/etc"}}{rest}}}}}"#
            )
        };
        let refused = |body: &str| match read_question(body.as_bytes()) {
            Received::Refused(refusal) => (refusal.correlation_id, refusal.error.known()),
            other => panic!("{other:?}"),
        };
        let name = Some("q".to_owned());
        assert_eq!(refused(&request(r#","project":"/""#)), (name.clone(), Some(ErrorCode::InvalidProject)));
        let caller = request(r#","caller":{"environment":{"PATH":"/tmp"}}"#);
        assert_eq!(refused(&caller), (name.clone(), Some(ErrorCode::UnsupportedCaller)));
        let reload = r#"{"type":"reload","payload":{"correlationId":"q"}}"#;
        assert_eq!(refused(reload), (name, Some(ErrorCode::UnsupportedType)));
        let Received::Message(ToServer::Request(taken)) = read_question(request("").as_bytes()) else { panic!() };
        assert!(!format!("{taken:?}").contains("/etc"), "a path of another machine means nothing here");
    }
}

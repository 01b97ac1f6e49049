//! One connection of a client: what waits for an answer, a task that reads and a task that writes.
//!
//! Whatever happens to the connection, everything that waits is settled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookrail::lock;
use tokio::sync::{mpsc, oneshot, watch};

use super::NotGuarded;
use crate::error::{BusError, ErrorCode};
use crate::message::{Cancel, FromServer, Lifecycle, ToServer};
use crate::transport::{Received, Refusal, Sink, Source, Transport};

/// How long a server that takes nothing more is listened to: what it said before is on its way.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Who hears what happens to requests, if anything does. It outlives a connection that is made again.
pub(super) type Listener = Arc<Mutex<Option<mpsc::Sender<Lifecycle>>>>;

/// What becomes of the listener when the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtEnd {
    /// It hears that nothing more comes.
    CloseListener,
    /// It waits for the next connection.
    KeepListener,
}

/// A connection. Cloning shares it; it ends with the last clone.
#[derive(Clone, Debug)]
pub(super) struct Link {
    outgoing: mpsc::UnboundedSender<Outgoing>,
    waiting: Arc<Mutex<Waiting>>,
    /// Held only to be dropped: the reader ends with the last clone.
    _alive: watch::Sender<()>,
}

/// What is to be sent. A message that is waited for stays with the one who waits: if that one gives up, it is never sent
/// and does not pile up behind a server that reads nothing.
#[derive(Debug)]
enum Outgoing {
    WaitedFor(String),
    Plain(ToServer),
}

#[derive(Debug, Default)]
struct Waiting {
    questions: HashMap<String, Question>,
    /// Why the connection is over.
    end: Option<NotGuarded>,
    /// What the server said without naming a request.
    last_words: Option<BusError>,
}

#[derive(Debug)]
struct Question {
    /// None when it was sent.
    message: Option<ToServer>,
    answer: oneshot::Sender<Result<FromServer, NotGuarded>>,
}

impl Link {
    pub(super) fn new(
        transport: impl Transport<FromServer, ToServer> + 'static,
        listener: Listener,
        at_end: AtEnd,
    ) -> Self {
        let (source, sink) = Box::new(transport).split();
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        // There is no bound here because every entry is a name or a few bytes.
        let (outgoing, messages) = mpsc::unbounded_channel();
        let (writes, writing) = watch::channel(());
        tokio::spawn(write(sink, messages, Arc::clone(&waiting), writes));
        let (alive, clients) = watch::channel(());
        let reader = Reader { waiting: Arc::clone(&waiting), listener, at_end };
        tokio::spawn(reader.run(source, clients, writing));
        Self { outgoing, waiting, _alive: alive }
    }

    /// Why the connection is over, if it is.
    pub(super) fn end(&self) -> Option<NotGuarded> {
        lock(&self.waiting).end.clone().or_else(|| self.outgoing.is_closed().then_some(NotGuarded::Closed))
    }

    /// Sends a message that has no answer, or whose answer is not waited for.
    pub(super) fn say(&self, message: ToServer) {
        let _ = self.outgoing.send(Outgoing::Plain(message));
    }

    pub(super) async fn ask(&self, name: String, message: ToServer) -> Result<FromServer, NotGuarded> {
        let is_request = matches!(message, ToServer::Request(_));
        let answer = {
            let mut waiting = lock(&self.waiting);
            if let Some(end) = &waiting.end {
                return Err(end.clone());
            }
            if waiting.questions.contains_key(&name) {
                return Err(NotGuarded::DuplicateName(name));
            }
            let (sender, answer) = oneshot::channel();
            waiting.questions.insert(name.clone(), Question { message: Some(message), answer: sender });
            answer
        };
        let mut asked = Asked { link: self, name, is_request, is_over: false };
        self.outgoing.send(Outgoing::WaitedFor(asked.name.clone())).map_err(|_| NotGuarded::Closed)?;
        let answer = answer.await;
        asked.is_over = true;
        answer.unwrap_or(Err(NotGuarded::Closed))
    }
}

/// A question that is waited for. One that is given up is taken back, or cancelled if it was sent.
struct Asked<'a> {
    link: &'a Link,
    name: String,
    is_request: bool,
    is_over: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let question = lock(&self.link.waiting).questions.remove(&self.name);
        let was_sent = question.is_some_and(|question| question.message.is_none());
        if was_sent && self.is_request {
            self.link.say(ToServer::Cancel(Cancel::new(&*self.name)));
        }
    }
}

/// Sends until nothing can be sent any more. `_writes` is dropped then, which tells the reader.
async fn write(
    mut sink: Box<dyn Sink<ToServer>>,
    mut outgoing: mpsc::UnboundedReceiver<Outgoing>,
    waiting: Arc<Mutex<Waiting>>,
    _writes: watch::Sender<()>,
) {
    while let Some(next) = outgoing.recv().await {
        let message = match next {
            Outgoing::Plain(message) => Some(message),
            Outgoing::WaitedFor(name) => {
                lock(&waiting).questions.get_mut(&name).and_then(|question| question.message.take())
            }
        };
        if let Some(message) = message
            && sink.send(message).await.is_err()
        {
            return;
        }
    }
}

struct Reader {
    waiting: Arc<Mutex<Waiting>>,
    listener: Listener,
    at_end: AtEnd,
}

impl Reader {
    /// Reads until the connection ends, then settles everything that waits.
    async fn run(
        self,
        mut source: Box<dyn Source<FromServer>>,
        mut clients: watch::Receiver<()>,
        mut writing: watch::Receiver<()>,
    ) {
        let end = tokio::select! {
            end = self.read(source.as_mut()) => end,
            // Nothing is ever sent on these two, so this is the end of the last client, and that of the writer.
            _ = clients.changed() => NotGuarded::Closed,
            _ = writing.changed() => {
                tokio::time::timeout(LAST_WORDS, self.read(source.as_mut())).await.unwrap_or(NotGuarded::Closed)
            }
        };
        let questions = {
            let mut waiting = lock(&self.waiting);
            waiting.end = Some(end.clone());
            std::mem::take(&mut waiting.questions)
        };
        for question in questions.into_values() {
            let _ = question.answer.send(Err(end.clone()));
        }
        if self.at_end == AtEnd::CloseListener {
            lock(&self.listener).take();
        }
    }

    /// Hands out what arrives, and returns why nothing more does.
    async fn read(&self, source: &mut dyn Source<FromServer>) -> NotGuarded {
        loop {
            match source.next().await {
                Received::Message(message) => self.hand_out(message),
                Received::Refused(refusal) => {
                    if let Err(end) = self.settle_unreadable(refusal) {
                        return end;
                    }
                }
                Received::End => {
                    let last_words = lock(&self.waiting).last_words.take();
                    return last_words.map_or(NotGuarded::Closed, NotGuarded::Refused);
                }
            }
        }
    }

    fn hand_out(&self, message: FromServer) {
        let name = match &message {
            FromServer::Response(response) => Some(&response.correlation_id),
            FromServer::Welcome(welcome) => welcome.correlation_id.as_ref(),
            FromServer::Pong(ping) => ping.correlation_id.as_ref(),
            FromServer::Reloaded(reloaded) => reloaded.correlation_id.as_ref(),
            // The caller that cancels waits for the response, which says more.
            FromServer::Cancelled(_) => None,
            FromServer::Lifecycle(lifecycle) => {
                if let Some(listener) = &*lock(&self.listener) {
                    let _ = listener.try_send(lifecycle.clone());
                }
                None
            }
        };
        let question = name.and_then(|name| lock(&self.waiting).questions.remove(name));
        if let Some(question) = question {
            let _ = question.answer.send(Ok(message));
        } else if let FromServer::Response(response) = message
            && let Err(error) = response.result
            && error.known() == Some(ErrorCode::Overloaded)
        {
            // A server that has no room says so under a name of its own, and closes.
            lock(&self.waiting).last_words = Some(error);
        }
    }

    /// What cannot be read is the answer to the question it names. If it names none, it could be any answer, and nothing
    /// that waits can be answered any more.
    fn settle_unreadable(&self, refusal: Refusal) -> Result<(), NotGuarded> {
        let Refusal { correlation_id, error } = refusal;
        // A newer server may send messages that this client does not know; they are not answers.
        if error.known() == Some(ErrorCode::UnsupportedType) {
            return Ok(());
        }
        let Some(name) = correlation_id else { return Err(NotGuarded::Unreadable(error)) };
        if let Some(question) = lock(&self.waiting).questions.remove(&name) {
            let _ = question.answer.send(Err(NotGuarded::Unreadable(error)));
        }
        Ok(())
    }
}

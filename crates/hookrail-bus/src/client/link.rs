//! One connection of a client: its pending messages, a task that reads and a task that writes.
//!
//! Whatever happens to the connection, every pending message gets an answer or an error.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookrail::lock_mutex;
use tokio::sync::{mpsc, oneshot, watch};

use super::NotGuarded;
use crate::error::{BusError, ErrorCode, MessageRefusal};
use crate::message::{FromServer, ToServer};
use crate::payload::{Cancel, Lifecycle};
use crate::transport::{MessageSink, MessageSource, Received, Transport};

/// How long the reader continues after the writer has failed: answers that the server sent before may still arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The subscriber to progress reports, if there is one. It stays when the connection is replaced.
pub(super) type LifecycleListener = Arc<Mutex<Option<mpsc::Sender<Lifecycle>>>>;

/// What happens to the listener when the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtEnd {
    /// Its stream ends.
    CloseListener,
    /// It waits for the next connection.
    KeepListener,
}

/// A connection. Clones share it; it ends with the last clone.
#[derive(Clone, Debug)]
pub(super) struct Link {
    outgoing: mpsc::UnboundedSender<Outgoing>,
    waiting: Arc<Mutex<PendingMessages>>,
    /// Held only to be dropped: when the last clone is gone, the reader ends.
    _alive: watch::Sender<()>,
}

/// What the writer has to send. A message with an answer stays in [`PendingMessages`]: if its caller gives up, it is never
/// sent, and does not pile up in the queue of a server that reads nothing.
#[derive(Debug)]
enum Outgoing {
    WaitedFor(String),
    Plain(ToServer),
}

#[derive(Debug, Default)]
struct PendingMessages {
    messages_by_id: HashMap<String, PendingMessage>,
    /// The reason why the connection is over.
    end: Option<NotGuarded>,
    /// The error that the server sent without the correlation id of a request.
    last_words: Option<BusError>,
}

#[derive(Debug)]
struct PendingMessage {
    /// `None` once it was sent.
    message: Option<ToServer>,
    answer: oneshot::Sender<Result<FromServer, NotGuarded>>,
}

impl Link {
    pub(super) fn new(
        transport: impl Transport<FromServer, ToServer> + 'static,
        listener: LifecycleListener,
        at_end: AtEnd,
    ) -> Self {
        let (source, sink) = Box::new(transport).split();
        let waiting = Arc::new(Mutex::new(PendingMessages::default()));
        // The queue needs no limit, because every entry is a correlation id or a few bytes.
        let (outgoing, messages) = mpsc::unbounded_channel();
        let (writes, writing) = watch::channel(());
        tokio::spawn(write(sink, messages, Arc::clone(&waiting), writes));
        let (alive, clients) = watch::channel(());
        let reader = Reader { waiting: Arc::clone(&waiting), listener, at_end };
        tokio::spawn(reader.run(source, clients, writing));
        Self { outgoing, waiting, _alive: alive }
    }

    /// Returns the reason why the connection is over, if it is.
    pub(super) fn end(&self) -> Option<NotGuarded> {
        lock_mutex(&self.waiting).end.clone().or_else(|| self.outgoing.is_closed().then_some(NotGuarded::Closed))
    }

    /// Sends a message that has no answer, or whose answer no caller waits for.
    pub(super) fn send(&self, message: ToServer) {
        let _ = self.outgoing.send(Outgoing::Plain(message));
    }

    pub(super) async fn request(&self, name: String, message: ToServer) -> Result<FromServer, NotGuarded> {
        let is_request = matches!(message, ToServer::Request(_));
        let answer = {
            let mut waiting = lock_mutex(&self.waiting);
            if let Some(end) = &waiting.end {
                return Err(end.clone());
            }
            if waiting.messages_by_id.contains_key(&name) {
                return Err(NotGuarded::DuplicateName(name));
            }
            let (sender, answer) = oneshot::channel();
            waiting.messages_by_id.insert(name.clone(), PendingMessage { message: Some(message), answer: sender });
            answer
        };
        let mut asked = PendingAnswer { link: self, name, is_request, is_over: false };
        self.outgoing.send(Outgoing::WaitedFor(asked.name.clone())).map_err(|_| NotGuarded::Closed)?;
        let answer = answer.await;
        asked.is_over = true;
        answer.unwrap_or(Err(NotGuarded::Closed))
    }
}

/// The wait for an answer. If it is dropped early, the message is removed, or cancelled if it was sent.
struct PendingAnswer<'a> {
    link: &'a Link,
    name: String,
    is_request: bool,
    is_over: bool,
}

impl Drop for PendingAnswer<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let pending = lock_mutex(&self.link.waiting).messages_by_id.remove(&self.name);
        let was_sent = pending.is_some_and(|pending| pending.message.is_none());
        if was_sent && self.is_request {
            self.link.send(ToServer::Cancel(Cancel::new(&*self.name)));
        }
    }
}

/// Sends messages until sending fails. `_writes` is dropped then, which notifies the reader.
async fn write(
    mut sink: Box<dyn MessageSink<ToServer>>,
    mut outgoing: mpsc::UnboundedReceiver<Outgoing>,
    waiting: Arc<Mutex<PendingMessages>>,
    _writes: watch::Sender<()>,
) {
    while let Some(next) = outgoing.recv().await {
        let message = match next {
            Outgoing::Plain(message) => Some(message),
            Outgoing::WaitedFor(name) => {
                lock_mutex(&waiting).messages_by_id.get_mut(&name).and_then(|pending| pending.message.take())
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
    waiting: Arc<Mutex<PendingMessages>>,
    listener: LifecycleListener,
    at_end: AtEnd,
}

impl Reader {
    /// Reads until the connection ends, then fails every pending message.
    async fn run(
        self,
        mut source: Box<dyn MessageSource<FromServer>>,
        mut clients: watch::Receiver<()>,
        mut writing: watch::Receiver<()>,
    ) {
        let end = tokio::select! {
            end = self.read(source.as_mut()) => end,
            // Nothing is ever sent on these two channels. They change when the last client, or the writer, is dropped.
            _ = clients.changed() => NotGuarded::Closed,
            _ = writing.changed() => {
                tokio::time::timeout(LAST_WORDS, self.read(source.as_mut())).await.unwrap_or(NotGuarded::Closed)
            }
        };
        let messages_by_id = {
            let mut waiting = lock_mutex(&self.waiting);
            waiting.end = Some(end.clone());
            std::mem::take(&mut waiting.messages_by_id)
        };
        for pending in messages_by_id.into_values() {
            let _ = pending.answer.send(Err(end.clone()));
        }
        if self.at_end == AtEnd::CloseListener {
            lock_mutex(&self.listener).take();
        }
    }

    /// Delivers messages until the connection ends, and returns the reason.
    async fn read(&self, source: &mut dyn MessageSource<FromServer>) -> NotGuarded {
        loop {
            match source.next().await {
                Received::Message(message) => self.deliver(message),
                Received::Refused(refusal) => {
                    if let Err(end) = self.fail_unreadable(refusal) {
                        return end;
                    }
                }
                Received::End => {
                    let last_words = lock_mutex(&self.waiting).last_words.take();
                    return last_words.map_or(NotGuarded::Closed, NotGuarded::Refused);
                }
            }
        }
    }

    fn deliver(&self, message: FromServer) {
        let name = match &message {
            FromServer::Response(response) => Some(&response.correlation_id),
            FromServer::Welcome(welcome) => welcome.correlation_id.as_ref(),
            FromServer::Pong(ping) => ping.correlation_id.as_ref(),
            FromServer::Reloaded(reloaded) => reloaded.correlation_id.as_ref(),
            // The caller that cancels waits for the response to the request itself.
            FromServer::Cancelled(_) => None,
            FromServer::Lifecycle(lifecycle) => {
                if let Some(listener) = &*lock_mutex(&self.listener) {
                    let _ = listener.try_send(lifecycle.clone());
                }
                None
            }
        };
        let pending = name.and_then(|name| lock_mutex(&self.waiting).messages_by_id.remove(name));
        if let Some(pending) = pending {
            let _ = pending.answer.send(Ok(message));
        } else if let FromServer::Response(response) = message
            && let Err(error) = response.result
            && error.known() == Some(ErrorCode::Overloaded)
        {
            // A server over its limit sends this error with a correlation id of its own, and closes the connection.
            lock_mutex(&self.waiting).last_words = Some(error);
        }
    }

    /// Fails the pending message that an unreadable answer names. If it names none, it could be the answer to any of them,
    /// so the connection ends.
    fn fail_unreadable(&self, refusal: MessageRefusal) -> Result<(), NotGuarded> {
        let MessageRefusal { correlation_id, error } = refusal;
        // A newer server may send messages of types that this client does not know; they are not answers.
        if error.known() == Some(ErrorCode::UnsupportedType) {
            return Ok(());
        }
        let Some(name) = correlation_id else { return Err(NotGuarded::Unreadable(error)) };
        if let Some(pending) = lock_mutex(&self.waiting).messages_by_id.remove(&name) {
            let _ = pending.answer.send(Err(NotGuarded::Unreadable(error)));
        }
        Ok(())
    }
}

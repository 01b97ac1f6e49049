//! The Rust client: requests over any transport, any number at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot, watch};

use crate::error::BusError;
use crate::id;
use crate::message::{
    Cancel, FromServer, Hello, Lifecycle, Ping, Reload, Reloaded, Request, Response, Subscribe, ToServer, Welcome,
};
use crate::transport::{Received, Sink, Source, Transport};

/// How many progress reports wait for a slow listener before the newest are lost.
const REPORTS: usize = 1024;

/// A client of a bus. Cloning shares the connection, which ends with the last clone.
#[derive(Clone, Debug)]
pub struct Client {
    outgoing: mpsc::UnboundedSender<ToServer>,
    shared: Arc<Shared>,
    /// Held only to be dropped: the reader ends with the last clone.
    _alive: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Who waits for the answer of that name.
    answers: HashMap<String, oneshot::Sender<FromServer>>,
    lifecycle: Option<mpsc::Sender<Lifecycle>>,
    closed: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server refused.
    #[error(transparent)]
    Refused(#[from] BusError),
    /// The connection is closed.
    #[error("the connection to the server is closed")]
    Closed,
    /// A request of this name is in flight already.
    #[error("a request with the correlationId `{0}` is still in flight")]
    DuplicateName(String),
}

impl Client {
    /// A client over a connection. Must be called inside a runtime.
    #[must_use]
    pub fn new(transport: impl Transport<FromServer, ToServer> + 'static) -> Self {
        let (source, sink) = Box::new(transport).split();
        let shared = Arc::new(Shared::default());
        // There is no bound here because every entry is a request somebody waits for.
        let (outgoing, messages) = mpsc::unbounded_channel();
        tokio::spawn(write(sink, messages));
        let (alive, clients) = watch::channel(());
        tokio::spawn(read(source, Arc::clone(&shared), clients));
        Self { outgoing, shared, _alive: alive }
    }

    /// Agrees on a protocol.
    ///
    /// # Errors
    /// When the server refuses, or the connection is closed.
    pub async fn hello(&self, mut hello: Hello) -> Result<Welcome, ClientError> {
        let name = hello.correlation_id.take().unwrap_or_else(id::fresh);
        hello.correlation_id = Some(name.clone());
        match self.ask(name, ToServer::Hello(hello)).await? {
            FromServer::Welcome(welcome) => Ok(welcome),
            other => Err(unexpected(other)),
        }
    }

    /// Runs the hooks of an event. Dropping the future cancels the request.
    ///
    /// # Errors
    /// When the connection is closed or the request's name is in use. A request that the server refused is a
    /// [`Response`] that says so.
    pub async fn execute(&self, mut request: Request) -> Result<Response, ClientError> {
        let name = request.correlation_id.take().filter(|name| !name.is_empty()).unwrap_or_else(id::fresh);
        request.correlation_id = Some(name.clone());
        match self.ask(name, ToServer::Request(Box::new(request))).await? {
            FromServer::Response(response) => Ok(*response),
            other => Err(unexpected(other)),
        }
    }

    /// Ends a request. It gets its answer all the same, with the code `cancelled`.
    pub fn cancel(&self, correlation_id: impl Into<String>) {
        let _ = self.outgoing.send(ToServer::Cancel(Cancel::new(correlation_id)));
    }

    /// Asks for a sign of life.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn ping(&self) -> Result<(), ClientError> {
        let name = id::fresh();
        match self.ask(name.clone(), ToServer::Ping(Ping::named(name))).await? {
            FromServer::Pong(_) => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// Has all configuration read again. Sources that were removed are then gone for good.
    ///
    /// # Errors
    /// When the connection is closed, or the server cannot do it.
    pub async fn reload(&self) -> Result<Reloaded, ClientError> {
        let name = id::fresh();
        let reload = Reload { correlation_id: Some(name.clone()) };
        match self.ask(name, ToServer::Reload(reload)).await? {
            FromServer::Reloaded(reloaded) => Ok(reloaded),
            other => Err(unexpected(other)),
        }
    }

    /// What happens to this client's requests from now on. A listener that was there before hears nothing more.
    #[must_use]
    pub fn lifecycles(&self) -> Lifecycles {
        let (sender, receiver) = mpsc::channel(REPORTS);
        self.shared.lock().lifecycle = Some(sender);
        let _ = self.outgoing.send(ToServer::Subscribe(Subscribe::new(true)));
        Lifecycles(receiver)
    }

    async fn ask(&self, name: String, message: ToServer) -> Result<FromServer, ClientError> {
        let is_request = matches!(message, ToServer::Request(_));
        let answer = {
            let mut waiting = self.shared.lock();
            if waiting.closed {
                return Err(ClientError::Closed);
            }
            if waiting.answers.contains_key(&name) {
                return Err(ClientError::DuplicateName(name));
            }
            let (sender, answer) = oneshot::channel();
            waiting.answers.insert(name.clone(), sender);
            answer
        };
        let mut asked = Asked { client: self, name, is_request, over: false };
        self.outgoing.send(message).map_err(|_| ClientError::Closed)?;
        let answer = answer.await;
        asked.over = true;
        answer.map_err(|_| ClientError::Closed)
    }
}

/// Somebody who waits for an answer. One who gives up says so.
struct Asked<'a> {
    client: &'a Client,
    name: String,
    is_request: bool,
    over: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.client.shared.lock().answers.remove(&self.name);
            if self.is_request {
                self.client.cancel(&*self.name);
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_out(&self, message: FromServer) {
        let name = match &message {
            FromServer::Response(response) => Some(&response.correlation_id),
            FromServer::Welcome(welcome) => welcome.correlation_id.as_ref(),
            FromServer::Pong(ping) => ping.correlation_id.as_ref(),
            FromServer::Reloaded(reloaded) => reloaded.correlation_id.as_ref(),
            // Whoever cancels waits for the response, which says more.
            FromServer::Cancelled(_) => None,
            FromServer::Lifecycle(lifecycle) => {
                if let Some(listener) = &self.lock().lifecycle {
                    let _ = listener.try_send(lifecycle.clone());
                }
                None
            }
        };
        let waiting = name.and_then(|name| self.lock().answers.remove(name));
        if let Some(waiting) = waiting {
            let _ = waiting.send(message);
        }
    }
}

/// A stream of what happens to a client's requests.
#[derive(Debug)]
pub struct Lifecycles(mpsc::Receiver<Lifecycle>);

impl Lifecycles {
    /// The next; none when the connection is closed.
    pub async fn next(&mut self) -> Option<Lifecycle> {
        self.0.recv().await
    }
}

async fn write(mut sink: Box<dyn Sink<ToServer>>, mut messages: mpsc::UnboundedReceiver<ToServer>) {
    while let Some(message) = messages.recv().await {
        if sink.send(message).await.is_err() {
            return;
        }
    }
}

/// Reads until the connection ends or the last client is dropped.
async fn read(mut source: Box<dyn Source<FromServer>>, shared: Arc<Shared>, mut clients: watch::Receiver<()>) {
    loop {
        let received = tokio::select! {
            received = source.next() => received,
            // Nothing is ever sent here, so this is the end of the last client.
            _ = clients.changed() => break,
        };
        match received {
            Received::Message(message) => shared.hand_out(message),
            // A newer server may say what this client does not understand.
            Received::Refused(_) => {}
            Received::End => break,
        }
    }
    let mut waiting = shared.lock();
    waiting.closed = true;
    waiting.answers.clear();
    waiting.lifecycle = None;
}

fn unexpected(message: FromServer) -> ClientError {
    match message {
        FromServer::Response(response) => match response.result {
            Err(error) => ClientError::Refused(error),
            Ok(_) => ClientError::Closed,
        },
        _ => ClientError::Closed,
    }
}

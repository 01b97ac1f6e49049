//! The Rust client: requests over any transport, any number at a time.
//!
//! Every reason for a missing answer is one error type, [`NotGuarded`], and every call ends at its deadline at the latest.

mod link;
mod not_guarded;

#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hookrail::lock_mutex;
use tokio::sync::mpsc;

use crate::correlation_id::new_correlation_id;
use crate::message::{FromServer, ToServer};
use crate::payload::{Cancel, Hello, Lifecycle, Ping, Reload, Reloaded, Request, Subscribe, Welcome};
use crate::report::HookReport;
use crate::transport::Transport;

use link::{LifecycleListener, Link};
pub use not_guarded::NotGuarded;

/// The number of progress reports that wait for a slow listener before the newest are dropped.
const REPORTS: usize = 1024;

/// The default deadline for the answer to a request. Hooks have a minute by default, and a request may wait for its turn
/// and run several of them one after the other.
const DEADLINE: Duration = Duration::from_secs(5 * 60);

/// The deadline for a connection, a `hello` or a `ping`.
const SHORT_DEADLINE: Duration = Duration::from_secs(10);

/// How long a client tries to reconnect to a lost server.
#[cfg(unix)]
const RECONNECT_FOR: Duration = Duration::from_secs(5);
#[cfg(unix)]
const FIRST_PAUSE: Duration = Duration::from_millis(20);
#[cfg(unix)]
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A client of a bus. Clones share the connection, which ends with the last clone.
#[derive(Clone, Debug)]
pub struct Client {
    connection: Arc<Connection>,
    deadline: Duration,
}

/// The current connection, and how to replace a lost one.
#[derive(Debug)]
struct Connection {
    link: Mutex<Link>,
    listener: LifecycleListener,
    #[cfg(unix)]
    again: Option<Reconnect>,
}

/// How a lost connection is replaced.
#[cfg(unix)]
#[derive(Debug)]
struct Reconnect {
    path: PathBuf,
    /// Held by the one caller that reconnects; others wait for its result.
    turn: tokio::sync::Mutex<()>,
}

/// The result of a request that was executed.
#[derive(Clone, Debug)]
pub struct ExecutedRequest {
    /// The request's correlation id.
    pub correlation_id: String,
    /// What the hooks did.
    pub report: HookReport,
    /// The time that the request waited for its turn. It is not part of a hook's timeout.
    pub queued: Duration,
    /// The time that all its hooks took together.
    pub took: Duration,
    /// Whether texts in the report were cut to fit on a line.
    pub truncated: bool,
    /// The record of the event, if the caller said that it records events itself.
    pub record: Option<hookrail::Json>,
}

impl Client {
    /// Creates a client over a connection. When the connection ends, so does the client. Must be called inside a runtime.
    #[must_use]
    pub fn new(transport: impl Transport<FromServer, ToServer> + 'static) -> Self {
        let listener = LifecycleListener::default();
        let link = Link::new(transport, Arc::clone(&listener), link::AtEnd::CloseListener);
        let connection = Connection {
            link: Mutex::new(link),
            listener,
            #[cfg(unix)]
            again: None,
        };
        Self { connection: Arc::new(connection), deadline: DEADLINE }
    }

    /// Connects to the server at a socket. If the connection is lost, unanswered requests fail, and the next request
    /// connects again: with growing pauses, for at most five seconds. Must be called inside a runtime.
    ///
    /// # Errors
    /// If no server listens there, or other users could have created the socket.
    #[cfg(unix)]
    pub async fn connect(path: impl Into<PathBuf>) -> Result<Self, NotGuarded> {
        let path = path.into();
        let listener = LifecycleListener::default();
        let link = Mutex::new(connect(&path, &listener).await?);
        let again = Some(Reconnect { path, turn: tokio::sync::Mutex::default() });
        Ok(Self { connection: Arc::new(Connection { link, listener, again }), deadline: DEADLINE })
    }

    /// Sets the deadline for answers; the default is five minutes. After it the request is cancelled and counts as not
    /// guarded. The deadline of `hello` and `ping` is ten seconds, or this if it is shorter.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Agrees on a protocol version.
    ///
    /// # Errors
    /// If the server refuses, or does not answer.
    pub async fn hello(&self, mut hello: Hello) -> Result<Welcome, NotGuarded> {
        let name = hello.correlation_id.take().unwrap_or_else(new_correlation_id);
        hello.correlation_id = Some(name.clone());
        match self.request(name, ToServer::Hello(hello), self.deadline.min(SHORT_DEADLINE)).await? {
            FromServer::Welcome(welcome) => Ok(welcome),
            other => Err(NotGuarded::unexpected(other)),
        }
    }

    /// Runs the hooks of an event. Dropping the future cancels the request.
    ///
    /// # Errors
    /// If the hooks were not run, or their decision is not known, for whatever reason. The operation is then not guarded.
    pub async fn execute(&self, mut request: Request) -> Result<ExecutedRequest, NotGuarded> {
        let name = request.correlation_id.take().filter(|name| !name.is_empty()).unwrap_or_else(new_correlation_id);
        request.correlation_id = Some(name.clone());
        match self.request(name, ToServer::Request(Box::new(request)), self.deadline).await? {
            FromServer::Response(response) => {
                let report = response.result.map_err(NotGuarded::Refused)?;
                let (correlation_id, queued, took) = (response.correlation_id, response.queued, response.took);
                let (truncated, record) = (response.truncated, response.record);
                Ok(ExecutedRequest { correlation_id, report, queued, took, truncated, record })
            }
            other => Err(NotGuarded::unexpected(other)),
        }
    }

    /// Ends a request. It still gets its answer, with the code `cancelled`.
    pub fn cancel(&self, correlation_id: impl Into<String>) {
        self.connection.current().send(ToServer::Cancel(Cancel::new(correlation_id)));
    }

    /// Checks that the server answers.
    ///
    /// # Errors
    /// If it does not.
    pub async fn ping(&self) -> Result<(), NotGuarded> {
        let name = new_correlation_id();
        let ping = ToServer::Ping(Ping::named(name.clone()));
        match self.request(name, ping, self.deadline.min(SHORT_DEADLINE)).await? {
            FromServer::Pong(_) => Ok(()),
            other => Err(NotGuarded::unexpected(other)),
        }
    }

    /// Makes the server read all configuration again. The last good version of a removed source is then dropped.
    ///
    /// # Errors
    /// If the connection is closed, or the server cannot do it.
    pub async fn reload(&self) -> Result<Reloaded, NotGuarded> {
        let name = new_correlation_id();
        let reload = Reload { correlation_id: Some(name.clone()) };
        match self.request(name, ToServer::Reload(reload), self.deadline).await? {
            FromServer::Reloaded(reloaded) => Ok(reloaded),
            other => Err(NotGuarded::unexpected(other)),
        }
    }

    /// Subscribes to the progress of this client's requests. An earlier subscription of this client ends.
    #[must_use]
    pub fn lifecycles(&self) -> Lifecycles {
        let (sender, receiver) = mpsc::channel(REPORTS);
        lock_mutex(&self.connection.listener).replace(sender);
        self.connection.current().send(ToServer::Subscribe(Subscribe::new(true)));
        Lifecycles(receiver)
    }

    async fn request(&self, name: String, message: ToServer, deadline: Duration) -> Result<FromServer, NotGuarded> {
        let asked = async { self.connection.link().await?.request(name, message).await };
        // At the deadline the future is dropped, which cancels the request.
        tokio::time::timeout(deadline, asked).await.unwrap_or(Err(NotGuarded::TimedOut(deadline)))
    }
}

impl Connection {
    fn lock(&self) -> MutexGuard<'_, Link> {
        lock_mutex(&self.link)
    }

    fn current(&self) -> Link {
        self.lock().clone()
    }

    /// Returns the current connection, or a new one if it was lost.
    async fn link(&self) -> Result<Link, NotGuarded> {
        let current = self.current();
        let Some(lost) = current.end() else { return Ok(current) };
        #[cfg(unix)]
        if let Some(again) = &self.again {
            let _turn = again.turn.lock().await;
            let current = self.current();
            if current.end().is_none() {
                return Ok(current);
            }
            let link = reconnect(&again.path, &self.listener).await?;
            *self.lock() = link.clone();
            return Ok(link);
        }
        Err(lost)
    }
}

#[cfg(unix)]
async fn connect(path: &Path, listener: &LifecycleListener) -> Result<Link, NotGuarded> {
    let connected = tokio::time::timeout(SHORT_DEADLINE, crate::transport::connect(path)).await;
    let lines = connected.map_err(|_| NotGuarded::TimedOut(SHORT_DEADLINE))?.map_err(NotGuarded::Unreachable)?;
    let link = Link::new(lines, Arc::clone(listener), link::AtEnd::KeepListener);
    if lock_mutex(listener).is_some() {
        link.send(ToServer::Subscribe(Subscribe::new(true)));
    }
    Ok(link)
}

/// Tries to connect for [`RECONNECT_FOR`]. A server that is restarted is back within moments.
#[cfg(unix)]
async fn reconnect(path: &Path, listener: &LifecycleListener) -> Result<Link, NotGuarded> {
    let until = tokio::time::Instant::now() + RECONNECT_FOR;
    let mut pause = FIRST_PAUSE;
    loop {
        match connect(path, listener).await {
            // An unsafe socket does not become safe by waiting.
            Err(NotGuarded::Unreachable(crate::transport::ConnectError::Unsafe(place))) => {
                return Err(NotGuarded::Unreachable(place.into()));
            }
            Err(_) if tokio::time::Instant::now() + pause < until => tokio::time::sleep(pause).await,
            connected => return connected,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A stream of progress reports for a client's requests.
#[derive(Debug)]
pub struct Lifecycles(mpsc::Receiver<Lifecycle>);

impl Lifecycles {
    /// Returns the next report, or `None` when the connection is closed for good.
    pub async fn next(&mut self) -> Option<Lifecycle> {
        self.0.recv().await
    }
}

//! The Rust client: requests over any transport, any number at a time.
//!
//! Every way not to get an answer is one error, [`NotGuarded`], and every call ends: after its deadline at the latest.

mod link;
mod not_guarded;

#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hookrail::lock;
use tokio::sync::mpsc;

use crate::id;
use crate::message::{
    Cancel, FromServer, Hello, Lifecycle, Ping, Reload, Reloaded, Request, Subscribe, ToServer, Welcome,
};
use crate::report::Report;
use crate::transport::Transport;

use link::{Link, Listener};
pub use not_guarded::NotGuarded;

/// How many progress reports wait for a slow listener before the newest are lost.
const REPORTS: usize = 1024;

/// How long an answer to a request is waited for, unless the host says otherwise. Hooks have a minute by default, and a
/// request may wait for its turn and run several of them one after the other.
const DEADLINE: Duration = Duration::from_secs(5 * 60);

/// How long a connection, a `hello` or a `ping` may take.
const SHORT_DEADLINE: Duration = Duration::from_secs(10);

/// How long a server that went away is looked for again, and how long is waited between two tries.
#[cfg(unix)]
const RECONNECT_FOR: Duration = Duration::from_secs(5);
#[cfg(unix)]
const FIRST_PAUSE: Duration = Duration::from_millis(20);
#[cfg(unix)]
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A client of a bus. Cloning shares the connection, which ends with the last clone.
#[derive(Clone, Debug)]
pub struct Client {
    connection: Arc<Connection>,
    deadline: Duration,
}

/// The connection there is now, and how to make another.
#[derive(Debug)]
struct Connection {
    link: Mutex<Link>,
    listener: Listener,
    #[cfg(unix)]
    again: Option<Again>,
}

/// How a lost connection is made again.
#[cfg(unix)]
#[derive(Debug)]
struct Again {
    path: PathBuf,
    /// One at a time tries; others wait for what comes of it.
    turn: tokio::sync::Mutex<()>,
}

/// What came of a request that was executed.
#[derive(Clone, Debug)]
pub struct Executed {
    /// The request's name.
    pub correlation_id: String,
    /// What the hooks did.
    pub report: Report,
    /// How long the request waited for its turn. This never counts against a hook's time.
    pub queued: Duration,
    /// How long its hooks took, all together.
    pub took: Duration,
    /// Whether texts in the report were cut because it came over a line.
    pub truncated: bool,
}

impl Client {
    /// A client over a connection. When the connection ends, so does the client. Must be called inside a runtime.
    #[must_use]
    pub fn new(transport: impl Transport<FromServer, ToServer> + 'static) -> Self {
        let listener = Listener::default();
        let link = Link::new(transport, Arc::clone(&listener), link::AtEnd::CloseListener);
        let connection = Connection {
            link: Mutex::new(link),
            listener,
            #[cfg(unix)]
            again: None,
        };
        Self { connection: Arc::new(connection), deadline: DEADLINE }
    }

    /// A client of the server at a socket. When the connection is lost, what was asked fails, and the next request
    /// connects again: with growing pauses, for at most five seconds. Must be called inside a runtime.
    ///
    /// # Errors
    /// When no server listens there, or other users could have put the socket there.
    #[cfg(unix)]
    pub async fn connect(path: impl Into<PathBuf>) -> Result<Self, NotGuarded> {
        let path = path.into();
        let listener = Listener::default();
        let link = Mutex::new(connect(&path, &listener).await?);
        let again = Some(Again { path, turn: tokio::sync::Mutex::default() });
        Ok(Self { connection: Arc::new(Connection { link, listener, again }), deadline: DEADLINE })
    }

    /// The client with another deadline for answers; by default five minutes. Afterwards the request is cancelled and
    /// counts as not guarded. The deadline of `hello` and `ping` is ten seconds, or this if it is shorter.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Agrees on a protocol.
    ///
    /// # Errors
    /// When the server refuses, or does not answer.
    pub async fn hello(&self, mut hello: Hello) -> Result<Welcome, NotGuarded> {
        let name = hello.correlation_id.take().unwrap_or_else(id::fresh);
        hello.correlation_id = Some(name.clone());
        match self.ask(name, ToServer::Hello(hello), self.deadline.min(SHORT_DEADLINE)).await? {
            FromServer::Welcome(welcome) => Ok(welcome),
            other => Err(NotGuarded::unexpected(other)),
        }
    }

    /// Runs the hooks of an event. Dropping the future cancels the request.
    ///
    /// # Errors
    /// When the hooks were not run or what they decided is not known, for whatever reason. The operation is then not
    /// guarded.
    pub async fn execute(&self, mut request: Request) -> Result<Executed, NotGuarded> {
        let name = request.correlation_id.take().filter(|name| !name.is_empty()).unwrap_or_else(id::fresh);
        request.correlation_id = Some(name.clone());
        match self.ask(name, ToServer::Request(Box::new(request)), self.deadline).await? {
            FromServer::Response(response) => {
                let report = response.result.map_err(NotGuarded::Refused)?;
                let (correlation_id, queued, took) = (response.correlation_id, response.queued, response.took);
                Ok(Executed { correlation_id, report, queued, took, truncated: response.truncated })
            }
            other => Err(NotGuarded::unexpected(other)),
        }
    }

    /// Ends a request. It gets its answer all the same, with the code `cancelled`.
    pub fn cancel(&self, correlation_id: impl Into<String>) {
        self.connection.current().say(ToServer::Cancel(Cancel::new(correlation_id)));
    }

    /// Asks for a sign of life.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn ping(&self) -> Result<(), NotGuarded> {
        let name = id::fresh();
        let ping = ToServer::Ping(Ping::named(name.clone()));
        match self.ask(name, ping, self.deadline.min(SHORT_DEADLINE)).await? {
            FromServer::Pong(_) => Ok(()),
            other => Err(NotGuarded::unexpected(other)),
        }
    }

    /// Has all configuration read again. Sources that were removed are then gone for good.
    ///
    /// # Errors
    /// When the connection is closed, or the server cannot do it.
    pub async fn reload(&self) -> Result<Reloaded, NotGuarded> {
        let name = id::fresh();
        let reload = Reload { correlation_id: Some(name.clone()) };
        match self.ask(name, ToServer::Reload(reload), self.deadline).await? {
            FromServer::Reloaded(reloaded) => Ok(reloaded),
            other => Err(NotGuarded::unexpected(other)),
        }
    }

    /// What happens to this client's requests from now on. A listener that was there before hears nothing more.
    #[must_use]
    pub fn lifecycles(&self) -> Lifecycles {
        let (sender, receiver) = mpsc::channel(REPORTS);
        lock(&self.connection.listener).replace(sender);
        self.connection.current().say(ToServer::Subscribe(Subscribe::new(true)));
        Lifecycles(receiver)
    }

    async fn ask(&self, name: String, message: ToServer, deadline: Duration) -> Result<FromServer, NotGuarded> {
        let asked = async { self.connection.link().await?.ask(name, message).await };
        // Dropping what was asked cancels it.
        tokio::time::timeout(deadline, asked).await.unwrap_or(Err(NotGuarded::TimedOut(deadline)))
    }
}

impl Connection {
    fn lock(&self) -> MutexGuard<'_, Link> {
        lock(&self.link)
    }

    fn current(&self) -> Link {
        self.lock().clone()
    }

    /// The connection there is, or another one in place of one that was lost.
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
async fn connect(path: &Path, listener: &Listener) -> Result<Link, NotGuarded> {
    let connected = tokio::time::timeout(SHORT_DEADLINE, crate::transport::connect(path)).await;
    let lines = connected.map_err(|_| NotGuarded::TimedOut(SHORT_DEADLINE))?.map_err(NotGuarded::Unreachable)?;
    let link = Link::new(lines, Arc::clone(listener), link::AtEnd::KeepListener);
    if lock(listener).is_some() {
        link.say(ToServer::Subscribe(Subscribe::new(true)));
    }
    Ok(link)
}

/// Tries until there is a server, for a while. A server that is being replaced comes back within moments.
#[cfg(unix)]
async fn reconnect(path: &Path, listener: &Listener) -> Result<Link, NotGuarded> {
    let until = tokio::time::Instant::now() + RECONNECT_FOR;
    let mut pause = FIRST_PAUSE;
    loop {
        match connect(path, listener).await {
            // Another user's socket does not get better by waiting.
            Err(NotGuarded::Unreachable(crate::transport::ConnectError::Unsafe(place))) => {
                return Err(NotGuarded::Unreachable(place.into()));
            }
            Err(_) if tokio::time::Instant::now() + pause < until => tokio::time::sleep(pause).await,
            connected => return connected,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A stream of what happens to a client's requests.
#[derive(Debug)]
pub struct Lifecycles(mpsc::Receiver<Lifecycle>);

impl Lifecycles {
    /// The next; none when the connection is closed and is not made again.
    pub async fn next(&mut self) -> Option<Lifecycle> {
        self.0.recv().await
    }
}

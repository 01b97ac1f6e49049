//! The bus: what all its connections share, and its end.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hookrail::Builder;
use tokio::sync::{Notify, watch};

use crate::budget::{Budget, MessageLimits, SHORT_LINE};
use crate::client::Client;
use crate::configuration::ConfigurationStatus;
use crate::connection;
use crate::error::{BusError, ErrorCode};
use crate::message::{FromServer, Reloaded, Response, ToServer};
use crate::metrics::{ConnectionEnd, LoadCounter, Metrics};
use crate::projects::{Describe, Projects, Watching};
use crate::schedule::Schedule;
use crate::transport::{Listener, Received, Transport, channel};
use crate::watch::WatchMode;

/// What a bus is made from.
#[must_use = "settings do nothing until a bus is made from them"]
pub struct Settings {
    project: PathBuf,
    describe: Describe,
    limit: usize,
    most_projects: usize,
    watching: Watching,
    grants: Vec<PathBuf>,
    limits: Limits,
    most_queued_in_all: usize,
}

/// What one connection may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) in_flight: usize,
    pub(crate) most_buffered: usize,
    pub(crate) patience: Duration,
    pub(crate) connections: usize,
    pub(crate) line: usize,
    pub(crate) queued: usize,
}

/// How often it is checked whether clients can still reach a server.
const CHECK_LISTENER_EVERY: Duration = Duration::from_secs(1);

impl Settings {
    /// A bus for this project, and for every other one a request names. `describe` says how the hook system of a
    /// project is built: with which trust, which modules, which dialects.
    pub fn new(project: impl Into<PathBuf>, describe: impl Fn(&Path) -> Builder + Send + Sync + 'static) -> Self {
        Self::fallible(project, move |directory| Ok(describe(directory)))
    }

    /// The same for a description that can fail. Requests for such a project are refused with the reason, and the next one
    /// tries again: nothing is answered as if there were no hooks.
    pub fn fallible(
        project: impl Into<PathBuf>,
        describe: impl Fn(&Path) -> Result<Builder, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            project: project.into(),
            describe: Box::new(describe),
            limit: 64,
            most_projects: 32,
            watching: Watching::On,
            grants: Vec::new(),
            limits: Limits {
                in_flight: 1024,
                most_buffered: 64 * 1024 * 1024,
                patience: Duration::from_secs(30),
                connections: 256,
                line: crate::LINE_LIMIT,
                queued: 16 * 1024 * 1024,
            },
            most_queued_in_all: 64 * 1024 * 1024,
        }
    }

    /// How many requests run at once; more wait, and sessions take turns. By default 64.
    pub fn limit(mut self, requests: usize) -> Self {
        self.limit = requests.max(1);
        self
    }

    /// How many messages of one connection may wait for their answer before no more are read. By default 1024.
    pub fn in_flight(mut self, messages: usize) -> Self {
        self.limits.in_flight = messages.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// How many bytes may wait to be read by one client before it is disconnected. By default 64 MiB.
    pub fn most_buffered(mut self, bytes: usize) -> Self {
        self.limits.most_buffered = bytes;
        self
    }

    /// How many bytes the requests of one connection may have that are longer than 64 KiB and have no answer yet, before
    /// no more are read. One is always read. By default 16 MiB. Of shorter ones it is always 1 MiB.
    pub fn most_queued(mut self, bytes: usize) -> Self {
        self.limits.queued = bytes;
        self
    }

    /// How many bytes such requests of all clients of a [`Listener`] may have. Others wait to be read, in the order in which
    /// they arrived. By default 64 MiB, and at least one line.
    pub fn most_queued_in_all(mut self, bytes: usize) -> Self {
        self.most_queued_in_all = bytes;
        self
    }

    /// How long a client may take nothing, not one byte, while there is something to read. By default 30 seconds.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.limits.patience = patience;
        self
    }

    /// How many clients may be connected at once. By default 256.
    pub fn most_connections(mut self, connections: usize) -> Self {
        self.limits.connections = connections.max(1);
        self
    }

    /// How long a message may be, in bytes, for clients of a [`Listener`]. Other connections are told this number and bring
    /// their own [`Lines::limit`](crate::transport::Lines::limit). By default 16 MiB.
    pub fn longest_line(mut self, bytes: usize) -> Self {
        self.limits.line = bytes.max(1);
        self
    }

    /// How many projects are kept open. By default 32.
    pub fn most_projects(mut self, projects: usize) -> Self {
        self.most_projects = projects.max(1);
        self
    }

    /// The file that holds the user's grants. It is looked at before every event, also without watching, so that a
    /// grant that was revoked is not in force for the next one.
    pub fn grants_in(mut self, file: impl Into<PathBuf>) -> Self {
        self.grants.push(file.into());
        self
    }

    /// Leaves configuration as it is when a project is opened, until the user's grants change or a reload is asked for.
    pub fn without_watching(mut self) -> Self {
        self.watching = Watching::Off;
        self
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("project", &self.project).field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// A message bus. Cloning shares everything.
#[derive(Clone)]
pub struct Bus {
    core: Arc<Core>,
}

/// What all connections share.
pub(crate) struct Core {
    pub(crate) projects: Arc<Projects>,
    pub(crate) schedule: Arc<Schedule>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: Limits,
    pub(crate) state: watch::Sender<State>,
    /// What waiting requests of all connections may occupy.
    budget: Budget,
    /// Told when the last request in flight is answered.
    quiet: Notify,
    /// How many connections there are.
    connected: watch::Sender<usize>,
}

/// How far the bus is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Requests are taken.
    Serving,
    /// What runs is finished, nothing new is taken.
    Draining,
    /// What runs is ended.
    Ending,
}

impl Bus {
    /// A bus from its settings. It belongs to the runtime in which its connections are served.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings { project, describe, limit, most_projects, watching, grants, limits, most_queued_in_all } =
            settings;
        let state = watch::Sender::new(State::Serving);
        let loads = LoadCounter::default();
        let projects = Projects::new(project, most_projects, describe, watching, grants, loads.clone());
        let core = Core {
            schedule: Schedule::new(limit),
            metrics: Arc::new(Metrics::new(loads, Arc::downgrade(&projects), state.subscribe())),
            projects,
            limits,
            state,
            budget: Budget::new(most_queued_in_all.max(limits.line)),
            quiet: Notify::new(),
            connected: watch::Sender::new(0),
        };
        Self { core: Arc::new(core) }
    }

    /// Serves one client, until everything it asked is answered or it is gone.
    pub async fn serve(&self, transport: impl Transport<ToServer, FromServer> + 'static) {
        let _counted = Counted::new(&self.core.connected);
        connection::serve(Arc::clone(&self.core), Box::new(transport)).await;
    }

    /// A client in this process. Nothing is serialised between it and the bus. Must be called inside a runtime.
    #[must_use]
    pub fn client(&self) -> Client {
        let (server, client) = channel();
        let bus = self.clone();
        // Counted at once: a bus that is told to end knows of the client that was made before.
        let counted = Counted::new(&self.core.connected);
        tokio::spawn(async move {
            connection::serve(bus.core, Box::new(server)).await;
            drop(counted);
        });
        Client::new(client)
    }

    /// Serves every client of a listener, until [`Bus::drain`] is called.
    ///
    /// # Errors
    /// When no client can reach this server any more; for a socket, when another server or another file has taken its name.
    /// Clients that are connected are served until the bus is drained.
    pub async fn listen<L: Listener>(&self, mut listener: L) -> Result<(), L::Error> {
        let mut state = self.core.state.subscribe();
        let mut turned_away = tokio::task::JoinSet::new();
        let mut check = tokio::time::interval(CHECK_LISTENER_EVERY);
        check.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            if *state.borrow_and_update() != State::Serving {
                return Ok(());
            }
            while turned_away.try_join_next().is_some() {}
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = state.changed() => continue,
                _ = check.tick() => {
                    listener.check()?;
                    continue;
                }
            };
            match accepted {
                Ok(Some(mut client)) if *self.core.connected.borrow() >= self.core.limits.connections => {
                    self.core.metrics.closed(ConnectionEnd::TurnedAway);
                    // There is no end of clients that may come; for some of them there is time to say why.
                    if turned_away.len() < MOST_TURNED_AWAY {
                        client.set_limits(MessageLimits { longest: SHORT_LINE, budget: None });
                        turned_away.spawn(turn_away(client, Arc::clone(&self.core.metrics)));
                    }
                }
                Ok(Some(mut client)) => {
                    let counted = Counted::new(&self.core.connected);
                    let core = Arc::clone(&self.core);
                    let budget = Some((core.budget.clone(), core.limits.patience));
                    client.set_limits(MessageLimits { longest: core.limits.line, budget });
                    tokio::spawn(async move {
                        connection::serve(core, Box::new(client)).await;
                        drop(counted);
                    });
                }
                Ok(None) => self.core.metrics.closed(ConnectionEnd::Stranger),
                Err(error) => {
                    // Out of descriptors, most likely; that passes.
                    crate::log::shielded(|| {
                        tracing::warn!(target: "hookrail::bus", %error, "a client could not be accepted");
                    });
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Waits for the next moment at which no request is in flight after there were some. A server may use it to give
    /// memory back to the system.
    pub async fn quiet(&self) {
        self.core.quiet.notified().await;
    }

    /// Opens the bus's own project, which otherwise happens at the first request.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn open(&self) -> Result<(), BusError> {
        self.core.projects.lease(None).await.map(drop)
    }

    /// Reads the configuration of every open project again. Sources that were removed are then gone for good.
    pub async fn reload(&self) -> Reloaded {
        self.core.projects.reload().await
    }

    /// How changes of configuration are noticed.
    #[must_use]
    pub fn watch_mode(&self) -> WatchMode {
        self.core.projects.mode()
    }

    /// The configuration of the bus's own project; none before it is open.
    #[must_use]
    pub fn configuration(&self) -> Option<ConfigurationStatus> {
        self.core.projects.configuration()
    }

    /// Finishes what runs and refuses what is new, then waits until nothing of any hook is left.
    pub async fn drain(&self) {
        self.core.state.send_if_modified(|state| {
            let serving = *state == State::Serving;
            if serving {
                *state = State::Draining;
            }
            serving
        });
        let mut connected = self.core.connected.subscribe();
        // The sender is this bus's own, so this ends only when no connection is left.
        let _ = connected.wait_for(|count| *count == 0).await;
        self.core.projects.shutdown().await;
    }

    /// Ends what runs: its hooks are cancelled, and its requests are answered so. [`Bus::drain`] then has little to
    /// wait for.
    pub fn end(&self) {
        self.core.state.send_replace(State::Ending);
    }

    /// What it has counted so far.
    #[must_use]
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.core.metrics)
    }

    /// How many projects are open.
    #[must_use]
    pub fn open_projects(&self) -> usize {
        self.core.projects.count()
    }

    /// Waits until configuration was reloaded so many times because a file changed.
    pub async fn reloaded(&self, times: u64) {
        let _ = self.core.projects.reloads().wait_for(|count| *count >= times).await;
    }
}

impl fmt::Debug for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bus").field("state", &*self.core.state.borrow()).finish_non_exhaustive()
    }
}

impl Core {
    /// A request is answered, or its client is gone.
    pub(crate) fn request_ended(&self) {
        if self.metrics.in_flight.dec() <= 1 {
            self.quiet.notify_one();
        }
    }
}

/// How many clients that there is no room for are told so at the same time.
const MOST_TURNED_AWAY: usize = 64;

/// How long the first message of such a client is waited for, so that it is told under the name it waits for, and how
/// long it has to read the answer.
const FIRST_MESSAGE: Duration = Duration::from_millis(250);
const TO_READ_IT: Duration = Duration::from_secs(2);

/// Says why to a client there is no room for.
async fn turn_away(transport: impl Transport<ToServer, FromServer> + 'static, metrics: Arc<Metrics>) {
    let error = BusError::new(
        ErrorCode::Overloaded,
        "the server has as many clients as it may have; end one, or raise `connections` in the section `bus` of the configuration",
    );
    metrics.refused(&error);
    let (mut source, mut sink) = Box::new(transport).split();
    let name = match tokio::time::timeout(FIRST_MESSAGE, source.next()).await {
        Ok(Received::Message(message)) => message.correlation_id().map(str::to_owned),
        Ok(Received::Refused(refusal)) => refusal.correlation_id,
        Ok(Received::End) | Err(_) => None,
    };
    let answer = Response::refused(name.unwrap_or_else(crate::id::fresh), error);
    let told = async {
        if sink.send(FromServer::Response(Box::new(answer))).await.is_ok() {
            drop(sink);
            // A socket that is closed while there is something to read is reset, and the answer may be lost with it.
            while !matches!(source.next().await, Received::End) {}
        }
    };
    let _ = tokio::time::timeout(TO_READ_IT, told).await;
}

/// One connection, counted as long as it lives.
struct Counted(watch::Sender<usize>);

impl Counted {
    fn new(connected: &watch::Sender<usize>) -> Self {
        connected.send_modify(|count| *count += 1);
        Self(connected.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

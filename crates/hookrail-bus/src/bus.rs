//! The bus: its options, the clients that it accepts, and its shutdown.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hookrail::Builder;
use tokio::sync::{Notify, watch};

use crate::budget::{MessageLimits, QueueBudget, SHORT_LINE};
use crate::bus_core::{BusCore, ConnectionLimits, WithoutHooks};
use crate::bus_state::BusState;
use crate::client::Client;
use crate::configuration::{ConfigurationStatus, Readiness};
use crate::connection;
use crate::correlation_id::new_correlation_id;
use crate::error::{BusError, ErrorCode};
use crate::load_counter::LoadCounter;
use crate::message::{FromServer, ToServer};
use crate::metrics::{ConnectionEnd, Metrics};
use crate::payload::{CallerContext, CallerRefusal, Reloaded, Response};
use crate::projects::{DescribeCaller, DescribeProject, Projects, Watching};
use crate::schedule::Schedule;
use crate::transport::{Listener, Received, Transport, channel};
use crate::watch::WatchMode;
use crate::wire::LINE_LIMIT;

/// The options of a bus.
#[must_use = "settings do nothing until a bus is made from them"]
pub struct BusOptions {
    project: PathBuf,
    describe: DescribeProject,
    describe_caller: DescribeCaller,
    limit: usize,
    most_projects: usize,
    watching: Watching,
    grants: Vec<PathBuf>,
    limits: ConnectionLimits,
    most_queued_in_all: usize,
    without_hooks: WithoutHooks,
}

/// How often the bus checks whether clients can still reach the server.
const CHECK_LISTENER_EVERY: Duration = Duration::from_secs(1);

impl BusOptions {
    /// Options for a bus that serves this project, and every other project that a request names. `describe` returns the
    /// builder of a project's hook system, with its trust, modules and dialects.
    pub fn new(project: impl Into<PathBuf>, describe: impl Fn(&Path) -> Builder + Send + Sync + 'static) -> Self {
        Self::fallible(project, move |directory| Ok(describe(directory)))
    }

    /// Does the same as [`BusOptions::new`] for a description that can fail. Requests for such a project are refused with
    /// the reason, and the next one tries again: no request is answered as if there were no hooks.
    pub fn fallible(
        project: impl Into<PathBuf>,
        describe: impl Fn(&Path) -> Result<Builder, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            project: project.into(),
            describe: Box::new(describe),
            describe_caller: Box::new(|_, _| {
                Err(CallerRefusal::Unsupported("this server runs hooks in its own environment only".to_owned()))
            }),
            limit: 64,
            most_projects: 32,
            watching: Watching::On,
            grants: Vec::new(),
            limits: ConnectionLimits {
                in_flight: 1024,
                most_buffered: 64 * 1024 * 1024,
                patience: Duration::from_secs(30),
                connections: 256,
                line: LINE_LIMIT,
                queued: 16 * 1024 * 1024,
            },
            most_queued_in_all: 64 * 1024 * 1024,
            without_hooks: WithoutHooks::Answered,
        }
    }

    /// Serves requests with a [`CallerContext`]. `describe` returns the builder of the hook system that the caller would
    /// have by itself. Without this such requests are refused.
    ///
    /// There is one hook system for each project and caller. It is opened anew when a file that it depends on has changed,
    /// so that nothing of its past counts.
    pub fn callers(
        mut self,
        describe: impl Fn(&Path, &CallerContext) -> Result<Builder, CallerRefusal> + Send + Sync + 'static,
    ) -> Self {
        self.describe_caller = Box::new(describe);
        self
    }

    /// Sets how many requests run at once; others wait, and sessions take turns. The default is 64.
    pub fn limit(mut self, requests: usize) -> Self {
        self.limit = requests.max(1);
        self
    }

    /// Sets how many messages of one connection may wait for their answer before no more are read. The default is 1024.
    pub fn in_flight(mut self, messages: usize) -> Self {
        self.limits.in_flight = messages.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// Sets how many bytes may wait to be read by one client before it is disconnected. The default is 64 MiB.
    pub fn most_buffered(mut self, bytes: usize) -> Self {
        self.limits.most_buffered = bytes;
        self
    }

    /// Sets how many bytes the unanswered requests of one connection that are longer than 64 KiB may have together before
    /// no more are read. One is always read. The default is 16 MiB. For shorter requests the limit is always 1 MiB.
    pub fn most_queued(mut self, bytes: usize) -> Self {
        self.limits.queued = bytes;
        self
    }

    /// Sets how many bytes such requests of all clients of a [`Listener`] may have together. Others wait to be read, in the
    /// order in which they arrived. The default is 64 MiB, and the minimum is one line.
    pub fn most_queued_in_all(mut self, bytes: usize) -> Self {
        self.most_queued_in_all = bytes;
        self
    }

    /// Sets how long a client may read not a single byte while there is something to read. The default is 30 seconds.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.limits.patience = patience;
        self
    }

    /// Sets how many clients may be connected at once. The default is 256.
    pub fn most_connections(mut self, connections: usize) -> Self {
        self.limits.connections = connections.max(1);
        self
    }

    /// Sets the longest message in bytes, for clients of a [`Listener`]. Other connections have their own
    /// [`Lines::limit`](crate::transport::Lines::limit), and are told this number. The default is 16 MiB.
    pub fn longest_line(mut self, bytes: usize) -> Self {
        self.limits.line = bytes.max(1);
        self
    }

    /// Sets how many projects are kept open. The default is 32.
    pub fn most_projects(mut self, projects: usize) -> Self {
        self.most_projects = projects.max(1);
        self
    }

    /// Adds a file with the user's grants. It is checked before every event, even without watching, so that a revoked grant
    /// is not in force for the next event.
    pub fn grants_in(mut self, file: impl Into<PathBuf>) -> Self {
        self.grants.push(file.into());
        self
    }

    /// Refuses every request while the project has no hooks, or a part of its configuration cannot be used: for a server that others
    /// ask to guard them. By default nothing objects then.
    pub fn require_hooks(mut self) -> Self {
        self.without_hooks = WithoutHooks::Refused;
        self
    }

    /// Turns watching off: the configuration of a project is read when it is opened, and again only if the user's grants
    /// change or a reload is requested.
    pub fn without_watching(mut self) -> Self {
        self.watching = Watching::Off;
        self
    }
}

impl fmt::Debug for BusOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BusOptions").field("project", &self.project).field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// A message bus. Clones share all state.
#[derive(Clone)]
pub struct Bus {
    core: Arc<BusCore>,
}

impl Bus {
    /// Creates a bus. It belongs to the runtime in which its connections are served.
    #[must_use]
    pub fn new(settings: BusOptions) -> Self {
        let BusOptions {
            project,
            describe,
            describe_caller,
            limit,
            most_projects,
            watching,
            grants,
            limits,
            most_queued_in_all,
            without_hooks,
        } = settings;
        let state = watch::Sender::new(BusState::Serving);
        let loads = LoadCounter::default();
        let projects =
            Projects::new(project, most_projects, (describe, describe_caller), watching, grants, loads.clone());
        let core = BusCore {
            schedule: Schedule::new(limit),
            metrics: Arc::new(Metrics::new(loads, Arc::downgrade(&projects), state.subscribe())),
            projects,
            limits,
            without_hooks,
            state,
            budget: QueueBudget::new(most_queued_in_all.max(limits.line)),
            quiet: Notify::new(),
            connected: watch::Sender::new(0),
        };
        Self { core: Arc::new(core) }
    }

    /// Serves one client, until all its requests are answered or it is gone.
    pub async fn serve(&self, transport: impl Transport<ToServer, FromServer> + 'static) {
        let _counted = CountedConnection::new(&self.core.connected);
        connection::serve(Arc::clone(&self.core), Box::new(transport)).await;
    }

    /// Creates a client in this process. Nothing is serialised between it and the bus. Must be called inside a runtime.
    #[must_use]
    pub fn client(&self) -> Client {
        let (server, client) = channel();
        let bus = self.clone();
        // Counted before the task runs: a bus that is drained right after this call must wait for this client.
        let counted = CountedConnection::new(&self.core.connected);
        tokio::spawn(async move {
            connection::serve(bus.core, Box::new(server)).await;
            drop(counted);
        });
        Client::new(client)
    }

    /// Serves every client of a listener, until [`Bus::drain`] is called.
    ///
    /// # Errors
    /// If no client can reach this server any more; for a socket, if another server or another file has its path. Connected
    /// clients are served until the bus is drained.
    pub async fn listen<L: Listener>(&self, mut listener: L) -> Result<(), L::Error> {
        let mut state = self.core.state.subscribe();
        let mut turned_away = tokio::task::JoinSet::new();
        let mut check = tokio::time::interval(CHECK_LISTENER_EVERY);
        check.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            if *state.borrow_and_update() != BusState::Serving {
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
                    // The number of clients that try is not limited, so only some of them get an error; the others are
                    // only disconnected.
                    if turned_away.len() < MOST_TURNED_AWAY {
                        client.set_limits(MessageLimits { longest: SHORT_LINE, budget: None });
                        turned_away.spawn(turn_away(client, Arc::clone(&self.core.metrics)));
                    }
                }
                Ok(Some(mut client)) => {
                    let counted = CountedConnection::new(&self.core.connected);
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
                    // Most likely the process has no descriptor left, which changes when a connection ends.
                    crate::log::shielded(|| {
                        tracing::warn!(target: "hookrail::bus", %error, "cannot accept a client");
                    });
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Waits until the last request in flight is answered. A server may use it to return memory to the system.
    pub async fn quiet(&self) {
        self.core.quiet.notified().await;
    }

    /// Opens the bus's own project, which otherwise happens at the first request.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn open(&self) -> Result<(), BusError> {
        self.core.projects.lease(None, None).await.map(drop)
    }

    /// Opens the bus's own project, and returns whether its hooks can answer for others.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn readiness(&self) -> Result<Readiness, BusError> {
        let project = self.core.projects.lease(None, None).await?;
        Ok(Readiness::of(&project.system))
    }

    /// Reads the configuration of every open project again. The last good version of a removed source is then dropped.
    pub async fn reload(&self) -> Reloaded {
        self.core.projects.reload().await
    }

    /// Returns how changes of configuration are noticed.
    #[must_use]
    pub fn watch_mode(&self) -> WatchMode {
        self.core.projects.mode()
    }

    /// Returns the configuration of the bus's own project, or `None` before it is open.
    #[must_use]
    pub fn configuration(&self) -> Option<ConfigurationStatus> {
        self.core.projects.configuration()
    }

    /// Finishes running requests and refuses new ones, then waits until no process of any hook is left.
    pub async fn drain(&self) {
        self.core.state.send_if_modified(|state| {
            let serving = *state == BusState::Serving;
            if serving {
                *state = BusState::Draining;
            }
            serving
        });
        let mut connected = self.core.connected.subscribe();
        // The sender belongs to this bus, so this ends only when no connection is left.
        let _ = connected.wait_for(|count| *count == 0).await;
        self.core.projects.shutdown().await;
    }

    /// Ends running requests: their hooks are cancelled, and they are answered with the code `cancelled`. [`Bus::drain`]
    /// then has little to wait for.
    pub fn end(&self) {
        self.core.state.send_replace(BusState::Ending);
    }

    /// Returns the metrics of this bus.
    #[must_use]
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.core.metrics)
    }

    /// Returns the number of open projects.
    #[must_use]
    pub fn open_projects(&self) -> usize {
        self.core.projects.count()
    }

    /// Waits until configuration was reloaded this many times.
    pub async fn reloaded(&self, times: u64) {
        let _ = self.core.projects.reloads().wait_for(|count| *count >= times).await;
    }
}

impl fmt::Debug for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bus").field("state", &*self.core.state.borrow()).finish_non_exhaustive()
    }
}

/// The number of refused clients that get an error at the same time.
const MOST_TURNED_AWAY: usize = 64;

/// How long the bus waits for the first message of a refused client, so that the error has the correlation id the client
/// waits for, and how long the client has to read the error.
const FIRST_MESSAGE: Duration = Duration::from_millis(250);
const TO_READ_IT: Duration = Duration::from_secs(2);

/// Refuses a client over the limit, and sends it the reason.
async fn turn_away(transport: impl Transport<ToServer, FromServer> + 'static, metrics: Arc<Metrics>) {
    let error = BusError::new(
        ErrorCode::Overloaded,
        "the limit of connections is reached; end a client, or raise `connections` in the section `bus` of the configuration",
    );
    metrics.refused(&error);
    let (mut source, mut sink) = Box::new(transport).split();
    let name = match tokio::time::timeout(FIRST_MESSAGE, source.next()).await {
        Ok(Received::Message(message)) => message.correlation_id().map(str::to_owned),
        Ok(Received::Refused(refusal)) => refusal.correlation_id,
        Ok(Received::End) | Err(_) => None,
    };
    let answer = Response::refused(name.unwrap_or_else(new_correlation_id), error);
    let told = async {
        if sink.send(FromServer::Response(Box::new(answer))).await.is_ok() {
            drop(sink);
            // Closing a socket with unread data resets it, and the answer may be lost. So the rest is read first.
            while !matches!(source.next().await, Received::End) {}
        }
    };
    let _ = tokio::time::timeout(TO_READ_IT, told).await;
}

/// A guard that counts one connection while it exists.
struct CountedConnection(watch::Sender<usize>);

impl CountedConnection {
    fn new(connected: &watch::Sender<usize>) -> Self {
        connected.send_modify(|count| *count += 1);
        Self(connected.clone())
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

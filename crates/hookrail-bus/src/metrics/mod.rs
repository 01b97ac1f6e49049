//! Counters and durations as Prometheus text.
//!
//! Labels have few values: events, codes and ends are the engine's own words, and only the first [`MOST_HOOKS`] hooks have a
//! label with their name. Metrics are sent only on request, at an address that the user configured.

mod added_gauge;
mod configuration;
mod server;

use std::collections::HashSet;
use std::sync::atomic::AtomicI64;
use std::sync::{Mutex, Weak};
use std::time::Duration;

use hookrail::outcome::Health;
use hookrail::{EndKind, EventKind, HookRun, Outcome, lock_mutex};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use tokio::sync::watch;

use crate::bus_state::BusState;
use crate::error::BusError;
use crate::load_counter::LoadCounter;
use crate::projects::Projects;

pub use server::MetricsServer;

type Labels = [(&'static str, &'static str); 1];
type Pair = [(&'static str, &'static str); 2];
type Counters = Family<Labels, Counter>;

/// The number of hooks with their own name in a label; all others are `other`.
const MOST_HOOKS: usize = 100;
/// The longest name of a hook in a label, in characters.
const LONGEST_NAME: usize = 80;

/// The metrics of a bus.
pub struct Metrics {
    registry: Mutex<Registry>,
    requests: Counters,
    errors: Counters,
    hooks: Counters,
    decisions: Family<Pair, Counter>,
    stops: Counters,
    runs: Family<[(&'static str, String); 2], Counter>,
    /// The hooks with their own name in a label.
    named: Mutex<HashSet<String>>,
    queue: Histogram,
    duration: Histogram,
    pub(crate) in_flight: Gauge<i64, AtomicI64>,
    pub(crate) connections: Gauge<i64, AtomicI64>,
    closed: Counters,
    projects: Weak<Projects>,
    state: watch::Receiver<BusState>,
}

/// The reason why a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// All requests are answered.
    Served,
    /// The client is gone.
    Vanished,
    /// The client took not one byte for too long.
    Stalled,
    /// Too much waits to be read by the client.
    Overfull,
    /// The limit of connections was reached.
    TurnedAway,
    /// The client runs as another user.
    Stranger,
}

impl ConnectionEnd {
    fn name(self) -> &'static str {
        match self {
            Self::Served => "served",
            Self::Vanished => "vanished",
            Self::Stalled => "stalled",
            Self::Overfull => "overfull",
            Self::TurnedAway => "turned-away",
            Self::Stranger => "stranger",
        }
    }
}

/// The buckets of durations in seconds, from 0.1 ms to one minute. A hook costs at least one process.
const BUCKETS: [f64; 16] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

impl Metrics {
    pub(crate) fn new(loads: LoadCounter, projects: Weak<Projects>, state: watch::Receiver<BusState>) -> Self {
        let mut registry = Registry::with_prefix("hookrail_bus");
        let metrics = Self {
            requests: Family::default(),
            errors: Family::default(),
            hooks: Family::default(),
            decisions: Family::default(),
            stops: Family::default(),
            runs: Family::default(),
            named: Mutex::default(),
            queue: Histogram::new(BUCKETS),
            duration: Histogram::new(BUCKETS),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            closed: Family::default(),
            registry: Mutex::default(),
            projects: Weak::clone(&projects),
            state,
        };
        registry.register("build", "The server", Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]));
        registry.register("requests", "Requests for an event that exists", metrics.requests.clone());
        registry.register("errors", "Messages that were refused, by code", metrics.errors.clone());
        registry.register("hooks", "Hooks that ran, by how they ended", metrics.hooks.clone());
        registry.register(
            "decisions",
            "Executed requests, by event and decision (none: no hook decided)",
            metrics.decisions.clone(),
        );
        registry.register("stops", "Executed requests whose hooks stopped the agent", metrics.stops.clone());
        registry.register(
            "hook_runs",
            "Hooks that ran, by result; the first 100 by name, then as other",
            metrics.runs.clone(),
        );
        registry.register("configuration_loads", "How often configuration was read, by why and result", loads.0);
        registry.register_collector(Box::new(configuration::Configurations::new(projects)));
        registry.register("queue_seconds", "How long requests waited for their turn", metrics.queue.clone());
        registry.register("request_seconds", "How long the hooks of a request took", metrics.duration.clone());
        registry.register("in_flight", "Requests that have no answer yet", metrics.in_flight.clone());
        registry.register("connections", "Clients that are connected", metrics.connections.clone());
        registry.register("connections_closed", "Connections that ended, by why", metrics.closed.clone());
        Self { registry: Mutex::new(registry), ..metrics }
    }

    /// Adds a gauge that is read when metrics are requested; a value that is not known is left out.
    ///
    /// The reader must not take long: it runs on a thread that serves requests.
    pub fn add_gauge(
        &self,
        name: &'static str,
        help: &'static str,
        read: impl Fn() -> Option<f64> + Send + Sync + 'static,
    ) {
        lock_mutex(&self.registry).register_collector(Box::new(added_gauge::AddedGauge::new(name, help, read)));
    }

    /// Returns all metrics as Prometheus text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &lock_mutex(&self.registry));
        text
    }

    pub(crate) fn requested(&self, event: EventKind) {
        self.requests.get_or_create(&[("event", event.name())]).inc();
    }

    pub(crate) fn refused(&self, error: &BusError) {
        let code = error.known().map_or("other", |code| code.name());
        self.errors.get_or_create(&[("code", code)]).inc();
    }

    pub(crate) fn executed(&self, outcome: &Outcome, queued: Duration, took: Duration) {
        self.queue.observe(queued.as_secs_f64());
        self.duration.observe(took.as_secs_f64());
        let event = ("event", outcome.event.name());
        let decision = outcome.effects.decision.map_or("none", |decision| decision.name());
        self.decisions.get_or_create(&[event, ("decision", decision)]).inc();
        if outcome.effects.stop.is_some() {
            self.stops.get_or_create(&[event]).inc();
        }
        for run in &outcome.runs {
            self.hooks.get_or_create(&[("end", run.end.name())]).inc();
            let hook = self.hook_label(run);
            self.runs.get_or_create(&[("hook", hook), ("result", run_result(run).to_owned())]).inc();
        }
    }

    /// Returns the name of a hook in a label. Only the first hooks have their own, so that a project with thousands of them,
    /// or many projects, cannot fill the memory of the program that collects metrics.
    fn hook_label(&self, run: &HookRun) -> String {
        let name: String = run.hook.label.chars().take(LONGEST_NAME).collect();
        let mut named = lock_mutex(&self.named);
        if named.contains(&name) {
            return name;
        }
        if named.len() >= MOST_HOOKS {
            return "other".to_owned();
        }
        named.insert(name.clone());
        name
    }

    /// Returns the reason why the server is not ready, or `None` if it is.
    fn unready_reason(&self) -> Option<&'static str> {
        if *self.state.borrow() != BusState::Serving {
            return Some("the server is shutting down");
        }
        let Some(configuration) = self.projects.upgrade().and_then(|projects| projects.configuration()) else {
            return Some("the configuration of the server's own project is not loaded");
        };
        configuration.system_unusable.then_some("the system configuration cannot be used: gating events are denied")
    }

    pub(crate) fn closed(&self, why: ConnectionEnd) {
        self.closed.get_or_create(&[("why", why.name())]).inc();
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Returns the result of a hook, which distinguishes a denial from a failure.
fn run_result(run: &HookRun) -> &'static str {
    match (run.end, run.health, run.decision) {
        (EndKind::Cancelled, _, _) => "cancelled",
        (EndKind::Detached, _, _) => "detached",
        (_, Health::Well, decision) => decision.map_or("none", |decision| decision.name()),
        (_, _, _) => "failed",
    }
}

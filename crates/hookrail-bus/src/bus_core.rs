//! The state that all connections of a bus share, and the limits of each.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};

use crate::budget::QueueBudget;
use crate::bus_state::BusState;
use crate::metrics::Metrics;
use crate::projects::Projects;
use crate::schedule::Schedule;

/// The state that all connections share.
pub(crate) struct BusCore {
    pub(crate) projects: Arc<Projects>,
    pub(crate) schedule: Arc<Schedule>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: ConnectionLimits,
    pub(crate) without_hooks: WithoutHooks,
    pub(crate) state: watch::Sender<BusState>,
    /// The memory that waiting requests of all connections may occupy.
    pub(crate) budget: QueueBudget,
    /// Notified when the last request in flight is answered.
    pub(crate) quiet: Notify,
    /// The number of connections.
    pub(crate) connected: watch::Sender<usize>,
}

impl BusCore {
    /// Records that a request was answered, or that its client is gone.
    pub(crate) fn request_ended(&self) {
        if self.metrics.in_flight.dec() <= 1 {
            self.quiet.notify_one();
        }
    }
}

/// What one connection may use. `BusOptions` documents each limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    pub(crate) in_flight: usize,
    pub(crate) most_buffered: usize,
    pub(crate) patience: Duration,
    /// The most clients that are connected at once.
    pub(crate) connections: usize,
    /// The longest message in bytes.
    pub(crate) line: usize,
    pub(crate) queued: usize,
}

/// What happens to a request that no hook can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithoutHooks {
    /// Nothing objects.
    Answered,
    /// It is an error.
    Refused,
}

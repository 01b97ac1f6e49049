//! The thread that exports. It is the only one that waits for the collector.
//!
//! ```text
//!   events ──► queue (bounded) ──► batch ──► spans, logs ──► the collector
//!                 │ full                        │ cannot take it now: the same batch again, later
//!                 ▼                             │ never takes it, or too often not: dropped
//!              dropped ◄────────────────────────┘
//! ```

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::client::{Client, Delivery};
use crate::encode::{Encoder, Payload};
use crate::metrics::{DropReason, Metrics};
use crate::options::{CollectorEndpoint, InputExport, Signals, TelemetryOptions};
use crate::queue::{Queue, WaitFor, Wake};
use crate::report::TelemetryEnd;

/// The most events in one batch.
const BATCH: usize = 512;

/// The number of times that a batch is sent before it is dropped.
const MOST_ATTEMPTS: u32 = 6;

/// The longest time between two attempts, also if the collector asks for a longer one.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// What the threads that fire events have in common with the one that exports.
pub(crate) struct Shared {
    pub(crate) queue: Queue,
    pub(crate) metrics: Metrics,
    /// The spans and log records that are on their way.
    pub(crate) pending: AtomicU64,
    pub(crate) inputs: InputExport,
    pub(crate) collector: CollectorEndpoint,
}

pub(crate) struct Exporter {
    shared: Arc<Shared>,
    client: Client,
    encoder: Encoder,
    signals: Signals,
    interval: Duration,
    request_timeout: Duration,
    /// The requests of the present batch that were not accepted yet.
    pending: VecDeque<Payload>,
    attempts: u32,
    reported: CollectorState,
}

/// What was last logged about the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CollectorState {
    Reachable,
    Failing,
}

/// How a round ended.
enum Round {
    /// Everything was sent or dropped.
    Done,
    /// The collector cannot take anything now.
    Later(Duration),
}

impl Exporter {
    pub(crate) fn new(shared: Arc<Shared>, options: &TelemetryOptions) -> Self {
        Self {
            shared,
            client: Client::new(options),
            encoder: Encoder::new(options),
            signals: options.signals,
            interval: options.interval,
            request_timeout: options.request_timeout,
            pending: VecDeque::new(),
            attempts: 0,
            reported: CollectorState::Reachable,
        }
    }

    /// Exports until it is asked to end.
    pub(crate) fn run(mut self) {
        let (mut next, mut wait_for) = (Instant::now() + self.interval, WaitFor::RoomOrEnd);
        loop {
            match self.shared.queue.wait(next, wait_for) {
                Wake::End(deadline) => {
                    let end = self.finish(deadline);
                    self.shared.queue.ended(end);
                    return;
                }
                Wake::Export => {
                    let delay = match self.export() {
                        Round::Done => {
                            wait_for = WaitFor::RoomOrEnd;
                            self.interval
                        }
                        Round::Later(delay) => {
                            wait_for = WaitFor::End;
                            delay
                        }
                    };
                    next = Instant::now() + delay;
                }
            }
        }
    }

    /// Fills the pending requests from the queue if none are left. Returns whether there are any.
    fn has_work(&mut self) -> bool {
        while self.pending.is_empty() {
            let items = self.shared.queue.take(BATCH);
            if items.is_empty() {
                return false;
            }
            self.attempts = 0;
            let signals = self.signals;
            let wanted = self.encoder.payloads(items).into_iter().filter(|payload| signals.has(payload.signal));
            self.pending.extend(wanted);
            self.note_pending();
        }
        true
    }

    /// Lets a shutdown that runs out of time know what is on its way.
    fn note_pending(&self) {
        let records = self.pending.iter().map(|payload| payload.records).sum();
        self.shared.pending.store(records, Ordering::Relaxed);
    }

    fn drop_first(&mut self, reason: DropReason) {
        if let Some(payload) = self.pending.pop_front() {
            self.shared.metrics.add_dropped(reason, payload.records);
        }
        self.note_pending();
    }

    /// Sends the first pending request.
    fn send_first(&mut self, limit: Duration) -> Delivery {
        let Some(payload) = self.pending.front() else { return Delivery::Accepted { rejected: 0 } };
        let delivery = self.client.send(payload, limit);
        self.report(&delivery);
        match &delivery {
            Delivery::Accepted { rejected } => {
                self.shared.metrics.add_dropped(DropReason::Rejected, *rejected);
                self.pending.pop_front();
                self.note_pending();
            }
            Delivery::Refused { .. } => self.drop_first(DropReason::ExportFailed),
            Delivery::Busy { .. } | Delivery::Away { .. } | Delivery::TimedOut => {}
        }
        delivery
    }

    /// Sends everything, and the metrics.
    fn export(&mut self) -> Round {
        while self.has_work() {
            // A shutdown has less time than a request, and the next wait begins it.
            if self.shared.queue.is_ending() {
                return Round::Done;
            }
            let retry_after = match self.send_first(self.request_timeout) {
                Delivery::Accepted { .. } | Delivery::Refused { .. } => continue,
                Delivery::Busy { retry_after, .. } => retry_after,
                Delivery::Away { .. } | Delivery::TimedOut => None,
            };
            self.attempts += 1;
            if self.attempts < MOST_ATTEMPTS {
                let delay = self.interval.min(Duration::from_secs(1)) * 2_u32.pow(self.attempts - 1);
                return Round::Later(retry_after.unwrap_or(delay).min(LONGEST_DELAY));
            }
            while !self.pending.is_empty() {
                self.drop_first(DropReason::ExportFailed);
            }
        }
        // Their values only grow, so the next ones make up for metrics that did not arrive.
        self.send_metrics(self.request_timeout);
        Round::Done
    }

    fn send_metrics(&mut self, limit: Duration) -> Delivery {
        let metrics = if self.signals.metrics { self.shared.metrics.take() } else { None };
        let Some(metrics) = metrics else { return Delivery::Accepted { rejected: 0 } };
        let delivery = self.client.send(&self.encoder.metrics(metrics), limit);
        self.report(&delivery);
        if !matches!(delivery, Delivery::Accepted { .. }) {
            self.shared.metrics.keep();
        }
        delivery
    }

    /// Sends everything once, by that time, and drops the rest.
    fn finish(&mut self, deadline: Instant) -> TelemetryEnd {
        let mut end = TelemetryEnd::Flushed;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let is_last = !self.has_work();
            let delivery = match is_last {
                _ if left.is_zero() => Delivery::TimedOut,
                false => self.send_first(left),
                true => self.send_metrics(left),
            };
            match delivery {
                Delivery::Accepted { .. } => {}
                // It may take what is left.
                Delivery::Refused { status } => end = TelemetryEnd::CollectorRefused { status },
                Delivery::Busy { status, .. } => {
                    end = TelemetryEnd::CollectorRefused { status };
                    break;
                }
                Delivery::Away { problem } => {
                    end = TelemetryEnd::CollectorAway { problem };
                    break;
                }
                Delivery::TimedOut => {
                    end = TelemetryEnd::TimedOut;
                    break;
                }
            }
            if is_last {
                break;
            }
        }
        while self.has_work() {
            self.drop_first(DropReason::ExportFailed);
        }
        end
    }

    /// Logs when the collector begins to fail, and when it is back.
    fn report(&mut self, delivery: &Delivery) {
        let problem = match delivery {
            Delivery::Accepted { .. } => {
                if self.reported == CollectorState::Failing {
                    tracing::info!(target: "hookrail::telemetry", "the collector takes telemetry again");
                }
                self.reported = CollectorState::Reachable;
                return;
            }
            Delivery::Busy { status, .. } | Delivery::Refused { status } => format!("it answered with {status}"),
            Delivery::Away { problem } => problem.clone(),
            Delivery::TimedOut => "it did not answer in time".to_owned(),
        };
        if self.reported == CollectorState::Reachable {
            let collector = &self.shared.collector;
            tracing::warn!(target: "hookrail::telemetry", %collector, problem, "the collector does not take telemetry");
        }
        self.reported = CollectorState::Failing;
    }
}

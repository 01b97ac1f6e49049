//! OpenTelemetry for hookrail: traces, logs and metrics over OTLP, for programs that run for long.
//!
//! [`Telemetry`] is a [`Recorder`]. Every event in which a hook takes part becomes a span `hookrail.fire EVENT` under the
//! trace context of its host, with a child span for each hook, a log record `hookrail.decision`, and a place in the metrics.
//! One thread exports; an event never waits for it. What cannot be exported is dropped and counted, and
//! [`Telemetry::shutdown`] returns in time whatever the collector does.
//!
//! Nothing is read from the environment: variables such as `OTEL_EXPORTER_OTLP_ENDPOINT` have no effect.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use hookrail::HookSystem;
//! use hookrail_otel::{CollectorEndpoint, Telemetry, TelemetryEnd, TelemetryOptions};
//!
//! let endpoint = CollectorEndpoint::parse("http://127.0.0.1:4318")?;
//! let telemetry = Telemetry::start(TelemetryOptions::new(endpoint).resource("service.name", "my-agent"))?;
//! let hooks = HookSystem::builder("/project").recorder(telemetry.clone()).build();
//! // … the agent runs, and at its end:
//! let report = telemetry.shutdown(Duration::from_secs(2));
//! if report.end != TelemetryEnd::Flushed {
//!     eprintln!("{}: {} records were dropped", report.end, report.dropped);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why there is no SDK below
//!
//! The messages are those of OTLP 1, which is stable, encoded by `prost` and sent by `ureq`, which bundles use as well. That is 19
//! crates that the program does not link otherwise, and 5 with bundles; `opentelemetry-otlp` 0.33 with its blocking HTTP client is 44
//! and 36. The SDK also brings a queue and a thread for each kind of telemetry, losses that only a log mentions, options from
//! the environment, which must not decide where telemetry goes, a shutdown of 12 s if the collector never answers, and a
//! breaking release every few months.

#![forbid(unsafe_code)]

mod client;
mod encode;
mod exporter;
mod item;
mod metrics;
mod options;
mod proto;
mod queue;
mod report;
mod trace;

pub use options::{
    CollectorEndpoint, CollectorHeaders, EndpointProblem, HeadersError, InputExport, Signals, TelemetryOptions,
};
pub use report::{TelemetryEnd, TelemetryReport};

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hookrail::recorder::{Entry, EntryKind, FiredEntry, Interest, RecordError, RecordErrorKind, Recorded, Recorder};

use exporter::{Exporter, Shared};
use item::{Item, JournalPlace};
use metrics::{DropReason, Metrics};
use queue::{PushRefusal, Queue};

/// The time that a shutdown takes at most, unless the host has a reason for another one.
pub const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);

/// Exports what hooks decide. Cloning shares it; one process needs one.
///
/// When the last clone is dropped the thread ends, and what it has not exported is lost; [`Telemetry::shutdown`] exports it.
#[derive(Clone)]
pub struct Telemetry {
    handle: Arc<Handle>,
}

/// Ends the thread when it is dropped.
struct Handle {
    shared: Arc<Shared>,
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").field("collector", &self.handle.shared.collector).finish_non_exhaustive()
    }
}

impl Telemetry {
    /// Starts the thread that exports. Nothing is sent before the first event.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(options: TelemetryOptions) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Queue::new(options.queue),
            metrics: Metrics::new(),
            pending: AtomicU64::new(0),
            inputs: options.inputs,
            collector: options.endpoint.clone(),
        });
        let of_thread = Arc::clone(&shared);
        // The client is made on the thread as well: reading the system's certificates takes milliseconds.
        let body = move || Exporter::new(of_thread, &options).run();
        std::thread::Builder::new().name("hookrail-otel".to_owned()).spawn(body)?;
        Ok(Self { handle: Arc::new(Handle { shared }) })
    }

    /// Returns how many spans and log records did not reach the collector since the start.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.handle.shared.metrics.dropped()
    }

    /// Exports what is left, within this time, and ends the thread. Events that are fired later are not exported.
    pub fn shutdown(&self, limit: Duration) -> TelemetryReport {
        let shared = &self.handle.shared;
        match shared.queue.end_by(Instant::now() + limit) {
            Some(end) => TelemetryReport { end, dropped: shared.metrics.dropped() },
            None => {
                let unsent = shared.pending.load(Ordering::Relaxed) + shared.queue.waiting();
                TelemetryReport { end: TelemetryEnd::TimedOut, dropped: shared.metrics.dropped() + unsent }
            }
        }
    }

    /// Returns a recorder that calls another one first, such as a journal, and then exports the same entry with the number of
    /// the record, if the other one returns it. Its failures count, its interest decides which events are recorded, and
    /// what no hook took part in is not exported.
    pub fn after<F>(&self, interest: Interest, record: F) -> RecorderWithTelemetry<F>
    where
        F: Fn(&Entry<'_>) -> Result<(Recorded, Option<u64>), RecordError> + Send + Sync,
    {
        RecorderWithTelemetry { telemetry: self.clone(), interest, record }
    }

    fn export(&self, entry: &Entry<'_>, journal: JournalPlace) {
        let shared = &self.handle.shared;
        let item = match &entry.kind {
            EntryKind::Fired(fired) => {
                if !is_asked(fired) {
                    return;
                }
                shared.metrics.add_event(fired.event.kind(), fired.outcome.effects.decision, fired.duration);
                Item::fired(entry, fired, journal, shared.inputs)
            }
            EntryKind::Late(late) => Item::late(entry, late),
            EntryKind::Answered(answered) => Item::answered(entry, answered),
            // Grants are made by commands that export nothing, and what an agent cannot do is known from its name. A correction
            // is about an event that was exported.
            EntryKind::Corrected(_) | EntryKind::Lost(_) | EntryKind::Trust(_) => return,
        };
        let records = item.records();
        match shared.queue.push(item) {
            Ok(()) => {}
            Err(PushRefusal::Full) => shared.metrics.add_dropped(DropReason::QueueFull, records),
            Err(PushRefusal::Ended) => {}
        }
    }
}

/// Whether a hook took part in an event, or the engine has something to say about it.
fn is_asked(fired: &FiredEntry<'_>) -> bool {
    let outcome = fired.outcome;
    let has_runs = !outcome.runs.is_empty() || !outcome.shadow.is_empty();
    let is_eventful = outcome.effects.decision.is_some() || outcome.refusal.is_some();
    has_runs || is_eventful || !outcome.diagnostics.is_empty()
}

impl Drop for Handle {
    fn drop(&mut self) {
        drop(self.shared.queue.ask_to_end(Instant::now()));
    }
}

impl Recorder for Telemetry {
    fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
        self.export(entry, JournalPlace::Unknown);
        Ok(Recorded::Done)
    }
}

/// A recorder with telemetry behind it; see [`Telemetry::after`].
pub struct RecorderWithTelemetry<F> {
    telemetry: Telemetry,
    interest: Interest,
    record: F,
}

impl<F> fmt::Debug for RecorderWithTelemetry<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderWithTelemetry").field("telemetry", &self.telemetry).finish_non_exhaustive()
    }
}

impl<F> Recorder for RecorderWithTelemetry<F>
where
    F: Fn(&Entry<'_>) -> Result<(Recorded, Option<u64>), RecordError> + Send + Sync,
{
    fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
        let recorded = (self.record)(entry);
        // A fired event is given again after this, with its final outcome.
        if let (Err(RecordError { kind: RecordErrorKind::Backlog, .. }), EntryKind::Fired(_)) = (&recorded, &entry.kind)
        {
            return recorded.map(|(recorded, _)| recorded);
        }
        let place = match &recorded {
            Ok((_, number)) => number.map_or(JournalPlace::Unknown, JournalPlace::Recorded),
            Err(error) => JournalPlace::Failed(error.kind),
        };
        self.telemetry.export(entry, place);
        recorded.map(|(recorded, _)| recorded)
    }

    fn interest(&self) -> Interest {
        self.interest
    }
}

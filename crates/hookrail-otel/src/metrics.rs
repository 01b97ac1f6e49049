//! The metrics: how long events took, what was decided, and what was dropped. They count every event, also those whose
//! spans and logs were dropped, and their values only grow, so that an export that fails loses nothing.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use hookrail::{Decision, EventKind, lock_mutex};

use crate::item::nanoseconds;
use crate::proto::{
    Histogram, HistogramDataPoint, KeyValue, Metric, MetricData, NumberDataPoint, Sum, Temporality, text,
};

/// The upper bounds of the histogram's buckets in seconds.
const BOUNDS: [f64; 16] =
    [0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0, 60.0];

/// Why spans and log records did not reach the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReason {
    /// The queue was full.
    QueueFull,
    /// The collector could not be reached, or answered with an error.
    ExportFailed,
    /// The collector accepted a request and rejected a part of it.
    Rejected,
}

impl DropReason {
    const ALL: [Self; 3] = [Self::QueueFull, Self::ExportFailed, Self::Rejected];

    fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::ExportFailed => "export_failed",
            Self::Rejected => "rejected",
        }
    }
}

pub(crate) struct Metrics {
    began: u64,
    durations: Mutex<BTreeMap<(EventKind, &'static str), Durations>>,
    dropped: [AtomicU64; 3],
    has_changed: AtomicBool,
}

#[derive(Clone, Debug, Default)]
struct Durations {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    buckets: [u64; BOUNDS.len() + 1],
}

impl Durations {
    fn add(&mut self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        self.min = if self.count == 0 { seconds } else { self.min.min(seconds) };
        self.max = self.max.max(seconds);
        self.count += 1;
        self.sum += seconds;
        let place = BOUNDS.partition_point(|bound| *bound < seconds);
        if let Some(bucket) = self.buckets.get_mut(place) {
            *bucket += 1;
        }
    }
}

/// Returns the name of a decision; that of an event without one is `none`.
pub(crate) fn decision_name(decision: Option<Decision>) -> &'static str {
    decision.map_or("none", Decision::name)
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self {
            began: nanoseconds(SystemTime::now()),
            durations: Mutex::default(),
            dropped: [const { AtomicU64::new(0) }; 3],
            has_changed: AtomicBool::new(false),
        }
    }

    /// Counts an event.
    pub(crate) fn add_event(&self, event: EventKind, decision: Option<Decision>, duration: Duration) {
        lock_mutex(&self.durations).entry((event, decision_name(decision))).or_default().add(duration);
        self.has_changed.store(true, Ordering::Release);
    }

    /// Counts spans and log records that the collector does not get.
    pub(crate) fn add_dropped(&self, reason: DropReason, records: u64) {
        if records == 0 {
            return;
        }
        if let Some(count) = self.dropped.get(reason as usize) {
            count.fetch_add(records, Ordering::Relaxed);
        }
        self.has_changed.store(true, Ordering::Release);
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Returns the metrics if they have changed since the last call or [`Metrics::keep`].
    pub(crate) fn take(&self) -> Option<Vec<Metric>> {
        self.has_changed.swap(false, Ordering::AcqRel).then(|| self.points())
    }

    /// Lets the next call of [`Metrics::take`] return them again, because they did not reach the collector.
    pub(crate) fn keep(&self) {
        self.has_changed.store(true, Ordering::Release);
    }

    fn points(&self) -> Vec<Metric> {
        let now = nanoseconds(SystemTime::now());
        let (mut durations, mut decisions) = (Vec::new(), Vec::new());
        for ((event, decision), times) in lock_mutex(&self.durations).iter() {
            let attributes = vec![text("hookrail.event", event.name()), text("hookrail.decision", *decision)];
            decisions.push(self.number(now, times.count, attributes.clone()));
            durations.push(HistogramDataPoint {
                start_time_unix_nano: self.began,
                time_unix_nano: now,
                count: times.count,
                sum: Some(times.sum),
                bucket_counts: times.buckets.to_vec(),
                explicit_bounds: BOUNDS.to_vec(),
                attributes,
                min: Some(times.min),
                max: Some(times.max),
            });
        }
        let dropped = DropReason::ALL.iter().zip(&self.dropped);
        let dropped = dropped.map(|(reason, count)| {
            self.number(now, count.load(Ordering::Relaxed), vec![text("hookrail.drop.reason", reason.name())])
        });
        let histogram = Histogram { data_points: durations, aggregation_temporality: Temporality::Cumulative.into() };
        vec![
            metric(
                "hookrail.fire.duration",
                "The time from firing an event to its outcome",
                "s",
                MetricData::Histogram(histogram),
            ),
            metric("hookrail.decisions", "Events by what hooks decided", "{event}", sum(decisions)),
            metric(
                "hookrail.telemetry.dropped",
                "Spans and log records that did not reach the collector",
                "{record}",
                sum(dropped.collect()),
            ),
        ]
    }

    fn number(&self, now: u64, value: u64, attributes: Vec<KeyValue>) -> NumberDataPoint {
        NumberDataPoint {
            start_time_unix_nano: self.began,
            time_unix_nano: now,
            as_int: Some(i64::try_from(value).unwrap_or(i64::MAX)),
            attributes,
        }
    }
}

fn sum(data_points: Vec<NumberDataPoint>) -> MetricData {
    MetricData::Sum(Sum { data_points, aggregation_temporality: Temporality::Cumulative.into(), is_monotonic: true })
}

fn metric(name: &str, description: &str, unit: &str, data: MetricData) -> Metric {
    Metric { name: name.to_owned(), description: description.to_owned(), unit: unit.to_owned(), data: Some(data) }
}

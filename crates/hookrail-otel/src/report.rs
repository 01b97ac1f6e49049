//! How an export ended, as a shutdown reports it.

use std::fmt;

/// How the export ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TelemetryEnd {
    /// The collector has everything that was not dropped before.
    Flushed,
    /// The collector answered the last requests with an error.
    CollectorRefused {
        /// Its HTTP status.
        status: u16,
    },
    /// The collector could not be reached.
    CollectorAway {
        /// Why.
        problem: String,
    },
    /// The time was over before the collector had answered.
    TimedOut,
}

impl fmt::Display for TelemetryEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flushed => f.write_str("the collector has everything"),
            Self::CollectorRefused { status } => write!(f, "the collector answered with {status}"),
            Self::CollectorAway { problem } => write!(f, "the collector cannot be reached: {problem}"),
            Self::TimedOut => f.write_str("the collector did not answer in time"),
        }
    }
}

/// How a shutdown ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetryReport {
    /// How the export ended.
    pub end: TelemetryEnd,
    /// How many spans and log records did not reach the collector since the start.
    pub dropped: u64,
}

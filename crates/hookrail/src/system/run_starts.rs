//! When each run of an event was started, for its outcome and its record.

use std::time::{Duration, Instant};

use crate::outcome::Outcome;
use crate::run::{RunEnd, RunId};

/// When the runs of an event were started.
pub(super) struct RunStarts {
    /// When the event was fired.
    began: Instant,
    starts: Vec<(RunId, Duration)>,
}

impl RunStarts {
    /// No run was started yet of an event that was fired at that moment.
    pub(super) fn since(began: Instant) -> Self {
        Self { began, starts: Vec::new() }
    }

    /// Notes when a run that has just ended was started: the time in which it waited for its turn is no part of it.
    pub(super) fn note(&mut self, id: RunId, end: &RunEnd) {
        if !matches!(end, RunEnd::NotRun(_)) {
            self.starts.push((id, self.began.elapsed().saturating_sub(end.duration())));
        }
    }

    /// Puts the starts into the runs of the outcome.
    pub(super) fn note_in(self, outcome: &mut Outcome) {
        for (id, start) in self.starts {
            outcome.runs.iter_mut().filter(|run| run.number == id.index()).for_each(|run| run.start = Some(start));
        }
    }
}

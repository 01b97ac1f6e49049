//! The differences that a replay found, in groups with one example each.

use std::collections::BTreeMap;

use hookrail::{Decision, Health, Json, Outcome};
use hookrail_journal::Record;
use serde_json::{Value, json};

use super::compare::{NotAsked, ReplayChange};
use crate::journal::subject_of;

/// What a replay came to.
#[derive(Debug, Default)]
pub struct ReplaySummary {
    /// Events that came to the same.
    pub same: usize,
    /// Events from whose records values were removed that would be needed.
    pub redacted: usize,
    /// Events whose records have no input, or that this version does not know.
    pub not_recorded: usize,
    /// Events with a hook that was not started in the sandbox.
    pub not_run: usize,
    /// Events with a hook that failed in the sandbox only.
    pub failed_in_sandbox: usize,
    /// Events with a hook that waits for a grant.
    pub not_trusted: usize,
    /// Errors in the configuration that events are fired against, which may hide a hook.
    pub configuration_errors: usize,
    /// The events in which a hook failed, by the hook's name.
    pub failures: BTreeMap<String, usize>,
    pub changes: BTreeMap<ReplayChange, Group>,
}

/// What can be said of all events together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// Every event that was fired came to the same.
    Same,
    /// An event came to something else.
    Differs,
    /// Nothing differs as far as it is known: hooks of some events did not do their work, or could not be loaded.
    NotAllAsked,
    /// There were events, and not one could be compared.
    NothingCompared,
}

/// The events that differ in the same way.
#[derive(Debug)]
pub struct Group {
    pub count: usize,
    pub example: Example,
}

/// The first event of a group.
#[derive(Debug)]
pub struct Example {
    seq: u64,
    pub at: String,
    session: String,
    pub event: String,
    tool: Option<String>,
    pub subject: String,
    pub hook: Option<String>,
    pub reason: Option<String>,
}

impl ReplaySummary {
    /// The summary of no event, against a configuration with that number of errors.
    pub(super) fn new(configuration_errors: usize) -> Self {
        Self { configuration_errors, ..Self::default() }
    }

    /// Counts an event that came to something else.
    pub(super) fn add(&mut self, record: &Record<'_>, change: ReplayChange, outcome: &Outcome) {
        let group = self.changes.entry(change).or_insert_with(|| {
            let decides = |decision: Decision| outcome.effects.decision == Some(decision);
            let strict = outcome.runs.iter().find(|run| run.decision.is_some_and(decides));
            Group {
                count: 0,
                example: Example {
                    seq: record.seq,
                    at: record.at.clone(),
                    session: record.session.as_deref().unwrap_or_default().to_owned(),
                    event: record.event.as_deref().unwrap_or_default().to_owned(),
                    tool: record.tool.as_deref().map(str::to_owned),
                    subject: subject_of(record).unwrap_or_default(),
                    hook: strict.map(|run| run.hook.label.to_string()),
                    reason: outcome.effects.reason.clone(),
                },
            }
        });
        group.count += 1;
    }

    /// Counts an event that cannot be compared, because a hook did not do its work.
    pub(super) fn add_not_asked(&mut self, why: NotAsked) {
        match why {
            NotAsked::NotRun => self.not_run += 1,
            NotAsked::FailedInSandbox => self.failed_in_sandbox += 1,
            NotAsked::NotTrusted => self.not_trusted += 1,
        }
    }

    /// Counts the hooks that failed.
    pub(super) fn count_failures(&mut self, outcome: &Outcome) {
        for run in outcome.runs.iter().filter(|run| run.health == Health::Failed) {
            *self.failures.entry(run.hook.label.to_string()).or_default() += 1;
        }
    }

    /// Returns what can be said of all events together.
    pub fn verdict(&self) -> ReplayVerdict {
        if !self.changes.is_empty() {
            ReplayVerdict::Differs
        } else if self.not_asked() > 0 || self.configuration_errors > 0 {
            ReplayVerdict::NotAllAsked
        } else if self.same == 0 && self.redacted + self.not_recorded > 0 {
            ReplayVerdict::NothingCompared
        } else {
            ReplayVerdict::Same
        }
    }

    /// The number of events with a hook that did not do its work.
    fn not_asked(&self) -> usize {
        self.not_run + self.failed_in_sandbox + self.not_trusted
    }

    /// Returns the number of events that came to something else.
    pub fn differing(&self) -> usize {
        self.changes.values().map(|group| group.count).sum()
    }

    /// Returns the number of events that were fired and compared.
    pub fn replayed(&self) -> usize {
        self.same + self.differing()
    }

    /// Returns the summary as a document.
    pub fn document(&self) -> Json {
        let groups: Vec<Value> = self
            .changes
            .iter()
            .map(|(change, Group { count, example })| {
                json!({
                    "from": change.before,
                    "to": change.after,
                    "count": count,
                    "example": {
                        "seq": example.seq,
                        "at": example.at,
                        "session": example.session,
                        "event": example.event,
                        "tool": example.tool,
                        "hook": example.hook,
                        "reason": example.reason,
                    },
                })
            })
            .collect();
        let document = json!({
            "replayed": self.replayed(),
            "same": self.same,
            "different": groups,
            "notReplayable": self.redacted + self.not_recorded + self.not_asked(),
            "redacted": self.redacted,
            "notRecorded": self.not_recorded,
            "notRun": self.not_run,
            "failedInSandbox": self.failed_in_sandbox,
            "notTrusted": self.not_trusted,
            "configurationErrors": self.configuration_errors,
            "failures": self.failures,
        });
        document.into()
    }
}

//! The differences that a replay found, in groups with one example each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hookrail::{Decision, Health, Json, Outcome};
use hookrail_app::project::Project;
use hookrail_app::text::counted;
use hookrail_app::text::{one_line, short};
use hookrail_journal::Record;
use serde_json::{Value, json};

use super::compare::{Change, NotAsked};
use crate::style::{BAD, CAREFUL, GOOD, HEADING, QUIET, paint};

/// What a replay came to.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Events that came to the same.
    pub(super) same: usize,
    /// Events from whose records values were removed that would be needed.
    pub(super) redacted: usize,
    /// Events whose records have no input, or that this version does not know.
    pub(super) not_recorded: usize,
    /// Events with a hook that was not started in the sandbox.
    not_run: usize,
    /// Events with a hook that failed in the sandbox only.
    failed_in_sandbox: usize,
    /// Events with a hook that waits for a grant.
    not_trusted: usize,
    /// Errors in the configuration that events are fired against, which may hide a hook.
    configuration_errors: usize,
    /// The events in which a hook failed, by the hook's name.
    failures: BTreeMap<String, usize>,
    changes: BTreeMap<Change, Group>,
}

/// What can be said of all events together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Every event that was fired came to the same.
    Same,
    /// An event came to something else.
    Differs,
    /// Nothing differs as far as it is known: hooks of some events did not do their work, or could not be loaded.
    NotAllAsked,
    /// There were events, and not one could be compared.
    NothingCompared,
}

#[derive(Debug)]
struct Group {
    count: usize,
    example: Example,
}

/// The first event of a group.
#[derive(Debug)]
struct Example {
    seq: u64,
    at: String,
    session: String,
    event: String,
    tool: Option<String>,
    subject: String,
    hook: Option<String>,
    reason: Option<String>,
}

impl Summary {
    /// The summary of no event, against a configuration with that number of errors.
    pub(super) fn new(configuration_errors: usize) -> Self {
        Self { configuration_errors, ..Self::default() }
    }

    /// Counts an event that came to something else.
    pub(super) fn add(&mut self, record: &Record, change: Change, outcome: &Outcome) {
        let group = self.changes.entry(change).or_insert_with(|| {
            let decides = |decision: Decision| outcome.effects.decision == Some(decision);
            let strict = outcome.runs.iter().find(|run| run.decision.is_some_and(decides));
            Group {
                count: 0,
                example: Example {
                    seq: record.seq,
                    at: record.at.clone(),
                    session: record.session.clone(),
                    event: record.event.clone(),
                    tool: record.tool.clone(),
                    subject: super::super::log::subject(record).unwrap_or_default(),
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
    pub(super) fn verdict(&self) -> Verdict {
        if !self.changes.is_empty() {
            Verdict::Differs
        } else if self.not_asked() > 0 || self.configuration_errors > 0 {
            Verdict::NotAllAsked
        } else if self.same == 0 && self.redacted + self.not_recorded > 0 {
            Verdict::NothingCompared
        } else {
            Verdict::Same
        }
    }

    /// The number of events with a hook that did not do its work.
    fn not_asked(&self) -> usize {
        self.not_run + self.failed_in_sandbox + self.not_trusted
    }

    /// Returns the number of events that came to something else.
    pub(super) fn differing(&self) -> usize {
        self.changes.values().map(|group| group.count).sum()
    }

    /// Returns the number of events that were fired and compared.
    pub(super) fn replayed(&self) -> usize {
        self.same + self.differing()
    }

    /// Renders the summary for people.
    pub(super) fn text(&self, target: &Project) -> String {
        let place = one_line(&target.root().to_string_lossy());
        let replayed = counted(self.replayed(), "event");
        let mut text = format!("{replayed} replayed against the configuration of {}\n", paint(HEADING, &place));
        for (change, Group { count, example }) in &self.changes {
            let style = if change.after.starts_with("allowed") { CAREFUL } else { BAD };
            let of = format!("{count} of {}", self.replayed());
            let words = format!("{} → {}", change.before, change.after);
            let _ = writeln!(text, "\n{}, {of}", paint(style, words));
            let subject = short(&one_line(&format!("{} {}", example.event, example.subject)), 120);
            let at = one_line(&example.at);
            let _ = writeln!(text, "  for example {}  {}", subject.trim_end(), paint(QUIET, at));
            if let Some(hook) = &example.hook {
                let reason = example.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                let _ = writeln!(text, "  by hook `{}`{}", one_line(hook), short(&one_line(&reason), 200));
            }
        }
        let _ = match self.verdict() {
            Verdict::Differs => Ok(()),
            Verdict::Same => writeln!(text, "{}", paint(GOOD, "nothing differs")),
            Verdict::NotAllAsked => writeln!(text, "{}", paint(CAREFUL, "not all hooks could be asked")),
            Verdict::NothingCompared => writeln!(text, "{}", paint(CAREFUL, "no event could be compared")),
        };
        let left_out = [
            (self.redacted, "cannot be replayed: values were removed from the record"),
            (self.not_recorded, "cannot be replayed: the record has no input"),
            (self.not_run, "not compared: a hook could not be run in the sandbox; see `--run-commands`"),
            (self.failed_in_sandbox, "not compared: a hook failed in the sandbox; see `--run-commands`"),
            (self.not_trusted, "not compared: a hook waits for a grant; see `hookrail trust`, or `--trust-project`"),
        ];
        for (count, why) in left_out.into_iter().filter(|(count, _)| *count > 0) {
            let _ = writeln!(text, "\n{}: {why}", counted(count, "event"));
        }
        if self.configuration_errors > 0 {
            let errors = counted(self.configuration_errors, "error");
            let _ = writeln!(text, "\nits configuration has {errors}; run `hookrail check --project {place}`");
        }
        for (hook, count) in &self.failures {
            let _ = writeln!(text, "\nhook `{}` failed in {}", one_line(hook), counted(*count, "event"));
        }
        text
    }

    /// Returns the summary as a document.
    pub(super) fn document(&self) -> Json {
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

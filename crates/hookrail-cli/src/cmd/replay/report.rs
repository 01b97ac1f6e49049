//! The differences that a replay found, in groups with one example each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hookrail::{Decision, Json, Outcome};
use hookrail_journal::Record;
use serde_json::{Value, json};

use super::compare::Change;
use crate::project::Project;
use crate::render::counted;
use crate::render::text::{one_line, short};
use crate::style::{BAD, CAREFUL, GOOD, HEADING, QUIET, paint};

/// What a replay came to.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Events that came to the same.
    pub(super) same: usize,
    /// Events from whose records values were removed.
    pub(super) redacted: usize,
    /// Events whose records have no input, or that this version does not know.
    pub(super) not_recorded: usize,
    /// Events with a command hook that could not be run in the sandbox.
    pub(super) not_run: usize,
    changes: BTreeMap<Change, Group>,
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

    /// Returns the number of events that came to something else.
    pub(super) fn differing(&self) -> usize {
        self.changes.values().map(|group| group.count).sum()
    }

    /// Returns the number of events that were fired and compared.
    pub(super) fn replayed(&self) -> usize {
        self.same + self.differing()
    }

    /// Whether anything differs.
    pub(super) fn differs(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Renders the summary for people.
    pub(super) fn text(&self, target: &Project) -> String {
        let place = one_line(&target.root().to_string_lossy());
        let replayed = counted(self.replayed(), "event");
        let mut text = format!("{replayed} replayed against the configuration of {}\n", paint(HEADING, place));
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
        if !self.differs() {
            let _ = writeln!(text, "{}", paint(GOOD, "nothing differs"));
        }
        let left_out = [
            (self.redacted, "cannot be replayed: values were removed from the record"),
            (self.not_recorded, "cannot be replayed: the record has no input"),
            (self.not_run, "not compared: a command could not be run in the sandbox; see `--run-commands`"),
        ];
        for (count, why) in left_out.into_iter().filter(|(count, _)| *count > 0) {
            let _ = writeln!(text, "\n{}: {why}", counted(count, "event"));
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
            "notReplayable": self.redacted + self.not_recorded + self.not_run,
            "redacted": self.redacted,
            "notRecorded": self.not_recorded,
            "commandsNotRun": self.not_run,
        });
        document.into()
    }
}

//! What shadow hooks would have done.

use std::collections::BTreeMap;

use hookrail_journal::{Record, RecordKind, RecordedHealth, RecordedRun};

use super::{RecordSelection, ReportUnreadable, read};
use crate::failure::Result;

/// The verdicts of one hook.
#[derive(Debug, Default)]
pub struct Verdicts {
    pub hook: String,
    pub layer: String,
    pub all: usize,
    pub denied: usize,
    pub asked: usize,
    pub stopped: usize,
    pub rewritten: usize,
    pub added_context: usize,
    pub failed: usize,
}

impl Verdicts {
    fn add(&mut self, run: &RecordedRun<'_>) {
        run.hook.as_ref().clone_into(&mut self.hook);
        run.layer.as_ref().clone_into(&mut self.layer);
        self.all += 1;
        match run.decision.as_deref() {
            Some("deny") => self.denied += 1,
            Some("ask") => self.asked += 1,
            Some(_) | None => {}
        }
        for effect in &run.asked {
            match effect.as_ref() {
                "stop" => self.stopped += 1,
                "rewrite" => self.rewritten += 1,
                "context" => self.added_context += 1,
                // What a later version records.
                _ => {}
            }
        }
        self.failed += usize::from(run.health == RecordedHealth::Failed);
    }
}

/// Counts the verdicts by the id of the hook.
///
/// # Errors
///
/// The selection or the journal cannot be read.
pub fn collect(selection: RecordSelection<'_>, report: ReportUnreadable<'_>) -> Result<BTreeMap<String, Verdicts>> {
    // The filter knows hooks by what they decided, and these decided nothing.
    let RecordSelection { hook, decision, .. } = selection;
    let records = read(RecordSelection { hook: None, decision: None, ..selection })?;
    let mut hooks: BTreeMap<String, Verdicts> = BTreeMap::new();
    for record in records {
        let record = match record {
            Ok(record) => record,
            Err(unreadable) => {
                report(&unreadable);
                continue;
            }
        };
        let is_wanted = |run: &&RecordedRun<'_>| {
            hook.is_none_or(|hook| run.hook == hook || run.id == hook)
                && decision.is_none_or(|decision| run.decision.as_deref() == Some(decision))
        };
        for run in verdicts(&record).iter().filter(is_wanted) {
            hooks.entry(run.id.to_string()).or_default().add(run);
        }
    }
    Ok(hooks)
}

/// Returns the runs of shadow hooks of a record.
fn verdicts<'v>(record: &'v Record<'_>) -> &'v [RecordedRun<'v>] {
    match record.kind {
        RecordKind::Fired => &record.shadow,
        RecordKind::Late if record.why.as_deref() == Some("shadow") => record.hooks.as_deref().unwrap_or_default(),
        _ => &[],
    }
}

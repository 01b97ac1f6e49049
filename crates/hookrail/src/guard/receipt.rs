//! The receipt of an operation: which hooks ran or were skipped, and what they decided and changed.

use crate::config::diagnostic::Diagnostic;
use crate::dialect_id::DialectId;
use crate::json::Json;
use crate::outcome::skips::Skips;
use crate::outcome::{Decision, EndKind, Outcome};
use crate::trust::Digest;

/// What hooks did to one operation.
#[derive(Clone, Debug, Default)]
pub struct Receipt {
    /// Every hook that ran, with what it judged, in plan order, over all events of the operation.
    pub ran: Vec<ReceiptEntry>,
    /// Every hook that did not run, and why.
    pub skipped: Skips,
    /// The diagnostics of the hooks: failures, conflicts, overridden rewrites.
    pub diagnostics: Vec<Diagnostic>,
    /// What was decided.
    pub decision: Option<Decision>,
    /// The digest of the final input; none if the operation did not happen.
    pub input: Option<Digest>,
}

/// A hook that ran, and what it was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptEntry {
    /// The hook.
    pub hook: String,
    /// Its dialect.
    pub dialect: DialectId,
    /// How it ended.
    pub end: EndKind,
    /// What it decided.
    pub decision: Option<Decision>,
    /// The digest of the value that it was asked about; none if hooks cannot change that value.
    pub judged: Option<Digest>,
    /// Whether its answer changes the tool's input, the prompt or the request to the model.
    pub rewrites: bool,
}

impl Receipt {
    /// The names of the hooks that denied the operation, in plan order.
    #[must_use]
    pub fn denied_by(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for entry in self.ran.iter().filter(|entry| entry.decision == Some(Decision::Deny)) {
            // A guard is asked again if other hooks changed the input, so it can have two entries.
            if !names.contains(&entry.hook.as_str()) {
                names.push(&entry.hook);
            }
        }
        names
    }

    /// The names of the hooks whose answers change the tool's input, the prompt or the request, in plan order.
    #[must_use]
    pub fn rewritten_by(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for entry in self.ran.iter().filter(|entry| entry.rewrites) {
            if !names.contains(&entry.hook.as_str()) {
                names.push(&entry.hook);
            }
        }
        names
    }

    /// The receipt of one event.
    pub(super) fn from_outcome(outcome: &Outcome) -> Self {
        let mut receipt = Self::default();
        receipt.add(outcome);
        receipt
    }

    /// Adds the outcome of an event.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.decision = self.decision.max(outcome.effects.decision);
        self.ran.extend(outcome.runs.iter().map(|run| ReceiptEntry {
            hook: run.hook.label.to_string(),
            dialect: run.hook.dialect,
            end: run.end,
            decision: run.decision,
            judged: run.judged.as_ref().map(digest),
            rewrites: run.rewrites,
        }));
        self.skipped.append(&outcome.skipped);
        self.diagnostics.extend(outcome.diagnostics.iter().cloned());
    }
}

/// The digest of a value, as receipts have it.
pub(super) fn digest(value: &Json) -> Digest {
    Digest::of(value.text().as_bytes())
}

//! An event that was fired, with what explains its outcome: the one description behind `fire`, `try` and `dev`.

use hookrail::plan::SkipReason;
use hookrail::{Diagnostic, HookSystem, Outcome};

use crate::event_draft::FieldReport;
use crate::lint::{MatcherFix, explain_failures, matcher_fixes, misnamed_event, with_advice};
use crate::path_display::PathDisplay;
use crate::run_trace::RunTrace;
use crate::text::{count_by_level, one_line};

/// An event that was fired.
pub struct FiredEvent {
    /// The event with what it is about.
    pub subject: String,
    pub outcome: Outcome,
    /// What the runs received and wrote, if that was collected.
    pub trace: Option<RunTrace>,
    /// Problems of the configuration, in words, that the outcome does not name.
    pub configuration: Option<String>,
}

impl FiredEvent {
    pub fn new(subject: String, outcome: Outcome, trace: Option<RunTrace>) -> Self {
        Self { subject, outcome, trace, configuration: None }
    }

    /// One event of this and another about the same call, such as two files of one patch: the stricter decision stands.
    pub fn joined(self, other: Self) -> Self {
        let (mut first, second) = match other.outcome.effects.decision > self.outcome.effects.decision {
            true => (other, self),
            false => (self, other),
        };
        first.outcome.runs.extend(second.outcome.runs);
        for finding in second.outcome.diagnostics {
            if !first.outcome.diagnostics.contains(&finding) {
                first.outcome.diagnostics.push(finding);
            }
        }
        first
    }

    /// Adds the causes of failures, and what there is to report about the event's fields, to the diagnostics of the
    /// outcome.
    pub fn explain(&mut self, system: &HookSystem, fields: FieldReport) {
        explain_failures(system, &mut self.outcome);
        let findings = fields.into_findings(self.outcome.skipped.iter().map(|skipped| skipped.why));
        self.outcome.diagnostics.extend(findings);
    }

    /// Adds the usual fix to diagnostics that have none. Nothing is added to the outcome afterwards.
    pub fn advise(&mut self, system: &HookSystem) {
        self.configuration = count_by_level(&self.new_findings(system));
        let found = std::mem::take(&mut self.outcome.diagnostics);
        self.outcome.diagnostics = found.into_iter().map(with_advice).collect();
    }

    /// Returns what loading found and the outcome does not say. All of it with every event would hide the outcome.
    fn new_findings(&self, system: &HookSystem) -> Vec<Diagnostic> {
        let known = &self.outcome.diagnostics;
        system.snapshot().diagnostics().iter().filter(|finding| !known.contains(finding)).cloned().collect()
    }

    /// Shows everything about the runs of this hook only, if one is named.
    pub fn show_only(&mut self, hook: Option<&str>) {
        if let (Some(trace), Some(hook)) = (&mut self.trace, hook) {
            trace.show_only(hook);
        }
    }

    /// Returns what to write in the place of events that have the name of this one elsewhere, each with its place.
    pub fn misnamed_events(&self, system: &HookSystem, places: &PathDisplay) -> Vec<String> {
        let snapshot = system.snapshot();
        let fix = |finding: &Diagnostic| {
            let fix = misnamed_event(finding, self.outcome.event)?;
            let place = finding.location.as_ref().map(|place| places.location(place)).unwrap_or_default();
            Some(format!("{place}: {}", one_line(&fix)))
        };
        snapshot.diagnostics().iter().filter_map(fix).collect()
    }

    /// Returns what to write in the place of matchers that do not match.
    pub fn matcher_fixes(&self, system: &HookSystem) -> Vec<MatcherFix> {
        // The lints read files, so they look only if there is something to look for.
        match self.outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::Matcher) {
            true => matcher_fixes(system),
            false => Vec::new(),
        }
    }
}

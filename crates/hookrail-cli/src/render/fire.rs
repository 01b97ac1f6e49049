//! An event that was fired, for people.

use hookrail::HookSystem;
use hookrail_app::fired_event::FiredEvent;
use hookrail_app::path_display::PathDisplay;

use super::outcome::{Ending, OutcomeReport};
use crate::render::verbosity;

/// Renders an event: the outcome, and what is wrong with the configuration.
pub(crate) fn report(fired: &FiredEvent, ending: Ending, system: &HookSystem, places: &PathDisplay) -> String {
    let report = OutcomeReport {
        outcome: &fired.outcome,
        subject: &fired.subject,
        ending,
        trace: fired.trace.as_ref(),
        fixes: &fired.matcher_fixes(system),
        places,
    };
    let mut text = report.render();
    if verbosity::is_quiet() {
        return text;
    }
    for fix in fired.misnamed_events(system, places) {
        text.push_str(&format!("\n{fix}\n"));
    }
    if let Some(counts) = &fired.configuration {
        text.push_str(&format!("\nconfiguration: {counts}; run `hookrail check`\n"));
    }
    text
}

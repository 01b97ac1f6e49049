//! Failures as workflow commands, which GitHub shows beside the case.

use super::super::run::Verdict;
use super::{Report, reasons};
use crate::lint::format::annotation;

/// Returns one workflow command for each case that failed.
pub(super) fn annotations(report: &Report) -> String {
    let commands = report.results.iter().filter_map(|result| {
        if !matches!(result.verdict, Verdict::Failed(_)) {
            return None;
        }
        let place = (&*result.case.shown_file, result.case.case.line(), 1);
        let title = format!("hookrail test: {}", result.case.case.name);
        Some(annotation("error", Some(place), &title, &reasons(result).join("\n")))
    });
    commands.collect()
}

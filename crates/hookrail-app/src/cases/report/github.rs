//! Failures as workflow commands, which GitHub shows beside the case, or beside what is wrong with its file.

use crate::lint::format::annotation;

use super::super::run::CaseEnd;
use super::{Report, reasons};

/// Returns one workflow command for each case that failed.
pub fn annotations(report: &Report) -> String {
    let commands = report.results.iter().filter_map(|result| {
        if !matches!(result.verdict, CaseEnd::Failed(_)) {
            return None;
        }
        let place = (&*result.case.shown_file, result.case.case.line(), 1);
        let title = format!("hookrail test: {}", result.case.case.name);
        Some(annotation("error", Some(place), &title, &reasons(result).join("\n")))
    });
    commands.collect()
}

/// Returns one workflow command for each problem that kept cases from being run.
pub fn problems(report: &Report) -> String {
    let commands = report.problems.iter().map(|problem| {
        let place = problem.place.as_ref().map(|place| (place.file.as_str(), place.line, place.column));
        annotation("error", place, "hookrail test: no case was run", &problem.told())
    });
    commands.collect()
}

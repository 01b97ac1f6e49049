//! The results of test cases for people: a line for each case, the failures at the end, and a summary.

use std::fmt::Write as _;

use hookrail_app::cases::{CaseEnd, Failed, Report, TestedCase, reasons};
use hookrail_app::text::{counted, hanging, one_line, visible};

use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, QUIET, paint};

/// Returns the line of a case.
pub(crate) fn line(result: &TestedCase) -> String {
    let (word, style) = match &result.verdict {
        CaseEnd::Passed => ("PASS", GOOD),
        CaseEnd::Failed(_) => ("FAIL", BAD),
        CaseEnd::Skipped(_) => ("SKIP", CAREFUL),
        CaseEnd::Interrupted => ("STOP", CAREFUL),
    };
    let time = match &result.verdict {
        CaseEnd::Skipped(_) => String::new(),
        CaseEnd::Passed | CaseEnd::Failed(_) | CaseEnd::Interrupted => format!("{:.3} s", result.took.as_secs_f64()),
    };
    let note = match (&result.verdict, result.accepted) {
        (CaseEnd::Skipped(why), _) => format!(" ({})", one_line(why)),
        (CaseEnd::Passed | CaseEnd::Failed(_) | CaseEnd::Interrupted, true) => " (snapshot written)".to_owned(),
        (CaseEnd::Passed | CaseEnd::Failed(_) | CaseEnd::Interrupted, false) => String::new(),
    };
    let file = paint(QUIET, one_line(&result.case.shown_file));
    let name = one_line(&result.case.case.name);
    let mut text = format!("{} {time:>9}  {file}  {name}{note}\n", paint(style, format!("{word:>7}")));
    // The reasons of a failure stand at the end, with what ran.
    if crate::render::verbosity::is_detailed() && result.verdict == CaseEnd::Passed {
        text.extend(result.what_ran.iter().map(|line| format!("        {}\n", visible(line))));
    }
    text
}

/// Returns what stands behind the lines: the failures again, with their reasons, and the summary.
pub(crate) fn end(report: &Report) -> String {
    let mut text = String::new();
    for result in &report.results {
        if !matches!(result.verdict, CaseEnd::Failed(_)) {
            continue;
        }
        let place = format!("{}:{}", one_line(&result.case.shown_file), result.case.case.line());
        let _ =
            writeln!(text, "\n{} {place}  {}", paint(BAD, "failed"), paint(HEADING, one_line(&result.case.case.name)));
        for reason in reasons(result) {
            let _ = writeln!(text, "  {}", hanging(&visible(&reason), 4));
        }
    }
    let (passed, failed, skipped) = (report.passed(), report.failed(), report.skipped());
    let mut counts = vec![paint(GOOD, format!("{passed} passed"))];
    for (count, word, style) in
        [(failed, "failed", BAD), (skipped, "skipped", CAREFUL), (report.not_run, "not run", CAREFUL)]
    {
        if count > 0 {
            counts.push(paint(style, format!("{count} {word}")));
        }
    }
    let took = format!("{:.3} s", report.took.as_secs_f64());
    let ran = counted(passed + failed, "case");
    let _ = writeln!(text, "{}\n{} {took:>9}  {ran} run: {}", rule(), paint(HEADING, "Summary"), counts.join(", "));
    if failed > 0 && report.results.iter().any(is_about_snapshots) {
        text.push_str("         `hookrail test --accept` stores the new outcomes\n");
    }
    text
}

fn is_about_snapshots(result: &TestedCase) -> bool {
    match &result.verdict {
        CaseEnd::Failed(Failed::Differs { mismatches }) => mismatches.iter().any(|one| one.key == "snapshot"),
        CaseEnd::Failed(Failed::Setup { .. }) | CaseEnd::Passed | CaseEnd::Skipped(_) | CaseEnd::Interrupted => false,
    }
}

fn rule() -> String {
    paint(QUIET, "─".repeat(40))
}

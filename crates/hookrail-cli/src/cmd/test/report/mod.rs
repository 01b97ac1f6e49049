//! What became of the cases, in the form that the user asked for.

mod github;
mod junit;
mod text;

use std::time::Duration;

use hookrail::{Code, Json};
use hookrail_app::failure::Result;
use serde_json::{Value, json};

use super::run::{CaseResult, Failed, Verdict};
use crate::args::TestFormat;
use crate::output;

/// The results of all cases that were selected.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) results: Vec<CaseResult>,
    /// Cases that were not run because an earlier one failed or a signal came.
    pub(super) not_run: usize,
    pub(super) took: Duration,
    /// What kept cases from being run at all.
    pub(super) problems: Vec<Problem>,
}

/// Something that kept cases from being run.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) place: Option<ProblemPlace>,
    pub(super) code: Option<Code>,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Problem {
    /// Returns the message with the hint.
    fn told(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}\nhint: {hint}", self.message),
            None => self.message.clone(),
        }
    }
}

/// The place of a problem.
#[derive(Debug)]
pub(super) struct ProblemPlace {
    /// The file's path as it is shown.
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Report {
    pub(super) fn count(&self, is_meant: impl Fn(&Verdict) -> bool) -> usize {
        self.results.iter().filter(|result| is_meant(&result.verdict)).count()
    }

    pub(super) fn passed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Passed))
    }

    pub(super) fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Failed(_)))
    }

    pub(super) fn skipped(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Skipped(_)))
    }

    /// Prints what can only be printed when all cases have run. Problems are printed for programs only: people read them on
    /// standard error.
    pub(super) fn print(&self, format: TestFormat) -> Result<()> {
        match format {
            TestFormat::Pretty if !self.problems.is_empty() => Ok(()),
            TestFormat::Pretty => output::text(&text::end(self)),
            TestFormat::Json => output::json(&self.document()),
            TestFormat::Junit => output::text(&junit::report(self)),
            TestFormat::Github if !self.problems.is_empty() => output::verbatim(&github::problems(self)),
            TestFormat::Github => output::text(&format!("{}{}", github::annotations(self), text::end(self))),
        }
    }

    fn document(&self) -> Json {
        json!({
            "passed": self.passed(),
            "failed": self.failed(),
            "skipped": self.skipped(),
            "notRun": self.not_run,
            "durationMs": milliseconds(self.took),
            "cases": self.results.iter().map(case_document).collect::<Vec<_>>(),
            "problems": self.problems.iter().map(problem_document).collect::<Vec<_>>(),
        })
        .into()
    }
}

fn problem_document(problem: &Problem) -> Value {
    let place = problem.place.as_ref();
    json!({
        "code": problem.code.map(Code::name),
        "message": problem.message,
        "hint": problem.hint,
        "file": place.map(|place| &place.file),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
    })
}

/// Prints the line of one case, for formats that show cases as they end.
pub(super) fn print_line(result: &CaseResult, format: TestFormat) -> Result<()> {
    match format {
        TestFormat::Pretty | TestFormat::Github => output::text(&text::line(result)),
        TestFormat::Json | TestFormat::Junit => Ok(()),
    }
}

fn case_document(result: &CaseResult) -> Value {
    let case = &result.case;
    let mut document = json!({
        "name": case.case.name,
        "file": &*case.shown_file,
        "line": case.case.line(),
        "event": case.case.event,
        "status": status(&result.verdict),
        "durationMs": milliseconds(result.took),
    });
    let more = match &result.verdict {
        Verdict::Passed | Verdict::Interrupted => None,
        Verdict::Skipped(why) => Some(("reason", json!(why))),
        Verdict::Failed(Failed::Setup { message, hint }) => {
            Some(("failures", json!([{"key": Value::Null, "message": message, "hint": hint}])))
        }
        Verdict::Failed(Failed::Differs { mismatches }) => {
            let failures: Vec<Value> = mismatches
                .iter()
                .map(|one| json!({"key": one.key, "expected": one.expected, "found": one.found}))
                .collect();
            if let Value::Object(members) = &mut document {
                members.insert("ran".to_owned(), json!(result.what_ran));
            }
            Some(("failures", json!(failures)))
        }
    };
    if let (Value::Object(members), Some((name, value))) = (&mut document, more) {
        members.insert(name.to_owned(), value);
    }
    document
}

fn status(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed(_) => "failed",
        Verdict::Skipped(_) => "skipped",
        Verdict::Interrupted => "interrupted",
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

/// Returns why a case failed, one line for each expectation that does not hold, and what ran.
fn reasons(result: &CaseResult) -> Vec<String> {
    match &result.verdict {
        Verdict::Passed | Verdict::Skipped(_) | Verdict::Interrupted => Vec::new(),
        Verdict::Failed(Failed::Setup { message, hint }) => {
            let hint = hint.iter().map(|hint| format!("hint: {hint}"));
            std::iter::once(message.clone()).chain(hint).collect()
        }
        Verdict::Failed(Failed::Differs { mismatches }) => {
            let differing =
                mismatches.iter().map(|one| format!("{}: expected {}, found {}", one.key, one.expected, one.found));
            let ran = result.what_ran.iter().map(|line| format!("  {line}"));
            differing.chain(std::iter::once("what ran:".to_owned())).chain(ran).collect()
        }
    }
}

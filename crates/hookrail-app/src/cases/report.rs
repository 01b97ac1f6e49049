//! What became of the cases, and the forms in which programs read it.

mod github;
mod junit;

use std::time::Duration;

use hookrail::{Code, Json};
use serde_json::{Value, json};

use super::run::{CaseEnd, Failed, TestedCase};

pub use github::{annotations as github_annotations, problems as github_problems};
pub use junit::report as junit_report;

/// The results of all cases that were selected.
#[derive(Debug, Default)]
pub struct Report {
    pub results: Vec<TestedCase>,
    /// Cases that were not run because an earlier one failed or a signal came.
    pub not_run: usize,
    pub took: Duration,
    /// What kept cases from being run at all.
    pub problems: Vec<Problem>,
}

/// Something that kept cases from being run.
#[derive(Debug)]
pub struct Problem {
    pub place: Option<ProblemPlace>,
    pub code: Option<Code>,
    pub message: String,
    pub hint: Option<String>,
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
pub struct ProblemPlace {
    /// The file's path as it is shown.
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Report {
    pub fn count(&self, is_meant: impl Fn(&CaseEnd) -> bool) -> usize {
        self.results.iter().filter(|result| is_meant(&result.verdict)).count()
    }

    pub fn passed(&self) -> usize {
        self.count(|verdict| matches!(verdict, CaseEnd::Passed))
    }

    pub fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, CaseEnd::Failed(_)))
    }

    pub fn skipped(&self) -> usize {
        self.count(|verdict| matches!(verdict, CaseEnd::Skipped(_)))
    }

    /// Returns the report as one document.
    pub fn document(&self) -> Json {
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

fn case_document(result: &TestedCase) -> Value {
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
        CaseEnd::Passed | CaseEnd::Interrupted => None,
        CaseEnd::Skipped(why) => Some(("reason", json!(why))),
        CaseEnd::Failed(Failed::Setup { message, hint }) => {
            Some(("failures", json!([{"key": Value::Null, "message": message, "hint": hint}])))
        }
        CaseEnd::Failed(Failed::Differs { mismatches }) => {
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

fn status(verdict: &CaseEnd) -> &'static str {
    match verdict {
        CaseEnd::Passed => "passed",
        CaseEnd::Failed(_) => "failed",
        CaseEnd::Skipped(_) => "skipped",
        CaseEnd::Interrupted => "interrupted",
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

/// Returns why a case failed, one line for each expectation that does not hold, and what ran.
pub fn reasons(result: &TestedCase) -> Vec<String> {
    match &result.verdict {
        CaseEnd::Passed | CaseEnd::Skipped(_) | CaseEnd::Interrupted => Vec::new(),
        CaseEnd::Failed(Failed::Setup { message, hint }) => {
            let hint = hint.iter().map(|hint| format!("hint: {hint}"));
            std::iter::once(message.clone()).chain(hint).collect()
        }
        CaseEnd::Failed(Failed::Differs { mismatches }) => {
            let differing =
                mismatches.iter().map(|one| format!("{}: expected {}, found {}", one.key, one.expected, one.found));
            let ran = result.what_ran.iter().map(|line| format!("  {line}"));
            differing.chain(std::iter::once("what ran:".to_owned())).chain(ran).collect()
        }
    }
}

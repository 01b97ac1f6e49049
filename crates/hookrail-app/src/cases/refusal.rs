//! Why no case was run or written: for people, and in the document that was asked for, so that a program that reads the document does
//! not take a broken case file for a run without cases.

use std::path::Path;

use hookrail::Diagnostic;

use super::case::LocatedCase;
use super::report::{Problem, ProblemPlace, Report};
use crate::failure::Failure;
use crate::path_display::PathDisplay;
use crate::text::counted;

/// The reason why no case was run or written.
#[derive(Debug)]
pub struct CaseRefusal {
    /// The reason in a sentence.
    pub failure: Failure,
    /// A report with the problems and without a result.
    pub report: Box<Report>,
    /// What is wrong with the case files, and how their paths are shown.
    pub findings: Option<Box<(Vec<Diagnostic>, PathDisplay)>>,
}

fn report_of(problems: Vec<Problem>) -> Box<Report> {
    Box::new(Report { problems, ..Report::default() })
}

impl From<Failure> for CaseRefusal {
    fn from(failure: Failure) -> Self {
        let problem = Problem {
            place: None,
            code: None,
            message: failure.message().to_owned(),
            hint: failure.first_hint().map(str::to_owned),
        };
        Self { failure, report: report_of(vec![problem]), findings: None }
    }
}

impl CaseRefusal {
    /// The refusal because of case files that cannot be used.
    pub(super) fn of_files(broken: usize, found: Vec<Diagnostic>, places: PathDisplay) -> Self {
        let failure = Failure::new(format!("no case was run: {} cannot be used", counted(broken, "case file")))
            .hint("`hookrail reference test-cases` lists the keys");
        let problem = |found: &Diagnostic| Problem {
            place: found.location.as_ref().map(|place| ProblemPlace {
                file: places.path(&place.file),
                line: place.line,
                column: place.column,
            }),
            code: Some(found.code),
            message: found.message.clone(),
            hint: found.hint.clone(),
        };
        let problems = found.iter().map(problem).collect();
        Self { failure, report: report_of(problems), findings: Some(Box::new((found, places))) }
    }

    /// The refusal to add cases to a file that cannot be used.
    pub(super) fn of_target(target: &Path, found: Vec<Diagnostic>, places: PathDisplay) -> Self {
        let failure = Failure::new(format!("nothing was written: `{}` cannot be used", target.display()))
            .hint("fix the file, or give another one");
        Self { findings: Some(Box::new((found, places))), ..Self::from(failure) }
    }

    /// The refusal with the place of the case that is the cause.
    pub(super) fn at(mut self, case: &LocatedCase) -> Self {
        for problem in &mut self.report.problems {
            let (file, line) = (case.shown_file.to_string(), case.case.line());
            problem.place = Some(ProblemPlace { file, line, column: 1 });
        }
        self
    }

    /// The refusal with the number of cases that would have been run.
    pub(super) fn instead_of(mut self, cases: usize) -> Self {
        self.report.not_run = cases;
        self
    }
}

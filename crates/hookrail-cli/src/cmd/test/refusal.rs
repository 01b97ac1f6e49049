//! Why no case was run: for people on standard error, and in the document that was asked for, so that a program that reads
//! the document does not take a broken case file for a run without cases.

use hookrail::Diagnostic;
use hookrail_app::failure::Failure;
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::counted;

use super::case::LocatedCase;
use super::report::{Problem, ProblemPlace, Report};
use crate::args::TestFormat;
use crate::output;
use crate::render;

/// The reason why no case was run.
#[derive(Debug)]
pub(super) struct Refusal {
    failure: Failure,
    problems: Vec<Problem>,
    /// The problems for people, with excerpts of the files.
    excerpts: Box<str>,
    not_run: usize,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let problem = Problem {
            place: None,
            code: None,
            message: failure.message().to_owned(),
            hint: failure.first_hint().map(str::to_owned),
        };
        Self { failure, problems: vec![problem], excerpts: Box::default(), not_run: 0 }
    }
}

impl Refusal {
    /// The refusal because of case files that cannot be used.
    pub(super) fn of_files(broken: usize, found: &[Diagnostic], places: &PathDisplay) -> Self {
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
        Self { failure, problems, excerpts: render::diagnostic::all(found, places).into(), not_run: 0 }
    }

    /// The refusal with the place of the case that is the cause.
    pub(super) fn at(mut self, case: &LocatedCase) -> Self {
        for problem in &mut self.problems {
            let (file, line) = (case.shown_file.to_string(), case.case.line());
            problem.place = Some(ProblemPlace { file, line, column: 1 });
        }
        self
    }

    /// The refusal with the number of cases that would have been run.
    pub(super) fn instead_of(mut self, cases: usize) -> Self {
        self.not_run = cases;
        self
    }

    /// Prints the document and the excerpts. Returns the failure that is left to be reported.
    pub(super) fn report(self, format: TestFormat) -> Failure {
        let report = Report { problems: self.problems, not_run: self.not_run, ..Report::default() };
        let printed = report.print(format);
        output::errors(&self.excerpts);
        printed.err().unwrap_or(self.failure)
    }
}

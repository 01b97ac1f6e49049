//! The user's consent to run what a project contains.
//!
//! A case decides which files are executed and in which environment, so it is code of the project as a hook is. A case that
//! only sends data to hooks that the user has granted runs without a question. Everything else needs the user's consent.

use std::collections::BTreeSet;

use super::case::LocatedCase;
use super::refusal::CaseRefusal;
use super::scratch::Subject;
use super::{Selection, TestedProject};
use crate::failure::Failure;
use crate::text::{counted, one_line};

/// What the selected cases would run and the user has not granted.
#[derive(Debug, Default)]
pub struct MissingConsent<'c> {
    /// The first case that cannot be run without consent.
    first: Option<&'c LocatedCase>,
    /// The hooks that are not granted.
    pub hooks: BTreeSet<String>,
    /// The files of the cases that would run files of the project.
    pub files: BTreeSet<String>,
    cases: usize,
}

impl<'c> MissingConsent<'c> {
    /// Finds what the user has to consent to; none if everything is granted.
    pub fn find(selection: &'c Selection) -> Option<Self> {
        let mut missing = Self::default();
        for (path, project) in &selection.projects {
            let of_project = selection.cases.iter().filter(|case| case.project == *path);
            let (known, unknown): (Vec<_>, Vec<_>) = of_project.partition(|case| is_about_granted_hooks(case, project));
            let not_granted = &project.grants.not_granted;
            if !known.is_empty() {
                missing.hooks.extend(not_granted.iter().cloned());
            }
            let first = unknown.first().or(known.first().filter(|_| !not_granted.is_empty()));
            missing.first = missing.first.or(first.copied());
            missing.files.extend(unknown.iter().map(|case| case.shown_file.to_string()));
            missing.cases += unknown.len();
        }
        (!missing.hooks.is_empty() || missing.cases > 0).then_some(missing)
    }

    /// Counts what is missing, in words.
    pub fn summary(&self) -> String {
        let hooks = match self.hooks.len() {
            0 => None,
            1 => Some("1 hook is not trusted".to_owned()),
            count => Some(format!("{count} hooks are not trusted")),
        };
        let cases = (self.cases > 0).then(|| format!("{} would run files of the project", counted(self.cases, "case")));
        [hooks, cases].into_iter().flatten().collect::<Vec<_>>().join(", and ")
    }

    /// The refusal to run the cases without consent.
    pub fn refusal(&self, selection: &Selection) -> CaseRefusal {
        let failure = Failure::new(format!("nothing was run: {}", one_line(&self.summary())));
        // A hook whose configuration cannot be read looks like a file that was never granted.
        let problems = selection.projects.values().filter_map(|project| project.survey.problems.as_ref());
        let failure = problems.fold(failure, |failure, found| {
            failure.hint(format!("the configuration has {found}, which may be the cause; run `hookrail check`"))
        });
        let refusal: CaseRefusal = failure
            .hint("review the hooks and the case files, then run `hookrail test --trust-project`")
            .hint("after `hookrail trust grant`, cases that only send data to granted hooks need no option")
            .into();
        let refusal = refusal.instead_of(selection.cases.len());
        match self.first {
            Some(case) => refusal.at(case),
            None => refusal,
        }
    }
}

/// Whether a case only sends data to hooks of the project's configuration.
fn is_about_granted_hooks(case: &LocatedCase, project: &TestedProject) -> bool {
    let subject = Subject::of_case(case, &project.survey);
    // A case that cannot be run runs nothing.
    let is_configured =
        !matches!(subject, Ok(Subject::Settings(_) | Subject::Script(_) | Subject::Module(_) | Subject::Plugin(_)));
    case.case.is_data_only() && is_configured
}

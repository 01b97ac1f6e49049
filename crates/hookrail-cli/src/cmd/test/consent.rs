//! The user's consent to run what a project contains.
//!
//! A case decides which files are executed and in which environment, so it is code of the project as a hook is. A case that
//! only sends data to hooks that the user has granted runs without a question. Everything else needs `--trust-project`, or
//! an answer on the terminal.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use hookrail_app::failure::Failure;
use hookrail_app::text::counted;
use hookrail_app::text::one_line;

use super::case::LocatedCase;
use super::refusal::Refusal;
use super::sandbox::Subject;
use super::standing::CopyTrust;
use super::{Selection, TestedProject};
use crate::args::TestArgs;
use crate::cmd::trust::discard_typed_ahead;
use crate::style::{CAREFUL, paint};

/// Makes sure that the user wants to run these cases, and returns what their hooks need to run.
pub(super) fn require_consent(args: &TestArgs, selection: &Selection) -> Result<CopyTrust, Refusal> {
    if args.trust_project {
        return Ok(CopyTrust::Everything);
    }
    let mut wanting = Wanting::default();
    for (path, project) in &selection.projects {
        let of_project = selection.cases.iter().filter(|case| case.project == *path);
        let (known, unknown): (Vec<_>, Vec<_>) = of_project.partition(|case| is_about_granted_hooks(case, project));
        if !known.is_empty() {
            wanting.hooks.extend(project.standing.not_granted.iter().cloned());
        }
        let first = unknown.first().or(known.first().filter(|_| !project.standing.not_granted.is_empty()));
        wanting.first = wanting.first.or(first.copied());
        wanting.files.extend(unknown.iter().map(|case| case.shown_file.to_string()));
        wanting.cases += unknown.len();
    }
    if wanting.hooks.is_empty() && wanting.cases == 0 {
        return Ok(CopyTrust::AsGranted);
    }
    let told = wanting.told();
    if io::stdin().is_terminal() && io::stderr().is_terminal() && ask(&told) {
        return Ok(CopyTrust::Everything);
    }
    let failure = Failure::new(format!("nothing was run: {}", one_line(&wanting.summary())));
    // A hook whose configuration cannot be read looks like a file that was never granted.
    let problems = selection.projects.values().filter_map(|project| project.survey.problems.as_ref());
    let failure = problems.fold(failure, |failure, found| {
        failure.hint(format!("the configuration has {found}, which may be the cause; run `hookrail check`"))
    });
    let refusal: Refusal = failure
        .hint("review the hooks and the case files, then run `hookrail test --trust-project`")
        .hint("after `hookrail trust grant`, cases that only send data to granted hooks need no option")
        .into();
    let refusal = refusal.instead_of(selection.cases.len());
    Err(match wanting.first {
        Some(case) => refusal.at(case),
        None => refusal,
    })
}

/// What the user has not granted.
#[derive(Debug, Default)]
struct Wanting<'c> {
    /// The first case that cannot be run without consent.
    first: Option<&'c LocatedCase>,
    hooks: BTreeSet<String>,
    files: BTreeSet<String>,
    cases: usize,
}

impl Wanting<'_> {
    fn summary(&self) -> String {
        let hooks = match self.hooks.len() {
            0 => None,
            1 => Some("1 hook is not trusted".to_owned()),
            count => Some(format!("{count} hooks are not trusted")),
        };
        let cases = (self.cases > 0).then(|| format!("{} would run files of the project", counted(self.cases, "case")));
        [hooks, cases].into_iter().flatten().collect::<Vec<_>>().join(", and ")
    }

    fn told(&self) -> String {
        let mut text = format!("{}: {}\n", paint(CAREFUL, "not trusted"), self.summary());
        for hook in &self.hooks {
            let _ = writeln!(text, "  hook  {}", one_line(hook));
        }
        for file in &self.files {
            let _ = writeln!(text, "  cases {}", one_line(file));
        }
        text
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

fn ask(told: &str) -> bool {
    discard_typed_ahead();
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "{told}run them now? [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

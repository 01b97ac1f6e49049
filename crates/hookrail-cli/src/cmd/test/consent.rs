//! The user's consent to run what a project contains.
//!
//! A case decides which files are executed and in which environment, so it is code of the project as a hook is. A case that
//! only sends data to hooks that the user has granted runs without a question. Everything else needs `--trust-project`, or
//! an answer on the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use hookrail::HookSystem;
use hookrail::sources::SourceKind;
use hookrail::trust::TrustStore as _;

use super::case::LocatedCase;
use super::sandbox::Subject;
use super::survey::Survey;
use crate::args::TestArgs;
use crate::errors::{Failure, Result};
use crate::project::Project;
use crate::render::counted;
use crate::render::text::one_line;
use crate::style::{CAREFUL, paint};

/// Makes sure that the user wants to run these cases.
pub(super) fn require_consent(
    args: &TestArgs,
    cases: &[LocatedCase],
    surveys: &BTreeMap<Arc<Path>, Arc<Survey>>,
) -> Result<()> {
    if args.trust_project {
        return Ok(());
    }
    let mut wanting = Wanting::default();
    for (project, survey) in surveys {
        let of_project = || cases.iter().filter(|case| case.project == *project);
        let (known, unknown): (Vec<_>, Vec<_>) = of_project().partition(|case| is_about_granted_hooks(case, survey));
        if !known.is_empty() {
            wanting.hooks.extend(hooks_without_grant(args, project)?);
        }
        wanting.files.extend(unknown.iter().map(|case| case.shown_file.to_string()));
        wanting.cases += unknown.len();
    }
    if wanting.hooks.is_empty() && wanting.cases == 0 {
        return Ok(());
    }
    let told = wanting.told();
    if io::stdin().is_terminal() && io::stderr().is_terminal() && ask(&told) {
        return Ok(());
    }
    Err(Failure::new(format!("nothing was run: {}", one_line(&wanting.summary())))
        .hint("review the hooks and the case files, then run `hookrail test --trust-project`")
        .hint("after `hookrail trust grant`, cases that only send data to granted hooks need no option"))
}

/// What the user has not granted.
#[derive(Debug, Default)]
struct Wanting {
    hooks: BTreeSet<String>,
    files: BTreeSet<String>,
    cases: usize,
}

impl Wanting {
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
fn is_about_granted_hooks(case: &LocatedCase, survey: &Survey) -> bool {
    let subject = Subject::of_case(case, survey);
    // A case that cannot be run runs nothing.
    let is_configured =
        !matches!(subject, Ok(Subject::Settings(_) | Subject::Script(_) | Subject::Module(_) | Subject::Plugin(_)));
    case.case.is_data_only() && is_configured
}

/// Returns the hooks of a project that the user has not granted as they are now.
fn hooks_without_grant(args: &TestArgs, root: &Path) -> Result<Vec<String>> {
    let options = args.project_args(Some(root.to_owned()));
    let project = Project::open(&options)?;
    let system: HookSystem = project.builder_as_granted(&options)?.build();
    let snapshot = system.snapshot();
    let of_project = snapshot.hooks().iter().filter(|hook| hook.origin.kind == SourceKind::Project);
    let mut hooks: Vec<String> =
        of_project.filter(|hook| !hook.trust.allows()).map(|hook| hook.label.to_string()).collect();
    let is_granted =
        Project::trust_store().is_ok_and(|store| store.grants(project.root()).is_ok_and(|grants| grants.project));
    if !is_granted && hooks.is_empty() && !snapshot.hooks().is_empty() {
        hooks.push(format!("the project {}", root.display()));
    }
    Ok(hooks)
}

fn ask(told: &str) -> bool {
    crate::cmd::trust::discard_typed_ahead();
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "{told}run them now? [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

//! The cases of `hookrail test`: runs the cases of a project's hooks, each in a directory of its own, and says which fail.
//!
//! `table` says what a case file can hold, `read` makes cases of it, `scratch` prepares the directory of one case, `run`
//! fires its event through the engine, and `expect` compares. Nothing here knows how a hook is run.

mod case;
mod consent;
mod copy;
mod discover;
mod document;
mod expect;
mod filter;
mod pool;
mod project_grants;
mod read;
mod recorded;
mod refusal;
mod report;
mod run;
mod schema;
mod scratch;
mod scratch_path;
mod stored_outcome;
mod survey;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::Diagnostic;

use crate::failure::{Failure, Result};
use crate::folders::home;
use crate::path_display::PathDisplay;
use crate::project::Project;
use crate::text::counted;
use case::{CaseFile, LocatedCase};
use discover::{FoundFile, find_case_files};
use filter::CaseFilter;
use project_grants::ProjectGrants;
use survey::Survey;

pub use consent::MissingConsent;
pub use pool::{PoolOptions, PoolProgress, run_cases};
pub use project_grants::CopyTrust;
pub use recorded::{CaseRecorder, CaseTarget, LeftOut, RecordedCase, RecordedCases, case_file};
pub use refusal::CaseRefusal;
pub use report::{Report, github_annotations, github_problems, junit_report, reasons};
pub use run::{CaseEnd, Failed, Snapshots, TestedCase};
pub use schema::{reference, schema};

/// Which cases a command is about.
#[derive(Clone, Copy, Debug)]
pub struct CaseChoice<'c> {
    /// Case files, or folders with case files; without one, the project.
    pub paths: &'c [PathBuf],
    /// What a case must be like.
    pub filter: &'c [String],
    /// The project's directory; without one, the nearest project above each case file.
    pub project: Option<&'c Path>,
}

/// A project whose hooks are tested.
struct TestedProject {
    survey: Survey,
    grants: ProjectGrants,
}

/// The cases that were selected, and their projects.
pub struct Selection {
    files: Vec<FoundFile>,
    cases: Vec<LocatedCase>,
    projects: BTreeMap<Arc<Path>, TestedProject>,
}

impl Selection {
    /// Finds and reads the case files. If one of them has a problem, no case is run.
    pub fn find(choice: CaseChoice<'_>) -> std::result::Result<Self, CaseRefusal> {
        let filter = CaseFilter::parse(choice.filter)?;
        let project = choice.project.map(|named| Project::open_named(Some(named))).transpose()?;
        let project = project.as_ref().map(Project::root);
        let places = match (choice.paths.is_empty(), project) {
            (false, _) => choice.paths.to_vec(),
            (true, Some(project)) => vec![project.to_owned()],
            (true, None) => vec![Project::open_named(None)?.root().to_owned()],
        };
        let files = find_case_files(&places, project)?;
        let read = read_all(&files)?;
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
        let mut cases = Vec::new();
        for file in read {
            let path: Arc<Path> = file.path.into();
            let project: Arc<Path> = file.project.into();
            let shown = PathDisplay::new(if path.starts_with(&here) { &here } else { &project }, home()).path(&path);
            let shown_file: Arc<str> = shown.into();
            cases.extend(file.cases.into_iter().map(|case| LocatedCase {
                file: Arc::clone(&path),
                project: Arc::clone(&project),
                shown_file: Arc::clone(&shown_file),
                case: Arc::new(case),
            }));
        }
        let count = cases.len();
        cases.retain(|case| filter.selects(case));
        if cases.is_empty() {
            return Err(Failure::new(format!("no case is selected of {}", counted(count, "case")))
                .hint("`hookrail test --list` lists the cases")
                .into());
        }
        let mut projects = BTreeMap::new();
        for case in &cases {
            if !projects.contains_key(&case.project) {
                let grants = ProjectGrants::read(&case.project)?;
                let project = TestedProject { survey: Survey::read(&case.project), grants };
                projects.insert(Arc::clone(&case.project), project);
            }
        }
        Ok(Self { files, cases, projects })
    }

    /// Returns the name of each case, with its file.
    pub fn titles(&self) -> impl Iterator<Item = String> {
        self.cases.iter().map(LocatedCase::title)
    }

    /// Returns every file whose change can change what a case comes to.
    pub fn watched(&self) -> Vec<PathBuf> {
        let files = self.files.iter().flat_map(|file| [Some(file.path.as_path()), file.path.parent()]).flatten();
        let needed: Vec<PathBuf> = self.projects.values().flat_map(|project| project.survey.needed()).collect();
        with_contents(files.map(Path::to_owned).chain(needed))
    }
}

/// Returns what to watch while the case files cannot be used.
pub fn places_to_watch(choice: CaseChoice<'_>) -> Result<Vec<PathBuf>> {
    if !choice.paths.is_empty() {
        return Ok(with_contents(choice.paths.iter().filter_map(|path| path.canonicalize().ok())));
    }
    let root = Project::open_named(choice.project)?.root().to_owned();
    let found = find_case_files(std::slice::from_ref(&root), Some(&root)).unwrap_or_default();
    Ok(with_contents(found.into_iter().map(|file| file.path).chain([root])))
}

/// Returns paths, and what is directly in the folders among them: a folder does not change with its files.
fn with_contents(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for path in paths {
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        all.extend(entries.map(|entry| entry.path()));
        all.push(path);
    }
    all.sort();
    all.dedup();
    all
}

/// Reads all files. The problems of all of them are reported.
fn read_all(files: &[FoundFile]) -> std::result::Result<Vec<CaseFile>, CaseRefusal> {
    let mut read = Vec::new();
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut broken = 0;
    for FoundFile { path, project } in files {
        match read::read_cases(path) {
            Ok(cases) => read.push(CaseFile { path: path.clone(), project: project.clone(), cases }),
            Err(problems) => {
                broken += 1;
                found.extend(problems);
            }
        }
    }
    if found.is_empty() {
        return Ok(read);
    }
    let root = files.first().map(|file| file.project.clone()).unwrap_or_default();
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or(root);
    let cases = read.iter().map(|file| file.cases.len()).sum();
    Err(CaseRefusal::of_files(broken, found, PathDisplay::new(&here, home())).instead_of(cases))
}

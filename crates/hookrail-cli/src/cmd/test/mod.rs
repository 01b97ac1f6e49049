//! `hookrail test`: runs the cases of a project's hooks, each in a directory of its own, and reports which fail.
//!
//! `table` says what a case file can hold, `read` makes cases of it, `sandbox` prepares the directory of one case, `run`
//! fires its event through the engine, and `expect` compares. Nothing here knows how a hook is run.

mod case;
mod consent;
mod copy;
mod discover;
mod expect;
mod filter;
mod node;
mod place;
mod pool;
mod read;
mod refusal;
mod report;
mod run;
mod sandbox;
mod schema;
mod snapshot;
mod standing;
mod survey;
mod table;
mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::Diagnostic;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::folders::home;
use hookrail_app::path_display::PathDisplay;
use hookrail_app::project::Project;
use hookrail_app::text::counted;

use crate::args::TestArgs;
use crate::exit::Exit;
use crate::interrupt::StopSignal;
use crate::output;
use case::{CaseFile, LocatedCase};
use discover::{FoundFile, find_case_files};
use filter::CaseFilter;
use refusal::Refusal;
use report::Report;
use standing::ProjectStanding;
use survey::Survey;

pub(crate) use discover::is_case_file;
pub(crate) use place::PROJECT as PROJECT_PLACE;
pub(crate) use schema::{reference, schema};

pub(crate) fn run(args: &TestArgs) -> Result<Exit> {
    let selection = Selection::find(args).map_err(|refusal| refusal.report(args.format))?;
    if args.list {
        selection.print_list()?;
        return Ok(Exit::Fine);
    }
    let trust = consent::require_consent(args, &selection).map_err(|refusal| refusal.report(args.format))?;
    // Signals are handled from now on: at the question, Ctrl-C ends the program as usual.
    let stop = StopSignal::listen();
    if args.watch {
        return watch::run(args, selection, trust, &stop);
    }
    let report = pool::run_cases(args, &selection, trust, &stop.token)?;
    report.print(args.format)?;
    Ok(match stop.number() {
        Some(number) => Exit::Signalled(number),
        None => exit_of(&report),
    })
}

fn exit_of(report: &Report) -> Exit {
    if report.failed() > 0 { Exit::Failed } else { Exit::Fine }
}

/// A project whose hooks are tested.
struct TestedProject {
    survey: Survey,
    standing: ProjectStanding,
}

/// The cases that were selected, and their projects.
struct Selection {
    files: Vec<FoundFile>,
    cases: Vec<LocatedCase>,
    projects: BTreeMap<Arc<Path>, TestedProject>,
}

impl Selection {
    /// Finds and reads the case files. If one of them has a problem, no case is run.
    fn find(args: &TestArgs) -> std::result::Result<Self, Refusal> {
        let filter = CaseFilter::parse(&args.filter)?;
        let project = args.project.as_deref().map(|named| Project::open_named(Some(named))).transpose()?;
        let project = project.as_ref().map(Project::root);
        let places = match (args.paths.is_empty(), project) {
            (false, _) => args.paths.clone(),
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
                let standing = ProjectStanding::read(&case.project)?;
                let project = TestedProject { survey: Survey::read(&case.project), standing };
                projects.insert(Arc::clone(&case.project), project);
            }
        }
        Ok(Self { files, cases, projects })
    }

    fn print_list(&self) -> Result<()> {
        output::text(
            &self
                .cases
                .iter()
                .map(|case| format!("{}\n", hookrail_app::text::one_line(&case.title())))
                .collect::<String>(),
        )
    }

    /// Returns every file whose change can change what a case comes to.
    fn watched(&self) -> Vec<PathBuf> {
        let files = self.files.iter().flat_map(|file| [Some(file.path.as_path()), file.path.parent()]).flatten();
        let needed: Vec<PathBuf> = self.projects.values().flat_map(|project| project.survey.needed()).collect();
        with_contents(files.map(Path::to_owned).chain(needed))
    }
}

/// Returns what to watch while the case files cannot be used.
fn places_to_watch(args: &TestArgs) -> Result<Vec<PathBuf>> {
    if !args.paths.is_empty() {
        return Ok(with_contents(args.paths.iter().filter_map(|path| path.canonicalize().ok())));
    }
    let root = Project::open_named(args.project.as_deref())?.root().to_owned();
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

/// Returns the names of the cases in a text, as if it were in a file of this name, or what is wrong with it.
pub(crate) fn case_names(file: &Path, text: &str) -> std::result::Result<Vec<String>, Vec<Diagnostic>> {
    Ok(read::parse_cases(file, text)?.into_iter().map(|case| case.name).collect())
}

/// Reads all files. The problems of all of them are reported.
fn read_all(files: &[FoundFile]) -> std::result::Result<Vec<CaseFile>, Refusal> {
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
    Err(Refusal::of_files(broken, &found, &PathDisplay::new(&here, home())).instead_of(cases))
}

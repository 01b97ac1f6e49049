//! `hookrail check`: all problems of the configuration.

use hookrail::document::diagnostics_document;
use hookrail::plan::Snapshot;
use hookrail::{Diagnostic, Level};

use crate::args::CheckArgs;
use crate::errors::{Exit, Result};
use crate::project::Project;
use crate::render::counted;
use crate::style::{BAD, CAREFUL, GOOD, paint};
use crate::{output, render};

pub(crate) fn run(args: &CheckArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let system = project.builder(&args.project)?.build();
    let snapshot = system.snapshot();
    let failing = if args.deny_warnings { Level::Warning } else { Level::Error };
    let found = [snapshot.diagnostics(), &snapshot.project_code_findings()].concat();
    let failed = found.iter().any(|diagnostic| diagnostic.level >= failing);
    if args.json {
        output::json(&diagnostics_document(&found))?;
    } else {
        let findings = render::diagnostic::all(&found, &project.places);
        output::text(&format!("{findings}{}\n", summary(&snapshot, system.commands().len(), &found, failed)))?;
    }
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}

fn summary(snapshot: &Snapshot, commands: usize, found: &[Diagnostic], failed: bool) -> String {
    let hooks = snapshot.hooks();
    let mut files: Vec<_> = hooks.iter().map(|hook| &hook.origin.location.file).collect();
    files.sort_unstable();
    files.dedup();
    // "0 hooks in 0 files" would read as if no file had been found, although the findings above may be about one.
    let size = if hooks.is_empty() && commands > 0 {
        format!("no hooks, {} of modules", counted(commands, "command"))
    } else if hooks.is_empty() {
        "no hooks are configured".to_owned()
    } else {
        format!("{} in {}", counted(hooks.len(), "hook"), counted(files.len(), "file"))
    };
    match render::diagnostic::summary(found) {
        Some(found) => format!("{}: {size}", paint(if failed { BAD } else { CAREFUL }, found)),
        None => format!("{}: {size}", paint(GOOD, "no problems")),
    }
}

//! `hookrail list`: every configured hook.

use hookrail::document::list_document;

use crate::args::ListArgs;
use crate::errors::{Exit, Result};
use crate::project::Project;
use crate::{foreign_hooks, output, render};

pub(crate) fn run(args: &ListArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let system = project.builder(&args.project)?.build();
    let snapshot = system.snapshot();
    let foreign = foreign_hooks::diagnostics(project.root());
    if args.json {
        output::json(&foreign_hooks::added_to(&list_document(&snapshot), &foreign))?;
    } else {
        let listed = render::hooks::list(&snapshot, &system.commands(), &project.places);
        output::text(&format!("{listed}{}", foreign_hooks::lines(&foreign)))?;
    }
    Project::require_modules(&system)?;
    Ok(Exit::Fine)
}

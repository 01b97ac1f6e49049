//! `hookrail list`: every configured hook.

use hookrail::document::list_document;

use crate::args::ListArgs;
use crate::errors::{Exit, Result};
use crate::project::Project;
use crate::{output, render};

pub(crate) fn run(args: &ListArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let system = project.builder(&args.project)?.build();
    let snapshot = system.snapshot();
    if args.json {
        output::json(&list_document(&snapshot))?;
    } else {
        output::text(&render::hooks::list(&snapshot, &system.commands(), &project.places))?;
    }
    Project::require_modules(&system)?;
    Ok(Exit::Fine)
}

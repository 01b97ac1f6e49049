//! `hookrail list`: every configured hook.

use hookrail::document::list_document;
use hookrail_app::failure::Result;
use hookrail_app::foreign_hooks;
use hookrail_app::project::Project;

use crate::args::ListArgs;
use crate::cmd::exit::Exit;
use crate::{output, render};

pub(crate) fn run(args: &ListArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let system = project.builder(&args.project)?.build();
    let snapshot = system.snapshot();
    let foreign = foreign_hooks::diagnostics(project.root());
    if args.json {
        output::json(&foreign_hooks::added_to(&list_document(&snapshot), &foreign))?;
    } else {
        let listed = render::hooks::list(&snapshot, &system.commands(), &project.places);
        output::text(&format!("{listed}{}", render::foreign_hooks::lines(&foreign)))?;
    }
    Project::require_modules(&system)?;
    Ok(Exit::Fine)
}

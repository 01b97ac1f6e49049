//! `hookrail explain`: which hooks would run for an event and why others are skipped. Starts no process.

use hookrail::document::explain_document;

use super::fire;
use crate::args::EventCommand;
use crate::errors::{Exit, Result};
use crate::project::Project;
use crate::request::RequestedEvent;
use crate::{output, render, request};

pub(crate) fn run(args: &EventCommand) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let RequestedEvent { event, findings } = request::build_event(&args.event, project.root())?;
    let system = fire::narrow(project.builder(&args.project)?, &args.event).build();
    if !args.event.no_hooks {
        Project::require_modules(&system)?;
    }
    let mut plan = hookrail::plan::Plan::clone(&system.explain(&event));
    plan.diagnostics.splice(0..0, system.snapshot().diagnostics().iter().cloned());
    plan.diagnostics.extend(findings);
    if args.event.json {
        output::json(&explain_document(&plan))?;
    } else {
        let subject = render::outcome::subject(&event);
        output::text(&render::plan::report(&plan, &subject, &project.places))?;
    }
    Ok(Exit::Fine)
}

//! `hookrail import`: converts hooks of another agent, and says what each means otherwise.

use hookrail_app::dialects::import::Import;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::project::Project;

use crate::args::ImportArgs;
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::import as render;

pub(crate) fn run(args: &ImportArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let import = Import::plan(args.from, args.to, &project)?;
    let is_refused = import.is_lossy() && !args.allow_loss;
    if !args.json {
        output::text(&render::entries(&import, &project.places))?;
    }
    let mut warnings = String::new();
    if args.write && !is_refused {
        // Settings with the same hooks, which would all take part, are the agent's own; so are files that it cannot read.
        if let Some((file, problem)) = import.unreadable.first() {
            let shown = project.places.path(file);
            return Err(Failure::new(format!("`{shown}` cannot be read by {}: {problem}", args.from.title()))
                .hint("repair the file, or remove it: nothing was written"));
        }
        let written = import.write()?;
        if !args.json {
            output::text(&render::written(&import, &written, &project.places))?;
        }
        warnings
            .extend(written.iter().filter_map(|settings| settings.warning.as_ref()).map(|text| format!("{text}\n")));
    } else if !args.json {
        output::text(&render::not_written(&import, is_refused))?;
    }
    if args.json {
        output::json(&hookrail::Json::from(import.document()))?;
    }
    output::warnings(&warnings);
    Ok(if is_refused { Exit::Blocked } else { Exit::Fine })
}

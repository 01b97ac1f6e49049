//! `hookrail reload`: makes a running server reload its configuration.

use hookrail_app::failure::{Excerpt, Failure, Result};
use hookrail_app::serve::reload;
use hookrail_app::text::counted;
use hookrail_bus::Reloaded;

use crate::args::ReloadArgs;
use crate::cmd::consent::require_person;
use crate::cmd::exit::Exit;
use crate::output;

pub(crate) fn run(args: &ReloadArgs) -> Result<Exit> {
    // What the user removed is kept until a reload accepts it.
    require_person()?;
    let reloaded = reload(args.socket.as_deref())?;
    if reloaded.success {
        output::text(&format!("reloaded: {}\n", summary(&reloaded)))?;
        return Ok(Exit::Fine);
    }
    let failure = Failure::new(format!("a part of the configuration cannot be used ({})", summary(&reloaded)));
    let failure = failure.excerpt(Excerpt::Sentences(reloaded.problems));
    Err(failure.hint("fix the problems above, then reload again"))
}

fn summary(reloaded: &Reloaded) -> String {
    let projects = counted(usize::try_from(reloaded.projects).unwrap_or(usize::MAX), "project");
    let revision = reloaded.revision.map_or_else(String::new, |revision| format!(", revision {revision}"));
    format!("{projects}{revision}")
}

//! `hookrail plugin`: lists, checks, enables, disables, installs and uninstalls plugins.

mod change;
mod inspect;

use std::path::Path;
use std::sync::Arc;

use hookrail::Environment;
use hookrail::dialect::xcode::{PluginPlaces, Survey, survey};
use hookrail::sources::nearest;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::project::Project;

use crate::args::{PluginArgs, PluginCommand, ProjectArgs};
use crate::cmd::exit::Exit;

pub(crate) fn run(args: &PluginArgs) -> Result<Exit> {
    match &args.command {
        PluginCommand::List(args) => inspect::list(args),
        PluginCommand::Doctor(args) => inspect::doctor(args),
        PluginCommand::Enable(args) => change::set_enabled(args, true),
        PluginCommand::Disable(args) => change::set_enabled(args, false),
        PluginCommand::Install(args) => change::install(args),
        PluginCommand::Uninstall(args) => change::uninstall(args),
    }
}

/// Returns the environment of this process as a value.
fn environment() -> Arc<Environment> {
    Arc::new(std::env::vars_os().collect())
}

fn places(root: &Path) -> PluginPlaces {
    PluginPlaces::new(root, &environment())
}

/// Finds all plugins; none with `--no-plugins`.
pub(crate) fn plugins(project: &Project, args: &ProjectArgs) -> Survey {
    if args.no_plugins { Survey::default() } else { survey(&places(project.root()), &environment()) }
}

/// Returns the ID that the user means: a whole one, or the beginning of one ID alone.
fn find_id(given: &str, survey: &Survey) -> Result<String> {
    let mut ids: Vec<&str> = survey.plugins.iter().map(|plugin| plugin.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.contains(&given) {
        return Ok(given.to_owned());
    }
    ids.retain(|id| !given.is_empty() && id.starts_with(given));
    match ids.as_slice() {
        [] => Err(unknown_plugin(given, survey)),
        [id] => Ok((*id).to_owned()),
        several => {
            let names: Vec<String> = several.iter().map(|id| format!("`{id}`")).collect();
            Err(Failure::new(format!("`{given}` is the beginning of several plugins"))
                .hint(format!("name one of {}", names.join(", "))))
        }
    }
}

/// Makes the failure about an ID that no plugin has.
fn unknown_plugin(id: &str, survey: &Survey) -> Failure {
    let failure = Failure::new(format!("there is no plugin `{id}`"));
    match nearest(id, survey.plugins.iter().map(|plugin| plugin.id.as_str())) {
        Some(known) => failure.hint(format!("did you mean `{known}`?")),
        None => failure.hint("run `hookrail plugin list` to see the plugins and their names"),
    }
}

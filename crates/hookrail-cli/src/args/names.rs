//! The names that a shell completes: events, tools, hooks, plugins and schemas. They are found only while a shell asks.

use clap_complete::{ArgValueCandidates, CompletionCandidate};
use hookrail::DialectId;
use hookrail_app::event_draft::event_names;
use hookrail_app::lint::known_tools;
use hookrail_app::pages::{PAGES, Page};
use hookrail_app::plugin::plugins;
use hookrail_app::project::Project;
use hookrail_app::schemas;

use super::ProjectArgs;

/// Completes the names of events, in all dialects.
pub(super) fn events() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(event_names()))
}

/// Completes the names of tools, in all dialects.
pub(super) fn tools() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(DialectId::CONFIGURED.into_iter().flat_map(known_tools)))
}

/// Completes the names of the hooks of the project.
pub(super) fn hooks() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(hook_names().unwrap_or_default()))
}

/// Completes the ids of plugins.
pub(super) fn plugin_names() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(plugin_ids().unwrap_or_default()))
}

/// Completes the paths of pages of the documentation.
pub(super) fn pages() -> ArgValueCandidates {
    let candidate = |page: &Page| CompletionCandidate::new(page.topic).help(Some(page.title.into()));
    ArgValueCandidates::new(move || PAGES.iter().map(candidate).collect())
}

/// Completes the names of schemas.
pub(super) fn schemas() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(schemas::schemas().into_iter().map(|(name, _)| name)))
}

fn candidates<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Vec<CompletionCandidate> {
    let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
    names.sort_unstable();
    names.dedup();
    // A name with a control character would reach the terminal as it is.
    names.retain(|name| !name.is_empty() && !name.chars().any(char::is_control));
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// The project in the current directory. A shell does not tell which options come before the word that it completes.
fn project() -> Option<(Project, ProjectArgs)> {
    let args = ProjectArgs { project: None, trust_project: false, modules: Vec::new(), no_plugins: false };
    Some((Project::open(&args).ok()?, args))
}

fn hook_names() -> Option<Vec<String>> {
    let (project, args) = project()?;
    // While hooks are off, no code of a module runs, not even to learn what it registers.
    let system = project.builder(&args).ok()?.hooks_off("names are being completed").build();
    Some(system.snapshot().hooks().iter().map(|hook| hook.label.to_string()).collect())
}

fn plugin_ids() -> Option<Vec<String>> {
    let (project, args) = project()?;
    Some(plugins(&project, &args).plugins.into_iter().map(|plugin| plugin.id).collect())
}

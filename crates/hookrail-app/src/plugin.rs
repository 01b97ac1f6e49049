//! Plugins: finding, checking, installing and switching them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::dialect::xcode::{self, Plugin, PluginError, PluginPlaces, PluginScope, Survey, survey};
use hookrail::document::diagnostics_document;
use hookrail::hook::Enablement;
use hookrail::sources::{SourceKind, nearest};
use hookrail::{Diagnostic, Environment, Hook, Json, JsonObject};

use crate::failure::{Failure, Result};
use crate::project::{Project, ProjectChoice};

/// Returns the environment of this process as a value.
fn process_environment() -> Arc<Environment> {
    Arc::new(std::env::vars_os().collect())
}

fn plugin_places(root: &Path) -> PluginPlaces {
    PluginPlaces::new(root, &process_environment())
}

/// Finds all plugins; none with `--no-plugins`.
pub fn plugins<'c>(project: &Project, choice: impl Into<ProjectChoice<'c>>) -> Survey {
    if choice.into().no_plugins {
        Survey::default()
    } else {
        survey(&plugin_places(project.root()), &process_environment())
    }
}

/// Returns the ID that the user means: a whole one, or the beginning of one ID alone.
fn find_plugin_id(given: &str, survey: &Survey) -> Result<String> {
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

/// Returns the directory of the plugin to install: the one that is named, else that of a plugin of the project.
pub fn find_plugin_folder<'c>(
    project: &Project,
    choice: impl Into<ProjectChoice<'c>>,
    folder: &Path,
) -> Result<PathBuf> {
    let named = folder.to_string_lossy();
    let unreadable = match folder.canonicalize() {
        Ok(dir) => return Ok(dir),
        Err(error) => error,
    };
    if is_url(&named) {
        return Err(Failure::new(format!("`{named}` is a URL, and plugins are installed from a directory")).hint(
            "fetch it first, so that you can read what it runs: `git clone URL DIR`, then `hookrail plugin install DIR`",
        ));
    }
    let survey = plugins(project, choice);
    let Ok(id) = find_plugin_id(&named, &survey) else {
        return Err(Failure::new(format!("`{named}` cannot be read: {unreadable}"))
            .hint("give the directory that holds the plugin's manifest")
            .hint("`hookrail new --dialect xcode` creates a plugin"));
    };
    let of_project = |plugin: &&xcode::Plugin| plugin.id == id && plugin.scope == PluginScope::Project;
    match survey.plugins.iter().find(of_project) {
        Some(plugin) => Ok(plugin.dir.to_path_buf()),
        None => Err(Failure::new(format!("`{id}` is installed already"))
            .hint("give the directory of another version to replace it")),
    }
}

/// Returns whether a text names something on another machine.
fn is_url(text: &str) -> bool {
    let is_secure_copy = || text.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'));
    text.contains("://") || is_secure_copy()
}

/// The settings in which a plugin is switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginSettings {
    OfUser,
    /// The local settings of the project, which apply to its own plugins only.
    OfProject,
}

/// A plugin that was switched.
#[derive(Debug)]
pub struct SwitchedPlugin {
    pub id: String,
    /// The file that says so.
    pub settings: PathBuf,
    /// What keeps the plugin off all the same.
    pub still_off: Option<Enablement>,
}

/// Switches a plugin on or off.
pub fn switch_plugin<'c>(
    project: &Project,
    choice: impl Into<ProjectChoice<'c>>,
    given: &str,
    settings: PluginSettings,
    enabled: bool,
) -> Result<SwitchedPlugin> {
    let choice = choice.into();
    let survey = plugins(project, choice);
    let id = find_plugin_id(given, &survey)?;
    let mut named = survey.plugins.iter().filter(|plugin| plugin.id == id);
    let settings: PathBuf = match settings {
        PluginSettings::OfUser => {
            plugin_places(project.root()).user_settings.ok_or_else(|| plugin_failure(&PluginError::NoPlace))?
        }
        PluginSettings::OfProject if !named.any(|plugin| plugin.scope == PluginScope::Project) => {
            return Err(Failure::new(format!("`{id}` is not a plugin of this project"))
                .hint("project settings apply only to plugins of the project; omit `--scope project`"));
        }
        PluginSettings::OfProject => project.root().join(".x-code/settings.local.json"),
    };
    xcode::set_enabled(&settings, &id, enabled).map_err(|error| plugin_failure(&error))?;
    let now = plugins(project, choice);
    let still_off = now.plugins.iter().filter(|plugin| plugin.id == id).find(|plugin| !plugin.is_enabled());
    let still_off = still_off.map(|plugin| plugin.enablement.clone());
    Ok(SwitchedPlugin { id, settings, still_off })
}

/// Reads a plugin that is to be installed.
pub fn preview_plugin(folder: &Path) -> Result<Plugin> {
    xcode::preview(folder, &process_environment()).map_err(|error| plugin_failure(&error))
}

/// Installs a plugin. Returns it with the files that were left out.
pub fn install_plugin(project: &Project, folder: &Path) -> Result<(Plugin, Vec<PathBuf>)> {
    let places = plugin_places(project.root());
    xcode::install(folder, &places, &process_environment()).map_err(|error| plugin_failure(&error))
}

/// Uninstalls a plugin. Returns its ID, and the folder of its data if that remains.
pub fn uninstall_plugin<'c>(
    project: &Project,
    choice: impl Into<ProjectChoice<'c>>,
    given: &str,
) -> Result<(String, Option<PathBuf>)> {
    let places = plugin_places(project.root());
    let survey = plugins(project, choice);
    let id = find_plugin_id(given, &survey).unwrap_or_else(|_| given.to_owned());
    match xcode::uninstall(&id, &places) {
        Err(PluginError::NotInstalled(_)) => {
            let of_project = |plugin: &Plugin| plugin.id == id && plugin.scope == PluginScope::Project;
            if let Some(plugin) = survey.plugins.iter().find(|plugin| of_project(plugin)) {
                return Err(Failure::new(format!("`{id}` is not installed: it is part of the project"))
                    .hint(format!("remove `{}` from the project", project.places.path(&plugin.dir))));
            }
            return Err(find_plugin_id(given, &survey).err().unwrap_or_else(|| unknown_plugin(&id, &survey)));
        }
        result => result.map_err(|error| plugin_failure(&error))?,
    }
    let data = places.data(&id).filter(|data| data.is_dir());
    Ok((id, data))
}

/// Turns an error into a failure with advice.
fn plugin_failure(error: &PluginError) -> Failure {
    let hint = match error {
        PluginError::NotAPlugin(problem) => problem
            .hint
            .clone()
            .unwrap_or_else(|| "fix its manifest; `hookrail new --dialect xcode` creates a plugin".to_owned()),
        PluginError::HooksCannotRun { problem, .. } => {
            problem.hint.clone().unwrap_or_else(|| "fix the hooks of the plugin first".to_owned())
        }
        PluginError::NoPlace => "set `HOME` to your home directory".to_owned(),
        PluginError::Blocked(_) => "an administrator put it there".to_owned(),
        PluginError::TooLarge(_) => "remove the files that the plugin does not need to run".to_owned(),
        PluginError::Broken { .. } => "fix the file first; nothing was changed".to_owned(),
        _ => "check the permissions of the file and its folders".to_owned(),
    };
    Failure::new(error.to_string()).hint(hint)
}

/// Loads the hooks of plugins, with their trust.
pub fn plugin_hooks<'c>(project: &Project, choice: impl Into<ProjectChoice<'c>>) -> Result<Vec<Arc<Hook>>> {
    let snapshot = project.builder(choice)?.build().snapshot();
    let of_plugins = |hook: &&Arc<Hook>| hook.owner.is_some() && hook.dialect == hookrail::DialectId::Xcode;
    Ok(snapshot.hooks().iter().filter(of_plugins).cloned().collect())
}

/// Returns the hooks that the engine has loaded from a plugin.
pub fn hooks_of<'h>(plugin: &Plugin, hooks: &'h [Arc<Hook>]) -> Vec<&'h Arc<Hook>> {
    let kind = match plugin.scope {
        PluginScope::Project => SourceKind::Project,
        PluginScope::Installed => SourceKind::Plugin,
        PluginScope::System => SourceKind::System,
    };
    let own =
        |hook: &&Arc<Hook>| hook.origin.kind == kind && hook.owner.as_ref().is_some_and(|owner| owner.id == plugin.id);
    hooks.iter().filter(own).collect()
}

/// Returns the problems of all plugins.
pub fn all_problems(survey: &Survey) -> Vec<Diagnostic> {
    let of_plugins = survey.plugins.iter().flat_map(|plugin| &plugin.problems);
    survey.problems.iter().chain(of_plugins).cloned().collect()
}

/// Returns what `plugin list --json` prints.
pub fn plugins_document(survey: &Survey, hooks: &[Arc<Hook>], problems: &[Diagnostic]) -> Json {
    let plugins: Vec<Json> = survey.plugins.iter().map(|plugin| described(plugin, hooks)).collect();
    let diagnostics = diagnostics_document(problems);
    let diagnostics = diagnostics.as_object().and_then(|document| document.get("diagnostics").cloned());
    object([("plugins", value(&plugins)), ("diagnostics", diagnostics.unwrap_or_else(Json::null))])
}

fn described(plugin: &Plugin, hooks: &[Arc<Hook>]) -> Json {
    let own = hooks_of(plugin, hooks);
    let events: Vec<&str> = own.iter().map(|hook| event_name(hook)).collect();
    let disabled_by = match &plugin.enablement {
        Enablement::Disabled(by) => Json::string(by),
        _ => Json::null(),
    };
    object([
        ("id", Json::string(&plugin.id)),
        ("version", Json::string(&plugin.version)),
        ("scope", Json::string(plugin.scope.name())),
        ("dir", value(&plugin.dir.to_string_lossy())),
        ("description", value(&plugin.description)),
        ("enabled", Json::boolean(plugin.is_enabled())),
        ("disabledBy", disabled_by),
        ("broken", Json::boolean(plugin.is_broken())),
        ("hooks", value(&own.len())),
        ("events", value(&events)),
        ("trusted", Json::boolean(own.iter().all(|hook| hook.trust.allows()))),
    ])
}

fn event_name(hook: &Hook) -> &'static str {
    hook.event.spec().column(hook.dialect).map_or(hook.event.name(), |column| column.name)
}

/// Makes an object whose members stay in this order.
fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    members.into_iter().collect::<JsonObject>().to_json()
}

fn value<T: serde::Serialize + ?Sized>(value: &T) -> Json {
    Json::of(value).unwrap_or_else(|_| Json::null())
}

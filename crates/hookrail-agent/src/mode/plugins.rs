//! `/plugin`: lists plugins, enables and disables them. A change is written at once and in force after a refresh.

use std::sync::Arc;

use hookrail::Environment;
use hookrail::dialect::xcode::{PluginPlaces, Survey, set_enabled, survey};

use crate::agent::ReferenceAgent;

/// The lines that a command prints, or the reason why it failed.
type CommandOutput = Result<Vec<String>, String>;

pub(super) fn run(agent: &ReferenceAgent, words: &[&str]) -> CommandOutput {
    if agent.settings().plugins_off {
        return Err("plugins are off: `--no-plugins` was given".to_owned());
    }
    let environment: Arc<Environment> = Arc::new(std::env::vars_os().collect());
    let places = PluginPlaces::new(agent.hooks().project(), &environment);
    let found = survey(&places, &environment);
    match words {
        [] | ["list"] => Ok(list(&found)),
        ["enable", id] => switch(agent, &places, &found, id, true),
        ["disable", id] => switch(agent, &places, &found, id, false),
        ["refresh"] => {
            agent.reload_hooks();
            Ok(vec![match agent.hooks().snapshot().hooks().len() {
                1 => "1 hook is loaded".to_owned(),
                count => format!("{count} hooks are loaded"),
            }])
        }
        _ => Err("`/plugin list`, `/plugin refresh`, `/plugin enable ID` or `/plugin disable ID`".to_owned()),
    }
}

fn list(found: &Survey) -> Vec<String> {
    let line = |plugin: &hookrail::dialect::xcode::Plugin| {
        let state = if plugin.is_broken() {
            "broken"
        } else if plugin.is_enabled() {
            "on"
        } else {
            "off"
        };
        format!("{}  {state}", plugin.id)
    };
    found.plugins.iter().map(line).collect()
}

fn switch(agent: &ReferenceAgent, places: &PluginPlaces, found: &Survey, id: &str, enabled: bool) -> CommandOutput {
    if !found.plugins.iter().any(|plugin| plugin.id == id) {
        return Err(format!("there is no plugin `{id}`; `/plugin list` lists them"));
    }
    let settings = places.user_settings.as_ref().ok_or("settings cannot be stored: there is no home directory")?;
    set_enabled(settings, id, enabled).map_err(|error| error.to_string())?;
    agent.ignore_changes_so_far();
    let word = if enabled { "enabled" } else { "disabled" };
    Ok(vec![format!("{id} is {word}; run `/plugin refresh` to apply this")])
}

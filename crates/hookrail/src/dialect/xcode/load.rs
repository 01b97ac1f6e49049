//! The hooks of every plugin, ready for the snapshot.

use std::collections::HashMap;
use std::path::PathBuf;

use super::breadcrumb;
use super::places::PluginPlaces;
use super::registry::{Plugin, PluginScope, survey};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::{Loaded, Sources};
use crate::hook::{Hook, Standing, Trust};
use crate::source::Location;
use crate::trust::Fingerprint;

/// The last good hooks of every plugin, for when its files are broken.
pub(crate) type LastGood = HashMap<PathBuf, Vec<Hook>>;

/// Loads every hook of this dialect.
pub(crate) fn load(sources: &Sources, last_good: &mut LastGood) -> Loaded {
    let places = PluginPlaces::new(&sources.project, &sources.environment);
    let survey = survey(&places, &sources.environment);
    let mut loaded = Loaded { diagnostics: survey.problems, ..Loaded::default() };
    loaded.files.extend(places.registry());
    loaded.files.extend(places.user_settings.clone());
    loaded.files.extend(places.project_settings());
    loaded.files.extend(places.project_plugins());
    for mut plugin in survey.plugins {
        loaded.diagnostics.append(&mut plugin.problems);
        for mut hook in good_hooks(&plugin, last_good, &mut loaded.diagnostics) {
            if plugin.scope == PluginScope::Project {
                hook.trust = judge(sources, &hook);
            }
            loaded.hooks.push(hook);
        }
    }
    loaded.breadcrumbs = breadcrumb::of_loading(&loaded.hooks, &loaded.diagnostics);
    loaded
}

/// The hooks of a plugin; while its files are broken, those it had before.
fn good_hooks(plugin: &Plugin, last_good: &mut LastGood, found: &mut Vec<Diagnostic>) -> Vec<Hook> {
    if plugin.readable {
        last_good.insert(plugin.dir.clone(), plugin.hooks.clone());
        return plugin.hooks.clone();
    }
    if !plugin.dir.is_dir() {
        last_good.remove(&plugin.dir);
    }
    let Some(hooks) = last_good.get(&plugin.dir).filter(|hooks| !hooks.is_empty()) else { return Vec::new() };
    let message = format!("`{}` is broken; its last good hooks stay in force", plugin.id);
    found.push(Diagnostic::new(Code::FileLastGood, message).at(Location::whole_file(&plugin.dir)));
    let standing = |hook: &Hook| Hook { standing: plugin.standing.clone(), ..hook.clone() };
    hooks.iter().map(standing).collect()
}

fn judge(sources: &Sources, hook: &Hook) -> Trust {
    if sources.trust_all { Trust::ForThisRun } else { sources.grants.judge(Fingerprint::take(&sources.project, hook)) }
}

/// Whether a plugin takes part, for its own list.
impl Plugin {
    /// Whether it takes part.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.standing == Standing::Active
    }

    /// Whether something about it could not be used.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| problem.level == crate::diagnostic::Level::Error)
    }
}

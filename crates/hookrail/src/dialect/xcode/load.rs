//! Loads the hooks of every plugin, and determines the trust of those in the project.

use std::sync::Arc;

use super::breadcrumb;
use super::places::PluginPlaces;
use super::registry::{Plugin, PluginScope, survey_through};
use crate::dialect::{LoadContext, Loaded, Plugins};
use crate::hook::Enablement;

/// Loads every hook of this dialect.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let environment = Arc::clone(context.hook_environment());
    let LoadContext { sources, reading, bundles, .. } = context;
    if sources.plugins == Plugins::LeftAlone && bundles.is_empty() {
        return Loaded::default();
    }
    let places = PluginPlaces::new(&sources.project, &sources.environment);
    let survey = survey_through(&places, &environment, bundles, sources.plugins, reading);
    let mut loaded = Loaded { diagnostics: survey.problems, ..Loaded::default() };
    for mut plugin in survey.plugins {
        loaded.diagnostics.append(&mut plugin.problems);
        for mut hook in plugin.hooks {
            if plugin.scope == PluginScope::Project {
                hook.trust = sources.judge(&hook, reading);
            }
            loaded.hooks.push(hook);
        }
    }
    loaded.breadcrumbs = breadcrumb::of_loading(&loaded.hooks, &loaded.diagnostics);
    loaded
}

impl Plugin {
    /// Whether the plugin is enabled.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enablement == Enablement::Active
    }

    /// Whether the plugin has a problem of the level error.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| problem.level == crate::diagnostic::Level::Error)
    }
}

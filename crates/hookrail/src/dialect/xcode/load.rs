//! Loads the hooks of every plugin, and determines the trust of those in the project.

use std::sync::Arc;

use super::breadcrumb;
use super::places::PluginPlaces;
use super::registry::{Plugin, PluginScope, survey_through};
use crate::dialect::{DialectId, LoadContext, Loaded, Plugins};
use crate::hook::Enablement;
use crate::trust::OffByUser;

/// Loads every hook of this dialect.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let environment = Arc::clone(context.hook_environment());
    let LoadContext { sources, reading, trusted, bundles, .. } = context;
    // Plugins of the project are not looked for then, so none is missing.
    let left_alone = (sources.plugins == Plugins::LeftAlone).then_some(OffByUser::Dialect(DialectId::Xcode));
    if left_alone.is_some() && bundles.is_empty() {
        return Loaded { off_by_user: left_alone.into_iter().collect(), ..Loaded::default() };
    }
    let places = PluginPlaces::new(&sources.project, &sources.environment);
    let survey = survey_through(&places, &environment, bundles, sources.plugins, reading);
    let mut loaded = Loaded {
        diagnostics: survey.problems,
        off_by_user: survey.off_by_user.into_iter().chain(left_alone).collect(),
        ..Loaded::default()
    };
    for mut plugin in survey.plugins {
        loaded.diagnostics.append(&mut plugin.problems);
        for mut hook in plugin.hooks {
            if plugin.scope == PluginScope::Project {
                hook.trust = trusted.judge(&hook, sources, reading);
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
        self.problems.iter().any(|problem| problem.level == crate::config::diagnostic::Level::Error)
    }
}

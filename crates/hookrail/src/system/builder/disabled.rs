//! Hooks that the user of the host disabled while the program runs.
//!
//! As with the user's list of disabled hooks, a hook of the system layer cannot be disabled.

use std::collections::BTreeSet;
use std::sync::Mutex;

use hookrail_spawn::lock_mutex;

use super::super::HookSystem;
use crate::hook::{Authority, Enablement, Hook};

/// The names of the hooks that are turned off.
#[derive(Debug, Default)]
pub(super) struct Disabled(Mutex<BTreeSet<String>>);

impl Disabled {
    /// Marks the named hooks as disabled.
    pub(super) fn apply(&self, hooks: &mut [Hook]) {
        let names = lock_mutex(&self.0);
        for hook in hooks.iter_mut().filter(|hook| hook.is_enabled() && names.contains(&*hook.label)) {
            if hook.authority() != Authority::System {
                hook.enablement = Enablement::Disabled("the user of this session".into());
            }
        }
    }
}

impl HookSystem {
    /// Turns a hook off by its label, as long as this system lives. Returns how many hooks that is; those of the system
    /// layer cannot be turned off.
    pub fn disable_hook(&self, label: &str) -> usize {
        self.disable_hooks([label])
    }

    /// Turns hooks off as [`HookSystem::disable_hook`] does, and loads them once.
    pub fn disable_hooks<'l>(&self, labels: impl IntoIterator<Item = &'l str>) -> usize {
        let labels: BTreeSet<&str> = labels.into_iter().collect();
        let snapshot = self.snapshot();
        let meant =
            |hook: &&std::sync::Arc<Hook>| labels.contains(&*hook.label) && hook.authority() != Authority::System;
        let found: Vec<String> = snapshot.hooks().iter().filter(meant).map(|hook| hook.label.to_string()).collect();
        let count = found.len();
        if count > 0 {
            self.disabled().extend(found);
            self.refresh();
        }
        count
    }

    /// Turns a hook on again that [`HookSystem::disable_hook`] turned off. Returns whether it was.
    pub fn enable_hook(&self, label: &str) -> bool {
        let was = self.disabled().remove(label);
        if was {
            self.refresh();
        }
        was
    }

    fn disabled(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        lock_mutex(&self.inner.settings.disabled.0)
    }
}

//! What trusting a project for one run covers: its hooks as they were when the run began.
//!
//! A hook that appears later, or has another content than at the beginning, is judged by the grants of the user like in
//! any other run. What was covered stays known as long as the run lasts: a hook that disappears, or changes, and later is
//! again what it was at the beginning, runs again.

use std::collections::HashMap;

use super::fingerprint::{Digest, Fingerprint};
use super::grants::{Grant, Grants};
use crate::hook::{Hook, Trust};

/// The hooks of a project that is trusted for this run.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// By definition.
    hooks: HashMap<Digest, Fingerprint>,
    /// Whether everything that was there at the beginning is known.
    is_complete: bool,
}

impl Coverage {
    /// What trust says about a hook of the project.
    pub(crate) fn judge(&mut self, hook: &Hook, fingerprint: Fingerprint, grants: &Grants) -> Trust {
        let before = self.hooks.get(&fingerprint.definition());
        match before {
            Some(before) if before.is_same_as(&fingerprint) => return Trust::ForThisRun(before.clone()),
            None if !self.is_complete => return Trust::ForThisRun(self.cover(hook, fingerprint)),
            Some(_) | None => {}
        }
        match (grants.judge(fingerprint), before) {
            // The user did not grant it, but it was covered with another content. If it is a guard, it must not disappear.
            (Trust::Never(taken), Some(before)) => Trust::Changed(match before.granted() {
                Some(grant) => taken.granted_by(grant),
                None => taken,
            }),
            (judged, _) => judged,
        }
    }

    /// Remembers what the hook is now. For a guard that includes what a grant would say about it, which decides what its
    /// failure does if it changes.
    fn cover(&mut self, hook: &Hook, fingerprint: Fingerprint) -> Fingerprint {
        let fingerprint = fingerprint.at_the_beginning();
        let fingerprint = match Grant::of_guard(hook, &fingerprint) {
            Some(grant) => fingerprint.granted_by(&grant),
            None => fingerprint,
        };
        // What could not be read for want of resources is looked at again by the next load.
        if !fingerprint.is_out_of_resources() {
            self.hooks.insert(fingerprint.definition(), fingerprint.clone());
        }
        fingerprint
    }

    /// Ends the beginning of the run, if the load that has ended lacked nothing. Hooks that could not be read for want of
    /// resources were there all the same.
    pub(crate) fn end_of_load(&mut self, try_again: bool) {
        self.is_complete |= !try_again;
    }

    /// The guards that were covered and that these grants do not know.
    pub(crate) fn guards_beside(&self, grants: &Grants) -> Vec<Grant> {
        let is_new = |grant: &&Grant| !grants.hooks.iter().any(|known| known.definition == grant.definition);
        let mut guards: Vec<Grant> =
            self.hooks.values().filter_map(Fingerprint::granted).filter(is_new).cloned().collect();
        guards.sort_by(|one, other| one.definition.cmp(&other.definition));
        guards
    }
}

//! The hooks that are covered when a project is trusted for one run: those that exist when the run starts, with their
//! content.
//!
//! A hook that appears later, or whose content differs from that, needs a grant of the user as in any other run. A
//! covered hook that disappears or changes, and later has its first content again, runs again.

use std::collections::HashMap;

use super::grants::Grants;
use crate::hook::fingerprint::Fingerprint;
use crate::hook::grant::Grant;
use crate::hook::{Hook, Trust};
use crate::text::digest::Digest;

/// The hooks of a project that is trusted for this run.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// By definition.
    hooks: HashMap<Digest, Fingerprint>,
    /// Whether all hooks of the start are known.
    is_complete: bool,
}

impl Coverage {
    /// The trust of a hook of the project.
    pub(crate) fn judge(&mut self, hook: &Hook, fingerprint: Fingerprint, grants: &Grants) -> Trust {
        let before = self.hooks.get(&fingerprint.definition());
        match before {
            Some(before) if before.is_same_as(&fingerprint) => return Trust::ForThisRun(before.clone()),
            None if !self.is_complete => return Trust::ForThisRun(self.cover(hook, fingerprint)),
            Some(_) | None => {}
        }
        match (grants.judge(fingerprint), before) {
            // It was covered with other content and has no grant. If it is a guard, it must not silently disappear.
            (Trust::Never(taken), Some(before)) => Trust::Changed(match before.granted() {
                Some(grant) => taken.granted_by(grant),
                None => taken,
            }),
            (judged, _) => judged,
        }
    }

    /// Records what the hook is now. For a guard that includes the data of a grant, which decides what its failure does
    /// after it changes.
    fn cover(&mut self, hook: &Hook, fingerprint: Fingerprint) -> Fingerprint {
        let fingerprint = fingerprint.at_the_beginning();
        let fingerprint = match Grant::of_guard(hook, &fingerprint) {
            Some(grant) => fingerprint.granted_by(&grant),
            None => fingerprint,
        };
        // A hook that could not be read for lack of resources is read again by the next load.
        if !fingerprint.is_out_of_resources() {
            self.hooks.insert(fingerprint.definition(), fingerprint.clone());
        }
        fingerprint
    }

    /// Ends the start of the run, if the last load lacked no resources. Hooks that could not be read for lack of
    /// resources existed too.
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

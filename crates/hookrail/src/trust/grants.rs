//! The grants for a project, one for each hook.

use serde::{Deserialize, Serialize};

use crate::hook::fingerprint::Fingerprint;
use crate::hook::grant::{Grant, policy_to_grant};
use crate::hook::{Hook, OnFailure, Trust};

/// What was granted for one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// Whether the project itself is trusted, which covers its switches.
    #[serde(default)]
    pub project: bool,
    /// The hooks.
    #[serde(default)]
    pub hooks: Vec<Grant>,
}

impl Grants {
    /// The trust of a hook by these grants.
    #[must_use]
    pub fn judge(&self, fingerprint: Fingerprint) -> Trust {
        // Files are read only if a grant could cover them: an untrusted project could bring any number of large ones.
        let found = self.hooks.iter().find_map(|grant| Some((grant, grant.definition_of(&fingerprint)?)));
        let Some((grant, definition)) = found else { return Trust::Never(fingerprint) };
        let fingerprint = fingerprint.granted_by(grant);
        match fingerprint.content_under(definition) {
            Some(content) if content.hex() == grant.content && fingerprint.leads_where(&grant.outside) => {
                Trust::Granted(fingerprint.narrowed_to(grant.narrowed_to()))
            }
            _ => Trust::Changed(fingerprint),
        }
    }

    /// Whether one of these grants may be for a guard.
    pub(super) fn may_hold_guards(&self) -> bool {
        self.hooks.iter().any(|grant| grant.on_failure.as_deref() != Some(OnFailure::Allow.name()))
    }

    /// Adds a hook. Returns whether it could be granted: a hook without a fingerprint cannot be trusted.
    pub fn grant(&mut self, hook: &Hook, fingerprint: &Fingerprint) -> bool {
        let Some(content) = fingerprint.content() else { return false };
        let grant = Grant::new(hook, fingerprint, Some(content), policy_to_grant(hook, fingerprint));
        // The hook's earlier content is not granted any more.
        let superseded = fingerprint.granted().map(|old| old.definition.clone());
        self.hooks.retain(|old| old.definition != grant.definition && Some(&old.definition) != superseded.as_ref());
        self.hooks.push(grant);
        true
    }

    /// Removes a grant.
    pub fn forget(&mut self, grant: &Grant) {
        self.hooks.retain(|kept| kept.definition != grant.definition);
    }

    /// Leaves a granted module these capabilities and no others.
    pub fn narrow(&mut self, fingerprint: &Fingerprint, capabilities: &[String]) {
        let definition = fingerprint.definition().hex();
        for grant in self.hooks.iter_mut().filter(|grant| grant.definition == definition) {
            grant.capabilities = Some(capabilities.to_vec());
        }
    }
}

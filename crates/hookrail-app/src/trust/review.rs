//! The review of hooks before an agent starts: which need a grant, and granting those that were shown.

use std::sync::Arc;

use hookrail::trust::{ChangeKind, Grants, HookChange};
use hookrail::{Hook, HookSystem};

use super::{TrustRecording, fingerprint, narrowed, needs, record_grants, store_failure};
use crate::failure::Result;
use crate::project::Project;

/// Returns the hooks that may not run.
pub fn untrusted(hooks: &HookSystem) -> Vec<Arc<Hook>> {
    hooks.snapshot().hooks().iter().filter(|hook| !hook.trust.allows()).cloned().collect()
}

/// Returns the hooks that need a grant, with what changed since an earlier one.
pub fn changes_to_review(grants: &Grants, hooks: &HookSystem) -> Vec<HookChange> {
    let snapshot = hooks.snapshot();
    let all: Vec<Arc<Hook>> = snapshot.hooks().iter().filter(|hook| fingerprint(hook).is_some()).cloned().collect();
    let mut changes = grants.changes(&all);
    changes.retain(|change| change.kind != ChangeKind::Gone);
    for hook in changes.iter_mut().filter_map(|change| change.hook.as_mut()) {
        *hook = narrowed(hook, None);
    }
    changes
}

/// Returns whether a fingerprint of everything the hook runs could be taken.
pub fn is_grantable(change: &HookChange) -> bool {
    let taken = change.hook.as_ref().and_then(|hook| hook.trust.fingerprint());
    taken.is_some_and(|taken| taken.content().is_some())
}

/// Grants the hooks of these changes, in the place of their earlier versions.
pub fn grant_reviewed(project: &Project, chosen: &[&HookChange]) -> Result<TrustRecording> {
    let change = |grants: &mut Grants| {
        grants.project = true;
        for change in chosen {
            let Some(hook) = &change.hook else { continue };
            if let Some(old) = &change.granted {
                grants.forget(old);
            }
            if let Some(taken) = fingerprint(hook) {
                grants.grant(hook, taken);
                if let Some(left) = needs::left_by_grant(hook, None) {
                    grants.narrow(taken, &left);
                }
            }
        }
    };
    Project::trust_store()?.change(project.root(), change).map_err(store_failure)?;
    let granted: Vec<Arc<Hook>> = chosen.iter().filter_map(|change| change.hook.clone()).collect();
    Ok(record_grants(project, &granted, &[]))
}

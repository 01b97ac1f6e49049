//! The name and the version of a hook in outcomes and records.

use std::path::Path;
use std::sync::OnceLock;

use super::{Digest, Fingerprint};
use crate::event::EventKind;
use crate::hook::Hook;

/// The name and the version of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookIdentity {
    /// Which hook it is, over edits of its file.
    pub(crate) id: String,
    /// The digest of its definition and of the project's files that it runs, as they were when it was first asked for.
    pub(crate) fingerprint: String,
}

/// The identity of a hook, found when it is first asked for. A copy of a hook may be changed, so it has to find its own.
#[derive(Debug, Default)]
pub(crate) struct IdentityCell(OnceLock<HookIdentity>);

impl Clone for IdentityCell {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl HookIdentity {
    fn of(project: &Path, hook: &Hook) -> Self {
        let (event, file) =
            (hook.known_event().map_or("", EventKind::name), hook.origin.location.file.to_string_lossy());
        let names = [hook.dialect.name(), event, hook.origin.kind.name(), &file, &hook.label];
        let mut id = Digest::of(names.join("\0").as_bytes()).hex();
        id.truncate(16);
        let fresh = || Fingerprint::take(project, hook);
        let taken = hook.trust.fingerprint().cloned().unwrap_or_else(fresh);
        // What cannot be read in full is known by its definition.
        let fingerprint = taken.content().unwrap_or_else(|| taken.definition()).hex();
        Self { id, fingerprint }
    }
}

impl Hook {
    /// Its name and version. Hooks that need no trust have no fingerprint; theirs is taken below the project's directory.
    pub(crate) fn identity(&self, project: &Path) -> &HookIdentity {
        self.identity.0.get_or_init(|| HookIdentity::of(project, self))
    }
}

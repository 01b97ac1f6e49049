//! The sandboxes of an engine's hooks, one for all hooks with the same rules.
//!
//! A sandbox is a thread and a folder, so it is started when the first hook needs it and kept for the others. Hooks of
//! different authority share none: they could change each other's temporary files and signal each other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hookrail_spawn::{Protection, Readable, Sandbox, SandboxRules, lock_mutex};

use super::Environment;
use super::end::SpawnFailure;
use crate::hook::sandbox::{SandboxProfile, SandboxRequirement, intersection};
use crate::hook::{Authority, Hook};

/// The number of sandboxes that are kept. One that is dropped ends when its last process has ended.
const KEPT: usize = 16;

/// The sandboxes that were used last, the most recent one at the end.
#[derive(Debug, Default)]
pub(crate) struct Sandboxes(Mutex<Vec<CachedSandbox>>);

#[derive(Debug)]
struct CachedSandbox {
    key: SandboxKey,
    sandbox: Arc<Sandbox>,
}

/// The parameters of a sandbox.
#[derive(Debug, PartialEq, Eq)]
struct SandboxKey {
    authority: Authority,
    rules: SandboxRules,
    /// The kernel's rules are about inodes and not about names, so a folder that was replaced needs a new sandbox.
    nodes: Vec<Option<(u64, u64)>>,
}

/// The base of the profiles' paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SandboxPlace<'p> {
    pub(crate) project: &'p Path,
    pub(crate) environment: &'p Environment,
}

impl Sandboxes {
    /// The sandbox of a hook's processes; none if neither its entry nor a floor asks for one.
    pub(crate) fn sandbox_for(
        &self,
        hook: &Hook,
        place: SandboxPlace<'_>,
    ) -> Result<Option<Arc<Sandbox>>, SpawnFailure> {
        let profiles = hook.sandbox.iter().chain(hook.sandbox_floors.iter());
        let sandbox = self.with(hook.authority(), profiles, place)?;
        match &sandbox {
            Some(sandbox) => may_run(sandbox.missing(), hook.sandbox_requirement).map(|()| Some(Arc::clone(sandbox))),
            None => Ok(None),
        }
    }

    /// The sandbox that enforces all of these profiles; none if there are none.
    pub(crate) fn with<'p>(
        &self,
        authority: Authority,
        profiles: impl IntoIterator<Item = &'p Arc<SandboxProfile>>,
        place: SandboxPlace<'_>,
    ) -> Result<Option<Arc<Sandbox>>, SpawnFailure> {
        let absolute = |name: &str| place.environment.get(name).map(Path::new).filter(|path| path.is_absolute());
        let all = profiles.into_iter().map(|profile| profile.rules(place.project, absolute("HOME")));
        let Some(rules) = all.reduce(|one, other| intersection(&one, &other)) else { return Ok(None) };
        let key = SandboxKey { authority, nodes: nodes(&rules), rules };
        let mut kept = lock_mutex(&self.0);
        if let Some(known) = kept.iter().find(|known| known.key == key) {
            return Ok(Some(Arc::clone(&known.sandbox)));
        }
        // A sandbox inside another one can write where the outer one can.
        let folder =
            absolute("TMPDIR").filter(|folder| folder.is_dir()).map_or_else(std::env::temp_dir, Path::to_owned);
        let started = Sandbox::start(&key.rules, &folder);
        let sandbox = Arc::new(started.map_err(|error| SpawnFailure::Sandbox(super::command::with_sources(&error)))?);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(CachedSandbox { key, sandbox: Arc::clone(&sandbox) });
        Ok(Some(sandbox))
    }
}

/// Whether a hook may run although these protections are missing.
fn may_run(missing: &[Protection], requirement: SandboxRequirement) -> Result<(), SpawnFailure> {
    match requirement {
        SandboxRequirement::Required if !missing.is_empty() => Err(SpawnFailure::SandboxIncomplete(missing.to_vec())),
        SandboxRequirement::Required | SandboxRequirement::Reported => Ok(()),
    }
}

fn nodes(rules: &SandboxRules) -> Vec<Option<(u64, u64)>> {
    let readable: &[PathBuf] = match &rules.read {
        Readable::Everything => &[],
        Readable::Only(paths) => paths,
    };
    readable.iter().chain(&rules.write).map(|path| node(path)).collect()
}

#[cfg(unix)]
fn node(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let about = path.metadata().ok()?;
    Some((about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn node(_path: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_required_sandbox_is_complete_or_the_hook_does_not_run() {
        let missing = [Protection::Signals];
        assert_eq!(may_run(&[], SandboxRequirement::Required), Ok(()));
        assert_eq!(may_run(&missing, SandboxRequirement::Reported), Ok(()));
        let refused = may_run(&missing, SandboxRequirement::Required).unwrap_err();
        assert_eq!(refused, SpawnFailure::SandboxIncomplete(missing.to_vec()));
        assert_eq!(
            refused.to_string(),
            "this system cannot enforce its sandbox, which it requires (missing: signals to other processes)"
        );
    }

    #[test]
    fn hooks_with_the_same_rules_share_a_sandbox_unless_their_authority_differs() {
        let sandboxes = Sandboxes::default();
        let environment = Environment::new();
        let dir = tempfile::tempdir().unwrap();
        let place = SandboxPlace { project: dir.path(), environment: &environment };
        let of = |authority, profile: SandboxProfile| {
            sandboxes.with(authority, &[Arc::new(profile)], place).unwrap().unwrap()
        };
        let first = of(Authority::User, SandboxProfile::guard());
        assert!(Arc::ptr_eq(&first, &of(Authority::User, SandboxProfile::guard())));
        assert!(!Arc::ptr_eq(&first, &of(Authority::Project, SandboxProfile::guard())));
        assert_ne!(first.temporary_folder(), of(Authority::Project, SandboxProfile::guard()).temporary_folder());
        assert!(sandboxes.with(Authority::User, &[], place).unwrap().is_none());
        let writing = || SandboxProfile { write: vec!["out".into()], ..SandboxProfile::guard() };
        let before = of(Authority::User, writing());
        std::fs::create_dir(dir.path().join("out")).unwrap();
        assert!(!Arc::ptr_eq(&before, &of(Authority::User, writing())), "a folder that appears can be written");
    }
}

//! A project and a home in a folder of their own, and grants for the one in the other.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::PathBuf;

use hookrail::trust::FileTrustStore;
use hookrail::{Builder, Environment, HookSystem};

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn empty() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(world.path("home")).unwrap();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn store(&self) -> FileTrustStore {
        FileTrustStore::new(self.path("home/.local/state/hookrail/trust.json"))
    }

    pub(crate) fn builder(&self) -> Builder {
        let environment: Environment =
            [("PATH".to_owned(), "/usr/bin:/bin".into()), ("HOME".to_owned(), self.path("home").into_os_string())]
                .into_iter()
                .collect();
        HookSystem::builder(self.path("project")).environment(environment)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("project").canonicalize().unwrap()
    }

    /// Grants everything the project shows now.
    pub(crate) fn grant(&self) {
        let snapshot = self.builder().build().snapshot();
        self.store()
            .change(&self.project(), |grants| {
                grants.project = true;
                for hook in snapshot.hooks() {
                    if let Some(fingerprint) = hook.trust.fingerprint() {
                        assert!(grants.grant(hook, fingerprint));
                    }
                }
            })
            .unwrap();
    }

    /// Whether a hook has left its trace.
    pub(crate) fn ran(&self) -> bool {
        self.path("project/ran").exists()
    }
}

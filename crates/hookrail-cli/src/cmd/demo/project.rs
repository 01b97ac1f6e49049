//! The sample project of the demonstration: a temporary folder with a home directory of its own, so that the user's
//! settings and hooks take no part.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hookrail::{Environment, HookSystem};
use tempfile::TempDir;

const SETTINGS: &str = include_str!("../../../assets/demo/settings.json");
const HOOKS: [(&str, &str); 6] = [
    ("guard-secrets.sh", include_str!("../../../assets/demo/hooks/guard-secrets.sh")),
    ("spell-check.sh", include_str!("../../../assets/demo/hooks/spell-check.sh")),
    ("gentle-push.sh", include_str!("../../../assets/demo/hooks/gentle-push.sh")),
    ("test-advice.sh", include_str!("../../../assets/demo/hooks/test-advice.sh")),
    ("review-mode.sh", include_str!("../../../assets/demo/hooks/review-mode.sh")),
    ("budget.sh", include_str!("../../../assets/demo/hooks/budget.sh")),
];

/// The project on disk. It is removed when this value is dropped.
pub(super) struct Sample {
    folder: TempDir,
    root: PathBuf,
}

impl Sample {
    pub(super) fn create() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("hookrail-demo-").tempdir()?;
        let base = folder.path().canonicalize()?;
        let root = base.join("project");
        fs::create_dir(base.join("home"))?;
        fs::create_dir_all(root.join(".llxprt/hooks"))?;
        fs::write(root.join(".llxprt/settings.json"), SETTINGS)?;
        for (name, script) in HOOKS {
            fs::write(root.join(".llxprt/hooks").join(name), script)?;
        }
        Ok(Self { folder, root })
    }

    /// Loads the project's hooks, trusted, without the settings of the user and the system.
    pub(super) fn system(&self) -> HookSystem {
        let base = self.base();
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let environment = Environment::new()
            .with("PATH", path)
            .with("HOME", base.join("home"))
            .with("LLXPRT_SYSTEM_SETTINGS_PATH", base.join("no-system-settings.json"));
        HookSystem::builder(&self.root).environment(environment).no_bundles().trust_project().build()
    }

    /// The folder that holds everything of the demonstration.
    pub(super) fn base(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    /// Leaves the project on disk.
    pub(super) fn keep(self) -> PathBuf {
        let _ = self.folder.keep();
        self.root
    }
}

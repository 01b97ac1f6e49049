//! The sample project of the demonstration: a temporary folder with a home directory of its own, so that the user's
//! settings and hooks take no part.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hookrail::Environment;
use tempfile::TempDir;

/// The guard that the first steps ask.
pub(super) const GUARD: &str = ".hookrail/rules.toml";

/// System settings that say nothing, in the place of the machine's own.
const SYSTEM_SETTINGS: &str = "system.json";

const FILES: [(&str, &str); 10] = [
    (".llxprt/settings.json", include_str!("../../assets/tour/settings.json")),
    (GUARD, include_str!("../../assets/tour/rules.toml")),
    (".llxprt/hooks/no-sub-agents.sh", include_str!("../../assets/tour/llxprt/no-sub-agents.sh")),
    (".llxprt/hooks/ask-before-deploy.sh", include_str!("../../assets/tour/llxprt/ask-before-deploy.sh")),
    (".llxprt/hooks/house-rules.sh", include_str!("../../assets/tour/llxprt/house-rules.sh")),
    (".llxprt/hooks/redact.sh", include_str!("../../assets/tour/llxprt/redact.sh")),
    (".x-code/plugins/gentle-push/.x-code-plugin/plugin.json", include_str!("../../assets/tour/plugin/plugin.json")),
    (".x-code/plugins/gentle-push/gentle-push.sh", include_str!("../../assets/tour/plugin/gentle-push.sh")),
    (".xcsh/hooks/no-rm.js", include_str!("../../assets/tour/no-rm.js")),
    ("notes.md", super::tour::NOTES),
];

/// The project on disk. It is removed when this value is dropped.
pub struct SampleProject {
    folder: TempDir,
    base: PathBuf,
    root: PathBuf,
}

impl SampleProject {
    pub fn create() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("hookrail-demo-").tempdir()?;
        let base = folder.path().canonicalize()?;
        let root = base.join("project");
        fs::create_dir(base.join("home"))?;
        fs::write(base.join(SYSTEM_SETTINGS), "{}")?;
        for (name, text) in FILES {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&root))?;
            fs::write(path, text)?;
        }
        Ok(Self { folder, base, root })
    }

    /// The folder of the project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that holds everything of the demonstration.
    pub(super) fn base(&self) -> &Path {
        &self.base
    }

    /// The variables of everything that runs here: the settings of the user and the system are not found.
    fn variables(&self) -> [(&'static str, OsString); 4] {
        [
            ("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into())),
            ("HOME", self.base.join("home").into()),
            ("TMPDIR", self.base.clone().into()),
            ("LLXPRT_SYSTEM_SETTINGS_PATH", self.base.join(SYSTEM_SETTINGS).into()),
        ]
    }

    /// [`Self::variables`] for a hook system of this process.
    pub(super) fn environment(&self) -> Environment {
        self.variables().into_iter().fold(Environment::new(), |all, (name, value)| all.with(name, value))
    }

    /// Runs this program in the project, as an agent or the user would.
    pub fn run_hookrail(&self, arguments: &[&str], input: &str) -> io::Result<Output> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).current_dir(&self.root).env_clear().envs(self.variables());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        child.wait_with_output()
    }

    /// Does something while a file of the project has another text.
    pub(super) fn with_edited<T>(&self, name: &str, text: &str, act: impl FnOnce() -> T) -> io::Result<T> {
        let path = self.root.join(name);
        let before = fs::read_to_string(&path)?;
        fs::write(&path, text)?;
        let done = act();
        fs::write(&path, before)?;
        Ok(done)
    }

    /// Leaves the project on disk.
    pub fn keep(self) -> PathBuf {
        let _ = self.folder.keep();
        self.root
    }
}

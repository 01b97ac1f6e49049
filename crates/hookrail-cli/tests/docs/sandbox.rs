//! A project and a home directory of their own, with `hookrail` on the search path.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(super) struct Sandbox {
    _folder: TempDir,
    pub(super) project: PathBuf,
    pub(super) home: PathBuf,
    bin: PathBuf,
}

/// How a command ended.
pub(super) struct Ran {
    pub(super) status: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    /// Standard output as one document.
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("no JSON: {}{}", self.stdout, self.stderr))
    }
}

impl Sandbox {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let [project, home, bin] = ["project", "home", "bin"].map(|name| base.join(name));
        for dir in [&project, &home, &bin] {
            fs::create_dir(dir).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_hookrail"), bin.join("hookrail")).unwrap();
        Self { _folder: folder, project, home, bin }
    }

    /// A project with these settings.
    pub(super) fn with_settings(text: &str) -> Self {
        let sandbox = Self::new();
        sandbox.write(".llxprt/settings.json", text);
        sandbox
    }

    /// Writes a file of the project.
    pub(super) fn write(&self, name: &str, text: &str) {
        write(&self.project.join(name), text);
    }

    /// Puts a program on the search path.
    pub(super) fn program(&self, name: &str, text: &str) {
        let path = self.bin.join(name);
        write(&path, text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A program in the project, in a clean environment.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut path = OsString::from(&self.bin);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        let mut command = Command::new(program);
        command.current_dir(&self.project).env_clear().env("PATH", path).env("HOME", &self.home);
        command.env("LLXPRT_SYSTEM_SETTINGS_PATH", self.home.join("no-system-settings.json"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(super) fn hookrail(&self, args: &[&str]) -> Ran {
        run(self.command("hookrail").args(args), "")
    }

    /// Fires an event in the trusted project.
    pub(super) fn fire(&self, event: &str, payload: &Value, variables: &[(String, String)]) -> Ran {
        let mut command = self.command("hookrail");
        command.args(["fire", event, "--trust-project", "--json", "--payload", "-"]);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        run(&mut command, &payload.to_string())
    }

    /// Whether a program can be run here. A shell need not know any option, and is always there.
    fn can_run(&self, program: &str) -> bool {
        program == "sh" || self.command(program).arg("--version").status().is_ok_and(|status| status.success())
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs a command with text on standard input.
pub(super) fn run(command: &mut Command, input: &str) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A command that does not read its input is fine.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The programs that are missing here, unless all are required.
pub(super) fn missing<'p>(programs: impl IntoIterator<Item = &'p str>) -> Vec<&'p str> {
    let sandbox = Sandbox::new();
    let missing: Vec<&str> = programs.into_iter().filter(|program| !sandbox.can_run(program)).collect();
    let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required || missing.is_empty(), "HOOKRAIL_REQUIRE_ALL=1, and these are missing: {missing:?}");
    missing
}

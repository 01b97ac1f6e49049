//! A project and a home in a temporary folder, and programs that are run there without the machine's own configuration.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test whose files cannot be made can only fail")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::children::profile_folder;
use crate::programs::search_path;

/// The sandbox of a test: a temporary folder with a `project` and a `home`, which is removed when this is dropped.
///
/// A test suite that needs more, such as a server or a script for a model, wraps this type and dereferences to it.
pub struct TestProject {
    /// Removes the folder when it is dropped.
    _folder: TempDir,
    /// The temporary folder, without links in its path.
    pub base: PathBuf,
    /// The folder of the project.
    pub project: PathBuf,
    /// The home of its user.
    pub home: PathBuf,
}

impl TestProject {
    /// An empty project and an empty home.
    ///
    /// # Panics
    /// If the folders cannot be made, as do all methods that touch files.
    #[must_use]
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("hookrail-test-").unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (project, home) = (base.join("project"), base.join("home"));
        fs::create_dir(&project).unwrap();
        fs::create_dir(&home).unwrap();
        Self { _folder: folder, base, project, home }
    }

    /// A project with this settings file.
    #[must_use]
    pub fn with_settings(text: &str) -> Self {
        let made = Self::new();
        made.write(".llxprt/settings.json", text);
        made
    }

    /// A project in which these hooks, an object of groups by event, are switched on.
    #[must_use]
    pub fn with_hooks(hooks: &Value) -> Self {
        let made = Self::new();
        made.write_hooks(hooks);
        made
    }

    /// A project with one hook, `sample`, which runs this command.
    #[must_use]
    pub fn with_hook(event: &str, command: &str) -> Self {
        Self::with_hooks(&json!({event: [{"hooks": [{"type": "command", "name": "sample", "command": command}]}]}))
    }

    /// A path below the temporary folder, such as `home/.x-code`.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// Writes a file of the project, and returns its path.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        write(self.project.join(name), text)
    }

    /// Writes a file of the home.
    pub fn write_home(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        write(self.home.join(name), text)
    }

    /// Writes a file below the temporary folder.
    pub fn write_at(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        write(self.base.join(name), text)
    }

    /// Writes a program of the project: a file that can be executed.
    pub fn write_program(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        make_executable(self.write(name, text))
    }

    /// Writes a program below the temporary folder.
    pub fn write_program_at(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        make_executable(self.write_at(name, text))
    }

    /// Writes the settings file with these hooks switched on, as an editor does: a new file, renamed over the old one.
    pub fn write_hooks(&self, hooks: &Value) {
        write_hooks(&self.project, hooks);
    }

    /// A folder for sockets that only the user may enter, as `XDG_RUNTIME_DIR` is.
    #[cfg(unix)]
    #[must_use]
    pub fn runtime_folder(&self) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = self.path("run");
        if !folder.exists() {
            fs::create_dir(&folder).unwrap();
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        }
        folder
    }

    /// The text of a file of the project; empty if there is none.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project.join(name)).unwrap_or_default()
    }

    /// Whether the project has a file.
    #[must_use]
    pub fn exists(&self, name: &str) -> bool {
        self.project.join(name).exists()
    }

    /// The settings file of the system, which does not exist until a test writes it.
    #[must_use]
    pub fn system_settings(&self) -> PathBuf {
        self.path("system.json")
    }

    /// The environment of every program that is run here: the machine's search path, the home, a folder for Python's byte
    /// code that all tests share, and the system's settings if there are any by now.
    #[must_use]
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            ("PATH", search_path()),
            ("HOME", self.home.clone().into_os_string()),
            // Every project has a home of its own, in which Python would compile its library anew.
            ("PYTHONPYCACHEPREFIX", profile_folder().join("hookrail-test-python").into_os_string()),
        ];
        if self.system_settings().symlink_metadata().is_ok() {
            variables.push(("LLXPRT_SYSTEM_SETTINGS_PATH", self.system_settings().into_os_string()));
        }
        variables
    }

    /// A program in the project with that environment, without input and with its output captured.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.project).env_clear().envs(self.variables());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Default for TestProject {
    fn default() -> Self {
        Self::new()
    }
}

/// The text of a settings file in which these hooks, an object of groups by event, are switched on.
#[must_use]
pub fn enabled_hooks(hooks: &Value) -> String {
    json!({"hooksConfig": {"enabled": true}, "hooks": hooks}).to_string()
}

/// Writes the settings file of a project with these hooks switched on, as an editor does.
///
/// # Panics
/// If the file cannot be written.
pub fn write_hooks(project: &Path, hooks: &Value) {
    let new = write(project.join(".llxprt/settings.json.new"), enabled_hooks(hooks));
    fs::rename(new, project.join(".llxprt/settings.json")).unwrap();
}

fn write(path: PathBuf, text: impl AsRef<[u8]>) -> PathBuf {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

fn make_executable(path: PathBuf) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    path
}

/// The exit status and the output of a program.
#[derive(Debug)]
pub struct ProgramOutput {
    /// Its exit status; -1 if a signal ended it.
    pub code: i32,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl ProgramOutput {
    /// Runs a command to its end.
    ///
    /// # Panics
    /// If it cannot be started, or writes something that is not UTF-8.
    #[must_use]
    pub fn capture(command: &mut Command) -> Self {
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")).into()
    }

    /// Runs a command with text on its standard input, which the command need not read.
    ///
    /// # Panics
    /// As [`ProgramOutput::capture`].
    #[must_use]
    pub fn with_input(command: &mut Command, input: &str) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output().unwrap().into()
    }

    /// Checks the exit status, and shows the output if it differs.
    ///
    /// # Panics
    /// If it differs.
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Standard output as one JSON document on one line.
    ///
    /// # Panics
    /// If it is not one.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "one line: {self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl From<Output> for ProgramOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

//! The folder a case runs in: `home/`, `project/`, `system.json`, and nothing of the machine but the `PATH`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::case::ConformanceCase;
use super::terminal::Terminal;

/// The time after which a program is taken to hang.
const HANG_LIMIT: Duration = Duration::from_secs(90);

/// The result of a command.
pub(super) struct CommandResult {
    /// Its exit status; none when it had to be ended.
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) took: Duration,
}

/// A temporary folder with everything a case brings.
pub(super) struct CaseFolder {
    folder: TempDir,
    root: PathBuf,
}

impl CaseFolder {
    /// Writes the case's files.
    pub(super) fn new(case: &ConformanceCase) -> io::Result<Self> {
        let folder = TempDir::with_prefix("conformance-")?;
        let root = fs::canonicalize(folder.path())?;
        let scratch = Self { folder, root };
        fs::create_dir(scratch.path("home"))?;
        fs::create_dir(scratch.path("project"))?;
        let layers = [
            ("home/.llxprt/settings.json", &case.user),
            ("project/.llxprt/settings.json", &case.project),
            ("system.json", &case.system),
        ];
        for (path, content) in layers {
            if let Some(content) = content {
                scratch.write(path, content)?;
            }
        }
        case.files.iter().try_for_each(|(path, content)| scratch.write(path, content))?;
        Ok(scratch)
    }

    /// A path inside the folder.
    pub(super) fn path(&self, inside: &str) -> PathBuf {
        self.root.join(inside)
    }

    /// The text with `{{tmp}}`, `{{project}}` and `{{home}}` replaced.
    pub(super) fn fill(&self, text: &str) -> String {
        let path = |inside: &str| self.path(inside).to_string_lossy().into_owned();
        text.replace("{{tmp}}", &self.root.to_string_lossy())
            .replace("{{project}}", &path("project"))
            .replace("{{home}}", &path("home"))
    }

    /// The value with the same replaced in every string and key.
    pub(super) fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (self.fill(key), self.fill_value(value))).collect()
            }
            scalar => scalar.clone(),
        }
    }

    fn write(&self, inside: &str, content: &Value) -> io::Result<()> {
        let path = self.path(inside);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let text = match self.fill_value(content) {
            Value::String(text) => text,
            other => format!("{other:#}\n"),
        };
        fs::write(&path, text)?;
        if inside.ends_with(".sh") { make_executable(&path) } else { Ok(()) }
    }

    /// Runs one command of the case; `json` says that it is the one whose result is judged. Its streams are files, so that nothing it leaves behind can hold them open.
    pub(super) fn run(
        &self,
        program: &Path,
        case: &ConformanceCase,
        arguments: &[String],
        json: bool,
    ) -> io::Result<CommandResult> {
        let streams = self.folder.path();
        let (out, err) = (streams.join(".stdout"), streams.join(".stderr"));
        let mut command = Command::new(program);
        command.args(arguments.iter().map(|argument| self.fill(argument)));
        if !arguments.iter().any(|argument| argument == "--project") {
            command.arg("--project").arg(self.path("project"));
        }
        let columns = case.terminal.filter(|_| json);
        if json && columns.is_none() {
            command.arg("--json");
        }
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin")))
            .env("HOME", self.path("home"))
            .envs(
                Some(("LLXPRT_SYSTEM_SETTINGS_PATH", self.path("system.json")))
                    .filter(|(_, file)| file.symlink_metadata().is_ok()),
            )
            .envs(case.env.iter().map(|(name, value)| (name, self.fill(value))))
            .current_dir(&self.root)
            .stdin(self.stdin(case)?)
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?);
        let typed = case.stdin.as_deref().unwrap_or_default();
        let terminal = columns.map(|columns| Terminal::open(columns, &self.fill(typed), &mut command)).transpose()?;
        let started = Instant::now();
        let mut child = command.spawn()?;
        // Until then it holds the terminal.
        drop(command);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if started.elapsed() > HANG_LIMIT {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        let took = started.elapsed();
        let text = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let stdout = match &terminal {
            Some(terminal) => terminal.text(HANG_LIMIT),
            None => text(&out)?,
        };
        Ok(CommandResult { status, took, stdout, stderr: text(&err)? })
    }

    fn stdin(&self, case: &ConformanceCase) -> io::Result<Stdio> {
        let Some(text) = &case.stdin else { return Ok(Stdio::null()) };
        let path = self.folder.path().join(".stdin");
        fs::write(&path, self.fill(text))?;
        Ok(File::open(path)?.into())
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}

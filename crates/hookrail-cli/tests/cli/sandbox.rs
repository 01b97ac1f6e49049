//! A project and a home directory of their own, and the binary in a clean environment.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Sandbox {
    _folder: TempDir,
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (project, home) = (base.join("project"), base.join("home"));
        fs::create_dir(&project).unwrap();
        fs::create_dir(&home).unwrap();
        Self { _folder: folder, project, home }
    }

    /// A project with these settings.
    pub(crate) fn with_settings(text: &str) -> Self {
        let sandbox = Self::new();
        sandbox.write(".llxprt/settings.json", text);
        sandbox
    }

    /// A project in which these hooks, given as `"Event": [groups]`, are switched on.
    pub(crate) fn with_hooks(hooks: &str) -> Self {
        Self::with_settings(&format!("{{\n\"hooksConfig\": {{\"enabled\": true}},\n\"hooks\": {{\n{hooks}\n}}\n}}\n"))
    }

    /// A project with one hook for an event, which runs this command.
    pub(crate) fn with_hook(event: &str, command: &str) -> Self {
        let command = Value::from(command);
        Self::with_hooks(&format!(
            r#""{event}": [{{"hooks": [{{"type": "command", "name": "sample", "command": {command}}}]}}]"#
        ))
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The command, not started yet.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookrail"));
        command.args(args).current_dir(&self.project).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &self.home);
        command.env("LLXPRT_SYSTEM_SETTINGS_PATH", self.home.join("no-system-settings.json"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(args))
    }

    /// Runs with text on standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ran::from(child.wait_with_output().unwrap())
    }

    /// Text in which everything that differs from run to run is replaced.
    pub(crate) fn steady(&self, text: &str) -> String {
        let text = text.replace(path(&self.project), "[PROJECT]").replace(path(&self.home), "[HOME]");
        insta_filter(&text)
    }
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::from(command.output().unwrap())
    }

    /// Standard output as one document on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "one line: {}", self.stdout);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The exit status, checked together with the reason to be surprised.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Durations, with the blanks around them, because their width moves the columns.
fn insta_filter(text: &str) -> String {
    let mut out = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let at = words
            .windows(2)
            .position(|pair| matches!(pair[1].trim_end_matches(':'), "ms" | "s") && pair[0].parse::<f64>().is_ok());
        let Some(at) = at.filter(|_| !line.contains("at most")) else {
            out.push(line.to_owned());
            continue;
        };
        let head = words[..at].join(" ");
        let tail = words[at + 2..].join(" ");
        let ends = if words[at + 1].ends_with(':') { ":" } else { "" };
        out.push(format!("{}  [TIME]{ends}  {}", head.trim_end(), tail.trim_start()).trim_end().to_owned());
    }
    out.join("\n")
}

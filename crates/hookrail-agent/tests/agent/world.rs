//! A project with hooks of every dialect, a script for the model, and the agent in a clean environment.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct World {
    _folder: TempDir,
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
}

/// What a run of the agent came to.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A hook in a settings file: its event, its matcher, and the body of its script.
pub(crate) type Sample<'a> = (&'a str, &'a str, &'a str);

impl World {
    pub(crate) fn new(script: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (project, home) = (base.join("project"), base.join("home"));
        fs::create_dir(&project).unwrap();
        fs::create_dir(&home).unwrap();
        let world = Self { _folder: folder, project, home };
        world.script(script);
        world
    }

    /// A world whose settings file has these hooks, named `h1`, `h2`, …
    pub(crate) fn with(hooks: &[Sample<'_>], script: Value) -> Self {
        let world = Self::new(script);
        world.hooks(hooks);
        world
    }

    /// Writes the hooks of the settings file, each a real script.
    pub(crate) fn hooks(&self, hooks: &[Sample<'_>]) {
        let mut events = serde_json::Map::new();
        for (at, (event, matcher, body)) in hooks.iter().enumerate() {
            let name = format!("h{}", at + 1);
            self.write(&format!(".llxprt/hooks/{name}.sh"), body);
            let command = format!("sh \"$LLXPRT_PROJECT_DIR/.llxprt/hooks/{name}.sh\"");
            let mut hook = json!({"type": "command", "name": name, "command": command});
            if body.contains("# short") {
                hook["timeout"] = json!(200);
            }
            let group = json!({"matcher": matcher, "hooks": [hook]});
            events.entry(*event).or_insert_with(|| json!([])).as_array_mut().unwrap().push(group);
        }
        let settings = json!({"hooksConfig": {"enabled": true}, "hooks": events});
        self.write(".llxprt/settings.json", &settings.to_string());
    }

    /// A plugin of the project with these hooks.
    pub(crate) fn plugin(&self, hooks: Value) {
        let manifest = json!({"name": "sample", "version": "1.0.0", "hooks": hooks});
        self.write(".x-code/plugins/sample/.x-code-plugin/plugin.json", &manifest.to_string());
    }

    /// A module hook of the project.
    pub(crate) fn module(&self, code: &str) {
        self.write(".xcsh/hooks/sample.js", code);
    }

    pub(crate) fn script(&self, script: Value) {
        fs::write(self.home.join("script.json"), script.to_string()).unwrap();
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project.join(name)).unwrap_or_default()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.project.join(name).exists()
    }

    /// The agent, not started yet.
    pub(crate) fn agent(&self, args: &[&str]) -> Command {
        let mut command = Command::new(hookrail_testkit::hookrail());
        command.args(["agent", "--script"]).arg(self.home.join("script.json"));
        command.args(["--trust-project", "--retry-delay-ms", "1"]).args(args);
        command.current_dir(&self.project).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &self.home).env("TERM", "xterm");
        command.env("LLXPRT_SYSTEM_SETTINGS_PATH", self.home.join("no-system-settings.json"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// One prompt, with JSON as the answer.
    pub(crate) fn say(&self, prompt: &str) -> Ran {
        self.run(&["--headless", "--prompt", prompt])
    }

    /// Prompts and commands, one per line, with JSON as the answer.
    pub(crate) fn lines(&self, args: &[&str], lines: &[&str]) -> Ran {
        let mut all = vec!["--headless"];
        all.extend(args);
        self.feed(&all, &(lines.join("\n") + "\n"))
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.agent(args).output().unwrap().into()
    }

    pub(crate) fn feed(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self.agent(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// The files of all sessions, the oldest first.
    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        let root = self.home.join(".local/state/hookrail/sessions");
        let projects = fs::read_dir(root).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
        let mut files: Vec<PathBuf> = projects
            .flat_map(|entry| fs::read_dir(entry.path()).unwrap().flatten())
            .map(|entry| entry.path())
            .collect();
        files.sort();
        files
    }

    /// The receipts of the last session.
    pub(crate) fn receipts(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.sessions().last().unwrap()).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["type"] == "receipt").map(|line| line["receipt"].clone()).collect()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// What was shown, of one type.
    #[track_caller]
    pub(crate) fn shown(&self, kind: &str) -> Vec<Value> {
        let all = self.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
        all.filter(|event| event["type"] == kind).collect()
    }

    /// A field of everything that was shown of one type.
    #[track_caller]
    pub(crate) fn texts(&self, kind: &str, field: &str) -> Vec<String> {
        self.shown(kind).iter().map(|event| event[field].as_str().unwrap_or("null").to_owned()).collect()
    }
}

/// A script of these answers.
pub(crate) fn turns(turns: Value) -> Value {
    json!({"turns": turns})
}

/// A script that calls one tool and is then content when the next request is as expected.
pub(crate) fn one_call(tool: &str, args: Value, expect: Value) -> Value {
    turns(json!([{"calls": [{"name": tool, "args": args}]}, {"text": "done", "expect": expect}]))
}

/// A script that says one thing.
pub(crate) fn says(text: &str) -> Value {
    turns(json!([{"text": text}]))
}

//! A project with hooks of every dialect, a script for the model, and the agent in a clean environment.

use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::Command;

pub(crate) use hookrail_testkit::ProgramOutput;
use hookrail_testkit::TestProject;
use serde_json::{Value, json};

pub(crate) struct World {
    place: TestProject,
}

/// A hook in a settings file: its event, its matcher, and the body of its script.
pub(crate) type Sample<'a> = (&'a str, &'a str, &'a str);

impl World {
    pub(crate) fn new(script: Value) -> Self {
        let world = Self { place: TestProject::new() };
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
        self.write_hooks(&Value::Object(events));
    }

    /// A plugin of the project with these hooks.
    pub(crate) fn plugin(&self, hooks: Value) {
        let manifest = json!({"name": "sample", "version": "1.0.0", "hooks": hooks});
        self.write(".x-code/plugins/sample/.x-code-plugin/plugin.json", manifest.to_string());
    }

    /// A module hook of the project.
    pub(crate) fn module(&self, code: &str) {
        self.write(".xcsh/hooks/sample.js", code);
    }

    pub(crate) fn script(&self, script: Value) {
        self.write_home("script.json", script.to_string());
    }

    /// The agent, not started yet.
    pub(crate) fn agent(&self, args: &[&str]) -> Command {
        let mut command = self.command(hookrail_testkit::hookrail());
        command.args(["agent", "--script"]).arg(self.home.join("script.json"));
        command.args(["--trust-project", "--retry-delay-ms", "1"]).args(args).env("TERM", "xterm");
        command
    }

    /// One prompt, with JSON as the answer.
    pub(crate) fn say(&self, prompt: &str) -> ProgramOutput {
        self.run(&["--headless", "--prompt", prompt])
    }

    /// Prompts and commands, one per line, with JSON as the answer.
    pub(crate) fn lines(&self, args: &[&str], lines: &[&str]) -> ProgramOutput {
        let mut all = vec!["--headless"];
        all.extend(args);
        self.feed(&all, &(lines.join("\n") + "\n"))
    }

    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        ProgramOutput::capture(&mut self.agent(args))
    }

    pub(crate) fn feed(&self, args: &[&str], input: &str) -> ProgramOutput {
        ProgramOutput::with_input(&mut self.agent(args), input)
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

impl Deref for World {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.place
    }
}

/// What the agent showed to a program, as JSON.
pub(crate) trait Shows {
    /// What was shown, of one type.
    fn shown(&self, kind: &str) -> Vec<Value>;

    /// A field of everything that was shown of one type.
    fn texts(&self, kind: &str, field: &str) -> Vec<String>;
}

impl Shows for ProgramOutput {
    #[track_caller]
    fn shown(&self, kind: &str) -> Vec<Value> {
        let all = self.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
        all.filter(|event| event["type"] == kind).collect()
    }

    #[track_caller]
    fn texts(&self, kind: &str, field: &str) -> Vec<String> {
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

//! A project and a home directory of their own, and the binary in a clean environment.

use std::ops::Deref;
use std::path::Path;
use std::process::Command;

pub(crate) use hookrail_testkit::ProgramOutput;
use hookrail_testkit::TestProject;
use serde_json::Value;

pub(crate) struct Sandbox {
    place: TestProject,
}

impl Deref for Sandbox {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.place
    }
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { place: TestProject::new() }
    }

    /// A project with these settings.
    pub(crate) fn with_settings(text: &str) -> Self {
        Self { place: TestProject::with_settings(text) }
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

    /// The command, not started yet.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(env!("CARGO_BIN_EXE_hookrail"));
        command.args(args);
        command
    }

    /// Another program in the same environment, not started yet.
    pub(crate) fn place_command(&self, program: &str) -> Command {
        self.place.command(program)
    }

    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        ProgramOutput::capture(&mut self.command(args))
    }

    /// Runs with text on standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> ProgramOutput {
        ProgramOutput::with_input(&mut self.command(args), input)
    }

    /// Replaces everything that differs from run to run.
    pub(crate) fn steady(&self, text: &str) -> String {
        let text = text.replace(path(&self.project), "[PROJECT]").replace(path(&self.home), "[HOME]");
        insta_filter(&text)
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Replaces durations and the spaces around them, because their width moves the columns.
fn insta_filter(text: &str) -> String {
    let mut out = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let at = words
            .windows(2)
            .position(|pair| matches!(pair[1].trim_end_matches(':'), "ms" | "s") && pair[0].parse::<f64>().is_ok());
        let Some(at) = at.filter(|_| !line.contains("timeout: ")) else {
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

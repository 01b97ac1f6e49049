//! An agent that is talked to line by line, and looked at while it works.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hookrail_testkit::{HANG, process_state, wait_until};
use serde_json::Value;

use crate::world::{ProgramOutput, World};

/// A headless agent that reads prompts and commands from a pipe.
pub(crate) struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    pub(crate) fn start(world: &World, args: &[&str]) -> Self {
        let mut all = vec!["--headless"];
        all.extend(args);
        Self::of(&mut world.agent(&all))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, stdin, lines }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits for the next thing of a type.
    #[track_caller]
    pub(crate) fn next(&mut self, kind: &str) -> Value {
        for line in &mut self.lines {
            let shown: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if shown["type"] == kind {
                return shown;
            }
        }
        panic!("the agent ended without `{kind}`")
    }

    /// Sends a prompt and waits for the end of the work on it.
    #[track_caller]
    pub(crate) fn prompt(&mut self, prompt: &str) -> Value {
        self.send(prompt);
        self.next("turn_end")
    }

    /// Lets the agent end by itself.
    pub(crate) fn finish(mut self) -> ProgramOutput {
        drop(self.stdin.take());
        let stdout: Vec<String> = self.lines.map_while(Result::ok).collect();
        let ran = ProgramOutput::from(self.child.wait_with_output().unwrap());
        ProgramOutput { stdout: stdout.join("\n"), ..ran }
    }
}

/// Waits until a file is there.
#[track_caller]
pub(crate) fn wait_for(file: &Path) {
    assert!(wait_until(|| file.exists(), HANG), "{} never came", file.display());
}

/// Returns whether the process whose number is in a file of the project still runs. A zombie does not run.
pub(crate) fn runs(world: &World, file: &str) -> bool {
    let number = world.read(file).trim().parse().unwrap();
    !matches!(process_state(number), None | Some('Z'))
}

pub(crate) fn send_signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

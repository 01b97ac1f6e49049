//! What only happens on a terminal, on one that `script` makes.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use crate::sandbox::{Ran, Sandbox};

/// The end of the question before a grant.
const QUESTION: &str = "[y/N] ";

/// A terminal with a command on it.
struct OnTerminal {
    terminal: File,
    command: Child,
    seen: String,
}

impl OnTerminal {
    /// Starts the command on a terminal in whose input something waits already.
    fn start(sandbox: &Sandbox, args: &[&str], typed_ahead: &str) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let open = || File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut terminal = File::from(terminal);
        let (stdin, stdout, stderr) = (open(), open(), open());
        terminal.write_all(typed_ahead.as_bytes()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookrail"));
        command.args(args).current_dir(&sandbox.project).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &sandbox.home).env("TERM", "xterm");
        let command = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
        Self { terminal, command, seen: String::new() }
    }

    fn sees(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let mut bytes = [0; 4096];
            // The terminal fails when the last one who had it is gone.
            let count = self.terminal.read(&mut bytes).unwrap_or(0);
            assert!(count > 0, "{text:?} is not in {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    /// Answers the question, and gives how the command ended.
    fn answers(mut self, text: &str) -> Option<i32> {
        self.sees(QUESTION);
        self.terminal.write_all(text.as_bytes()).unwrap();
        self.command.wait().unwrap().code()
    }
}

/// Runs the command on a terminal and types something. Both streams come out as one.
fn on_terminal(sandbox: &Sandbox, args: &str, typed: &str) -> Ran {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} {args}", env!("CARGO_BIN_EXE_hookrail")), "/dev/null"]);
    command.current_dir(&sandbox.project).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &sandbox.home).env("TERM", "xterm");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn a_grant_is_asked_for_and_only_yes_grants() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let asked = || OnTerminal::start(&sandbox, &["trust", "grant"], "");
    assert_eq!(asked().answers("n\n"), Some(1));
    assert_eq!(asked().answers("\n"), Some(1));
    sandbox.run(&["fire", "BeforeTool"]).ends_with(0);
    assert_eq!(asked().answers("y\n"), Some(0));
    sandbox.run(&["fire", "BeforeTool"]).ends_with(2);
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    for ahead in ["y\n", "y\ny\nyes\n", "y"] {
        assert_eq!(OnTerminal::start(&sandbox, &["trust", "grant"], ahead).answers("\n"), Some(1), "{ahead:?}");
    }
    sandbox.run(&["fire", "BeforeTool"]).ends_with(0);
}

#[test]
fn colours_and_indented_json() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    assert!(on_terminal(&sandbox, "list", "").ends_with(0).stdout.contains("\u{1b}[1m"));
    let ran = on_terminal(&sandbox, "list --json", "").ends_with(0);
    assert!(ran.stdout.starts_with("{\r\n  \"hooks\": ["), "{}", ran.stdout);
}

#[test]
fn a_slow_hook_is_named_and_the_line_is_erased() {
    let sandbox = Sandbox::with_hook("BeforeTool", "sleep 2.2");
    let shown = on_terminal(&sandbox, "fire BeforeTool --trust-project", "").ends_with(0).stdout;
    let (before, after) = shown.split_once("running hook sample … ").unwrap_or_else(|| panic!("{shown:?}"));
    assert!(before.ends_with("\r\u{1b}[2K"), "{shown:?}");
    assert!(after.contains("\r\u{1b}[2K\u{1b}[1m\u{1b}[32mallowed"), "{shown:?}");
}

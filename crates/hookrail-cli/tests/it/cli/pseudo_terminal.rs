//! What only happens on a terminal, on one that `script` makes.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// The end of the question before a grant.
const QUESTION: &str = "[y/N] ";

/// A terminal with a command on it.
pub(crate) struct OnTerminal {
    terminal: File,
    pub(crate) command: Child,
    seen: String,
}

impl OnTerminal {
    /// Starts `hookrail` on a terminal in whose input something waits already.
    pub(crate) fn start(sandbox: &Sandbox, args: &[&str], typed_ahead: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookrail"));
        command.args(args).current_dir(&sandbox.project).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &sandbox.home).env("TERM", "xterm");
        Self::of(&mut command, typed_ahead)
    }

    /// Starts a command on a terminal in whose input something waits already.
    pub(crate) fn of(command: &mut Command, typed_ahead: &str) -> Self {
        let (mut terminal, program) = hookrail_testkit::open_terminal().unwrap();
        let (stdin, stdout) = (program.try_clone().unwrap(), program.try_clone().unwrap());
        terminal.write_all(typed_ahead.as_bytes()).unwrap();
        let child = command.stdin(stdin).stdout(stdout).stderr(program).spawn().unwrap();
        // What the command holds of the terminal would keep it open after the child has ended.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self { terminal, command: child, seen: String::new() }
    }

    /// Waits for the end of the command. Returns everything that the terminal showed.
    pub(crate) fn everything(mut self) -> String {
        let mut shown = Vec::new();
        // Reading fails when no process has the terminal any more.
        let _ = self.terminal.read_to_end(&mut shown);
        assert!(self.command.wait().unwrap().code().is_some());
        self.seen + &String::from_utf8_lossy(&shown)
    }

    /// Types keys.
    pub(crate) fn types(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Whether the terminal shows what is typed and gives it line by line.
    pub(crate) fn is_as_usual(&self) -> bool {
        use rustix::termios::LocalModes;
        let modes = rustix::termios::tcgetattr(&self.terminal).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Waits for a text behind everything that was waited for before.
    pub(crate) fn sees_next(&mut self, text: &str) -> String {
        self.sees(text);
        let end = self.seen.find(text).unwrap() + text.len();
        let rest = self.seen.split_off(end);
        std::mem::replace(&mut self.seen, rest)
    }

    pub(crate) fn sees(&mut self, text: &str) {
        while !self.seen.contains(text) {
            self.reads(text);
        }
    }

    /// Waits for the first of several texts behind everything that was seen before. Returns which it is.
    pub(crate) fn sees_one_of(&mut self, texts: &[&str]) -> usize {
        let before = self.seen.len();
        loop {
            let new = &self.seen[before..];
            let first = texts.iter().enumerate().filter_map(|(index, text)| Some((new.find(text)?, index))).min();
            match first {
                Some((_, index)) => return index,
                None => self.reads(&texts.join(" or ")),
            }
        }
    }

    fn reads(&mut self, wanted: &str) {
        let mut bytes = [0; 4096];
        // The terminal fails when the last one who had it is gone.
        let count = self.terminal.read(&mut bytes).unwrap_or(0);
        assert!(count > 0, "{wanted:?} is not in {:?}", self.seen);
        self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }

    /// Answers the question, and gives how the command ended.
    fn answers(mut self, text: &str) -> Option<i32> {
        self.sees(QUESTION);
        self.terminal.write_all(text.as_bytes()).unwrap();
        self.command.wait().unwrap().code()
    }
}

/// Runs the command on a terminal and types something. Both streams come out as one.
fn on_terminal(sandbox: &Sandbox, args: &str, typed: &str) -> ProgramOutput {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} {args}", env!("CARGO_BIN_EXE_hookrail")), "/dev/null"]);
    command.current_dir(&sandbox.project).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &sandbox.home).env("TERM", "xterm");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    ProgramOutput::from(child.wait_with_output().unwrap())
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

#[test]
fn a_slow_hook_says_what_it_does_and_draws_nothing_else() {
    let says = "looking\\u001b[2J for keys";
    let sandbox = Sandbox::with_hooks(&format!(
        r#""BeforeTool": [{{"hooks": [{{"type": "command", "name": "scan", "statusMessage": "{says}", "command": "sleep 2.2"}}]}}]"#
    ));
    let shown = on_terminal(&sandbox, "fire BeforeTool --trust-project", "").ends_with(0).stdout;
    let (_, line) = shown.split_once("running hook scan (looking").unwrap_or_else(|| panic!("{shown:?}"));
    assert!(line.split_once(" for keys) … ").is_some_and(|(between, _)| !between.contains('\u{1b}')), "{shown:?}");
}

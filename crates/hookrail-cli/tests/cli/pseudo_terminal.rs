//! What only happens on a terminal, on one that `script` makes.

#![cfg(target_os = "linux")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::sandbox::{Ran, Sandbox};

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
    let ran = on_terminal(&sandbox, "trust grant", "n\n").ends_with(1);
    assert!(ran.stdout.contains("let these run? [y/N]"), "{}", ran.stdout);
    on_terminal(&sandbox, "trust grant", "\n").ends_with(1);
    sandbox.run(&["fire", "BeforeTool"]).ends_with(0);
    on_terminal(&sandbox, "trust grant", "y\n").ends_with(0);
    sandbox.run(&["fire", "BeforeTool"]).ends_with(2);
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
    assert!(after.contains("\r\u{1b}[2K\u{1b}[1m\u{1b}[32mgo on"), "{shown:?}");
}

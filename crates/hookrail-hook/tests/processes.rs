//! Hooks as real processes. This program is the hook if a variable says so, and otherwise starts itself as one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitCode, Output, Stdio};

use hookrail_hook::{BeforeTool, HookAnswer, Value, json};

const ROLE: &str = "HOOKRAIL_HOOK_TEST";

fn main() -> ExitCode {
    if std::env::var_os(ROLE).is_some() {
        return hookrail_hook::run(|event: BeforeTool| match event.input_text("path") {
            Some("panic") => panic!("as asked"),
            Some(path) if path.ends_with(".env") => HookAnswer::deny(format!("{path} holds secrets")),
            _ => HookAnswer::none(),
        });
    }
    for (name, check) in [
        ("one_event_is_one_process", one_event_is_one_process as fn()),
        ("a_panic_is_neither_allowed_nor_denied", a_panic_is_neither_allowed_nor_denied),
        ("a_worker_answers_while_its_input_is_open", a_worker_answers_while_its_input_is_open),
    ] {
        check();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn hook() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(ROLE, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn event(path: &str) -> Value {
    json!({
        "session_id": "s", "transcript_path": "", "cwd": "/p", "timestamp": "2025-01-01T00:00:00.000Z",
        "hook_event_name": "BeforeTool", "tool_name": "write_file", "tool_input": {"path": path},
    })
}

fn ask(path: &str) -> Output {
    let mut child = hook().spawn().unwrap();
    child.stdin.take().unwrap().write_all(event(path).to_string().as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn one_event_is_one_process() {
    let denied = ask("a/.env");
    assert!(denied.status.success());
    let answer: Value = serde_json::from_slice(&denied.stdout).unwrap();
    assert_eq!(answer, json!({"decision": "deny", "reason": "a/.env holds secrets"}));
    let silent = ask("notes.md");
    assert!(silent.status.success() && silent.stdout.is_empty() && silent.stderr.is_empty());
}

fn a_panic_is_neither_allowed_nor_denied() {
    let ended = ask("panic");
    assert!(!matches!(ended.status.code(), Some(0 | 2)), "{ended:?}");
    assert!(ended.stdout.is_empty());
}

fn a_worker_answers_while_its_input_is_open() {
    let mut child = hook().env("HOOKRAIL_WORKER", "1").spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for (id, path, expected) in [
        (1, "notes.md", json!({"id": 1})),
        (2, ".env", json!({"id": 2, "output": {"decision": "deny", "reason": ".env holds secrets"}})),
    ] {
        writeln!(input, "{}", json!({"id": id, "input": event(path)})).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

//! Hooks of other agents that are about a session: `once`, and `asyncRewake`.

#![cfg(unix)]

use serde_json::{Value, json};

use super::sandbox::{ProgramOutput, Sandbox};

/// A project in which Claude Code has this hook before its shell tool runs.
fn with_entry(entry: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    let group = json!({"matcher": "Bash", "hooks": [entry]});
    sandbox.write(".claude/settings.json", json!({"hooks": {"PreToolUse": [group]}}).to_string());
    sandbox.run(&["enable", "claude"]).ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

fn call(sandbox: &Sandbox, command: &str, session: &[&str]) -> ProgramOutput {
    let fields = [command, "PreToolUse", "--tool", "Bash", "--tool-input", r#"{"command":"true"}"#];
    sandbox.run(&[&fields, session].concat())
}

fn bridge(sandbox: &Sandbox, event: &str, session: &str, fields: &Value) -> ProgramOutput {
    let mut payload = json!({"session_id": session, "cwd": sandbox.project, "hook_event_name": event});
    for (name, value) in fields.as_object().unwrap() {
        payload[name] = value.clone();
    }
    sandbox.run_with_input(&["bridge", "codex", "--event", event], &payload.to_string())
}

#[test]
fn a_hook_that_runs_once_runs_once_in_a_session_that_has_a_name() {
    let once = json!({"type": "command", "command": "echo first >&2; exit 2", "once": true});
    let sandbox = with_entry(&once);
    let one = ["--session-id", "one"];
    let explained = || call(&sandbox, "explain", &one).ends_with(0).stdout;
    assert!(explained().contains("1 hook"), "{}", explained());
    call(&sandbox, "fire", &one).ends_with(2);
    call(&sandbox, "fire", &one).ends_with(0);
    assert!(!explained().contains("1 hook"), "{}", explained());
    call(&sandbox, "fire", &["--session-id", "two"]).ends_with(2);
    for _ in 0..2 {
        call(&sandbox, "fire", &[]).ends_with(2);
    }
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "true"}});
    for (session, denies) in [("three", true), ("three", false), ("four", true)] {
        let answered = bridge(&sandbox, "PreToolUse", session, &fields);
        assert_eq!(answered.stderr.contains("first"), denies, "{session}: {answered:?}");
    }
}

const SAYS: &str = "echo 'the tests fail' >&2; exit 2";

#[test]
fn an_async_hook_that_wakes_is_heard_at_the_next_prompt_or_the_end_of_an_answer() {
    let entry = |key: &str| json!({"type": "command", "command": SAYS, key: true});
    let fire = |sandbox: &Sandbox, event: &str, session: &str| {
        sandbox.run(&["fire", event, "--prompt", "hello", "--session-id", session, "--json"])
    };
    let sandbox = with_entry(&entry("asyncRewake"));
    call(&sandbox, "fire", &["--session-id", "one"]).ends_with(0);
    let other = fire(&sandbox, "UserPromptSubmit", "two").ends_with(0).json();
    assert_eq!(other["additionalContext"], Value::Null);
    let heard = fire(&sandbox, "UserPromptSubmit", "one").ends_with(0).json();
    assert_eq!(
        (&heard["additionalContext"], &heard["prompt"]),
        (&json!("the tests fail"), &json!("hello\n\nthe tests fail"))
    );
    let again = fire(&sandbox, "UserPromptSubmit", "one").ends_with(0).json();
    assert_eq!(again["additionalContext"], Value::Null);
    call(&sandbox, "fire", &["--session-id", "one"]).ends_with(0);
    let end = fire(&sandbox, "Stop", "one").ends_with(2).json();
    assert_eq!(end["reason"], "the tests fail");
    fire(&sandbox, "Stop", "one").ends_with(0);
    // What is not asked to wake says nothing later.
    let silent = with_entry(&entry("async"));
    call(&silent, "fire", &["--session-id", "one"]).ends_with(0);
    assert_eq!(fire(&silent, "UserPromptSubmit", "one").ends_with(0).json()["additionalContext"], Value::Null);
}

#[test]
fn what_an_async_hook_says_reaches_the_model_through_a_bridge_and_in_the_agent() {
    let sandbox = with_entry(&json!({"type": "command", "command": SAYS, "asyncRewake": true}));
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "true"}});
    let before = bridge(&sandbox, "PreToolUse", "s", &fields).ends_with(0);
    assert!(!before.stdout.contains("the tests fail"), "{before:?}");
    for is_heard in [true, false] {
        let prompt = bridge(&sandbox, "UserPromptSubmit", "s", &json!({"prompt": "hello"})).ends_with(0);
        assert_eq!(prompt.stdout.contains("the tests fail"), is_heard, "{prompt:?}");
    }
    // The hook has ended when nothing has its number any more, which the tool waits for.
    let waits = "while [ ! -s pid ] || kill -0 \"$(cat pid)\" 2>/dev/null; do sleep 0.01; done";
    let talk = json!({"turns": [
        {"calls": [{"name": "run_shell_command", "args": {"command": waits}}]}, {"text": "done"}, {"text": "I see"},
    ]});
    let script = sandbox.write("talk.json", talk.to_string());
    for (key, is_heard) in [("asyncRewake", true), ("async", false)] {
        let agent = with_entry(&json!({"type": "command", "command": format!("echo $$ > pid; {SAYS}"), key: true}));
        let args = ["agent", "--script", script.to_str().unwrap(), "--headless", "--prompt", "go"];
        let ran = agent.run(&args).ends_with(0);
        assert_eq!(ran.stdout.contains("I see"), is_heard, "{ran:?}");
    }
}

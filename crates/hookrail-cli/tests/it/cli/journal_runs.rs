//! What the journal has of each run of a hook, and how `stats` and `log --shadow` count it.

use std::collections::BTreeMap;

use hookrail_testkit::{HANG, wait_until};
use serde_json::{Value, json};

use crate::cli::sandbox::Sandbox;

const FIRE: [&str; 7] = ["fire", "BeforeTool", "--tool", "shell", "--tool-input", r#"{"command":"ls"}"#, "--journal"];

/// A trusted project with these hooks before tools, by their names.
fn project(hooks: &Value) -> Sandbox {
    let sandbox = Sandbox::with_hooks(&format!(r#""BeforeTool": [{{"hooks": {hooks}}}]"#));
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

/// The objects of `hooks` in a document, by name.
fn by_name(document: &Value) -> BTreeMap<String, Value> {
    let hooks = document["hooks"].as_array().unwrap();
    hooks.iter().map(|hook| (hook["hook"].as_str().unwrap().to_owned(), hook.clone())).collect()
}

/// One for everything that a hook can want, or fail with. The answers of the first two name secrets.
fn shadow_hooks() -> Value {
    let answers = |name: &str, command: &str| json!({"type": "command", "name": name, "enforce": false, "command": format!("cat >/dev/null; {command}"), "timeout": 60_000});
    let mut slow = answers("slow", "exec sleep 100");
    slow["timeout"] = json!(50);
    json!([
        answers("rewrites", r#"echo '{"hookSpecificOutput":{"tool_input":{"command":"TOKEN=abcdefghij ls"}}}'"#),
        answers("stops", r#"echo '{"continue":false,"stopReason":"enough of TOKEN=abcdefghij"}'"#),
        answers("asks", r#"echo '{"decision":"ask","reason":"sure?"}'"#),
        answers("denies", "echo no >&2; exit 2"),
        answers("exits", "exit 1"),
        answers("missing", "exit 127"),
        slow,
        answers("garbles", r#"echo '{"decision":'"#),
    ])
}

fn count(found: &BTreeMap<String, Value>, hook: &str) -> [u64; 6] {
    let one = &found[hook];
    let number = |key: &str| one[key].as_u64().unwrap();
    [number("verdicts"), number("denied"), number("stopped"), number("rewritten"), number("asked"), number("failed")]
}

/// The same is counted whether a verdict came in time or late: through the bridge all of them are late.
#[test]
fn everything_that_a_hook_without_an_effect_would_have_done_is_counted() {
    let call = |sandbox: &Sandbox| {
        json!({"session_id": "s1", "hook_event_name": "PreToolUse", "cwd": sandbox.project,
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "transcript_path": "/t"})
    };
    for is_late in [false, true] {
        let sandbox = project(&shadow_hooks());
        if is_late {
            sandbox.run_with_input(&["bridge", "claude"], &call(&sandbox).to_string()).ends_with(0);
        } else {
            sandbox.run(&FIRE).ends_with(0);
        }
        let found = || by_name(&sandbox.run(&["log", "--shadow", "--json"]).ends_with(0).json());
        assert!(wait_until(|| found().len() == 8, HANG), "{:#?}", found());
        let found = found();
        assert_eq!(count(&found, "rewrites"), [1, 0, 0, 1, 0, 0], "late: {is_late}");
        assert_eq!(count(&found, "stops"), [1, 0, 1, 0, 0, 0], "late: {is_late}");
        assert_eq!(count(&found, "asks"), [1, 0, 0, 0, 1, 0], "late: {is_late}");
        assert_eq!(count(&found, "denies"), [1, 1, 0, 0, 0, 0], "late: {is_late}");
        for failing in ["exits", "missing", "slow", "garbles"] {
            let [verdicts, .., failed] = count(&found, failing);
            assert_eq!((verdicts, failed), (1, 1), "{failing}, late: {is_late}: {}", found[failing]);
        }
        let text = sandbox.run(&["log", "--shadow"]).ends_with(0).stdout;
        for line in ["would have blocked 0 of 1  stopped 1", "rewritten 1", "asked 1", "1 failure"] {
            assert!(text.contains(line), "{line} in {text}");
        }
        // Everything that was asked for is there, without secrets.
        let ran = sandbox.run(&["log", "--json"]).ends_with(0).stdout;
        assert!(!ran.contains("abcdefghij"), "{ran}");
        let records = ran.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let verdicts: Vec<Value> =
            records.flat_map(|record| record["outcome"]["shadow"].as_array().cloned().unwrap_or_default()).collect();
        let one = |name: &str| verdicts.iter().find(|one| one["hook"] == name).unwrap_or_else(|| panic!("{name}"));
        let rewrite = one("rewrites")["rewrite"]["toolInput"]["command"].as_str().unwrap();
        assert!(rewrite.starts_with("TOKEN=[redacted ") && rewrite.ends_with(" ls"), "{rewrite}");
        assert_eq!((verdicts.len(), &one("stops")["stop"]), (8, &json!(true)));
        assert!(one("stops")["stopReason"].as_str().unwrap().starts_with("enough of TOKEN=[redacted "));
    }
}

#[test]
fn a_failure_that_blocks_is_a_denial_and_a_failure() {
    let command =
        |name: &str, command: &str| json!({"type": "command", "name": name, "command": command, "onFailure": "block"});
    let sandbox = project(&json!([command("fails", "exit 1"), command("denies", "echo no >&2; exit 2")]));
    for _ in 0..2 {
        sandbox.run(&FIRE).ends_with(2);
    }
    let found = by_name(&sandbox.run(&["stats", "--json"]).ends_with(0).json());
    let numbers = |name: &str| ["runs", "denied", "failed"].map(|key| found[name][key].as_u64().unwrap());
    assert_eq!(numbers("fails"), [2, 2, 2], "{found:#?}");
    assert_eq!(numbers("denies"), [2, 2, 0], "a deny by exit status is no failure: {found:#?}");
    let ran = sandbox.run(&["log", "--json", "-n", "1"]).ends_with(0).json();
    assert_eq!((&ran["hooks"][0]["health"], &ran["hooks"][0]["exit"]), (&json!("failed"), &json!(1)), "{ran}");
    assert_eq!((&ran["hooks"][1]["health"], &ran["hooks"][1]["exit"]), (&Value::Null, &json!(2)), "{ran}");
    let text = sandbox.run(&["log", "-n", "1"]).ends_with(0).stdout;
    assert!(text.contains("fails failed (exited 1), deny") && text.contains("denies exited, deny"), "{text}");
}

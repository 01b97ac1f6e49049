//! `hookrail replay` with real journals, and what `log --shadow` says about shadow hooks.

use std::time::Duration;

use hookrail_testkit::wait_until;
use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// Sets the user's hooks, which need no grant.
fn configure(sandbox: &Sandbox, hooks: &Value) {
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}});
    sandbox.write_home(".llxprt/settings.json", settings.to_string());
}

fn with_guard(command: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    configure(&sandbox, &guard(command));
    sandbox
}

fn guard(command: &str) -> Value {
    json!([{"type": "command", "name": "guard", "command": command}])
}

/// Fires a tool call and records it.
fn record(sandbox: &Sandbox, input: &Value) -> ProgramOutput {
    let input = input.to_string();
    sandbox.run(&["fire", "BeforeTool", "--tool", "shell", "--tool-input", &input, "--session-id", "s1", "--journal"])
}

fn record_commands(sandbox: &Sandbox, commands: &[&str]) {
    for command in commands {
        record(sandbox, &json!({ "command": command })).ends_with(0);
    }
}

fn replay(sandbox: &Sandbox, options: &[&str], status: i32) -> Value {
    sandbox.run(&[&["replay", "--json"], options].concat()).ends_with(status).json()
}

#[test]
fn differences_are_grouped_with_an_example_each() {
    let sandbox = with_guard("cat > /dev/null");
    record_commands(&sandbox, &["ls", "git push --force", "git commit", "git push --force now"]);
    let before = sandbox.run(&["journal", "head"]).ends_with(0).stdout;
    let same = replay(&sandbox, &[], 0);
    assert_eq!((&same["replayed"], &same["same"], &same["different"]), (&json!(4), &json!(4), &json!([])));
    configure(&sandbox, &guard("grep -q force && { echo too strong >&2; exit 2; }; exit 0"));
    let changed = replay(&sandbox, &[], 2);
    assert_eq!((&changed["replayed"], &changed["same"]), (&json!(4), &json!(2)));
    assert_eq!(changed["different"].as_array().unwrap().len(), 1);
    let group = &changed["different"][0];
    assert_eq!((&group["from"], &group["to"], &group["count"]), (&json!("allowed"), &json!("denied"), &json!(2)));
    assert_eq!((&group["example"]["seq"], &group["example"]["hook"]), (&json!(2), &json!("guard")));
    assert!(group["example"]["reason"].as_str().unwrap().contains("too strong"));
    let text = sandbox.run(&["replay"]).ends_with(2).stdout;
    assert!(text.contains("4 events replayed") && text.contains("allowed → denied, 2 of 4"), "{text}");
    assert!(text.contains("for example before-tool shell git push --force"), "{text}");
    assert_eq!(replay(&sandbox, &["--session", "other"], 0)["replayed"], 0);
    assert_eq!(replay(&sandbox, &["--since", "1d", "--session", "s1"], 2)["replayed"], 4);
    assert_eq!(sandbox.run(&["journal", "head"]).ends_with(0).stdout, before, "a replay is not recorded");
}

#[test]
fn rewrites_and_stops_are_differences() {
    let sandbox = with_guard("cat > /dev/null");
    record_commands(&sandbox, &["ls"]);
    let change = |answer: &str| {
        configure(&sandbox, &guard(&format!("cat > /dev/null; echo '{answer}'")));
        let found = replay(&sandbox, &[], 2);
        (found["different"][0]["from"].clone(), found["different"][0]["to"].clone())
    };
    let rewrite = r#"{"hookSpecificOutput":{"tool_input":{"command":"ls -l"}}}"#;
    assert_eq!(change(rewrite), (json!("allowed"), json!("allowed, rewritten")));
    assert_eq!(change(r#"{"continue":false}"#), (json!("allowed"), json!("stopped")));
    assert_eq!(change(r#"{"decision":"ask"}"#), (json!("allowed"), json!("approval required")));
    configure(&sandbox, &guard(&format!("cat > /dev/null; echo '{rewrite}'")));
    record_commands(&sandbox, &["pwd"]);
    let other = rewrite.replace("ls -l", "ls -a");
    configure(&sandbox, &guard(&format!("cat > /dev/null; echo '{other}'")));
    let found = replay(&sandbox, &[], 2);
    let after: Vec<&str> = found["different"].as_array().unwrap().iter().filter_map(|one| one["to"].as_str()).collect();
    assert_eq!(after, ["allowed, rewritten", "allowed, rewritten differently"]);
}

#[test]
fn removed_values_are_counted_and_never_guessed() {
    let sandbox = with_guard("cat > /dev/null");
    record(&sandbox, &json!({"command": "ls", "token": "hunter2222"})).ends_with(0);
    record_commands(&sandbox, &["ls"]);
    configure(&sandbox, &guard("exit 2"));
    let found = replay(&sandbox, &[], 2);
    assert_eq!((&found["replayed"], &found["redacted"]), (&json!(1), &json!(1)));
    assert!(sandbox.run(&["replay"]).ends_with(2).stdout.contains("1 event: cannot be replayed"));
}

#[test]
fn commands_can_change_nothing_unless_they_are_let() {
    let sandbox = with_guard("cat > /dev/null");
    record_commands(&sandbox, &["ls"]);
    let ran = sandbox.project.join("ran");
    // Denies in a replay only, and tries to leave a file.
    configure(
        &sandbox,
        &guard(r#"cat > /dev/null; : > "$LLXPRT_PROJECT_DIR/ran"; [ "$HOOKRAIL_REPLAY" = 1 ] && exit 2"#),
    );
    let found = sandbox.run(&["replay", "--json"]).json();
    assert!(!ran.exists());
    if found["notRun"] == 1 {
        println!("skipped: there is no sandbox here");
    } else {
        assert_eq!(found["different"][0]["to"], "denied");
    }
    replay(&sandbox, &["--run-commands"], 2);
    assert!(ran.exists());
}

#[test]
fn modules_run_without_their_capabilities() {
    let sandbox = Sandbox::new();
    let module = sandbox.write(
        "guard.ts",
        r#"import { writeFileSync } from "node:fs";
export default (pi) => { pi.on("tool_call", (event) => {
  if (event.input.command === "write") { writeFileSync("ran", "x"); return; }
  if (event.input.command === "rm") return { block: true, reason: "no" };
}); };
"#,
    );
    let module = module.to_str().unwrap();
    record_commands(&sandbox, &["ls", "rm", "write"]);
    let found = replay(&sandbox, &["--hook", module], 2);
    // The module that may not write has failed, which says nothing about what it would have decided.
    assert_eq!((&found["replayed"], &found["failedInSandbox"]), (&json!(2), &json!(1)));
    assert_eq!((&found["different"][0]["to"], &found["different"][0]["count"]), (&json!("denied"), &json!(1)));
    assert!(!sandbox.project.join("ran").exists());
    let found = replay(&sandbox, &["--hook", module, "--run-commands"], 2);
    assert_eq!(found["different"][0]["count"], 1);
    assert!(sandbox.project.join("ran").exists());
}

#[test]
fn another_configuration_and_only_events_of_the_project() {
    let sandbox = with_guard("cat > /dev/null");
    record_commands(&sandbox, &["ls"]);
    let other = sandbox.path("other");
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "name": "new", "command": "grep -q \"$PWD\" && exit 2; exit 0"}
    ]}]}});
    sandbox.write_at("other/.llxprt/settings.json", settings.to_string());
    let other = other.to_str().unwrap();
    // A guard that was not asked may have stopped everything.
    let found = replay(&sandbox, &["--against", other], 1);
    assert_eq!((&found["replayed"], &found["notTrusted"]), (&json!(0), &json!(1)));
    let text = sandbox.run(&["replay", "--against", other]).ends_with(1).stdout;
    assert!(text.contains("not all hooks could be asked") && text.contains("waits for a grant"), "{text}");
    // The event happens in the directory that it is fired against.
    let found = replay(&sandbox, &["--against", other, "--trust-project"], 2);
    assert_eq!(found["different"][0]["example"]["hook"], "new");
    assert_eq!(replay(&sandbox, &["--project", other], 0)["replayed"], 0);
    sandbox.run(&["replay", "--against", "/nowhere/at/all"]).ends_with(1);
}

/// A hook that fails says nothing. In the sandbox the failure may be due to the sandbox; elsewhere it is today's outcome.
#[test]
fn a_hook_that_failed_was_not_asked() {
    let sandbox = with_guard("exit 2");
    record(&sandbox, &json!({"command": "ls"})).ends_with(2);
    configure(&sandbox, &guard("exec no-such-program-anywhere"));
    let found = replay(&sandbox, &[], 1);
    assert_eq!((&found["replayed"], &found["different"]), (&json!(0), &json!([])));
    assert_eq!(found["failures"], json!({"guard": 1}));
    let found = replay(&sandbox, &["--run-commands"], 2);
    assert_eq!((&found["different"][0]["to"], &found["failures"]), (&json!("allowed"), &json!({"guard": 1})));
    let text = sandbox.run(&["replay", "--run-commands"]).ends_with(2).stdout;
    assert!(text.contains("hook `guard` failed in 1 event"), "{text}");
    // One that had failed in the same way when the event was recorded is compared.
    let call = ["fire", "BeforeTool", "--tool", "shell", "--tool-input", "{}", "--session-id", "s2", "--journal"];
    sandbox.run(&call).ends_with(0);
    let found = replay(&sandbox, &["--session", "s2"], 0);
    assert_eq!((&found["same"], &found["failures"]), (&json!(1), &json!({"guard": 1})));
}

/// A hook of a configuration that cannot be loaded is not asked either.
#[test]
fn errors_in_the_configuration_are_no_agreement() {
    let sandbox = with_guard("cat > /dev/null");
    record_commands(&sandbox, &["ls"]);
    for settings in ["{ broken", r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "comand", "command": "exit 2"}]}]}}"#]
    {
        sandbox.write_home(".llxprt/settings.json", settings);
        let found = replay(&sandbox, &[], 1);
        assert_eq!((&found["same"], &found["configurationErrors"]), (&json!(1), &json!(1)), "{settings}");
        let text = sandbox.run(&["replay"]).ends_with(1).stdout;
        assert!(text.contains("its configuration has 1 error; run `hookrail check"), "{text}");
    }
}

/// What a module remembers is what the events of one process left.
#[test]
fn a_module_remembers_only_the_events_of_one_process() {
    let sandbox = Sandbox::new();
    let module = sandbox.write(
        "guard.ts",
        "let n = 0; export default (pi) => { pi.on('tool_call', () => { if (++n > 2) return { block: true }; }); };",
    );
    let module = module.to_str().unwrap();
    for _ in 0..4 {
        let call = ["fire", "BeforeTool", "--tool", "shell", "--tool-input", "{}", "--journal", "--hook", module];
        sandbox.run(&call).ends_with(0);
    }
    assert_eq!(replay(&sandbox, &["--hook", module], 0)["same"], 4);
}

/// A module that goes on when it is refused something could have decided otherwise with it.
#[test]
fn a_module_that_was_refused_something_was_not_asked() {
    let sandbox = Sandbox::new();
    let module = sandbox.write(
        "guard.ts",
        r#"export default (pi) => { pi.on("tool_call", async () => {
  try { if ((await pi.exec("true", [])).code === 0) return { block: true, reason: "no" }; } catch { return; }
}); };
"#,
    );
    let module = module.to_str().unwrap();
    record_commands(&sandbox, &["ls"]);
    let found = replay(&sandbox, &["--hook", module], 1);
    assert_eq!((&found["replayed"], &found["failedInSandbox"]), (&json!(0), &json!(1)));
    assert_eq!(replay(&sandbox, &["--hook", module, "--run-commands"], 2)["different"][0]["to"], "denied");
}

/// A rewrite from whose record something was removed cannot be compared; a hook's own member `redacted` can.
#[test]
fn removed_parts_of_a_rewrite_are_not_compared() {
    let rewrite = |command: &str| {
        let answer = json!({"hookSpecificOutput": {"tool_input": {"command": command, "redacted": command}}});
        guard(&format!("cat > /dev/null; echo '{answer}'"))
    };
    let sandbox = Sandbox::new();
    configure(&sandbox, &rewrite("curl -H \"Authorization: Bearer abcdefghijklmnop\" x"));
    record_commands(&sandbox, &["curl x"]);
    let found = replay(&sandbox, &[], 1);
    assert_eq!((&found["different"], &found["redacted"]), (&json!([]), &json!(1)));
    assert!(sandbox.run(&["replay"]).ends_with(1).stdout.contains("no event could be compared"));
    configure(&sandbox, &rewrite("one"));
    record_commands(&sandbox, &["curl x"]);
    assert_eq!(replay(&sandbox, &[], 0)["same"], 1);
    configure(&sandbox, &rewrite("two"));
    assert_eq!(replay(&sandbox, &[], 2)["different"][0]["to"], "allowed, rewritten differently");
}

#[test]
fn hooks_without_an_effect_are_counted() {
    let sandbox = Sandbox::new();
    configure(
        &sandbox,
        &json!([{"type": "command", "name": "new", "command": "grep -q force && exit 2; exit 0", "enforce": false}]),
    );
    assert!(sandbox.run(&["log", "--shadow"]).ends_with(0).stdout.starts_with("no hook"));
    record_commands(&sandbox, &["ls", "git push --force", "git commit"]);
    let text = sandbox.run(&["log", "--shadow"]).ends_with(0).stdout;
    assert!(text.contains("new") && text.contains("would have blocked 1 of 3"), "{text}");
    let found = sandbox.run(&["log", "--shadow", "--json"]).ends_with(0).json();
    assert_eq!((&found["hooks"][0]["denied"], &found["hooks"][0]["verdicts"]), (&json!(1), &json!(3)));
    assert_eq!(sandbox.run(&["log", "--shadow", "--hook", "other", "--json"]).ends_with(0).json()["hooks"], json!([]));
    // A bridge is over before such hooks are; the process that runs them records what they would have done.
    let call = json!({"session_id": "b", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": sandbox.project,
        "tool_input": {"command": "git push --force"}, "transcript_path": "/t"});
    sandbox.run_with_input(&["bridge", "claude"], &call.to_string()).ends_with(0);
    let text = || sandbox.run(&["log", "--shadow"]).ends_with(0).stdout;
    assert!(wait_until(|| text().contains("would have blocked 2 of 4"), Duration::from_secs(60)), "{}", text());
    assert_eq!(replay(&sandbox, &[], 0)["replayed"], 4);
}

/// What a shadow hook would have decided is no decision of its event, in time or late.
#[test]
fn a_shadow_verdict_is_no_decision_and_no_run_of_the_statistics() {
    let sandbox = Sandbox::new();
    configure(&sandbox, &json!([{"type": "command", "name": "new", "command": "exit 2", "enforce": false}]));
    record_commands(&sandbox, &["ls"]);
    let call = json!({"session_id": "b", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": sandbox.project,
        "tool_input": {"command": "ls"}, "transcript_path": "/t"});
    sandbox.run_with_input(&["bridge", "claude"], &call.to_string()).ends_with(0);
    let log = |options: &[&str]| {
        let shown = sandbox.run(&[&["log", "--json"], options].concat()).ends_with(0).stdout;
        shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let is_late = || log(&[]).last().is_some_and(|record| record["kind"] == "late" && record["why"] == "shadow");
    assert!(wait_until(is_late, Duration::from_secs(60)), "{:?}", log(&[]));
    assert_eq!(log(&["--decision", "deny"]), [Value::Null; 0], "both events were allowed");
    // Of the second event only the record of the late verdict knows the hook.
    let of_hook = log(&["--hook", "new"]);
    let kinds: Vec<&str> = of_hook.iter().filter_map(|record| record["kind"].as_str()).collect();
    assert_eq!(kinds, ["fired", "late"], "{of_hook:?}");
    assert_eq!(sandbox.run(&["stats", "--json"]).ends_with(0).json()["hooks"], json!([]));
    let text = sandbox.run(&["log", "--session", "b"]).ends_with(0).stdout;
    assert!(text.contains("new exited, would deny"), "{text}");
    let shadow = sandbox.run(&["log", "--shadow", "--json"]).ends_with(0).json();
    assert_eq!((&shadow["hooks"][0]["denied"], &shadow["hooks"][0]["verdicts"]), (&json!(2), &json!(2)));
}

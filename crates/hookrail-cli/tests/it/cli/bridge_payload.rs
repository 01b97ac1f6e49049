//! `bridge`: payloads in which a guard and the agent could read different things, prompts that no user typed, and answers that
//! cannot reach the agent.

use serde_json::{Value, json};

use crate::cli::bridge::{bridge, denies, guarded, recorded, write_payload};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A guard of every tool that has no objection itself.
fn with_silent_guard() -> Sandbox {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [{"type": "command", "name": "guard", "command": "cat >/dev/null", "onFailure": "block"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

fn ask(sandbox: &Sandbox, agent: &str, event: &str, payload: &str) -> ProgramOutput {
    let mut command = sandbox.command(&["bridge", agent, "--event", event]);
    command.env("CLAUDE_PROJECT_DIR", &sandbox.project).env("COPILOT_PROJECT_DIR", &sandbox.project);
    ProgramOutput::with_input(&mut command, payload)
}

/// The payload with another input, which may be one that no value can hold.
fn with_input(payload: &Value, member: &str, input: &str) -> String {
    let mut payload = payload.clone();
    payload[member] = json!("@INPUT@");
    payload.to_string().replace("\"@INPUT@\"", input)
}

#[test]
fn a_duplicate_key_denies_in_every_form_of_an_input_if_a_guard_matches() {
    let patch = |file: &str| json!(format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch")).to_string();
    let shell = |first: &str, second: &str| format!(r#"{{"{first}":"ls","{second}":"rm -r x"}}"#);
    let text = |input: String| json!(input).to_string();
    for (agent, recording, tool, member, twice, once) in [
        ("claude", "PreToolUse.Bash", "Bash", "tool_input", shell("command", "command"), shell("command", "other")),
        (
            "claude",
            "PreToolUse.Bash",
            "Bash",
            "tool_input",
            shell("command", "c\\u006fmmand"),
            shell("command", "other"),
        ),
        (
            "claude",
            "PreToolUse.Bash",
            "Bash",
            "tool_input",
            r#"{"command":"ls","options":[{"a":1,"a":2}]}"#.to_owned(),
            r#"{"command":"ls","options":[{"a":1},{"a":2}]}"#.to_owned(),
        ),
        ("codex", "PreToolUse.Bash", "Bash", "tool_input", shell("command", "command"), shell("command", "other")),
        (
            "codex",
            "PreToolUse.apply_patch",
            "apply_patch",
            "tool_input",
            format!(r#"{{"command":{},"command":{}}}"#, patch("a"), patch("b")),
            format!(r#"{{"command":{}}}"#, patch("a")),
        ),
        (
            "copilot",
            "preToolUse.bash",
            "bash",
            "toolArgs",
            text(shell("command", "command")),
            text(shell("command", "x")),
        ),
        ("copilot", "preToolUse.bash", "bash", "toolArgs", shell("command", "command"), shell("command", "x")),
    ] {
        let sandbox = with_silent_guard();
        let event = recording.split('.').next().unwrap();
        let mut payload = recorded(&sandbox, agent, recording);
        payload[if agent == "copilot" { "toolName" } else { "tool_name" }] = json!(tool);
        let ran = ask(&sandbox, agent, event, &with_input(&payload, member, &twice));
        assert!(denies(agent, &ran, "duplicate key `"), "{agent} {twice}: {ran:?}");
        let ran = ask(&sandbox, agent, event, &with_input(&payload, member, &once)).ends_with(0);
        assert_eq!(ran.stdout, "", "{agent} {once}");
        // What no guard is asked about is the agent's business.
        let unguarded = Sandbox::new();
        ask(&unguarded, agent, event, &with_input(&payload, member, &twice)).ends_with(0);
    }
}

#[test]
fn a_member_of_the_payload_that_comes_twice_denies() {
    let sandbox = with_silent_guard();
    let payload = recorded(&sandbox, "claude", "PreToolUse.Bash").to_string();
    ask(&sandbox, "claude", "PreToolUse", &payload).ends_with(0);
    for more in [r#""tool_name":"Read""#, r#""tool_input":{"command":"rm"}"#, r#""hook_event_name":"Notification""#] {
        let twice = payload.replacen('{', &format!("{{{more},"), 1);
        let ran = ask(&sandbox, "claude", "PreToolUse", &twice).ends_with(2);
        assert!(ran.stderr.contains("duplicate key `") && ran.stderr.contains("hookrail doctor claude"), "{ran:?}");
    }
    // Nothing is denied after a tool, and the end of an answer never is by a payload that cannot be used.
    for (event, name) in [("PostToolUse", "PostToolUse.Bash"), ("Stop", "Stop")] {
        let payload = recorded(&sandbox, "claude", name).to_string();
        let twice = payload.replacen('{', r#"{"session_id":"other","#, 1);
        let ran = ask(&sandbox, "claude", event, &twice).ends_with(0);
        assert!(ran.stderr.contains("duplicate key `session_id`"), "{event}: {ran:?}");
    }
}

#[test]
fn prompts_that_the_agent_made_itself_reach_the_guard_of_prompts_and_say_so() {
    let sandbox = Sandbox::new();
    let place = sandbox.base.join("seen");
    let seen = place.display();
    let command = format!("cat > {seen}; grep -q secret {seen} && {{ echo no secrets >&2; exit 2; }}; exit 0");
    let hook = json!({"type": "command", "name": "prompts", "command": command});
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeAgent": [{"hooks": [hook]}]}});
    sandbox.write(".llxprt/settings.json", settings.to_string());
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let mut payload = recorded(&sandbox, "claude", "UserPromptSubmit");
    for (prompt, origin, is_denied) in [
        ("<task-notification>\n<result>the secret</result>\n</task-notification>", json!("machine"), true),
        ("<bash-stdout>secret</bash-stdout><bash-stderr></bash-stderr>", json!("machine"), true),
        ("<local-command-stdout>secret</local-command-stdout>", json!("machine"), true),
        ("  <bash-stdout>fine</bash-stdout>", json!("machine"), false),
        ("what is <bash-stdout>?", Value::Null, false),
        ("a secret", Value::Null, true),
    ] {
        payload["prompt"] = json!(prompt);
        let ran = bridge(&sandbox, "claude", "UserPromptSubmit", &payload, &[]).ends_with(0);
        assert_eq!(ran.stdout.contains("no secrets") && ran.stdout.contains("block"), is_denied, "{prompt}: {ran:?}");
        let seen: Value = serde_json::from_str(&std::fs::read_to_string(&place).unwrap()).unwrap();
        assert_eq!((&seen["prompt"], &seen["origin"]), (&json!(prompt), &origin));
    }
    let log = sandbox.run(&["log", "--json"]).ends_with(0).stdout;
    assert_eq!(log.matches("\"kind\":\"fired\"").count(), 6, "each of them is recorded: {log}");
}

/// The agent cannot read an answer, so the status has to deny.
#[cfg(unix)]
#[test]
fn an_answer_without_standard_output_denies_by_its_status() {
    let sandbox = guarded();
    let run = |event: &str, payload: &Value, output: &str| {
        let mut command = sandbox.place_command("/bin/sh");
        command.args(["-c", &format!("exec \"$@\" {output}"), "sh", env!("CARGO_BIN_EXE_hookrail")]);
        command.args(["bridge", "claude", "--event", event]).env("CLAUDE_PROJECT_DIR", &sandbox.project);
        ProgramOutput::with_input(&mut command, &payload.to_string())
    };
    let (event, payload) = write_payload(&sandbox, "claude");
    for output in [">&-", ">/dev/null", "1</dev/null"] {
        let ran = run(event, &payload, output);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{output}: {ran:?}");
    }
    assert_eq!(run(event, &payload, "").code, 0, "an agent that reads the answer gets it");
    let other: Value = serde_json::from_str(&payload.to_string().replace("a.txt", "b.txt")).unwrap();
    assert_eq!(run(event, &other, ">&-").code, 0, "there is no objection");
}

/// With status 2 the agent would go on.
#[cfg(unix)]
#[test]
fn at_the_end_of_an_answer_a_lost_answer_does_not_keep_the_agent_going() {
    let sandbox = Sandbox::with_hook("AfterAgent", "echo '{\"decision\":\"deny\",\"reason\":\"more\"}'");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let payload = recorded(&sandbox, "claude", "Stop");
    let mut command = sandbox.place_command("/bin/sh");
    command.args([
        "-c",
        "exec \"$@\" >&-",
        "sh",
        env!("CARGO_BIN_EXE_hookrail"),
        "bridge",
        "claude",
        "--event",
        "Stop",
    ]);
    command.env("CLAUDE_PROJECT_DIR", &sandbox.project);
    ProgramOutput::with_input(&mut command, &payload.to_string()).ends_with(0);
    let ran = bridge(&sandbox, "claude", "Stop", &payload, &[]).ends_with(0);
    assert!(ran.stdout.contains("more"), "{ran:?}");
}

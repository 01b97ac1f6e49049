//! A hook in Claude Code's settings answers the question of a host to its user: in `fire`, in bridges and in the agent.

#![cfg(unix)]

use hookrail_bridge::Agent;
use serde_json::{Value, json};

use crate::cli::bridge::{bridge, recorded};
use crate::cli::sandbox::Sandbox;

/// A hook as authors write it for Claude Code: allows, denies and changes calls by their text, and has no opinion on the rest.
const ANSWERS: &str = r#"#!/bin/sh
answer() { echo "{\"hookSpecificOutput\": {\"hookEventName\": \"PermissionRequest\", \"decision\": $1}}"; }
case $(cat) in
  *'"hook_event_name":"PermissionRequest"'*'"tool_name":"Bash"'*clean*) answer '{"behavior": "allow"}' ;;
  *'"tool_name":"Bash"'*forbidden*) answer '{"behavior": "deny", "message": "not that"}' ;;
  *'"tool_name":"Bash"'*wrong*) answer '{"behavior": "allow", "updatedInput": {"command": "echo right > right"}}' ;;
esac
"#;

/// A user with that hook.
fn with_answers() -> Sandbox {
    with_hooks(&json!({}))
}

/// The same user with a hook that asks about every command, so that a host without rules of its own has a question.
fn with_question() -> Sandbox {
    let answer =
        json!({"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "sure?"});
    let command = format!("echo '{}'", json!({"hookSpecificOutput": answer}));
    with_hooks(&json!({"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}))
}

fn with_hooks(further: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_home(".config/hookrail/config.toml", "[dialects]\nenabled = [\"claude\"]\n");
    let script = sandbox.write_program_at("home/.claude/answers.sh", ANSWERS);
    let mut hooks = further.clone();
    hooks["PermissionRequest"] = json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": script}]}]);
    sandbox.write_home(".claude/settings.json", json!({"hooks": hooks}).to_string());
    sandbox
}

/// A line, and what the hook says to it: allow, deny, allow with another input, or nothing.
const LINES: [(&str, Option<&str>); 4] = [
    ("echo clean > clean", Some("allow")),
    ("echo forbidden > forbidden", Some("deny")),
    ("echo wrong > wrong", Some("rewrite")),
    ("echo other > other", None),
];

#[test]
fn fire_says_what_the_hook_answers() {
    let sandbox = with_answers();
    for (line, said) in LINES {
        let input = json!({"command": line}).to_string();
        let args = ["fire", "permission-request", "--tool", "run_shell_command", "--tool-input", &input, "--json"];
        let outcome = sandbox.run(&args).json();
        let decision = said.map(|said| if said == "rewrite" { "allow" } else { said });
        assert_eq!(outcome["decision"].as_str(), decision, "{line}: {outcome}");
        let rewritten = (said == Some("rewrite")).then_some("echo right > right");
        assert_eq!(outcome["toolInput"]["command"].as_str(), rewritten, "{line}: {outcome}");
    }
}

/// What an agent is told about its question.
fn told(sandbox: &Sandbox, agent: Agent, line: &str) -> Value {
    let (event, payload) = if agent == Agent::copilot() {
        let mut payload = recorded(sandbox, "copilot", "permissionRequest.edit");
        payload["toolName"] = json!("bash");
        payload["toolInput"] = json!({"command": line});
        ("permissionRequest", payload)
    } else {
        let tool = if agent == Agent::qwen() { "run_shell_command" } else { "Bash" };
        let (_, payload) = agent.tool_event(&sandbox.project, tool, &json!({"command": line}));
        let mut payload: Value = serde_json::from_str(&payload).unwrap();
        payload["hook_event_name"] = json!("PermissionRequest");
        ("PermissionRequest", payload)
    };
    let ran = bridge(sandbox, agent.name(), event, &payload, &[]).ends_with(0);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let decision = &answer["hookSpecificOutput"]["decision"];
    if decision.is_object() { decision.clone() } else { answer }
}

#[test]
fn bridges_answer_the_question_of_their_agent() {
    let sandbox = with_answers();
    for agent in [Agent::codex(), Agent::copilot(), Agent::qwen()] {
        for (line, said) in LINES {
            let answer = told(&sandbox, agent, line);
            let behavior = answer["behavior"].as_str();
            // Codex and Copilot cannot run the call of their question with another input.
            let expected = match said {
                Some("rewrite") if agent != Agent::qwen() => Some("deny"),
                Some("rewrite") => Some("allow"),
                said => said,
            };
            assert_eq!(behavior, expected, "{agent}: {line}: {answer}");
            if said == Some("deny") {
                assert!(answer["message"].as_str().unwrap().contains("not that"), "{agent}: {answer}");
            }
        }
    }
    // Claude Code runs the hook itself.
    for (line, _) in LINES {
        assert_eq!(told(&sandbox, Agent::claude(), line), Value::Null, "{line}");
    }
}

#[test]
fn the_agent_runs_what_the_hook_allows_and_nothing_else() {
    let sandbox = with_question();
    let calls = LINES.map(|(line, _)| json!({"calls": [{"name": "run_shell_command", "args": {"command": line}}]}));
    let mut turns = calls.to_vec();
    turns.push(json!({"text": "done"}));
    sandbox.write_home("script.json", json!({"turns": turns}).to_string());
    let script = sandbox.home.join("script.json");
    let args = ["agent", "--headless", "--prompt", "go", "--script", script.to_str().unwrap()];
    let ran = sandbox.run(&args).ends_with(0);
    // Without a user a question that no hook answers is a denial.
    for (file, is_there) in [("clean", true), ("forbidden", false), ("wrong", false), ("right", true), ("other", false)]
    {
        assert_eq!(sandbox.exists(file), is_there, "{file}: {ran:?}");
    }
    assert!(ran.stdout.contains("not that"), "{ran:?}");
}

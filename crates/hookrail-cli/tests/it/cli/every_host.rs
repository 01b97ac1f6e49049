//! One shell line in every kind of host: `fire`, the agent, and the bridges of agents that write their payloads differently.

use serde_json::{Value, json};

use crate::cli::bridge::{bridge, recorded};
use crate::cli::sandbox::Sandbox;

/// What a host made of a line.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) host: &'static str,
    /// Whether it does not run, or a person is asked first.
    pub(crate) is_stopped: bool,
    /// All that was said.
    pub(crate) said: String,
}

/// Lets each host judge a line.
pub(crate) fn judged_everywhere(sandbox: &Sandbox, line: &str) -> Vec<Judged> {
    let mut judged = vec![fired(sandbox, line), of_agent(sandbox, line)];
    for (agent, event, payload) in [
        ("claude", "PreToolUse", "PreToolUse.Bash"),
        ("codex", "PreToolUse", "PreToolUse.Bash"),
        ("gemini", "BeforeTool", "BeforeTool.run_shell_command"),
    ] {
        let mut payload = recorded(sandbox, agent, payload);
        payload["tool_input"]["command"] = json!(line);
        let ran = bridge(sandbox, agent, event, &payload, &[]);
        assert!(matches!(ran.code, 0 | 2), "{agent}: {line}: {ran:?}");
        let is_stopped = ran.code == 2 || stops(&ran.stdout);
        judged.push(Judged { host: agent, is_stopped, said: format!("{}{}", ran.stdout, ran.stderr) });
    }
    judged
}

fn fired(sandbox: &Sandbox, line: &str) -> Judged {
    let input = json!({ "command": line }).to_string();
    let ran = sandbox.run(&["fire", "before-tool", "--tool", "run_shell_command", "--tool-input", &input, "--json"]);
    assert!(matches!(ran.code, 0 | 2 | 4), "{line}: {ran:?}");
    let said = ran.json()["reason"].as_str().unwrap_or_default().to_owned();
    Judged { host: "fire", is_stopped: ran.code != 0, said }
}

fn of_agent(sandbox: &Sandbox, line: &str) -> Judged {
    let call = json!({ "name": "run_shell_command", "args": { "command": line } });
    let script = json!({ "turns": [{ "calls": [call] }, { "text": "done" }] });
    let script = sandbox.write_at("script.json", script.to_string());
    let args = ["agent", "--headless", "--prompt", "go", "--script", script.to_str().unwrap()];
    let said = sandbox.run(&args).ends_with(0).stdout;
    let told = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let receipts: Vec<Value> = told.filter(|told| told["receipt"]["operation"] == "tool run_shell_command").collect();
    assert_eq!(receipts.len(), 1, "{line}: {said}");
    Judged { host: "agent", is_stopped: receipts[0]["receipt"]["decision"] == "deny", said }
}

/// What an answer says: the words with which the agents deny and ask.
fn stops(answer: &str) -> bool {
    let value: Value = serde_json::from_str(answer).unwrap_or_default();
    let said = [&value["decision"], &value["hookSpecificOutput"]["permissionDecision"]];
    said.iter().any(|said| said.as_str().is_some_and(|word| ["deny", "ask", "block"].contains(&word)))
}

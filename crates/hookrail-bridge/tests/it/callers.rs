//! Which agent sent a payload, whatever the command line says: agents read each other's settings, and an agent that was
//! started by a tool of another one inherits its variables.

use hookrail_bridge::{Agent, Incoming, NoisyEvents, Reading, request};
use serde_json::{Map, json};

const COPILOT: (&str, &str) = ("COPILOT_CLI", "1");
const GEMINI: (&str, &str) = ("GEMINI_SESSION_ID", "s");
const DROID: (&str, &str) = ("DROID_PROJECT_DIR", "/p");

/// The agent that answers a payload with these members.
fn caller(named: &str, event: &str, members: &[&str], environment: &[(&str, &str)]) -> Option<Agent> {
    let mut payload = Map::new();
    for (name, value) in [("hook_event_name", json!(event)), ("prompt", json!("go")), ("tool_input", json!({}))] {
        payload.insert(name.to_owned(), value);
    }
    payload.extend(members.iter().map(|name| ((*name).to_owned(), json!("x"))));
    payload.entry("tool_name").or_insert_with(|| json!("AnyTool"));
    let payload = json!(payload).to_string();
    let variable =
        |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let incoming = Incoming {
        agent: Agent::from_name(named).unwrap(),
        event: None,
        payload: payload.as_bytes(),
        variable: &variable,
        noisy: NoisyEvents::Fired,
    };
    match request::read(&incoming) {
        Ok(Reading::Fire(request)) => Some(request.agent),
        Ok(Reading::Pass(_)) => None,
        Err(refused) => Some(refused.agent),
    }
}

#[test]
fn a_payload_is_answered_for_the_agent_that_sent_it() {
    let none: &[(&str, &str)] = &[];
    // What the agents send: Claude Code a transcript and no time, Qwen Code a time and a permission mode, Gemini CLI a time
    // alone, Codex CLI a turn and a model, Copilot CLI a time, under its own names no names of Claude Code's members.
    let claude: &[&str] = &["transcript_path", "permission_mode"];
    let codex: &[&str] = &["transcript_path", "permission_mode", "turn_id", "model"];
    let gemini: &[&str] = &["transcript_path", "timestamp"];
    let qwen: &[&str] = &["transcript_path", "timestamp", "permission_mode", "prompt_id"];
    let copilot: &[&str] = &["timestamp"];
    let own: &[&str] = &["timestamp", "sessionId", "toolName"];
    for (named, event, members, environment, expected) in [
        // The agent that is named.
        ("claude", "PreToolUse", claude, none, "claude"),
        ("codex", "PreToolUse", codex, none, "codex"),
        ("codex", "PreToolUse", claude, none, "codex"),
        ("gemini", "BeforeTool", gemini, &[GEMINI], "gemini"),
        ("gemini", "BeforeTool", gemini, none, "gemini"),
        ("qwen", "PreToolUse", qwen, none, "qwen"),
        ("qwen", "PreToolUse", copilot, none, "qwen"),
        ("copilot", "preToolUse", own, &[COPILOT], "copilot"),
        ("copilot", "PreToolUse", copilot, &[COPILOT], "copilot"),
        ("opencode", "tool.execute.before", &[], none, "opencode"),
        ("pi", "tool_call", &["toolName"], none, "pi"),
        ("droid", "PreToolUse", claude, &[DROID], "droid"),
        ("droid", "PreToolUse", claude, none, "droid"),
        // Its variables do not count where another agent started it.
        ("claude", "PreToolUse", claude, &[COPILOT], "claude"),
        ("claude", "PreToolUse", &["transcript_path"], &[COPILOT], "claude"),
        ("claude", "PreToolUse", &["prompt_id"], &[COPILOT], "claude"),
        ("claude", "SessionStart", claude, &[GEMINI], "claude"),
        ("codex", "PreToolUse", codex, &[COPILOT, GEMINI], "codex"),
        ("gemini", "BeforeTool", gemini, &[COPILOT, GEMINI], "gemini"),
        ("gemini", "BeforeTool", gemini, &[COPILOT], "gemini"),
        ("qwen", "PreToolUse", qwen, &[COPILOT, GEMINI], "qwen"),
        ("copilot", "SessionStart", copilot, &[COPILOT, GEMINI], "copilot"),
        ("copilot", "preToolUse", own, &[COPILOT, GEMINI], "copilot"),
        ("opencode", "chat.message", &["turn_id", "model"], &[COPILOT, GEMINI], "opencode"),
        ("pi", "tool_call", &["turn_id", "model", "sessionId", "toolName"], &[COPILOT, GEMINI], "pi"),
        // Copilot CLI runs the hooks of Claude Code's settings, Gemini CLI those that were taken over.
        ("claude", "PreToolUse", copilot, &[COPILOT], "copilot"),
        ("claude", "PreToolUse", own, none, "copilot"),
        ("codex", "PreToolUse", own, none, "copilot"),
        ("qwen", "PreToolUse", own, none, "copilot"),
        ("gemini", "BeforeTool", own, none, "copilot"),
        ("claude", "SessionStart", gemini, &[GEMINI], "gemini"),
        ("qwen", "SessionStart", gemini, &[GEMINI], "gemini"),
        ("codex", "SessionStart", gemini, &[GEMINI], "gemini"),
        ("claude", "PreToolUse", codex, none, "codex"),
        ("claude", "PreToolUse", codex, &[COPILOT], "codex"),
        ("qwen", "PreToolUse", codex, none, "codex"),
        ("copilot", "PreToolUse", codex, none, "codex"),
        ("claude", "PreToolUse", claude, &[DROID], "droid"),
        ("codex", "PreToolUse", codex, &[DROID], "codex"),
        ("qwen", "PreToolUse", qwen, &[DROID], "qwen"),
        ("droid", "PreToolUse", codex, none, "codex"),
        // An event that the named agent does not have is another agent's.
        ("gemini", "PreToolUse", claude, none, "claude"),
        ("pi", "PreToolUse", claude, none, "claude"),
        ("codex", "PostToolBatch", claude, none, "claude"),
        ("gemini", "PreToolUse", qwen, none, "qwen"),
        ("opencode", "PreToolUse", qwen, none, "qwen"),
        ("gemini", "PreToolUse", copilot, none, "copilot"),
        ("claude", "BeforeTool", gemini, none, "gemini"),
        ("claude", "preToolUse", &["timestamp"], none, "copilot"),
        ("claude", "tool.execute.before", &[], none, "opencode"),
        ("claude", "tool_call", &[], none, "pi"),
        ("pi", "tool.execute.before", &[], none, "opencode"),
    ] {
        let found = caller(named, event, members, environment).map(Agent::name);
        assert_eq!(found, Some(expected), "`bridge {named}` at {event} with {members:?} and {environment:?}");
    }
    assert_eq!(caller("claude", "AnEventOfTomorrow", claude, none), None);
}

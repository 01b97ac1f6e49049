//! Finds out which agent sent a payload.

use hookrail::JsonObject;

use super::Incoming;
use crate::Agent;

/// The agent that calls. The command line names one; the environment and the payload overrule it, because agents read each
/// other's settings: Copilot also runs the hooks of Claude Code's.
///
/// An event that the named agent does not have belongs to the agent that has it. To take it for an event of a newer version
/// would let the call of another agent pass unguarded.
pub(super) fn calling_agent(incoming: &Incoming<'_>, members: &JsonObject, event: &str) -> Agent {
    let has = |name: &str| members.get(name).is_some();
    let variable = |name: &str| (incoming.variable)(name).filter(|value| !value.is_empty());
    // An agent that was started by another one may have inherited its variables, but it sends its own payload.
    let is_claude_payload = has("permission_mode") || has("prompt_id") || (has("transcript_path") && !has("timestamp"));
    let is_copilot = variable("COPILOT_CLI").is_some_and(|value| value == "1") && !is_claude_payload;
    let is_gemini = variable("GEMINI_SESSION_ID").is_some();
    let is_codex = has("turn_id") && has("model");
    let named = incoming.agent;
    match named {
        // Only the generated plugins call with these names.
        Agent::OpenCode | Agent::Pi if named.find_event(event).is_some() => named,
        Agent::Codex if is_codex => Agent::Codex,
        _ if is_codex && Agent::Codex.find_event(event).is_some() => Agent::Codex,
        Agent::Claude if is_copilot => Agent::Copilot,
        Agent::Claude | Agent::Codex | Agent::Qwen
            if is_gemini
                && has("timestamp")
                && !has("permission_mode")
                && Agent::Gemini.find_event(event).is_some() =>
        {
            Agent::Gemini
        }
        // Copilot's own payloads, whatever event the command line names.
        Agent::Claude | Agent::Codex | Agent::Gemini | Agent::Qwen if has("sessionId") && has("toolName") => {
            Agent::Copilot
        }
        _ if named.find_event(event).is_some() => named,
        _ => other_agent_with(event, members, is_copilot).unwrap_or(named),
    }
}

/// The agent that has an event. Several have Claude Code's names; what else they send tells them apart.
fn other_agent_with(event: &str, members: &JsonObject, is_copilot: bool) -> Option<Agent> {
    if Agent::Claude.find_event(event).is_none() {
        return Agent::ALL.into_iter().find(|agent| agent.find_event(event).is_some());
    }
    let has = |name: &str| members.get(name).is_some();
    Some(match (has("timestamp"), has("permission_mode")) {
        _ if is_copilot => Agent::Copilot,
        (true, true) => Agent::Qwen,
        (true, false) => Agent::Copilot,
        (false, _) => Agent::Claude,
    })
}

//! The names that payloads have today. What a newer agent adds passes with a note, once per session.

use hookrail::JsonObject;

/// A name in a payload that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownName {
    /// A tool that has no neutral name.
    Tool(String),
    /// A member of the payload.
    Field {
        /// Its name.
        name: String,
        /// The agent's event.
        event: &'static str,
    },
}

/// More unknown fields than this are not reported.
const MAX_UNKNOWN_FIELDS: usize = 8;

/// The members that several agents have, sorted.
static FIELDS: &[&str] = &[
    "agent_id",
    "agent_transcript_path",
    "agent_type",
    "args",
    "background_tasks",
    "branch_entries",
    "callID",
    "compact_summary",
    "compaction_entry",
    "context_limit",
    "context_usage",
    "crons",
    "custom_instructions",
    "cwd",
    "details",
    "duration_ms",
    "error",
    "from_extension",
    "hookName",
    "hook_event_name",
    "initialPrompt",
    "initial_prompt",
    "input",
    "input_tokens",
    "is_interrupt",
    "last_assistant_message",
    "llm_request",
    "llm_response",
    "mcp_context",
    "mcp_server",
    "message",
    "model",
    "notificationType",
    "notification_type",
    "original_request_name",
    "output",
    "permissionSuggestions",
    "permission_mode",
    "permission_suggestions",
    "preparation",
    "prompt",
    "prompt_id",
    "prompt_response",
    "reason",
    "result",
    "sessionId",
    "session_crons",
    "session_id",
    "source",
    "stopReason",
    "stop_hook_active",
    "stop_reason",
    "summary",
    "timestamp",
    "title",
    "tool",
    "toolArgs",
    "toolCallId",
    "toolInput",
    "toolName",
    "toolResult",
    "tool_call_id",
    "tool_calls",
    "tool_input",
    "tool_name",
    "tool_response",
    "tool_result",
    "tool_results",
    "tool_use_id",
    "transcriptPath",
    "transcript_path",
    "trigger",
    "turn_id",
    "turn_index",
];

/// The members of a payload that no known version of its agent sends. `others` are those that the agent alone has.
pub(super) fn unknown_fields(members: &JsonObject, others: &[&str], event: &'static str) -> Vec<UnknownName> {
    let is_known = |name: &str| FIELDS.binary_search(&name).is_ok() || others.contains(&name);
    let unknown = members.iter().filter(|(name, _)| !is_known(name));
    let unknown = unknown.map(|(name, _)| UnknownName::Field { name: name.to_owned(), event });
    unknown.take(MAX_UNKNOWN_FIELDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_fields_are_sorted() {
        assert!(FIELDS.is_sorted());
    }
}

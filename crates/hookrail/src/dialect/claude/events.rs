//! The events of this dialect.

use std::time::Duration;

use crate::dialect::columns::columns;
use crate::dialect::columns::event_named;
use crate::dialect::command_hooks::SettingsEvent;
use crate::dialect_id::DialectId;
use crate::event::{Abilities, DialectEvent, EventKind};
use crate::hook::condition::{HookCondition, ToolEnd};

/// What columns have in common.
const BASE: DialectEvent =
    DialectEvent { can: Abilities::TELL_USER, timeout: Duration::from_secs(60), ..DialectEvent::PARALLEL };

const STOP: Abilities = Abilities::STOP.union(Abilities::TELL_USER);
const DENY: Abilities = Abilities::DENY.union(STOP);
const CONTEXT: Abilities = Abilities::ADD_CONTEXT.union(Abilities::TELL_USER);

columns! {
    SessionStart => BASE { name: "SessionStart", fields: [source], matched_on: Some("source"), can: CONTEXT }
    SessionEnd => BASE {
        name: "SessionEnd", fields: [reason], matched_on: Some("reason"), timeout: Duration::from_millis(1500),
    }
    Prompt => BASE { name: "UserPromptSubmit", fields: [prompt], can: DENY.union(CONTEXT), gates: true }
    BeforeTool => BASE {
        name: "PreToolUse",
        fields: [tool_name, tool_input, tool_call_id, mcp_context, agent_id, agent_type],
        matched_on: Some("tool_name"),
        can: DENY.union(Abilities::ASK).union(CONTEXT).union(Abilities::REWRITE_TOOL_INPUT),
        gates: true,
    }
    PermissionRequest => BASE {
        name: "PermissionRequest",
        fields: [tool_name, tool_input, permission_suggestions, mcp_context, agent_id, agent_type],
        matched_on: Some("tool_name"),
        can: DENY.union(Abilities::REWRITE_TOOL_INPUT),
        gates: true,
    }
    AfterTool => BASE {
        name: "PostToolUse",
        fields: [tool_name, tool_input, tool_response, tool_call_id, mcp_context, agent_id, agent_type],
        matched_on: Some("tool_name"),
        can: STOP.union(CONTEXT).union(Abilities::REPLACE_TOOL_OUTPUT),
    }
    TurnEnd => BASE { name: "PostToolBatch", fields: [tool_results] }
    AgentEnd => BASE {
        name: "Stop", fields: [stop_hook_active, prompt_response], can: DENY.union(CONTEXT), gates: true,
    }
    BeforeCompact => BASE {
        name: "PreCompact", fields: [trigger, custom_instructions], matched_on: Some("trigger"),
    }
    AfterCompact => BASE { name: "PostCompact", fields: [trigger, summary], matched_on: Some("trigger") }
    SubagentStart => BASE { name: "SubagentStart", fields: [agent], matched_on: Some("agent"), can: CONTEXT }
    SubagentStop => BASE { name: "SubagentStop", fields: [agent], matched_on: Some("agent") }
    Notification => BASE {
        name: "Notification", fields: [message, notification_type], matched_on: Some("notification_type"),
    }
}

/// The event after a tool that failed, which is the same neutral event as the one after a tool that succeeded.
pub(super) const TOOL_FAILED: &str = "PostToolUseFailure";

/// Events of the agent that no host of hookrail has.
const NOT_FIRED: [&str; 12] = [
    "ConfigChange",
    "CwdChanged",
    "Elicitation",
    "FileChanged",
    "InstructionsLoaded",
    "PermissionDenied",
    "Setup",
    "TaskCompleted",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// What a key of the settings names.
pub(super) fn settings_event(name: &str) -> SettingsEvent {
    let after_tool =
        |end| SettingsEvent::Fired { event: EventKind::AfterTool, condition: Some(HookCondition::ToolEnded(end)) };
    match name {
        TOOL_FAILED => after_tool(ToolEnd::Failed),
        "PostToolUse" => after_tool(ToolEnd::Succeeded),
        _ if NOT_FIRED.contains(&name) => SettingsEvent::NotFired,
        _ => match event_named(DialectId::Claude, name) {
            Some(event) => SettingsEvent::Fired { event, condition: None },
            None => SettingsEvent::Unknown,
        },
    }
}

//! The events of this dialect.

use std::time::Duration;

use crate::dialect::columns::columns;
use crate::event::{Abilities, DialectEvent};

/// What columns have in common: hooks run side by side, for up to ten minutes.
const BASE: DialectEvent = DialectEvent { can: SAY, timeout: Duration::from_secs(600), ..DialectEvent::PARALLEL };

/// How long the agent waits at its end where the entry says nothing, and at most.
pub(super) const END_TIMEOUT: Duration = Duration::from_secs(1);
pub(super) const LONGEST_END_TIMEOUT: Duration = Duration::from_secs(3);

/// What every answer can do.
const SAY: Abilities = Abilities::TELL_USER.union(Abilities::HIDE_OUTPUT);
const DENY: Abilities = Abilities::DENY.union(SAY);
const STOP: Abilities = Abilities::STOP.union(SAY);
const CONTEXT: Abilities = Abilities::ADD_CONTEXT.union(SAY);

columns! {
    SessionStart => BASE {
        name: "SessionStart", fields: [source], matched_on: Some("source"), can: STOP.union(CONTEXT),
    }
    SessionEnd => BASE {
        name: "SessionEnd", fields: [reason], matched_on: Some("reason"), timeout: END_TIMEOUT,
    }
    Prompt => BASE {
        name: "UserPromptSubmit", fields: [prompt], can: DENY.union(STOP).union(CONTEXT), gates: true,
    }
    BeforeTool => BASE {
        name: "PreToolUse",
        fields: [tool_name, tool_input, tool_call_id, agent_id, agent_type],
        matched_on: Some("tool_name"),
        can: DENY.union(CONTEXT).union(Abilities::REWRITE_TOOL_INPUT),
        gates: true,
    }
    PermissionRequest => BASE {
        name: "PermissionRequest",
        fields: [tool_name, tool_input, agent_id, agent_type],
        matched_on: Some("tool_name"),
        can: DENY,
        gates: true,
    }
    AfterTool => BASE {
        name: "PostToolUse",
        fields: [tool_name, tool_input, tool_call_id, tool_response, agent_id, agent_type],
        matched_on: Some("tool_name"),
        can: CONTEXT.union(Abilities::REPLACE_TOOL_OUTPUT),
    }
    AgentEnd => BASE {
        name: "Stop", fields: [stop_hook_active, prompt_response], can: DENY.union(STOP), gates: true,
    }
    BeforeModel => BASE { name: "PreModelRequest", fields: [] }
    AfterModel => BASE { name: "PostModelRequest", fields: [] }
    BeforeCompact => BASE { name: "PreCompact", fields: [trigger], matched_on: Some("trigger"), can: STOP }
    AfterCompact => BASE { name: "PostCompact", fields: [trigger], matched_on: Some("trigger"), can: STOP }
    SubagentStart => BASE { name: "SubagentStart", fields: [agent], matched_on: Some("agent"), can: CONTEXT }
    SubagentStop => BASE { name: "SubagentStop", fields: [agent], matched_on: Some("agent") }
}

//! The events of this dialect.

use std::time::Duration;

use crate::dialect::columns::columns;
use crate::event::{Abilities, DialectEvent, MergeRule};

/// What columns have in common. A group of hooks can ask for a chain instead.
const BASE: DialectEvent = DialectEvent { can: STOP, timeout: Duration::from_secs(60), ..DialectEvent::PARALLEL };

/// What every answer can do.
const STOP: Abilities = Abilities::STOP.union(Abilities::TELL_USER).union(Abilities::HIDE_OUTPUT);
const DENY: Abilities = Abilities::DENY.union(STOP);
const CONTEXT: Abilities = Abilities::ADD_CONTEXT;

columns! {
    SessionStart => BASE {
        name: "SessionStart", fields: [source], matched_on: Some("source"), can: STOP.union(CONTEXT),
    }
    SessionEnd => BASE {
        name: "SessionEnd", fields: [reason], matched_on: Some("reason"), fold: MergeRule::LastWins,
    }
    Prompt => BASE {
        name: "BeforeAgent", fields: [prompt, origin], can: DENY.union(CONTEXT), gates: true,
    }
    AgentEnd => BASE {
        name: "AfterAgent",
        fields: [prompt, prompt_response, stop_hook_active],
        can: DENY.union(Abilities::CLEAR_CONTEXT),
        gates: true,
    }
    BeforeTool => BASE {
        name: "BeforeTool",
        fields: [tool_name, tool_input, mcp_context, agent_id, agent_type],
        matched_on: Some("tool_name"),
        can: DENY.union(Abilities::ASK).union(Abilities::REWRITE_TOOL_INPUT).union(Abilities::OFFER_CONTEXT),
        gates: true,
    }
    AfterTool => BASE {
        name: "AfterTool",
        fields: [tool_name, tool_input, tool_response, mcp_context, agent_id, agent_type],
        matched_on: Some("tool_name"),
        can: STOP.union(CONTEXT).union(Abilities::DENY_RESULT),
    }
    BeforeModel => BASE {
        name: "BeforeModel",
        fields: [llm_request],
        can: DENY.union(Abilities::REWRITE_REQUEST).union(Abilities::GIVE_RESPONSE),
        gates: true,
        fold: MergeRule::FieldReplacement,
    }
    AfterModel => BASE {
        name: "AfterModel",
        fields: [llm_request, llm_response],
        can: STOP.union(Abilities::GIVE_RESPONSE),
        fold: MergeRule::FieldReplacement,
    }
    ToolSelection => BASE {
        name: "BeforeToolSelection",
        fields: [llm_request],
        can: STOP.union(Abilities::CHOOSE_TOOLS),
        fold: MergeRule::ToolUnion,
    }
    BeforeCompact => BASE {
        name: "PreCompress", fields: [trigger], matched_on: Some("trigger"), fold: MergeRule::LastWins,
    }
    Notification => BASE {
        name: "Notification",
        fields: [notification_type, message, details],
        matched_on: Some("notification_type"),
        fold: MergeRule::LastWins,
    }
}

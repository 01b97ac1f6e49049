//! The events of this dialect.

use std::time::Duration;

use crate::dialect::columns::columns;
use crate::event::{Abilities, DialectEvent, MergeRule, Occurrences, Stage};

/// An event that hooks are only told about: the host does not wait for them.
const NOTIFY_ONLY: DialectEvent = DialectEvent {
    fold: MergeRule::Ignore,
    stage: Stage::Detached,
    timeout: Duration::from_secs(5),
    ..DialectEvent::PARALLEL
};

/// An event in which answers have an effect.
const DECISION: DialectEvent = DialectEvent { fold: MergeRule::Stack, stage: Stage::Chain, ..NOTIFY_ONLY };

const DENY: Abilities = Abilities::DENY;

columns! {
    SessionStart => NOTIFY_ONLY { name: "SessionStart", fields: [], occurrences: Occurrences::LaunchOnly }
    SessionEnd => NOTIFY_ONLY { name: "SessionEnd", fields: [], occurrences: Occurrences::LaunchOnly }
    Prompt => DECISION {
        name: "UserPromptSubmit", fields: [prompt, origin], can: DENY.union(Abilities::ADD_CONTEXT), gates: true,
    }
    ModelRoundEnd => NOTIFY_ONLY { name: "TurnComplete", fields: [turn, token_usage] }
    BeforeTool => DECISION {
        name: "PreToolUse",
        fields: [tool_name, tool_input, tool_call_id],
        matched_on: Some("tool_name"),
        can: DENY.union(Abilities::REWRITE_TOOL_INPUT),
        gates: true,
    }
    AfterTool => DECISION {
        name: "PostToolUse",
        fields: [tool_name, tool_input, tool_call_id, tool_response],
        matched_on: Some("tool_name"),
        can: Abilities::REPLACE_TOOL_OUTPUT,
    }
    BeforeCompact => NOTIFY_ONLY { name: "PreCompact", fields: [trigger, message_count, token_estimate] }
    AfterCompact => NOTIFY_ONLY { name: "PostCompact", fields: [trigger, message_count, summary] }
    SubagentStart => NOTIFY_ONLY { name: "SubagentStart", fields: [agent] }
    SubagentStop => NOTIFY_ONLY { name: "SubagentStop", fields: [agent, duration_ms, outcome, token_usage] }
}

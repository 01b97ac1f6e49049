//! The events of this dialect.

use std::time::Duration;

use crate::dialect::columns::columns;
use crate::event::{Abilities, DialectEvent, EventKind, MergeRule, Occurrences, Stage};

/// What columns have in common. Results are not used unless a column says so.
const BASE: DialectEvent = DialectEvent {
    fold: MergeRule::Ignore,
    stage: Stage::Chain,
    timeout: Duration::from_secs(60),
    ..DialectEvent::PARALLEL
};

/// An event that a module can cancel, or give a result for.
const CANCEL: DialectEvent =
    DialectEvent { can: Abilities::DENY.union(Abilities::RESULT), gates: true, fold: MergeRule::FirstBlock, ..BASE };

columns! {
    SessionStart => BASE { name: "session_start", fields: [], occurrences: Occurrences::LaunchOnly }
    SessionEnd => BASE { name: "session_shutdown", fields: [], occurrences: Occurrences::LaunchOnly }
    // A module cannot answer with a deny here; that it is a gate concerns modules whose failure has an effect.
    Prompt => BASE {
        name: "before_agent_start",
        fields: [prompt, images, origin],
        can: Abilities::ADD_MESSAGE,
        gates: true,
        fold: MergeRule::FirstMessage,
    }
    AgentStart => BASE { name: "agent_start", fields: [] }
    AgentEnd => BASE { name: "agent_end", fields: [messages] }
    TurnStart => BASE { name: "turn_start", fields: [turn_index, timestamp] }
    TurnEnd => BASE { name: "turn_end", fields: [turn_index, message, tool_results] }
    BeforeTool => CANCEL {
        name: "tool_call", fields: [tool_name, tool_call_id, tool_input, agent_id, agent_type], can: Abilities::DENY,
    }
    AfterTool => BASE {
        name: "tool_result",
        fields: [tool_name, tool_call_id, tool_input, tool_response, agent_id, agent_type],
        can: Abilities::REPLACE_TOOL_OUTPUT,
        fold: MergeRule::LastResult,
    }
    BeforeModel => BASE {
        name: "context",
        fields: [messages],
        can: Abilities::REPLACE_MESSAGES,
        fold: MergeRule::ChainMessages,
        occurrences: Occurrences::ConversationOnly,
    }
    BeforeCompact => CANCEL {
        name: "session_before_compact", fields: [preparation, branch_entries, custom_instructions],
    }
    Compacting => BASE {
        name: "session.compacting", fields: [session_id, messages], can: Abilities::RESULT, fold: MergeRule::LastResult,
    }
    AfterCompact => BASE { name: "session_compact", fields: [compaction_entry, from_extension] }
    AutoCompactionStart => BASE { name: "auto_compaction_start", fields: [reason, action] }
    AutoCompactionEnd => BASE {
        name: "auto_compaction_end", fields: [action, result, aborted, will_retry, error_message, skipped],
    }
    AutoRetryStart => BASE {
        name: "auto_retry_start", fields: [attempt, max_attempts, delay_ms, error_message],
    }
    AutoRetryEnd => BASE { name: "auto_retry_end", fields: [success, attempt, final_error] }
    SessionBeforeSwitch => CANCEL { name: "session_before_switch", fields: [reason, target_session_file] }
    SessionSwitch => BASE { name: "session_switch", fields: [reason, previous_session_file] }
    SessionBeforeBranch => CANCEL { name: "session_before_branch", fields: [entry_id] }
    SessionBranch => BASE { name: "session_branch", fields: [previous_session_file] }
    SessionBeforeTree => CANCEL { name: "session_before_tree", fields: [preparation] }
    SessionTree => BASE { name: "session_tree", fields: [new_leaf_id, old_leaf_id, summary_entry, from_extension] }
    RuleTriggered => BASE { name: "ttsr_triggered", fields: [rules] }
    TodoReminder => BASE { name: "todo_reminder", fields: [todos, attempt, max_attempts] }
}

/// The members of a handler's result that mean something, by the event.
const RESULT_MEMBERS: [(EventKind, &[&str]); 9] = [
    (EventKind::BeforeTool, &["block", "reason"]),
    // xcsh declares `isError` and ignores it.
    (EventKind::AfterTool, &["content", "details", "isError"]),
    (EventKind::BeforeModel, &["messages"]),
    (EventKind::Prompt, &["message"]),
    (EventKind::SessionBeforeSwitch, &["cancel", "reason"]),
    (EventKind::SessionBeforeBranch, &["cancel", "reason", "skipConversationRestore"]),
    (EventKind::BeforeCompact, &["cancel", "reason", "compaction"]),
    (EventKind::SessionBeforeTree, &["cancel", "reason", "summary"]),
    (EventKind::Compacting, &["context", "prompt", "preserveData"]),
];

/// The members of a handler's result that mean something in an event. In every other event results are ignored.
#[must_use]
pub fn result_members(kind: EventKind) -> &'static [&'static str] {
    RESULT_MEMBERS.iter().find(|(known, _)| *known == kind).map_or(&[], |(_, members)| members)
}

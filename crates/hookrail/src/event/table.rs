//! The one table: every event with its name in each dialect, what a matcher is compared with, which fields a
//! hook receives, what an answer may do, how several answers become one, and the default timeout.
//!
//! Labels, schemas, the reference documentation and the abilities test are made from it.

use std::time::Duration;

use super::kind::EventKind;
use super::spec::{Abilities, Column, EventSpec, FieldKind, FieldSpec, Fold, Gating, Stage};
use crate::dialect::DialectId;

/// The row of an event.
pub(super) fn spec(kind: EventKind) -> &'static EventSpec {
    // The rows stand in the order of the enum, which a test checks; the first row is never reached by mistake.
    EVENTS.get(kind as usize).unwrap_or(&FIRST)
}

/// Finds an event by its name in any dialect or its neutral one.
#[must_use]
pub fn find_event(name: &str) -> Option<EventKind> {
    EVENTS
        .iter()
        .find(|row| row.name == name || row.columns.iter().flatten().any(|column| column.name == name))
        .map(|row| row.kind)
}

const fn text(name: &'static str) -> FieldSpec {
    FieldSpec { name, kind: FieldKind::Text, required: true }
}
const fn object(name: &'static str) -> FieldSpec {
    FieldSpec { name, kind: FieldKind::Object, required: true }
}
const fn list(name: &'static str) -> FieldSpec {
    FieldSpec { name, kind: FieldKind::List, required: true }
}
const fn flag(name: &'static str) -> FieldSpec {
    FieldSpec { name, kind: FieldKind::Flag, required: true }
}
const fn number(name: &'static str) -> FieldSpec {
    FieldSpec { name, kind: FieldKind::Number, required: true }
}
const fn any(name: &'static str) -> FieldSpec {
    FieldSpec { name, kind: FieldKind::Any, required: true }
}
const fn optional(field: FieldSpec) -> FieldSpec {
    FieldSpec { required: false, ..field }
}

const NOTHING: Abilities = Abilities::NONE;
const DENY: Abilities = Abilities::DENY;
const STOP: Abilities = Abilities::STOP;
const CONTEXT: Abilities = Abilities::ADD_CONTEXT;
const RESULT: Abilities = Abilities::RESULT;

/// A command hook in a settings file.
const fn llxprt(name: &'static str, fields: &'static [FieldSpec], can: Abilities, fold: Fold) -> Option<Column> {
    let timeout = Duration::from_secs(60);
    Some(Column { name, matched_on: None, fields, can, fold, stage: Stage::Parallel, timeout })
}

/// A command hook of a plugin.
const fn xcode(name: &'static str, fields: &'static [FieldSpec], can: Abilities) -> Option<Column> {
    let (fold, stage) = if can.0 == 0 { (Fold::Ignore, Stage::Detached) } else { (Fold::Stack, Stage::Chain) };
    Some(Column { name, matched_on: None, fields, can, fold, stage, timeout: Duration::from_secs(5) })
}

/// A module hook.
const fn xcsh(name: &'static str, fields: &'static [FieldSpec], can: Abilities, fold: Fold) -> Option<Column> {
    let timeout = Duration::from_secs(60);
    Some(Column { name, matched_on: None, fields, can, fold, stage: Stage::Chain, timeout })
}

/// The column with the field its matchers are compared with.
const fn on(field: &'static str, column: Option<Column>) -> Option<Column> {
    match column {
        Some(column) => Some(Column { matched_on: Some(field), ..column }),
        None => None,
    }
}

const fn row(
    kind: EventKind,
    name: &'static str,
    fires: &'static str,
    gating: Gating,
    columns: [Option<Column>; 3],
) -> EventSpec {
    EventSpec { kind, name, fires, gating, columns }
}

static FIRST: EventSpec = row(EventKind::SessionStart, "session-start", "", Gating::Nobody, [None, None, None]);

/// Every event, in the order of [`EventKind`].
pub(super) static EVENTS: &[EventSpec] = {
    use EventKind as K;
    use Fold::{
        AnyDenies, ChainMessages, FieldReplacement, FirstBlock, FirstMessage, Ignore, LastResult, LastWins, ToolUnion,
    };
    use Gating::{Everybody, Nobody, Only};
    const IN_OUT: Abilities = DENY.and(STOP).and(Abilities::REWRITE_TOOL_INPUT);
    const MODEL: Abilities = DENY.and(STOP).and(Abilities::REWRITE_REQUEST).and(Abilities::GIVE_RESPONSE);
    const CANCEL: Abilities = DENY.and(RESULT);
    &[
        row(
            K::SessionStart,
            "session-start",
            "when a session begins",
            Nobody,
            [
                on("source", llxprt("SessionStart", &[text("source")], STOP.and(CONTEXT), AnyDenies)),
                xcode("SessionStart", &[], NOTHING),
                xcsh("session_start", &[], NOTHING, Ignore),
            ],
        ),
        row(
            K::SessionEnd,
            "session-end",
            "when a session ends",
            Nobody,
            [
                on("reason", llxprt("SessionEnd", &[text("reason")], STOP, LastWins)),
                xcode("SessionEnd", &[], NOTHING),
                xcsh("session_shutdown", &[], NOTHING, Ignore),
            ],
        ),
        row(
            K::Prompt,
            "prompt",
            "before the user's prompt is processed",
            Everybody,
            [
                llxprt("BeforeAgent", &[text("prompt")], DENY.and(STOP).and(CONTEXT), AnyDenies),
                xcode("UserPromptSubmit", &[text("prompt")], DENY.and(CONTEXT)),
                xcsh(
                    "before_agent_start",
                    &[text("prompt"), optional(list("images"))],
                    Abilities::ADD_MESSAGE,
                    FirstMessage,
                ),
            ],
        ),
        row(
            K::AgentStart,
            "agent-start",
            "when the agent begins to work on a prompt",
            Nobody,
            [None, None, xcsh("agent_start", &[], NOTHING, Ignore)],
        ),
        row(
            K::AgentEnd,
            "agent-end",
            "when the agent has finished its answer",
            Only(DialectId::Llxprt),
            [
                llxprt(
                    "AfterAgent",
                    &[text("prompt"), text("prompt_response"), flag("stop_hook_active")],
                    DENY.and(STOP).and(Abilities::CLEAR_CONTEXT),
                    AnyDenies,
                ),
                None,
                xcsh("agent_end", &[list("messages")], NOTHING, Ignore),
            ],
        ),
        row(
            K::TurnStart,
            "turn-start",
            "when a turn begins",
            Nobody,
            [None, None, xcsh("turn_start", &[number("turn_index"), any("timestamp")], NOTHING, Ignore)],
        ),
        row(
            K::TurnEnd,
            "turn-end",
            "when a turn is over, with its tool results",
            Nobody,
            [
                None,
                None,
                xcsh("turn_end", &[number("turn_index"), any("message"), list("tool_results")], NOTHING, Ignore),
            ],
        ),
        row(
            K::ModelRoundEnd,
            "model-round-end",
            "when a round of model streaming has ended",
            Nobody,
            [None, xcode("TurnComplete", &[number("turn"), optional(object("token_usage"))], NOTHING), None],
        ),
        row(
            K::BeforeTool,
            "before-tool",
            "immediately before a tool runs",
            Everybody,
            [
                on(
                    "tool_name",
                    llxprt(
                        "BeforeTool",
                        &[text("tool_name"), object("tool_input"), optional(object("mcp_context"))],
                        IN_OUT,
                        AnyDenies,
                    ),
                ),
                on(
                    "tool_name",
                    xcode(
                        "PreToolUse",
                        &[text("tool_name"), object("tool_input"), text("tool_call_id")],
                        DENY.and(Abilities::REWRITE_TOOL_INPUT),
                    ),
                ),
                xcsh("tool_call", &[text("tool_name"), text("tool_call_id"), object("tool_input")], DENY, FirstBlock),
            ],
        ),
        row(
            K::AfterTool,
            "after-tool",
            "immediately after a tool has run",
            Nobody,
            [
                on(
                    "tool_name",
                    llxprt(
                        "AfterTool",
                        &[
                            text("tool_name"),
                            object("tool_input"),
                            object("tool_response"),
                            optional(object("mcp_context")),
                        ],
                        STOP.and(CONTEXT),
                        AnyDenies,
                    ),
                ),
                on(
                    "tool_name",
                    xcode(
                        "PostToolUse",
                        &[text("tool_name"), object("tool_input"), text("tool_call_id"), object("tool_response")],
                        Abilities::REPLACE_TOOL_OUTPUT,
                    ),
                ),
                xcsh(
                    "tool_result",
                    &[text("tool_name"), text("tool_call_id"), object("tool_input"), object("tool_response")],
                    Abilities::REPLACE_TOOL_OUTPUT,
                    LastResult,
                ),
            ],
        ),
        row(
            K::BeforeModel,
            "before-model",
            "before a model is called, with the assembled request",
            Only(DialectId::Llxprt),
            [
                llxprt("BeforeModel", &[object("llm_request")], MODEL, FieldReplacement),
                None,
                xcsh("context", &[list("messages")], Abilities::REPLACE_MESSAGES, ChainMessages),
            ],
        ),
        row(
            K::AfterModel,
            "after-model",
            "after a model has answered, with the whole response",
            Nobody,
            [
                llxprt(
                    "AfterModel",
                    &[object("llm_request"), object("llm_response")],
                    STOP.and(Abilities::GIVE_RESPONSE),
                    FieldReplacement,
                ),
                None,
                None,
            ],
        ),
        row(
            K::ToolSelection,
            "tool-selection",
            "before a model request with tool definitions is sent",
            Nobody,
            [
                llxprt("BeforeToolSelection", &[object("llm_request")], STOP.and(Abilities::CHOOSE_TOOLS), ToolUnion),
                None,
                None,
            ],
        ),
        row(
            K::BeforeCompact,
            "before-compact",
            "before the conversation is compressed",
            Only(DialectId::Xcsh),
            [
                on("trigger", llxprt("PreCompress", &[text("trigger")], STOP, LastWins)),
                xcode("PreCompact", &[text("trigger"), number("message_count"), number("token_estimate")], NOTHING),
                xcsh(
                    "session_before_compact",
                    &[object("preparation"), list("branch_entries"), optional(text("custom_instructions"))],
                    CANCEL,
                    FirstBlock,
                ),
            ],
        ),
        row(
            K::Compacting,
            "compacting",
            "when the summary for a compression is about to be asked for",
            Nobody,
            [None, None, xcsh("session.compacting", &[text("session_id"), list("messages")], RESULT, LastResult)],
        ),
        row(
            K::AfterCompact,
            "after-compact",
            "after the conversation was compressed",
            Nobody,
            [
                None,
                xcode("PostCompact", &[text("trigger"), number("message_count"), text("summary")], NOTHING),
                xcsh("session_compact", &[any("compaction_entry"), flag("from_extension")], NOTHING, Ignore),
            ],
        ),
        row(
            K::AutoCompactionStart,
            "auto-compaction-start",
            "when compression starts by itself",
            Nobody,
            [None, None, xcsh("auto_compaction_start", &[text("reason"), text("action")], NOTHING, Ignore)],
        ),
        row(
            K::AutoCompactionEnd,
            "auto-compaction-end",
            "when compression by itself has ended",
            Nobody,
            [
                None,
                None,
                xcsh(
                    "auto_compaction_end",
                    &[
                        text("action"),
                        optional(any("result")),
                        flag("aborted"),
                        flag("will_retry"),
                        optional(text("error_message")),
                        optional(flag("skipped")),
                    ],
                    NOTHING,
                    Ignore,
                ),
            ],
        ),
        row(
            K::AutoRetryStart,
            "auto-retry-start",
            "when a failed model call is about to be tried again",
            Nobody,
            [
                None,
                None,
                xcsh(
                    "auto_retry_start",
                    &[number("attempt"), number("max_attempts"), number("delay_ms"), text("error_message")],
                    NOTHING,
                    Ignore,
                ),
            ],
        ),
        row(
            K::AutoRetryEnd,
            "auto-retry-end",
            "when trying again has ended",
            Nobody,
            [
                None,
                None,
                xcsh(
                    "auto_retry_end",
                    &[flag("success"), number("attempt"), optional(text("final_error"))],
                    NOTHING,
                    Ignore,
                ),
            ],
        ),
        row(
            K::SubagentStart,
            "subagent-start",
            "when a sub-agent is started",
            Nobody,
            [None, xcode("SubagentStart", &[object("agent")], NOTHING), None],
        ),
        row(
            K::SubagentStop,
            "subagent-stop",
            "when a sub-agent has finished",
            Nobody,
            [
                None,
                xcode(
                    "SubagentStop",
                    &[object("agent"), number("duration_ms"), text("outcome"), optional(object("token_usage"))],
                    NOTHING,
                ),
                None,
            ],
        ),
        row(
            K::SessionBeforeSwitch,
            "session-before-switch",
            "before another session becomes the current one",
            Everybody,
            [
                None,
                None,
                xcsh(
                    "session_before_switch",
                    &[text("reason"), optional(text("target_session_file"))],
                    CANCEL,
                    FirstBlock,
                ),
            ],
        ),
        row(
            K::SessionSwitch,
            "session-switch",
            "after another session became the current one",
            Nobody,
            [
                None,
                None,
                xcsh("session_switch", &[text("reason"), optional(text("previous_session_file"))], NOTHING, Ignore),
            ],
        ),
        row(
            K::SessionBeforeBranch,
            "session-before-branch",
            "before a session branches",
            Everybody,
            [None, None, xcsh("session_before_branch", &[text("entry_id")], CANCEL, FirstBlock)],
        ),
        row(
            K::SessionBranch,
            "session-branch",
            "after a session branched",
            Nobody,
            [None, None, xcsh("session_branch", &[optional(text("previous_session_file"))], NOTHING, Ignore)],
        ),
        row(
            K::SessionBeforeTree,
            "session-before-tree",
            "before moving to another place in the session tree",
            Everybody,
            [None, None, xcsh("session_before_tree", &[object("preparation")], CANCEL, FirstBlock)],
        ),
        row(
            K::SessionTree,
            "session-tree",
            "after moving to another place in the session tree",
            Nobody,
            [
                None,
                None,
                xcsh(
                    "session_tree",
                    &[
                        any("new_leaf_id"),
                        any("old_leaf_id"),
                        optional(any("summary_entry")),
                        optional(flag("from_extension")),
                    ],
                    NOTHING,
                    Ignore,
                ),
            ],
        ),
        row(
            K::RuleTriggered,
            "rule-triggered",
            "when stream rules were triggered",
            Nobody,
            [None, None, xcsh("ttsr_triggered", &[list("rules")], NOTHING, Ignore)],
        ),
        row(
            K::TodoReminder,
            "todo-reminder",
            "when the agent is reminded of its open tasks",
            Nobody,
            [
                None,
                None,
                xcsh("todo_reminder", &[list("todos"), number("attempt"), number("max_attempts")], NOTHING, Ignore),
            ],
        ),
        row(
            K::Notification,
            "notification",
            "when the user is about to be notified",
            Nobody,
            [
                on(
                    "notification_type",
                    llxprt(
                        "Notification",
                        &[text("notification_type"), text("message"), object("details")],
                        STOP,
                        LastWins,
                    ),
                ),
                None,
                None,
            ],
        ),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_enum() {
        for (at, row) in EVENTS.iter().enumerate() {
            assert_eq!(row.kind as usize, at, "{}", row.name);
        }
        assert_eq!(EVENTS.last().unwrap().kind, EventKind::Notification);
    }

    #[test]
    fn a_name_means_one_event() {
        for row in EVENTS {
            assert_eq!(find_event(row.name), Some(row.kind));
            for column in row.columns.iter().flatten() {
                assert_eq!(find_event(column.name), Some(row.kind), "{}", column.name);
            }
        }
        assert_eq!(find_event("beforetool"), None);
    }

    #[test]
    fn only_a_dialect_whose_deny_counts_has_the_ability_to_deny() {
        for row in EVENTS {
            for (at, column) in row.columns.iter().enumerate() {
                let Some(column) = column else { continue };
                let dialect = [DialectId::Llxprt, DialectId::Xcode, DialectId::Xcsh][at];
                if column.can.includes(Abilities::DENY) {
                    assert!(row.gated_by(dialect), "{} can deny but is not gating", column.name);
                }
            }
        }
    }

    #[test]
    fn a_matcher_is_compared_with_a_field_the_event_has() {
        for column in EVENTS.iter().flat_map(|row| row.columns.iter().flatten()) {
            if let Some(field) = column.matched_on {
                assert!(column.fields.iter().any(|known| known.name == field), "{}", column.name);
            }
        }
    }
}

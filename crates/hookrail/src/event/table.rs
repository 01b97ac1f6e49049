//! The one table of neutral facts: each event is declared once, and everything neutral about it comes from here.
//!
//! What an event is in a dialect (its name there, the fields in their order, what an answer may do) is in the `events.rs` of
//! that dialect.

use super::spec::{EventSpec, FieldKind, FieldSpec};

/// Declares the events: the enum, its list, and a row for each. A variant without a row, a row without a variant, and a
/// row that names a field it does not have do not compile.
///
/// After its kind a field can be `optional` (hooks receive it only if the host gives it), `needed` (the host must give it),
/// `non_empty`, and `conversation` or `quoting` (it is, or has members that are, what the user and the model said).
macro_rules! events {
    ($(
        $(#[doc = $doc:literal])+
        $kind:ident {
            name: $name:literal,
            fires: $fires:literal,
            gating: $gating:literal,
            fields: [$($field:ident: $holds:ident $($flag:ident)*),* $(,)?],
            $(subject: $subject:ident,)?
            $(judged: $judged:ident,)?
            $(rewritable: $rewritable:ident,)?
        }
    )+) => {
        /// Something that happens in an agent and that hooks can take part in.
        ///
        /// ```
        /// use hookrail::EventKind;
        ///
        /// assert_eq!(EventKind::BeforeTool.name(), "before-tool");
        /// assert!(EventKind::BeforeTool.spec().is_gating());
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum EventKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl EventKind {
            /// Every event, in the order of the table.
            pub(crate) const ALL: [Self; [$(Self::$kind),+].len()] = [$(Self::$kind),+];

            /// What is true of this event in every dialect.
            #[must_use]
            pub const fn spec(self) -> &'static EventSpec {
                match self {
                    // A `static` for each row: the compiler copies a constant into every unit that uses it, and each copy has
                    // to be relocated when the program starts.
                    $(Self::$kind => {
                        static ROW: EventSpec = {
                            // `subject`, `judged` and `rewritable` refer to these variables, so a field that the row does not
                            // have is an unknown name for the compiler.
                            $(let $field = stringify!($field);)*
                            EventSpec {
                                kind: EventKind::$kind,
                                name: $name,
                                fires: $fires,
                                gating: $gating,
                                fields: &[$(FieldSpec::new($field, FieldKind::$holds)$(.$flag())*),*],
                                subject: events!(@name $($subject)?),
                                judged: events!(@name $($judged)?),
                                rewritable: events!(@name $($rewritable)?),
                            }
                        };
                        &ROW
                    },)+
                }
            }
        }
    };
    (@name) => { None };
    (@name $field:ident) => { Some($field) };
}

events! {
    /// A session begins.
    SessionStart {
        name: "session-start",
        fires: "when a session begins",
        gating: false,
        fields: [source: Text, launch: Flag optional],
        subject: source,
    }
    /// A session ends.
    SessionEnd {
        name: "session-end",
        fires: "when a session ends",
        gating: false,
        fields: [reason: Text, launch: Flag optional],
        subject: reason,
    }
    /// The user has sent a prompt.
    Prompt {
        name: "prompt",
        fires: "before the user's prompt is processed",
        gating: true,
        fields: [prompt: Text needed conversation, images: List optional conversation, origin: Text optional],
        judged: prompt,
    }
    /// The agent begins to work on a prompt.
    AgentStart {
        name: "agent-start",
        fires: "when the agent begins to work on a prompt",
        gating: false,
        fields: [],
    }
    /// The agent has finished its answer. To deny that is to make it go on.
    AgentEnd {
        name: "agent-end",
        fires: "when the agent has finished its answer",
        gating: true,
        fields: [
            prompt: Text needed conversation,
            prompt_response: Text needed conversation,
            stop_hook_active: Flag needed,
            messages: List conversation,
        ],
    }
    /// A turn begins.
    TurnStart {
        name: "turn-start",
        fires: "when a turn begins",
        gating: false,
        fields: [turn_index: Number, timestamp: Any],
    }
    /// A turn is over.
    TurnEnd {
        name: "turn-end",
        fires: "when a turn is over, with its tool results",
        gating: false,
        fields: [turn_index: Number, message: Any conversation, tool_results: List conversation],
    }
    /// A round of model streaming has ended.
    ModelRoundEnd {
        name: "model-round-end",
        fires: "when a round of model streaming has ended",
        gating: false,
        fields: [turn: Number, token_usage: Object optional],
    }
    /// A tool is about to run.
    BeforeTool {
        name: "before-tool",
        fires: "immediately before a tool runs",
        gating: true,
        fields: [
            tool_name: Text needed non_empty,
            tool_input: Object needed,
            tool_call_id: Text,
            mcp_context: Object optional,
            agent_id: Text optional,
            agent_type: Text optional,
        ],
        subject: tool_name,
        judged: tool_input,
        rewritable: tool_input,
    }
    /// The host is about to ask its user whether a tool may run. To allow the event is to answer in the place of the user.
    PermissionRequest {
        name: "permission-request",
        fires: "before the host asks its user whether a tool may run",
        gating: true,
        fields: [
            tool_name: Text needed non_empty,
            tool_input: Object needed,
            tool_call_id: Text optional,
            permission_suggestions: List optional,
            mcp_context: Object optional,
            agent_id: Text optional,
            agent_type: Text optional,
        ],
        subject: tool_name,
        judged: tool_input,
        rewritable: tool_input,
    }
    /// A tool has run.
    AfterTool {
        name: "after-tool",
        fires: "immediately after a tool has run",
        gating: false,
        fields: [
            tool_name: Text needed non_empty,
            tool_input: Object needed,
            tool_call_id: Text,
            tool_response: Object needed,
            mcp_context: Object optional,
            agent_id: Text optional,
            agent_type: Text optional,
        ],
        subject: tool_name,
    }
    /// A model is about to be called.
    BeforeModel {
        name: "before-model",
        fires: "before a model is called, with the assembled request",
        gating: true,
        fields: [
            llm_request: Object needed conversation,
            messages: List conversation,
            conversation_turn: Flag optional,
        ],
        judged: llm_request,
        rewritable: llm_request,
    }
    /// A model has answered.
    AfterModel {
        name: "after-model",
        fires: "after a model has answered, with the whole response",
        gating: false,
        fields: [llm_request: Object needed conversation, llm_response: Object needed conversation],
        judged: llm_response,
        rewritable: llm_response,
    }
    /// A model request with tool definitions is about to be sent.
    ToolSelection {
        name: "tool-selection",
        fires: "before a model request with tool definitions is sent",
        gating: false,
        fields: [llm_request: Object needed conversation],
    }
    /// The conversation is about to be compressed.
    BeforeCompact {
        name: "before-compact",
        fires: "before the conversation is compressed",
        gating: true,
        fields: [
            trigger: Text,
            message_count: Number,
            token_estimate: Number,
            preparation: Object conversation,
            branch_entries: List conversation,
            custom_instructions: Text optional conversation,
        ],
        subject: trigger,
    }
    /// The summary for a compression is about to be asked for.
    Compacting {
        name: "compacting",
        fires: "when the summary for a compression is about to be asked for",
        gating: false,
        fields: [session_id: Text, messages: List conversation],
    }
    /// The conversation was compressed.
    AfterCompact {
        name: "after-compact",
        fires: "after the conversation was compressed",
        gating: false,
        fields: [
            trigger: Text,
            message_count: Number,
            summary: Text conversation,
            compaction_entry: Any conversation,
            from_extension: Flag,
        ],
    }
    /// Compression starts by itself.
    AutoCompactionStart {
        name: "auto-compaction-start",
        fires: "when compression starts by itself",
        gating: false,
        fields: [reason: Text, action: Text],
    }
    /// Compression by itself has ended.
    AutoCompactionEnd {
        name: "auto-compaction-end",
        fires: "when compression by itself has ended",
        gating: false,
        fields: [
            action: Text,
            result: Any optional conversation,
            aborted: Flag,
            will_retry: Flag,
            error_message: Text optional,
            skipped: Flag optional,
        ],
    }
    /// A failed model call is about to be tried again.
    AutoRetryStart {
        name: "auto-retry-start",
        fires: "when a failed model call is about to be tried again",
        gating: false,
        fields: [attempt: Number, max_attempts: Number, delay_ms: Number, error_message: Text],
    }
    /// Trying a model call again has ended.
    AutoRetryEnd {
        name: "auto-retry-end",
        fires: "when trying again has ended",
        gating: false,
        fields: [success: Flag, attempt: Number, final_error: Text optional],
    }
    /// A sub-agent is started.
    SubagentStart {
        name: "subagent-start",
        fires: "when a sub-agent is started",
        gating: false,
        fields: [agent: Object quoting],
    }
    /// A sub-agent has finished.
    SubagentStop {
        name: "subagent-stop",
        fires: "when a sub-agent has finished",
        gating: false,
        fields: [agent: Object, duration_ms: Number, outcome: Text, token_usage: Object optional],
    }
    /// Another session is about to become the current one.
    SessionBeforeSwitch {
        name: "session-before-switch",
        fires: "before another session becomes the current one",
        gating: true,
        fields: [reason: Text, target_session_file: Text optional],
    }
    /// Another session became the current one.
    SessionSwitch {
        name: "session-switch",
        fires: "after another session became the current one",
        gating: false,
        fields: [reason: Text, previous_session_file: Text optional],
    }
    /// A session is about to branch.
    SessionBeforeBranch {
        name: "session-before-branch",
        fires: "before a session branches",
        gating: true,
        fields: [entry_id: Text],
    }
    /// A session branched.
    SessionBranch {
        name: "session-branch",
        fires: "after a session branched",
        gating: false,
        fields: [previous_session_file: Text optional],
    }
    /// The agent is about to move to another place in the session tree.
    SessionBeforeTree {
        name: "session-before-tree",
        fires: "before moving to another place in the session tree",
        gating: true,
        fields: [preparation: Object conversation],
    }
    /// The agent moved to another place in the session tree.
    SessionTree {
        name: "session-tree",
        fires: "after moving to another place in the session tree",
        gating: false,
        fields: [
            new_leaf_id: Any,
            old_leaf_id: Any,
            summary_entry: Any optional conversation,
            from_extension: Flag optional,
        ],
    }
    /// Stream rules were triggered.
    RuleTriggered {
        name: "rule-triggered",
        fires: "when stream rules were triggered",
        gating: false,
        fields: [rules: List],
    }
    /// The agent is reminded of its open tasks.
    TodoReminder {
        name: "todo-reminder",
        fires: "when the agent is reminded of its open tasks",
        gating: false,
        fields: [todos: List, attempt: Number, max_attempts: Number],
    }
    /// The user is about to be notified.
    Notification {
        name: "notification",
        fires: "when the user is about to be notified",
        gating: false,
        fields: [notification_type: Text needed, message: Text needed non_empty, details: Object needed],
        subject: notification_type,
    }
}

//! The events of the agents and the neutral events they become.

use hookrail::EventKind;

use crate::Agent;

/// The form in which an agent expects the answer to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    /// Claude Code's, also used by Copilot for events with Claude's names.
    Claude,
    /// Codex CLI's.
    Codex,
    /// Gemini CLI's.
    Gemini,
    /// Qwen Code's.
    Qwen,
    /// Copilot CLI's own, for its events in camel case.
    Copilot,
    /// The form that the generated plugin files read.
    Plugin,
}

/// One event of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentEvent {
    /// The agent's name for it.
    pub name: &'static str,
    /// The neutral event.
    pub kind: EventKind,
    /// The form of the answer.
    pub form: AnswerForm,
}

impl AgentEvent {
    /// Whether the event comes before an operation that a guard can keep from happening. The end of an answer and a compaction
    /// do not count: to deny one when hookrail fails protects nothing and keeps the agent from finishing.
    #[must_use]
    pub fn guards_an_operation(&self) -> bool {
        self.kind.spec().is_gating() && !matches!(self.kind, EventKind::AgentEnd | EventKind::BeforeCompact)
    }
}

const fn event(name: &'static str, kind: EventKind, form: AnswerForm) -> AgentEvent {
    AgentEvent { name, kind, form }
}

macro_rules! claude_events {
    ($form:ident: $($name:literal => $kind:ident),+ $(,)?) => {
        &[$(event($name, EventKind::$kind, AnswerForm::$form)),+]
    };
}

static CLAUDE: &[AgentEvent] = claude_events! { Claude:
    "SessionStart" => SessionStart,
    "SessionEnd" => SessionEnd,
    "UserPromptSubmit" => Prompt,
    "PreToolUse" => BeforeTool,
    "PostToolUse" => AfterTool,
    "PostToolUseFailure" => AfterTool,
    "PostToolBatch" => TurnEnd,
    "Stop" => AgentEnd,
    "PreCompact" => BeforeCompact,
    "PostCompact" => AfterCompact,
    "SubagentStart" => SubagentStart,
    "SubagentStop" => SubagentStop,
    "Notification" => Notification,
};

static CODEX: &[AgentEvent] = claude_events! { Codex:
    "SessionStart" => SessionStart,
    "SessionEnd" => SessionEnd,
    "UserPromptSubmit" => Prompt,
    "PreToolUse" => BeforeTool,
    "PostToolUse" => AfterTool,
    "Stop" => AgentEnd,
    "PreCompact" => BeforeCompact,
    "PostCompact" => AfterCompact,
    "SubagentStart" => SubagentStart,
    "SubagentStop" => SubagentStop,
};

static GEMINI: &[AgentEvent] = claude_events! { Gemini:
    "SessionStart" => SessionStart,
    "SessionEnd" => SessionEnd,
    "BeforeAgent" => Prompt,
    "AfterAgent" => AgentEnd,
    "BeforeModel" => BeforeModel,
    "AfterModel" => AfterModel,
    "BeforeToolSelection" => ToolSelection,
    "BeforeTool" => BeforeTool,
    "AfterTool" => AfterTool,
    "PreCompress" => BeforeCompact,
    "Notification" => Notification,
};

static QWEN: &[AgentEvent] = claude_events! { Qwen:
    "SessionStart" => SessionStart,
    "SessionEnd" => SessionEnd,
    "UserPromptSubmit" => Prompt,
    "PreToolUse" => BeforeTool,
    "PostToolUse" => AfterTool,
    "PostToolUseFailure" => AfterTool,
    "PostToolBatch" => TurnEnd,
    "Stop" => AgentEnd,
    "PreCompact" => BeforeCompact,
    "PostCompact" => AfterCompact,
    "SubagentStart" => SubagentStart,
    "SubagentStop" => SubagentStop,
    "Notification" => Notification,
};

static COPILOT: &[AgentEvent] = claude_events! { Copilot:
    "sessionStart" => SessionStart,
    "sessionEnd" => SessionEnd,
    "userPromptSubmitted" => Prompt,
    "preToolUse" => BeforeTool,
    "postToolUse" => AfterTool,
    "postToolUseFailure" => AfterTool,
    "agentStop" => AgentEnd,
    "preCompact" => BeforeCompact,
    "subagentStart" => SubagentStart,
    "subagentStop" => SubagentStop,
    "notification" => Notification,
};

static OPENCODE: &[AgentEvent] = claude_events! { Plugin:
    "session.created" => SessionStart,
    "chat.message" => Prompt,
    "tool.execute.before" => BeforeTool,
    "tool.execute.after" => AfterTool,
    "session.idle" => AgentEnd,
    "experimental.session.compacting" => BeforeCompact,
};

static PI: &[AgentEvent] = claude_events! { Plugin:
    "session_start" => SessionStart,
    "session_shutdown" => SessionEnd,
    "before_agent_start" => Prompt,
    "tool_call" => BeforeTool,
    "tool_result" => AfterTool,
    "agent_end" => AgentEnd,
    "turn_end" => TurnEnd,
    "session_before_compact" => BeforeCompact,
    "session_compact" => AfterCompact,
};

impl Agent {
    /// The events of the agent that hooks can take part in.
    #[must_use]
    pub const fn events(self) -> &'static [AgentEvent] {
        match self {
            Self::Claude => CLAUDE,
            Self::Codex => CODEX,
            Self::Gemini => GEMINI,
            Self::Qwen => QWEN,
            Self::Copilot => COPILOT,
            Self::OpenCode => OPENCODE,
            Self::Pi => PI,
        }
    }

    /// The event with a name of the agent. Copilot also fires events under Claude Code's names and then expects Claude
    /// Code's answers.
    #[must_use]
    pub fn find_event(self, name: &str) -> Option<AgentEvent> {
        let own = self.events().iter().find(|event| event.name == name);
        let shared = || CLAUDE.iter().find(|event| self == Self::Copilot && event.name == name);
        own.or_else(shared).copied()
    }

    /// Whether the agent fires a neutral event, or its generated plugin does.
    #[must_use]
    pub fn fires(self, kind: EventKind) -> bool {
        self.event_name(kind).is_some()
    }

    /// Whether the bridge leaves a neutral event of the agent out unless it is told to fire noisy events: Gemini fires its
    /// event before every model call, although nothing is compacted.
    #[must_use]
    pub const fn is_filtered(self, kind: EventKind) -> bool {
        matches!((self, kind), (Self::Gemini, EventKind::BeforeCompact))
    }

    /// Whether the agent fires a neutral event for every piece of a response that it streams. Unless the bridge is told to fire
    /// noisy events, it gathers the pieces and fires the event once, with the last one.
    #[must_use]
    pub const fn streams(self, kind: EventKind) -> bool {
        matches!((self, kind), (Self::Gemini, EventKind::AfterModel))
    }

    /// How long the agent waits for hooks at an event, in milliseconds, if that is less than its settings can say.
    #[must_use]
    pub const fn longest_wait_ms(self, kind: EventKind) -> Option<u32> {
        match (self, kind) {
            (Self::Claude, EventKind::SessionEnd) => Some(1500),
            (Self::Codex, EventKind::SessionEnd) => Some(1000),
            _ => None,
        }
    }

    /// The name under which the agent fires a neutral event, when it does. Failed tools have an event of their own in some
    /// agents; this is the name for those that worked.
    #[must_use]
    pub fn event_name(self, kind: EventKind) -> Option<&'static str> {
        self.events().iter().find(|event| event.kind == kind).map(|event| event.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_file_passes_on_every_event_of_its_agent() {
        for agent in Agent::ALL {
            let Some(file) = agent.plugin_template() else { continue };
            for event in agent.events() {
                assert!(file.contains(&format!("ask(project, \"{}\"", event.name)), "{agent}: {}", event.name);
            }
        }
    }
}

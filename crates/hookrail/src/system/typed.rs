//! A method for each event that takes exactly what that event needs.

use super::{Fire, HookSystem};
use crate::event::{Event, EventKind};
use crate::json::Json;

impl HookSystem {
    /// An event in the project's directory, now.
    #[must_use]
    pub fn event(&self, kind: EventKind) -> Event {
        Event::new(kind, self.project())
    }

    /// Fires an event that is made only if a hook may take part in it.
    fn fire_if_wanted(&self, kind: EventKind, complete: impl FnOnce(Event) -> Event) -> Fire {
        if self.is_observed(kind) { self.fire(complete(self.event(kind))) } else { Fire::untouched(kind) }
    }

    /// Fires an event about a tool that is made only if a hook takes part in it: most tool calls concern none.
    fn fire_about_tool(&self, kind: EventKind, tool: &str, input: Json, complete: impl FnOnce(Event) -> Event) -> Fire {
        if self.has_hooks_for(kind)
            && let Some(outcome) = self.known_outcome(kind, tool, &input)
        {
            return Fire::with_outcome(outcome.into());
        }
        self.fire_if_wanted(kind, |event| complete(event.with_text("tool_name", tool).with("tool_input", input)))
    }

    /// Fires `before-tool`.
    pub fn fire_before_tool(&self, tool: &str, input: Json) -> Fire {
        self.fire_about_tool(EventKind::BeforeTool, tool, input, |event| event)
    }

    /// Fires `after-tool`.
    pub fn fire_after_tool(&self, tool: &str, input: Json, response: Json) -> Fire {
        self.fire_about_tool(EventKind::AfterTool, tool, input, |event| event.with("tool_response", response))
    }

    /// Fires `before-model`.
    pub fn fire_before_model(&self, request: Json) -> Fire {
        self.fire_if_wanted(EventKind::BeforeModel, |event| event.with("llm_request", request))
    }

    /// Fires `after-model`.
    pub fn fire_after_model(&self, request: Json, response: Json) -> Fire {
        self.fire_if_wanted(EventKind::AfterModel, |event| {
            event.with("llm_request", request).with("llm_response", response)
        })
    }

    /// Fires `tool-selection`.
    pub fn fire_tool_selection(&self, request: Json) -> Fire {
        self.fire_if_wanted(EventKind::ToolSelection, |event| event.with("llm_request", request))
    }

    /// Fires `prompt`.
    pub fn fire_prompt(&self, prompt: &str) -> Fire {
        self.fire_if_wanted(EventKind::Prompt, |event| event.with_text("prompt", prompt))
    }

    /// Fires `agent-end`. `is_sent_back` says whether a hook sent the agent back to work before.
    pub fn fire_agent_end(&self, prompt: &str, response: &str, is_sent_back: bool) -> Fire {
        self.fire_if_wanted(EventKind::AgentEnd, |event| {
            let event = event.with_text("prompt", prompt).with_text("prompt_response", response);
            event.with("stop_hook_active", Json::boolean(is_sent_back))
        })
    }

    /// Fires `before-compact`.
    pub fn fire_before_compact(&self, trigger: &str) -> Fire {
        self.fire_if_wanted(EventKind::BeforeCompact, |event| event.with_text("trigger", trigger))
    }

    /// Fires `notification`.
    pub fn fire_notification(&self, kind: &str, message: &str, details: Json) -> Fire {
        self.fire_if_wanted(EventKind::Notification, |event| {
            event.with_text("notification_type", kind).with_text("message", message).with("details", details)
        })
    }

    /// Fires `session-start`.
    pub fn fire_session_start(&self, source: &str) -> Fire {
        self.fire_if_wanted(EventKind::SessionStart, |event| event.with_text("source", source))
    }

    /// Fires `session-end`.
    pub fn fire_session_end(&self, reason: &str) -> Fire {
        self.fire_if_wanted(EventKind::SessionEnd, |event| event.with_text("reason", reason))
    }
}

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

    /// Fires `before-tool`.
    pub fn fire_before_tool(&self, tool: &str, input: Json) -> Fire {
        self.fire(self.event(EventKind::BeforeTool).with_text("tool_name", tool).with("tool_input", input))
    }

    /// Fires `after-tool`.
    pub fn fire_after_tool(&self, tool: &str, input: Json, response: Json) -> Fire {
        let event = self.event(EventKind::AfterTool).with_text("tool_name", tool);
        self.fire(event.with("tool_input", input).with("tool_response", response))
    }

    /// Fires `before-model`.
    pub fn fire_before_model(&self, request: Json) -> Fire {
        self.fire(self.event(EventKind::BeforeModel).with("llm_request", request))
    }

    /// Fires `after-model`.
    pub fn fire_after_model(&self, request: Json, response: Json) -> Fire {
        self.fire(self.event(EventKind::AfterModel).with("llm_request", request).with("llm_response", response))
    }

    /// Fires `tool-selection`.
    pub fn fire_tool_selection(&self, request: Json) -> Fire {
        self.fire(self.event(EventKind::ToolSelection).with("llm_request", request))
    }

    /// Fires `prompt`.
    pub fn fire_prompt(&self, prompt: &str) -> Fire {
        self.fire(self.event(EventKind::Prompt).with_text("prompt", prompt))
    }

    /// Fires `session-start`.
    pub fn fire_session_start(&self, source: &str) -> Fire {
        self.fire(self.event(EventKind::SessionStart).with_text("source", source))
    }

    /// Fires `session-end`.
    pub fn fire_session_end(&self, reason: &str) -> Fire {
        self.fire(self.event(EventKind::SessionEnd).with_text("reason", reason))
    }
}

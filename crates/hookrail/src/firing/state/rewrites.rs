//! What hooks have rewritten between the first part of an event and its last.

use super::Firing;
use crate::event::{Event, EventKind};
use crate::json::Json;
use crate::outcome::Decision;
use crate::payload::{ModelResponse, request_with_changes, response_with_changes, response_with_only_text};

impl Firing {
    /// Notes what was rewritten as effects of the outcome. A denied event has none.
    pub(super) fn finalize_rewrites(&mut self) {
        let changed = |field: &str| {
            let now = self.event.field(field)?;
            (self.original.field(field) != Some(now)).then(|| now.clone())
        };
        let effects = &mut self.outcome.effects;
        if effects.decision == Some(Decision::Deny) {
            effects.tool_input = None;
            effects.prompt = None;
            effects.llm_request = None;
            return;
        }
        effects.tool_input = changed("tool_input");
        effects.llm_request = changed("llm_request");
        effects.prompt = changed("prompt").and_then(|prompt| prompt.as_str());
        if let Some(response) = changed("llm_response") {
            effects.llm_response = Some(response);
        }
        self.outcome.native_request = native(&self.original, "llm_request", "contents")
            .zip(effects.llm_request.as_ref())
            .map(|(base, changed)| request_with_changes(changed, base));
        self.outcome.native_response = native(&self.original, "llm_response", "candidates")
            .zip(effects.llm_response.as_ref())
            .map(|(base, changed)| response_with_changes(changed, base));
        // After a stop nothing of the model's response may be used but the reason: no text and no tool call.
        if self.event.kind() == EventKind::AfterModel
            && let Some(stop) = &effects.stop
        {
            self.outcome.native_response = native(&self.original, "llm_response", "candidates")
                .map(|base| response_with_only_text(base, &stop.reason));
            effects.llm_response = Some(ModelResponse::of_text(&stop.reason).to_json());
        }
    }
}

/// A document of the host in the form of its provider, which is recognised by that member.
fn native<'e>(event: &'e Event, field: &str, member: &str) -> Option<&'e Json> {
    event.field(field).filter(|document| document.as_object().is_some_and(|members| members.get(member).is_some()))
}

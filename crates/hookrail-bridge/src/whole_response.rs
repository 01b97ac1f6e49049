//! The response that an agent streamed in pieces, as hooks are asked about it: whole. What they change in pieces that are
//! out already cannot be taken back.

use hookrail::{Event, EventKind, Json};
use serde_json::{Value, json};

use crate::answer::EventResult;
use crate::effect::{EffectKind, Handling};
use crate::loss::Loss;
use crate::pieces::{UnfinishedResponse, response_text};
use crate::request::AgentRequest;

impl UnfinishedResponse {
    /// Gives the event of the last piece the whole response.
    #[must_use]
    pub fn complete(&self, request: AgentRequest) -> AgentRequest {
        let completed = |event: Event| {
            let Some(response) = event.field("llm_response") else { return event };
            let mut response = response.to_value();
            let whole = format!("{}{}", self.text, response_text(&response));
            set_text(&mut response, &whole);
            event.with("llm_response", Json::from(response))
        };
        AgentRequest { events: request.events.into_iter().map(completed).collect(), ..request }
    }

    /// Makes what hooks want of the whole response into what can be done with its last piece. Returns what is lost.
    pub fn fit(&self, results: &mut [EventResult]) -> Option<Loss> {
        let mut lost = None;
        for result in results {
            // A stop ends the answer, and its reason stands for the last piece.
            let Some(response) = result.effects.llm_response.as_ref().filter(|_| result.effects.stop.is_none()) else {
                continue;
            };
            let mut response = response.to_value();
            let wanted = response_text(&response);
            let last = match wanted.strip_prefix(&self.text) {
                Some(last) => last.to_owned(),
                None => {
                    let handling = Handling::FollowsResponse;
                    lost = Some(Loss { event: EventKind::AfterModel, effect: EffectKind::ModelResponse, handling });
                    format!("\n\n[a hook replaces this response by:]\n{wanted}")
                }
            };
            set_text(&mut response, &last);
            result.effects.llm_response = Some(Json::from(response));
        }
        lost
    }
}

/// Replaces the text of a response. Parts that are no text stay.
fn set_text(response: &mut Value, text: &str) {
    if let Some(own) = response.get_mut("text") {
        *own = json!(text);
    }
    let Some(parts) = response.pointer_mut("/candidates/0/content/parts").and_then(Value::as_array_mut) else { return };
    let is_text = |part: &Value| part.is_string() || part.get("text").is_some_and(Value::is_string);
    let has_objects = parts.iter().any(|part| is_text(part) && part.is_object());
    parts.retain(|part| !is_text(part));
    parts.insert(0, if has_objects { json!({ "text": text }) } else { json!(text) });
}

#[cfg(test)]
mod tests {
    use hookrail::Effects;

    use super::*;

    fn wanting(text: &str) -> [EventResult; 1] {
        let response = json!({ "text": text, "candidates": [{ "content": { "parts": [text] } }] });
        let effects = Effects { llm_response: Some(Json::from(response)), ..Effects::none() };
        [EventResult { effects, ..EventResult::default() }]
    }

    #[test]
    fn a_change_of_the_last_piece_is_honoured_and_any_other_follows_the_response() {
        let earlier: UnfinishedResponse = serde_json::from_value(json!({ "text": "the key is " })).unwrap();
        let mut results = wanting("the key is [redacted]");
        assert_eq!(earlier.fit(&mut results), None);
        let text =
            |results: &[EventResult]| response_text(&results[0].effects.llm_response.as_ref().unwrap().to_value());
        assert_eq!(text(&results), "[redacted]");
        let mut results = wanting("nothing to see");
        let lost = earlier.fit(&mut results).unwrap();
        assert_eq!((lost.name().as_str(), lost.handling), ("loss.model-response", Handling::FollowsResponse));
        assert_eq!(text(&results), "\n\n[a hook replaces this response by:]\nnothing to see");
    }
}

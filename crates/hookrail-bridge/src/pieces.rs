//! Gathers the pieces of a response that an agent streams.
//!
//! Gemini CLI fires its event for every piece and shows each piece when its hooks have answered. A hook that judges a response
//! needs the whole of it: a secret may stand in an early piece, or in two. So the pieces are kept until the last one comes,
//! and the hooks are asked once. What they change in pieces that are out already cannot be taken back.

use hookrail::{EventKind, Json, JsonObject};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::Agent;
use crate::answer::EventResult;
use crate::effect::{EffectKind, Handling};
use crate::loss::Loss;
use crate::request::AgentRequest;
use crate::session::BridgeSession;

/// The longest text of one response that is kept, in bytes. The state of a session must stay small.
const LONGEST_RESPONSE: usize = 1 << 20;

/// The highest number of responses that are kept at a time. A response that the user interrupts never gets its last piece.
const MOST_RESPONSES: usize = 4;

/// One piece of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponsePiece {
    /// The agent that streams it.
    pub agent: Agent,
    /// What tells the sessions of the agent apart.
    pub session: Option<String>,
    /// The call of the model that it belongs to: parallel calls have different requests.
    call: String,
    text: String,
    /// Whether more pieces follow.
    pub place: PiecePlace,
}

/// The place of a piece in its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PiecePlace {
    /// More pieces follow.
    GoesOn,
    /// It is the last one, or the whole response.
    Last,
}

impl ResponsePiece {
    /// Reads the piece in a payload; none if the payload has no response with candidates.
    pub(crate) fn read(agent: Agent, members: &JsonObject, session: Option<String>) -> Option<Self> {
        let response = members.get("llm_response")?.to_value();
        let candidates = response.get("candidates")?.as_array()?;
        let is_finished = |candidate: &Value| {
            candidate.get("finishReason").and_then(Value::as_str).is_some_and(|reason| !reason.is_empty())
        };
        let place = if candidates.iter().any(is_finished) { PiecePlace::Last } else { PiecePlace::GoesOn };
        let request = members.get("llm_request").map(Json::text).unwrap_or_default();
        let digest = Sha256::digest(request);
        let call = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Some(Self { agent, session, call, text: response_text(&response), place })
    }
}

/// The pieces of a response whose last piece has not come yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnfinishedResponse {
    call: String,
    text: String,
    /// The bytes that were not kept.
    left_out: usize,
}

impl BridgeSession {
    /// Keeps a piece until the last one comes.
    pub fn keep_piece(&mut self, piece: &ResponsePiece) {
        let kept = match self.responses.iter().position(|response| response.call == piece.call) {
            Some(at) => self.responses.remove(at),
            None => UnfinishedResponse { call: piece.call.clone(), ..UnfinishedResponse::default() },
        };
        self.responses.push(kept.with(&piece.text));
        // The response that was continued least recently was most likely interrupted.
        while self.responses.len() > MOST_RESPONSES {
            self.responses.remove(0);
        }
    }

    /// Removes and returns the pieces before the last one, if there are any.
    pub fn take_pieces(&mut self, last: &ResponsePiece) -> Option<UnfinishedResponse> {
        let at = self.responses.iter().position(|response| response.call == last.call)?;
        Some(self.responses.remove(at)).filter(|response| !response.text.is_empty())
    }
}

impl UnfinishedResponse {
    fn with(mut self, text: &str) -> Self {
        if self.left_out == 0 && self.text.len() + text.len() <= LONGEST_RESPONSE {
            self.text.push_str(text);
        } else {
            self.left_out += text.len();
        }
        self
    }

    /// What hooks do not see, for people.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "the response is too long to be kept; hooks did not see {} bytes in the middle of it",
                self.left_out
            )
        })
    }

    /// Gives the event of the last piece the whole response.
    pub fn complete(&self, request: &mut AgentRequest) {
        for event in &mut request.events {
            let Some(response) = event.field("llm_response") else { continue };
            let mut response = response.to_value();
            let whole = format!("{}{}", self.text, response_text(&response));
            set_text(&mut response, &whole);
            *event = event.clone().with("llm_response", Json::from(response));
        }
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

/// The text of a response: that of its first candidate, else its own.
fn response_text(response: &Value) -> String {
    let parts = response.pointer("/candidates/0/content/parts").and_then(Value::as_array);
    let part_text = |part: &Value| part.as_str().or_else(|| part.get("text")?.as_str()).map(str::to_owned);
    match parts {
        Some(parts) => parts.iter().filter_map(part_text).collect(),
        None => response.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
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

    fn payload(request: &str, text: &str, reason: Option<&str>) -> JsonObject {
        let mut candidate = json!({ "content": { "role": "model", "parts": [text] }, "index": 0 });
        if let Some(reason) = reason {
            candidate["finishReason"] = json!(reason);
        }
        let response = json!({ "text": text, "candidates": [candidate] });
        Json::from(json!({ "llm_request": { "model": request }, "llm_response": response })).as_object().unwrap()
    }

    fn piece(request: &str, text: &str, reason: Option<&str>) -> ResponsePiece {
        ResponsePiece::read(Agent::Gemini, &payload(request, text, reason), None).unwrap()
    }

    fn wanting(text: &str) -> [EventResult; 1] {
        let response = json!({ "text": text, "candidates": [{ "content": { "parts": [text] } }] });
        let effects = Effects { llm_response: Some(Json::from(response)), ..Effects::none() };
        [EventResult { effects, denied_by: None }]
    }

    #[test]
    fn the_pieces_of_parallel_calls_are_kept_apart_and_taken_once() {
        let mut session = BridgeSession::default();
        for (call, text) in [("one", "a"), ("two", "x"), ("one", "b")] {
            let piece = piece(call, text, None);
            assert_eq!(piece.place, PiecePlace::GoesOn);
            session.keep_piece(&piece);
        }
        let last = piece("one", "c", Some("STOP"));
        assert_eq!(last.place, PiecePlace::Last);
        assert_eq!(session.take_pieces(&last).unwrap().text, "ab");
        assert_eq!(session.take_pieces(&last), None);
        assert_eq!(session.take_pieces(&piece("two", "", Some("STOP"))).unwrap().text, "x");
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_is_left_out_is_told() {
        let mut session = BridgeSession::default();
        for call in 0..100 {
            session.keep_piece(&piece(&call.to_string(), "a", None));
        }
        assert_eq!(session.responses.len(), MOST_RESPONSES);
        let long = "x".repeat(LONGEST_RESPONSE - 10);
        for _ in 0..2 {
            session.keep_piece(&piece("long", &long, None));
        }
        let kept = session.take_pieces(&piece("long", "", Some("STOP"))).unwrap();
        assert_eq!((kept.text.len(), kept.left_out), (long.len(), long.len()));
        assert!(kept.warning().unwrap().contains(&long.len().to_string()));
    }

    #[test]
    fn a_change_of_the_last_piece_is_honoured_and_any_other_follows_the_response() {
        let earlier = UnfinishedResponse { text: "the key is ".to_owned(), ..UnfinishedResponse::default() };
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

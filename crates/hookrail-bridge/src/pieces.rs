//! Gathers the pieces of a response that an agent streams.
//!
//! An agent that fires its event for every piece shows each piece when its hooks have answered. A hook that judges a response
//! needs the whole of it: a secret may stand in an early piece, or in two. So the pieces are kept until the last one comes,
//! and the hooks are asked once, about the [whole response](crate::whole_response).

use hookrail::trust::Digest;
use hookrail::{Json, JsonObject};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agents::Agent;

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
        let mut call = Digest::of(request.as_bytes()).hex();
        call.truncate(32);
        Some(Self { agent, session, call, text: response_text(&response), place })
    }
}

/// The pieces of a response whose last piece has not come yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnfinishedResponse {
    call: String,
    pub(crate) text: String,
    /// The bytes that were not kept.
    left_out: usize,
}

/// Keeps a piece until the last one comes.
pub(crate) fn keep(responses: &mut Vec<UnfinishedResponse>, piece: &ResponsePiece) {
    let kept = match responses.iter().position(|response| response.call == piece.call) {
        Some(at) => responses.remove(at),
        None => UnfinishedResponse { call: piece.call.clone(), ..UnfinishedResponse::default() },
    };
    responses.push(kept.with(&piece.text));
    // The response that was continued least recently was most likely interrupted.
    while responses.len() > MOST_RESPONSES {
        responses.remove(0);
    }
}

/// Removes and returns the pieces before the last one, if there are any.
pub(crate) fn take(responses: &mut Vec<UnfinishedResponse>, last: &ResponsePiece) -> Option<UnfinishedResponse> {
    let at = responses.iter().position(|response| response.call == last.call)?;
    Some(responses.remove(at)).filter(|response| !response.text.is_empty())
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
}

/// The text of a response: that of its first candidate, else its own.
pub(crate) fn response_text(response: &Value) -> String {
    let parts = response.pointer("/candidates/0/content/parts").and_then(Value::as_array);
    let part_text = |part: &Value| part.as_str().or_else(|| part.get("text")?.as_str()).map(str::to_owned);
    match parts {
        Some(parts) => parts.iter().filter_map(part_text).collect(),
        None => response.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::BridgeSession;

    fn payload(request: &str, text: &str, reason: Option<&str>) -> JsonObject {
        let mut candidate = json!({ "content": { "role": "model", "parts": [text] }, "index": 0 });
        if let Some(reason) = reason {
            candidate["finishReason"] = json!(reason);
        }
        let response = json!({ "text": text, "candidates": [candidate] });
        Json::from(json!({ "llm_request": { "model": request }, "llm_response": response })).as_object().unwrap()
    }

    fn piece(request: &str, text: &str, reason: Option<&str>) -> ResponsePiece {
        ResponsePiece::read(Agent::gemini(), &payload(request, text, reason), None).unwrap()
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
}

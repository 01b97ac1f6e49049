//! Gemini.

use serde_json::{Value, json};

use super::{Reply, StreamEvent, Turn};

pub(super) fn reply(turn: &Turn) -> Reply {
    let document = |parts: Vec<Value>, finish_reason: Option<&str>| {
        let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
        if let (Some(members), Some(reason)) = (candidate.as_object_mut(), finish_reason) {
            members.insert("finishReason".to_owned(), json!(reason));
        }
        json!({
            "candidates": [candidate], "modelVersion": turn.model, "responseId": format!("resp_{:04}", turn.number),
            "usageMetadata": {
                "promptTokenCount": turn.input_tokens(), "candidatesTokenCount": 5,
                "totalTokenCount": turn.input_tokens().saturating_add(5),
            },
        })
    };
    let text = turn.step.text.as_deref().unwrap_or_default();
    let texts = if turn.streamed { pieces(text, turn.step.pieces.unwrap_or(1)) } else { vec![text.to_owned()] };
    let texts = texts.into_iter().filter(|text| !text.is_empty()).map(|text| json!({"text": text}));
    let calls = turn.step.calls.iter().enumerate().map(
        |(at, call)| json!({"functionCall": {"id": turn.call_id(call, at), "name": call.name, "args": call.input}}),
    );
    if !turn.streamed {
        return Reply::Document(document(texts.chain(calls).collect(), Some("STOP")));
    }
    // Each piece of the text is a separate answer; the calls come with the last one.
    let mut groups: Vec<Vec<Value>> = texts.map(|text| vec![text]).collect();
    let mut last = groups.pop().unwrap_or_default();
    last.extend(calls);
    let mut events: Vec<StreamEvent> =
        groups.into_iter().map(|parts| StreamEvent::unnamed(&document(parts, None))).collect();
    events.push(StreamEvent::unnamed(&document(last, Some("STOP"))));
    Reply::Stream(events)
}

/// A text in about this many pieces.
fn pieces(text: &str, count: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = letters.len().div_ceil(count.max(1)).max(1);
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

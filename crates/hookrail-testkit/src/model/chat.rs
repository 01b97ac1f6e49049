//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{Reply, StreamEvent, Turn};

pub(super) fn reply(turn: &Turn) -> Reply {
    let calls: Vec<Value> = turn
        .step
        .calls
        .iter()
        .enumerate()
        .map(|(at, call)| {
            json!({
                "index": at, "id": turn.call_id(call, at), "type": "function",
                "function": {"name": call.name, "arguments": call.input.to_string()},
            })
        })
        .collect();
    let finish_reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let usage = json!({
        "prompt_tokens": turn.input_tokens(), "completion_tokens": 5,
        "total_tokens": turn.input_tokens().saturating_add(5),
    });
    let document = |object: &str, choices: Value, usage: Value| {
        json!({
            "id": format!("chatcmpl-{:04}", turn.number), "object": object, "created": 1_700_000_000,
            "model": turn.model, "choices": choices, "usage": usage,
        })
    };
    if !turn.streamed {
        let mut message = json!({"role": "assistant", "content": turn.step.text});
        if let Some(members) = message.as_object_mut().filter(|_| !calls.is_empty()) {
            members.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        let choices = json!([{"index": 0, "message": message, "finish_reason": finish_reason}]);
        return Reply::Document(document("chat.completion", choices, usage));
    }
    let chunk = |choices: Value, usage: Value| StreamEvent::unnamed(&document("chat.completion.chunk", choices, usage));
    let piece = |delta: Value, finish_reason: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish_reason}]), Value::Null)
    };
    let text = turn.step.text.as_deref().unwrap_or_default();
    let mut events = vec![piece(json!({"role": "assistant", "content": text}), None)];
    if !calls.is_empty() {
        events.push(piece(json!({"tool_calls": calls}), None));
    }
    events.push(piece(json!({}), Some(finish_reason)));
    events.push(chunk(json!([]), usage));
    events.push(StreamEvent { name: None, data: "[DONE]".to_owned() });
    Reply::Stream(events)
}

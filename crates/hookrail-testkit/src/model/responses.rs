//! OpenAI Responses.

use serde_json::{Value, json};

use super::{ModelCall, Reply, StreamEvent, Turn};

pub(super) fn reply(turn: &Turn) -> Reply {
    let items = items(turn);
    let response = |status: &str, output: &[Value], usage: Value| {
        json!({
            "id": format!("resp_{:04}", turn.number), "object": "response", "created_at": 1_700_000_000,
            "status": status, "model": turn.model, "output": output, "usage": usage,
        })
    };
    let usage = json!({
        "input_tokens": turn.input_tokens(), "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": turn.input_tokens().saturating_add(5),
    });
    let completed = response("completed", &items, usage);
    if !turn.streamed {
        return Reply::Document(completed);
    }
    let created = response("in_progress", &[], Value::Null);
    let mut events = vec![StreamEvent::named("response.created", json!({"response": created}))];
    for (index, item) in items.iter().enumerate() {
        let place = json!({"output_index": index, "item": item});
        events.push(StreamEvent::named("response.output_item.added", place.clone()));
        if let (Some("message"), Some(text)) = (item.get("type").and_then(Value::as_str), &turn.step.text) {
            let id = item.get("id");
            let delta = json!({"output_index": index, "content_index": 0, "item_id": id, "delta": text});
            events.push(StreamEvent::named("response.output_text.delta", delta));
        }
        events.push(StreamEvent::named("response.output_item.done", place));
    }
    events.push(StreamEvent::named("response.completed", json!({"response": completed})));
    Reply::Stream(events)
}

fn items(turn: &Turn) -> Vec<Value> {
    let text = turn.step.text.iter().map(|text| {
        json!({
            "type": "message", "id": format!("msg_{:04}", turn.number), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        })
    });
    let calls = turn.step.calls.iter().enumerate().map(|(at, call)| call_item(turn, call, at));
    text.chain(calls).collect()
}

fn call_item(turn: &Turn, call: &ModelCall, at: usize) -> Value {
    let mut item = json!({
        "id": format!("fc_{:04}{at}", turn.number), "call_id": turn.call_id(call, at),
        "name": call.name, "status": "completed",
    });
    if let Some(members) = item.as_object_mut() {
        if call.custom {
            members.insert("type".to_owned(), json!("custom_tool_call"));
            members.insert("input".to_owned(), call.input.clone());
        } else {
            members.insert("type".to_owned(), json!("function_call"));
            members.insert("arguments".to_owned(), json!(call.input.to_string()));
        }
        if let Some(namespace) = &call.namespace {
            members.insert("namespace".to_owned(), json!(namespace));
        }
    }
    item
}

//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Reply, StreamEvent, Turn};

pub(super) fn reply(turn: &Turn) -> Reply {
    let stop_reason = if turn.step.calls.is_empty() { "end_turn" } else { "tool_use" };
    let message = |content: Vec<Value>, stop_reason: Option<&str>| {
        json!({
            "id": format!("msg_{:04}", turn.number), "type": "message", "role": "assistant", "model": turn.model,
            "content": content, "stop_reason": stop_reason, "stop_sequence": null,
            "usage": {
                "input_tokens": turn.input_tokens(), "output_tokens": 5,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            },
        })
    };
    let blocks = blocks(turn);
    if !turn.streamed {
        return Reply::Document(message(blocks.into_iter().map(|block| block.whole).collect(), Some(stop_reason)));
    }
    let mut events = vec![StreamEvent::named("message_start", json!({"message": message(Vec::new(), None)}))];
    for (index, block) in blocks.into_iter().enumerate() {
        let start = json!({"index": index, "content_block": block.start});
        events.push(StreamEvent::named("content_block_start", start));
        events.push(StreamEvent::named("content_block_delta", json!({"index": index, "delta": block.delta})));
        events.push(StreamEvent::named("content_block_stop", json!({"index": index})));
    }
    let delta = json!({"delta": {"stop_reason": stop_reason, "stop_sequence": null}, "usage": {"output_tokens": 5}});
    events.push(StreamEvent::named("message_delta", delta));
    events.push(StreamEvent::named("message_stop", json!({})));
    Reply::Stream(events)
}

/// A part of the message, whole and as the start and the piece of a stream.
struct Block {
    whole: Value,
    start: Value,
    delta: Value,
}

fn blocks(turn: &Turn) -> Vec<Block> {
    let text = turn.step.text.iter().map(|text| Block {
        whole: json!({"type": "text", "text": text}),
        start: json!({"type": "text", "text": ""}),
        delta: json!({"type": "text_delta", "text": text}),
    });
    let calls = turn.step.calls.iter().enumerate().map(|(at, call)| {
        let block =
            |input: Value| json!({"type": "tool_use", "id": turn.call_id(call, at), "name": call.name, "input": input});
        Block {
            whole: block(call.input.clone()),
            start: block(json!({})),
            delta: json!({"type": "input_json_delta", "partial_json": call.input.to_string()}),
        }
    });
    text.chain(calls).collect()
}

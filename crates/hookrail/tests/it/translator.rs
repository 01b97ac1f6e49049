//! The translator between a host's request and the text-only form of hooks: lossless for what no hook changed, and never
//! a tool call without its response.

use crate::common::json;
use hookrail::Json;
use hookrail::dialect::llxprt::{from_hook_request, from_hook_response, to_hook_request, to_hook_response};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json as value};

/// One entry of a conversation: text, pictures, and calls with a number that its response repeats.
#[derive(Clone, Debug)]
enum Entry {
    User(Vec<Part>),
    Model(Vec<Part>),
    /// A call and, right after it, its response.
    Call {
        id: u32,
        said: Option<String>,
    },
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    TextObject(String),
    Picture(u32),
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => "[ab ]{0,3}".prop_map(Part::Text),
        2 => "[ab ]{0,3}".prop_map(Part::TextObject),
        1 => (0..9_u32).prop_map(Part::Picture),
    ]
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let entry = prop_oneof![
        prop::collection::vec(part(), 1..3).prop_map(Entry::User),
        prop::collection::vec(part(), 1..3).prop_map(Entry::Model),
        (0..99_u32, prop::option::of("[ab]{1,2}")).prop_map(|(id, said)| Entry::Call { id, said }),
    ];
    prop::collection::vec(entry, 0..8)
}

fn part_json(part: &Part) -> Value {
    match part {
        Part::Text(text) => value!(text),
        Part::TextObject(text) => value!({"text": text, "thought": false}),
        Part::Picture(id) => value!({"inlineData": {"id": id}}),
    }
}

fn contents(entries: &[Entry]) -> Vec<Value> {
    let mut contents = Vec::new();
    for entry in entries {
        match entry {
            Entry::User(parts) => {
                contents.push(value!({"role": "user", "parts": parts.iter().map(part_json).collect::<Vec<_>>()}));
            }
            Entry::Model(parts) => {
                contents.push(value!({"role": "model", "parts": parts.iter().map(part_json).collect::<Vec<_>>()}));
            }
            Entry::Call { id, said } => {
                let mut parts: Vec<Value> = said.iter().map(|text| value!({"text": text})).collect();
                parts.push(value!({"functionCall": {"name": "t", "id": id}}));
                contents.push(value!({"role": "model", "parts": parts}));
                contents.push(value!({"role": "user", "parts": [{"functionResponse": {"name": "t", "id": id}}]}));
            }
        }
    }
    contents
}

fn request(entries: &[Entry]) -> Json {
    json(&value!({"model": "m", "contents": contents(entries), "systemInstruction": {"role": "system", "parts": ["s"]}, "tools": [{"x": 1}], "generationConfig": {"temperature": 0.5, "seed": 7}}).to_string())
}

/// The ids of calls and responses, in order, with which of the two it is.
fn calls(request: &Json) -> Vec<(bool, u64)> {
    let request = request.to_value();
    let parts =
        request["contents"].as_array().unwrap().iter().flat_map(|entry| entry["parts"].as_array().unwrap().clone());
    parts
        .filter_map(|part| {
            let call = part["functionCall"]["id"].as_u64().map(|id| (true, id));
            call.or_else(|| part["functionResponse"]["id"].as_u64().map(|id| (false, id)))
        })
        .collect()
}

fn pictures(request: &Value) -> usize {
    request.to_string().matches("inlineData").count()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn an_unchanged_list_gives_the_identical_request(entries in entries()) {
        let base = request(&entries);
        let after = from_hook_request(&to_hook_request(&base), &base);
        prop_assert_eq!(after.text(), base.text());
    }

    #[test]
    fn no_tool_call_ever_loses_its_response(entries in entries(), edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8), 0..5)) {
        let base = request(&entries);
        let mut hook_view = to_hook_request(&base).to_value();
        let messages = hook_view["messages"].as_array_mut().unwrap();
        // The system instruction stands first and has no place to move to.
        for (at, edit) in edits {
            let (count, place) = (messages.len(), 1 + at.index(messages.len()));
            match edit {
                0 if place < count => { messages.remove(place); }
                1 => messages.insert(place, value!({"role": "user", "content": "new"})),
                _ if place < count => messages[place]["content"] = value!("changed"),
                _ => {}
            }
        }
        let after = from_hook_request(&json(&hook_view.to_string()), &base);
        prop_assert_eq!(calls(&after), calls(&base), "calls and responses keep their order and their number");
        // What a hook reads back is what it asked for.
        prop_assert_eq!(&to_hook_request(&after).to_value()["messages"], &hook_view["messages"]);
        prop_assert_eq!(&after.to_value()["tools"], &base.to_value()["tools"]);
    }

    #[test]
    fn changed_texts_keep_their_pictures(entries in entries()) {
        let base = request(&entries);
        let mut hook_view = to_hook_request(&base).to_value();
        for message in hook_view["messages"].as_array_mut().unwrap() {
            message["content"] = value!(format!("{}!", message["content"].as_str().unwrap()));
        }
        let after = from_hook_request(&json(&hook_view.to_string()), &base).to_value();
        prop_assert_eq!(pictures(&after), pictures(&base.to_value()));
    }
}

#[test]
fn settings_are_merged_key_by_key() {
    let base = json(r#"{"contents":[],"generationConfig":{"temperature":0.5,"seed":7}}"#);
    let mut view = to_hook_request(&base).to_value();
    view["config"]["temperature"] = value!(1);
    view["config"].as_object_mut().unwrap().remove("seed");
    let after = from_hook_request(&json(&view.to_string()), &base);
    assert_eq!(after.text(), r#"{"contents":[],"generationConfig":{"temperature":1}}"#);
}

#[test]
fn a_changed_response_keeps_its_calls() {
    let base = json(
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"secret"},{"functionCall":{"name":"t"}}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":3},"responseId":"r"}"#,
    );
    let seen = to_hook_response(&base);
    assert_eq!(
        seen.text(),
        r#"{"text":"secret","candidates":[{"content":{"role":"model","parts":["secret"]},"finishReason":"STOP","index":0}],"usageMetadata":{"totalTokenCount":3}}"#
    );
    let changed = json(&seen.text().replace("secret", "***"));
    assert_eq!(
        from_hook_response(&changed, &base).text(),
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"***"},{"functionCall":{"name":"t"}}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":3},"responseId":"r"}"#
    );
    assert_eq!(from_hook_response(&seen, &base).text(), base.text());
}

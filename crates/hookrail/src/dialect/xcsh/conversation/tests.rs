//! Requests of hosts, what modules return, and what is sent.

use super::members::member;
use super::{messages, set_messages};
use crate::event::{Event, EventKind};
use crate::json::Json;

const NATIVE: &str = r#"{"model":"m","systemInstruction":{"parts":[{"text":"sys"}]},"generationConfig":{"temperature":1.0},"contents":[{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"AA"}}]},{"role":"model","parts":[{"text":"ok"},{"functionCall":{"id":"1","name":"read","args":{"n":1.0}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{"output":"x"}}},{"functionResponse":{"id":"2","name":"ls","response":{"error":"no"}}}]},{"role":"user","customType":"debug","parts":[{"text":"d"}]}]}"#;

fn event(request: &str) -> Event {
    Event::new(EventKind::BeforeModel, "/p").with("llm_request", Json::parse(request).unwrap())
}

fn texts(event: &Event) -> Vec<String> {
    messages(event).iter().map(|message| message.text().to_owned()).collect()
}

fn contents(event: &Event) -> Vec<Json> {
    member(event.field("llm_request").unwrap(), "contents").unwrap().as_array().unwrap()
}

fn sent() -> Vec<Json> {
    member(&Json::parse(NATIVE).unwrap(), "contents").unwrap().as_array().unwrap()
}

#[test]
fn a_native_request_is_shown_with_calls_results_and_custom_messages() {
    let expected = [
        r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"AA","mimeType":"image/png"}]}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"toolCall","id":"1","name":"read","arguments":{"n":1.0}}]}"#,
        r#"{"role":"toolResult","toolCallId":"1","toolName":"read","content":[{"type":"text","text":"x"}],"isError":false}"#,
        r#"{"role":"toolResult","toolCallId":"2","toolName":"ls","content":[{"type":"text","text":"no"}],"isError":true}"#,
        r#"{"role":"custom","customType":"debug","content":[{"type":"text","text":"d"}]}"#,
    ];
    assert_eq!(texts(&event(NATIVE)), expected);
}

#[test]
fn what_was_not_changed_keeps_every_part() {
    let mut event = event(NATIVE);
    let shown = messages(&event);
    set_messages(&mut event, &shown);
    assert_eq!(event.field("llm_request").unwrap().text(), NATIVE, "nothing was changed");
    set_messages(&mut event, &shown[..4]);
    assert_eq!(contents(&event), sent()[..3], "one message was removed");
    let request = event.field("llm_request").unwrap().as_object().unwrap();
    assert_eq!(request.get("model").unwrap().text(), "\"m\"");
    assert_eq!(request.get("config").unwrap().text(), r#"{"temperature":1.0}"#);
    assert!(request.get("messages").unwrap().text().starts_with(r#"[{"role":"system","content":"sys"}"#));
    let whole =
        crate::payload::request_with_changes(event.field("llm_request").unwrap(), &Json::parse(NATIVE).unwrap());
    let whole = whole.as_object().unwrap();
    assert_eq!(whole.get("systemInstruction").unwrap().text(), r#"{"parts":[{"text":"sys"}]}"#);
    assert_eq!(whole.get("contents").unwrap().as_array().unwrap(), sent()[..3]);
}

#[test]
fn a_changed_message_keeps_what_is_not_text_and_a_part_of_an_entry_can_go() {
    let mut event = event(NATIVE);
    let mut new = messages(&event);
    let first = r#"{"role":"user","content":[{"type":"text","text":"read"},{"type":"image","data":"AA","mimeType":"image/png"}]}"#;
    new[0] = Json::parse(first).unwrap();
    new.remove(3);
    new.push(Json::parse(r#"{"role":"custom","customType":"n","content":"new"}"#).unwrap());
    set_messages(&mut event, &new);
    let expected = [
        r#"{"role":"user","parts":[{"text":"read"},{"inlineData":{"mimeType":"image/png","data":"AA"}}]}"#,
        sent()[1].text(),
        r#"{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{"output":"x"}}}]}"#,
        sent()[3].text(),
        r#"{"role":"user","parts":[{"text":"new"}]}"#,
    ]
    .map(str::to_owned);
    assert_eq!(contents(&event).iter().map(|entry| entry.text().to_owned()).collect::<Vec<_>>(), expected);
    assert!(texts(&event)[4].contains("customType"), "the next module sees what this one returned");
}

#[test]
fn the_results_of_one_entry_stay_together_when_one_is_changed() {
    let mut event = event(NATIVE);
    let mut new = messages(&event);
    let cut = new[2].text().replace(r#""text":"x""#, r#""text":"cut""#);
    new[2] = Json::parse(&cut).unwrap();
    set_messages(&mut event, &new);
    let now = contents(&event);
    assert_eq!((now.len(), &now[3]), (4, &sent()[3]));
    let expected = sent()[2].text().replace(r#""output":"x""#, r#""output":"cut""#);
    assert_eq!(now[2].text(), expected);
}

#[test]
fn a_host_that_lists_tools_under_other_names_keeps_its_own() {
    let listed = r#"[{"role":"user","content":"look"},{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"toolCall","id":"1","name":"see","arguments":{"count":1.0}}]},{"role":"toolResult","toolCallId":"1","toolName":"see","content":[{"type":"text","text":"x"}],"isError":false}]"#;
    let mut event = event(NATIVE).with("messages", Json::parse(listed).unwrap());
    let mut new = messages(&event);
    new[1] = Json::parse(&new[1].text().replace(r#""text":"ok""#, r#""text":"yes""#)).unwrap();
    new[2] = Json::parse(&new[2].text().replace(r#""text":"x""#, r#""text":"y""#)).unwrap();
    set_messages(&mut event, &new);
    let call = r#"{"functionCall":{"id":"1","name":"read","args":{"n":1.0}},"thoughtSignature":"s"}"#;
    assert!(contents(&event)[1].text().contains(call), "{}", contents(&event)[1].text());
    assert!(contents(&event)[2].text().contains(r#"{"id":"1","name":"read","response":{"output":"y"}}"#));
    new[1] = Json::parse(&new[1].text().replace(r#"{"count":1.0}"#, r#"{"count":2}"#)).unwrap();
    set_messages(&mut event, &new);
    assert!(contents(&event)[1].text().contains(r#""name":"read","args":{"n":2}"#), "{}", contents(&event)[1].text());
}

#[test]
fn modules_one_after_the_other_keep_every_member_of_a_list_without_a_request() {
    let listed = r#"[{"role":"user","content":"a","timestamp":7}]"#;
    let mut event = Event::new(EventKind::BeforeModel, "/p").with("messages", Json::parse(listed).unwrap());
    for text in ["b", "c"] {
        let mut new = messages(&event);
        new[0] = Json::parse(&format!(r#"{{"role":"user","content":"{text}","timestamp":7}}"#)).unwrap();
        new.push(Json::parse(r#"{"role":"custom","customType":"n","content":"x","timestamp":8}"#).unwrap());
        set_messages(&mut event, &new);
    }
    let request = event.field("llm_request").unwrap().text().to_owned();
    assert!(request.contains(r#"{"role":"user","content":"c","timestamp":7}"#), "{request}");
    assert_eq!(request.matches(r#""customType":"n""#).count(), 2, "{request}");
}

#[test]
fn contents_may_be_one_text() {
    let mut event = event(r#"{"model":"m","contents":"hello"}"#);
    assert_eq!(texts(&event), [r#"{"role":"user","content":[{"type":"text","text":"hello"}]}"#]);
    let mut new = messages(&event);
    new.push(Json::parse(r#"{"role":"user","content":"more"}"#).unwrap());
    set_messages(&mut event, &new);
    let expected = [r#""hello""#, r#"{"role":"user","parts":[{"text":"more"}]}"#];
    assert_eq!(contents(&event).iter().map(Json::text).collect::<Vec<_>>(), expected);
}

#[test]
fn a_request_of_text_is_shown_as_messages_and_taken_back() {
    let request = r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"model","content":"b"}]}"#;
    let mut event = event(request);
    let shown = messages(&event);
    assert_eq!(shown[1].text(), r#"{"role":"assistant","content":[{"type":"text","text":"b"}]}"#);
    set_messages(&mut event, &shown[1..]);
    let expected = r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"model","content":"b"}]}"#;
    assert_eq!(event.field("llm_request").unwrap().text(), expected, "the system prompt stays");
}

#[test]
fn a_list_of_the_host_is_laid_over_its_request() {
    let listed =
        r#"[{"role":"user","content":"look","timestamp":7},{"role":"custom","customType":"debug","content":"d"}]"#;
    let mut event = event(NATIVE).with("messages", Json::parse(listed).unwrap());
    assert_eq!(texts(&event).len(), 2);
    let kept = messages(&event)[..1].to_vec();
    set_messages(&mut event, &kept);
    assert_eq!(contents(&event), sent()[..3], "what the host did not list stays: {:?}", event.field("llm_request"));
}

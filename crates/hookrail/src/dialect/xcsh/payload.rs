//! What a module's handlers receive: the event in the module's own words.

use super::conversation;
use crate::dialect::{DialectId, camel_case};
use crate::event::{Event, EventKind};
use crate::json::{Json, JsonObject};
use crate::payload::{ToolResponse, list, object};

/// The event object, without what only exists inside the module's runtime.
pub(super) fn payload(event: &Event) -> JsonObject {
    let Some(column) = event.kind().spec().column(DialectId::Xcsh) else { return JsonObject::new() };
    let mut payload = JsonObject::new();
    payload.set("type", Json::string(column.name));
    for field in column.fields {
        match (event.kind(), field.name) {
            (EventKind::AfterTool, "tool_response") => tool_result(event, &mut payload),
            (EventKind::BeforeModel, "messages") => payload.set("messages", list(conversation::messages(event))),
            // The base fields of an event are kept apart from its own.
            (_, "session_id") => payload.set("sessionId", Json::string(event.session_id())),
            (_, "timestamp") if event.field("timestamp").is_none() => {
                payload.set("timestamp", Json::of(&milliseconds(event.timestamp())).unwrap_or_else(|_| Json::null()));
            }
            // Hooks of every dialect know the sub-agent by these names; a module also finds them in its own spelling.
            (_, name @ ("agent_id" | "agent_type")) => {
                if let Some(value) = event.field(name) {
                    payload.set(name, value.clone());
                    payload.set(camel_case(name), value.clone());
                }
            }
            (_, name) => {
                let own_name = if name == "tool_input" { "input".to_owned() } else { camel_case(name) };
                if let Some(value) = event.field_or_empty(field) {
                    payload.set(own_name, value);
                }
            }
        }
    }
    payload
}

/// Whether the tool failed.
pub(super) fn tool_failed(event: &Event) -> bool {
    event.field("tool_response").is_some_and(|response| ToolResponse::read(response).is_error())
}

/// The tool's result as the module sees it: `content`, `details` and `isError`.
fn tool_result(event: &Event, payload: &mut JsonObject) {
    payload.set("content", tool_content(event));
    if let Some(details) = tool_details(event) {
        payload.set("details", details);
    }
    payload.set("isError", Json::boolean(tool_failed(event)));
}

/// Returns the tool's output: the replacement by a hook of another dialect, otherwise the content for the model, otherwise the
/// whole response.
pub(super) fn tool_content(event: &Event) -> Json {
    if let Some(replaced) = event.field("tool_output") {
        return match replaced.as_object().and_then(|output| output.get("content").cloned()) {
            Some(content) => content,
            None => text_content(&replaced.as_str().unwrap_or_else(|| replaced.text().to_owned())),
        };
    }
    let Some(response) = event.field("tool_response") else { return list([]) };
    text_content(&ToolResponse::read(response).content_text().unwrap_or_else(|| response.text().to_owned()))
}

/// What the tool shows beside its output.
pub(super) fn tool_details(event: &Event) -> Option<Json> {
    let replaced = event.field("tool_output").and_then(|output| output.as_object()?.get("details").cloned());
    replaced.or_else(|| ToolResponse::read(event.field("tool_response")?).display)
}

fn text_content(text: &str) -> Json {
    list([object([("type", Json::string("text")), ("text", Json::string(text))])])
}

/// An ISO 8601 time in UTC as milliseconds since 1970; zero when it is not one.
fn milliseconds(iso: &str) -> i64 {
    let number = |range: std::ops::Range<usize>| iso.get(range).and_then(|digits| digits.parse::<i64>().ok());
    let parts = (number(0..4), number(5..7), number(8..10), number(11..13), number(14..16), number(17..19));
    let (Some(year), Some(month), Some(day), Some(hour), Some(minute), Some(second)) = parts else { return 0 };
    // Years begin in March here, so that the leap day comes last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + number(20..23).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_modules_own() {
        let event = Event::new(EventKind::BeforeTool, "/p")
            .with_text("tool_name", "bash")
            .with_text("tool_call_id", "1")
            .with("tool_input", Json::parse(r#"{"command":"ls"}"#).unwrap());
        let expected = r#"{"type":"tool_call","toolName":"bash","toolCallId":"1","input":{"command":"ls"}}"#;
        assert_eq!(payload(&event).to_json().text(), expected);
    }

    #[test]
    fn a_tool_response_becomes_content_details_and_is_error() {
        let event = |response: &str| {
            Event::new(EventKind::AfterTool, "/p").with("tool_response", Json::parse(response).unwrap())
        };
        let of = |response: &str| {
            let payload = payload(&event(response));
            let text = |key: &str| payload.get(key).map(|value| value.text().to_owned());
            (text("content").unwrap(), text("details"), text("isError").unwrap())
        };
        assert_eq!(
            of(r#"{"llmContent":"out","returnDisplay":{"a":1}}"#),
            (r#"[{"type":"text","text":"out"}]"#.into(), Some(r#"{"a":1}"#.into()), "false".into())
        );
        assert_eq!(
            of(r#"{"error":{"message":"no"}}"#),
            (r#"[{"type":"text","text":"{\"error\":{\"message\":\"no\"}}"}]"#.into(), None, "true".into())
        );
    }

    #[test]
    fn times_are_milliseconds() {
        assert_eq!(milliseconds("1970-01-01T00:00:00.000Z"), 0);
        assert_eq!(milliseconds("2025-02-18T16:30:00.000Z"), 1_739_896_200_000);
        assert_eq!(milliseconds("2000-02-28T23:59:59.999Z"), 951_782_399_999);
        assert_eq!(milliseconds("not a time"), 0);
    }
}

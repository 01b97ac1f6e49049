//! Makes an event from a request, with an error for every mistake.
//!
//! The types of fields come from the engine's table. The required fields are stricter than on the command line: the matcher
//! of a guard does not match a tool without a name, so the guard would be skipped.

use std::path::Path;

use hookrail::dialect::find_event;
use hookrail::sources::nearest;
use hookrail::{DialectId, Event, EventKind, Json, JsonKind, JsonObject};

use crate::error::{BusError, ErrorCode};
use crate::payload::Request;

/// The base fields that a request may set.
const BASE: [&str; 4] = ["session_id", "transcript_path", "timestamp", "cwd"];

/// Whether an event may lack fields that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingFields {
    Allowed,
    Refused,
}

/// Makes the event of a request, in a project.
pub(crate) fn make_event(request: Request, project: &Path, missing: MissingFields) -> Result<Event, BusError> {
    let Request { event_name, input, traceparent, tracestate, .. } = request;
    let kind = find_kind(&event_name)?;
    let (mut input, repeated) = input
        .into_members()
        .map_err(|found| BusError::invalid(format!("`input` must be an object, not {}", found.described())))?;
    // With two tool inputs the client could call the tool with one while the hooks check the other.
    if let Some(key) = repeated {
        return Err(BusError::invalid(format!("duplicate key `{key}` in `input`")));
    }
    check_base_fields(kind, &mut input)?;
    if missing == MissingFields::Refused {
        check_needed_fields(kind, &event_name, &input)?;
    }
    if let Some(cwd) = input.get("cwd").and_then(Json::as_str)
        && Path::new(&cwd).is_relative()
    {
        // A relative path from a client is not relative to the server's own working directory.
        input.set("cwd", Json::string(&project.join(cwd).to_string_lossy()));
    }
    let event = Event::new(kind, project)
        .with_members(input)
        .map_err(|error| BusError::invalid(format!("in `input`: {error}")))?;
    add_trace(event, traceparent.as_deref(), tracestate.as_deref())
}

/// Returns the event with this name, in any dialect or as the neutral name.
pub(crate) fn find_kind(name: &str) -> Result<EventKind, BusError> {
    find_event(name).ok_or_else(|| unknown_event(name))
}

fn unknown_event(name: &str) -> BusError {
    let names = EventKind::all().flat_map(|kind| {
        let columns = DialectId::CONFIGURED.into_iter().filter_map(move |dialect| kind.spec().column(dialect));
        std::iter::once(kind.name()).chain(columns.map(|column| column.name))
    });
    let shown: String = name.chars().take(80).collect();
    let hint = nearest(&shown, names).map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
    BusError::new(ErrorCode::UnsupportedEvent, format!("`{shown}` is not an event of any dialect{hint}"))
}

/// Checks that base fields are strings. Null is the same as missing, and an event may have its own field with such a name.
fn check_base_fields(kind: EventKind, input: &mut JsonObject) -> Result<(), BusError> {
    let own = |name: &str| {
        let columns = DialectId::CONFIGURED.into_iter().filter_map(|dialect| kind.spec().column(dialect));
        columns.flat_map(|column| column.fields).any(|field| field.name == name)
    };
    for name in BASE {
        match input.get(name).map(Json::kind) {
            None | Some(JsonKind::String) => {}
            Some(JsonKind::Null) => {
                input.remove(name);
            }
            Some(_) if own(name) => {}
            Some(found) => return Err(wrong_kind(name, "a string", found)),
        }
    }
    Ok(())
}

/// Checks the fields that the dialect with this event name requires. A neutral name requires the fields that all dialects
/// have.
fn check_needed_fields(kind: EventKind, name: &str, input: &JsonObject) -> Result<(), BusError> {
    let spec = kind.spec();
    let has = |field: &str| {
        let mut columns = DialectId::CONFIGURED.into_iter().filter_map(|dialect| spec.column(dialect));
        let mut named = columns.clone().filter(|column| column.name == name);
        let known = |column: &hookrail::event::DialectEvent| column.fields.iter().any(|known| known.name == field);
        if spec.name == name { columns.all(known) } else { named.any(known) }
    };
    for field in spec.fields.iter().filter(|field| field.needed && has(field.name)) {
        let (field, non_empty) = (field.name, field.non_empty);
        match input.get(field) {
            None => return Err(BusError::invalid(format!("`{field}` is missing in `input`"))),
            Some(value) if non_empty && value.as_str().is_some_and(|text| text.is_empty()) => {
                return Err(BusError::invalid(format!("`{field}` in `input` must not be empty")));
            }
            Some(_) => {}
        }
    }
    if let Some(context) = input.get("mcp_context").and_then(Json::as_object) {
        let server = context.get("server_name").and_then(Json::as_str);
        if server.is_none_or(|server| server.is_empty()) {
            return Err(BusError::invalid("`mcp_context` in `input` needs a `server_name` that is not empty"));
        }
    }
    Ok(())
}

fn wrong_kind(field: &str, expected: &str, found: JsonKind) -> BusError {
    BusError::invalid(format!("in `input`: `{field}` must be {expected}, not {}", found.described()))
}

/// Passes the trace to the hooks, in the environment variables that OpenTelemetry defines.
fn add_trace(event: Event, parent: Option<&str>, state: Option<&str>) -> Result<Event, BusError> {
    let Some(parent) = parent else { return Ok(event) };
    if !is_traceparent(parent) {
        return Err(BusError::invalid("`traceparent` is not a W3C trace context"));
    }
    let event = event.variable("TRACEPARENT", parent);
    match state {
        Some(state) if state.len() > 512 || !state.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => {
            Err(BusError::invalid("`tracestate` is not a W3C trace state of at most 512 characters"))
        }
        Some(state) => Ok(event.variable("TRACESTATE", state)),
        None => Ok(event),
    }
}

/// Whether a text is `00-<32 hex>-<16 hex>-<2 hex>`; a later version may have more after it.
fn is_traceparent(text: &str) -> bool {
    let hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let not_zero = |part: &str| part.bytes().any(|byte| byte != b'0');
    let mut parts = text.splitn(5, '-');
    let mut next = || parts.next().unwrap_or_default();
    let (version, trace, parent, flags) = (next(), next(), next(), next());
    let rest = parts.next();
    hex(version, 2)
        && version != "ff"
        && hex(trace, 32)
        && not_zero(trace)
        && hex(parent, 16)
        && not_zero(parent)
        && hex(flags, 2)
        && rest.is_none_or(|rest| version != "00" && rest.bytes().all(|byte| byte.is_ascii_graphic()))
        && text.len() <= 512
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(name: &str, input: &str) -> Result<Event, String> {
        let request = Request::new(name, Json::parse(input).unwrap());
        make_event(request, Path::new("/p"), MissingFields::Refused).map_err(|error| error.message)
    }

    #[test]
    fn check_base_fields_are_checked_and_a_directory_is_the_projects() {
        let made = make("SessionStart", r#"{"source":"startup","session_id":"s","cwd":"sub","transcript_path":null}"#);
        let made = made.unwrap();
        assert_eq!((made.session_id(), made.cwd()), ("s", Path::new("/p/sub")));
        let wrong = make("SessionStart", r#"{"session_id":5}"#).unwrap_err();
        assert_eq!(wrong, "in `input`: `session_id` must be a string, not a number");
        assert!(make("turn_start", r#"{"turn_index":1,"timestamp":5}"#).is_ok(), "the event's own field");
    }

    #[test]
    fn the_name_of_the_event_decides_which_fields_are_needed() {
        assert_eq!(make("AfterAgent", "{}").unwrap_err(), "`prompt` is missing in `input`");
        assert!(make("agent_end", r#"{"messages":[]}"#).is_ok());
        assert!(make("agent-end", "{}").is_ok());
        for name in ["BeforeTool", "PreToolUse", "tool_call", "before-tool"] {
            assert_eq!(make(name, "{}").unwrap_err(), "`tool_name` is missing in `input`", "{name}");
        }
    }

    #[test]
    fn a_trace_is_checked() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert!(is_traceparent(good));
        assert!(is_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more-of-it"));
        for bad in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\u{0}",
        ] {
            assert!(!is_traceparent(bad), "{bad}");
        }
    }
}

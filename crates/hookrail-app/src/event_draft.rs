//! Builds the event that a command or a case of `hookrail test` describes.

use std::path::Path;

use hookrail::dialect::find_event;
use hookrail::plan::SkipReason;
use hookrail::sources::nearest;
use hookrail::{Diagnostic, DialectId, Event, EventKind, Json, JsonObject};
use hookrail_bridge::Agent;

use crate::failure::{Excerpt, Failure, Result};
use crate::lint::in_other_words;
use crate::payload_shape::{PayloadShape, event_of_agent, missing_input, missing_subject, report_fields};

/// The event that the options describe, and the diagnostics about its fields.
pub struct EventDraft {
    pub event: Event,
    /// The agent whose payload was given, by whose names the event calls its tool.
    pub agent: Option<Agent>,
    pub fields: FieldReport,
}

/// What there is to report about the fields of an event.
#[derive(Clone, Debug, Default)]
pub struct FieldReport {
    findings: Vec<Diagnostic>,
    /// Reported if a matcher was compared with a field that is missing.
    missing_subject: Option<Diagnostic>,
    /// Reported if a condition looked at an input that is missing.
    missing_input: Option<Diagnostic>,
}

impl FieldReport {
    /// The diagnostics that do not depend on the hooks.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// Returns the diagnostics, given why hooks of the event do not run.
    pub fn into_findings(self, skipped: impl Iterator<Item = SkipReason>) -> Vec<Diagnostic> {
        let Self { mut findings, missing_subject, missing_input } = self;
        let skipped: Vec<SkipReason> = skipped.collect();
        findings.extend(missing_subject.filter(|_| skipped.contains(&SkipReason::Matcher)));
        findings.extend(missing_input.filter(|_| skipped.contains(&SkipReason::Condition)));
        findings
    }
}

/// The fields of an event, from options or from a case of `hookrail test`.
#[derive(Debug, Default)]
pub struct EventFields {
    pub name: String,
    /// The payload, in the shape of any dialect.
    pub payload: Option<JsonObject>,
    pub tool: Option<String>,
    pub tool_input: Option<Json>,
    pub tool_response: Option<Json>,
    pub prompt: Option<String>,
    pub session_id: Option<String>,
    pub transcript: Option<String>,
}

impl EventFields {
    /// Returns whether no field is given.
    pub fn is_empty(&self) -> bool {
        let Self { name: _, payload, tool, tool_input, tool_response, prompt, session_id, transcript } = self;
        payload.is_none()
            && [tool_input, tool_response].into_iter().all(Option::is_none)
            && [tool, prompt, session_id, transcript].into_iter().all(Option::is_none)
    }
}

/// Makes the event with these fields. The other fields override those of the payload.
pub fn make_event(given: &EventFields, project: &Path) -> Result<EventDraft> {
    let kind = find_kind(&given.name)?;
    let payload = given.payload.clone().unwrap_or_default();
    let shape = PayloadShape::of_payload(&payload);
    let mut fields = shape.neutral_fields(payload);
    let texts = [("tool_name", &given.tool), ("prompt", &given.prompt)];
    for (field, text) in texts.iter().filter_map(|(field, text)| Some((field, text.as_ref()?))) {
        fields.set(*field, Json::string(text));
    }
    let values = [("tool_input", &given.tool_input), ("tool_response", &given.tool_response)];
    for (field, value) in values.iter().filter_map(|(field, value)| Some((field, value.as_ref()?))) {
        fields.set(*field, value.clone());
    }
    // All fields are checked for a payload only, which stands for what a host sends. `--tool` without a payload asks
    // which matchers select a tool, and that needs no other field.
    let agent = shape.agent();
    let report = match given.payload {
        Some(_) if agent.is_some() => FieldReport::default(),
        Some(_) => FieldReport { findings: report_fields(kind, &given.name, shape, &fields), ..FieldReport::default() },
        None => FieldReport {
            findings: Vec::new(),
            missing_subject: missing_subject(kind, &fields),
            missing_input: missing_input(kind, &fields),
        },
    };
    let event = match agent {
        Some(agent) => event_of_agent(agent, kind, fields, project)?,
        None => Event::new(kind, project)
            .with_payload(&fields.to_json())
            .map_err(|error| Failure::new(error.to_string()).hint(fields_hint(kind)))?,
    };
    let event = match &given.session_id {
        Some(id) => event.session(id),
        None => event,
    };
    let event = match &given.transcript {
        Some(path) => event.transcript(path),
        None => event,
    };
    Ok(EventDraft { event, agent, fields: report })
}

/// Finds an event by its name in any dialect or its neutral one.
pub fn find_kind(name: &str) -> Result<EventKind> {
    find_event(name).ok_or_else(|| {
        let failure = Failure::new(format!("`{name}` is not an event"));
        if let Some((kind, whose)) = in_other_words(name) {
            let here = kind.spec().column(DialectId::Llxprt).map_or(kind.name(), |column| column.name);
            return failure.hint(format!("`{name}` of {whose} is `{here}` here"));
        }
        match nearest(name, event_names()) {
            Some(known) => failure.hint(format!("did you mean `{known}`?")),
            None => {
                let all: Vec<&str> = EventKind::all().map(EventKind::name).collect();
                failure.hint(format!("the events are {}", all.join(", ")))
            }
        }
    })
}

/// Returns every name of every event, the neutral ones and those of the dialects.
pub fn event_names() -> impl Iterator<Item = &'static str> {
    EventKind::all().flat_map(|kind| {
        let spec = kind.spec();
        let in_dialects = DialectId::CONFIGURED.into_iter().filter_map(|dialect| spec.column(dialect));
        std::iter::once(spec.name).chain(in_dialects.map(|column| column.name))
    })
}

/// Lists the fields of an event in all dialects, as a hint.
fn fields_hint(kind: EventKind) -> String {
    let columns = DialectId::CONFIGURED.into_iter().filter_map(|dialect| kind.spec().column(dialect));
    let mut names: Vec<String> =
        columns.flat_map(|column| column.fields).map(|field| format!("`{}`", field.name)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        format!("{kind} has no fields of its own")
    } else {
        format!("the fields of {kind} are {}", names.join(", "))
    }
}

/// Parses JSON. The failure shows the line with a mark below the error.
pub fn parse_json(name: &str, text: &str) -> Result<Json> {
    Json::parse(text).map_err(|error| {
        let failure = Failure::new(format!("`{name}` is not valid JSON: {error}"));
        let offset = byte_offset(text, error.line(), error.column());
        let failure = failure.excerpt(Excerpt::Place { name: name.to_owned(), text: text.to_owned(), offset });
        failure.hint("write names and strings in double quotes; in a shell, put the whole argument in single quotes")
    })
}

/// Parses a payload, which is one object. `name` is what the text is called in a failure.
pub fn parse_payload(name: &str, text: &str) -> Result<JsonObject> {
    let value = parse_json(name, text)?;
    if let Some(key) = value.repeated_member() {
        return Err(Failure::new(format!("duplicate key `{key}` in the payload")).hint("write every field once"));
    }
    value.as_object().ok_or_else(|| {
        Failure::new(format!("the payload must be an object, not {}", value.kind().described()))
            .hint("give the event's fields as `{\"field\": value}`")
    })
}

/// Returns the byte offset of a line and a column. The parser counts columns in bytes, from one, and names the last
/// byte it has read. That byte can be inside a character, so the offset is moved back to the character's start.
fn byte_offset(text: &str, line: usize, column: usize) -> usize {
    let line_start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    text.floor_char_boundary(line_start + column.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_found_in_the_text() {
        for (text, expected) in [("{\"a\": 1 \"b\"}", 8), ("{\n  x}", 4), ("ö", 0), ("", 0), ("{\"a\":", 4)] {
            let error = Json::parse(text).unwrap_err();
            assert_eq!(byte_offset(text, error.line(), error.column()), expected, "{text}");
        }
    }

    #[test]
    fn every_event_is_found_by_each_of_its_names() {
        for name in event_names() {
            assert!(find_kind(name).is_ok(), "{name}");
        }
    }
}

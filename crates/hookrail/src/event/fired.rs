//! A fired event as a value: the base fields every hook receives and the event's own fields, as raw JSON.
//!
//! The same value also carries rewrites: a hook's new tool input replaces the field here, and the next hook receives
//! that.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::kind::EventKind;
use super::spec::{FieldKind, FieldSpec};
use super::time::EventTime;
use crate::json::{Json, JsonKind, JsonObject};
use crate::payload::ModelRequest;

/// Something that happened, with its data. A copy shares everything with its original until one of them is changed.
///
/// ```
/// use hookrail::{Event, EventKind, Json};
///
/// let event = Event::new(EventKind::BeforeTool, "/project")
///     .session("session-1")
///     .with_text("tool_name", "write_file")
///     .with("tool_input", Json::parse(r#"{"path": "a.txt"}"#).unwrap());
/// assert_eq!(event.text("tool_name").as_deref(), Some("write_file"));
/// ```
#[derive(Clone, Debug)]
pub struct Event {
    kind: EventKind,
    base: Arc<BaseFields>,
    fields: Arc<JsonObject>,
}

/// The fields of every event, which no hook can rewrite.
#[derive(Clone, Debug)]
struct BaseFields {
    session_id: String,
    transcript_path: String,
    cwd: PathBuf,
    timestamp: EventTime,
    variables: Vec<(String, String)>,
    record_name: Option<Arc<str>>,
}

/// Why an event could not be made from a payload.
///
/// ```
/// use hookrail::{Event, EventKind, Json};
///
/// let payload = Json::parse(r#"{"tool_input": []}"#).unwrap();
/// let error = Event::new(EventKind::BeforeTool, "/project").with_payload(&payload).unwrap_err();
/// assert_eq!(error.to_string(), "`tool_input` must be an object, not a list");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The payload is not an object.
    #[error("the payload must be an object, not {}", found.described())]
    NotAnObject {
        /// What it is.
        found: JsonKind,
    },
    /// The payload has a field more than once, so that parsers disagree about it.
    #[error("duplicate key `{field}`")]
    RepeatedField {
        /// The field.
        field: String,
    },
    /// A field has the wrong type.
    #[error("`{field}` must be {expected}, not {}", found.described())]
    FieldType {
        /// The field.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: JsonKind,
    },
}

impl Event {
    /// An event without fields, in a directory, now.
    #[must_use]
    pub fn new(kind: EventKind, cwd: impl Into<PathBuf>) -> Self {
        let base = BaseFields {
            session_id: String::new(),
            transcript_path: String::new(),
            cwd: cwd.into(),
            timestamp: EventTime::now(),
            variables: Vec::new(),
            record_name: None,
        };
        Self { kind, base: Arc::new(base), fields: Arc::default() }
    }

    /// The event with the fields of a payload, which are checked against the table: known fields must have their
    /// type, unknown ones are kept for dialects and hosts that know them.
    ///
    /// # Errors
    /// When the payload is not an object, or has a field more than once, or a known field has the wrong type.
    pub fn with_payload(self, payload: &Json) -> Result<Self, EventError> {
        let members = payload.as_object().ok_or(EventError::NotAnObject { found: payload.kind() })?;
        if let Some(field) = payload.repeated_member() {
            return Err(EventError::RepeatedField { field });
        }
        self.with_members(members)
    }

    /// The event with the fields of a payload that is parsed already, so that a long one is not parsed again. The
    /// caller has made sure that no field was written twice.
    ///
    /// # Errors
    /// When a known field has the wrong type.
    pub fn with_members(mut self, mut members: JsonObject) -> Result<Self, EventError> {
        for (name, value) in members.iter() {
            match name {
                "session_id" => self.base_mut().session_id = base_text("session_id", value)?,
                "transcript_path" => self.base_mut().transcript_path = base_text("transcript_path", value)?,
                // A relative one is relative to the directory in which the event was made; an empty one changes nothing.
                "cwd" => {
                    let cwd = base_text("cwd", value)?;
                    self.base_mut().cwd.push(cwd);
                }
                "timestamp" if value.kind() == JsonKind::String => {
                    self.base_mut().timestamp = EventTime::from_text(base_text("timestamp", value)?);
                }
                // The engine names the event itself; a payload cannot pass for another one.
                "hook_event_name" => {}
                name => {
                    if let Some(field) = self.kind.spec().field(name) {
                        check_type(field, value)?;
                    }
                }
            }
        }
        for name in ["session_id", "transcript_path", "cwd", "hook_event_name"] {
            members.remove(name);
        }
        if members.get("timestamp").is_some_and(|value| value.kind() == JsonKind::String) {
            members.remove("timestamp");
        }
        // Setting fields one by one looks for each among all; a payload with very many would cost quadratic time.
        if self.fields.is_empty() {
            self.fields = Arc::new(members);
        } else {
            Arc::make_mut(&mut self.fields).merge(&members);
        }
        Ok(self)
    }

    /// The event in another directory.
    #[must_use]
    pub fn in_directory(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.base_mut().cwd = cwd.into();
        self
    }

    /// The event with a session.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.base_mut().session_id = id.into();
        self
    }

    /// The event with the path of the session's transcript.
    #[must_use]
    pub fn transcript(mut self, path: impl Into<String>) -> Self {
        self.base_mut().transcript_path = path.into();
        self
    }

    /// The event with another time than now.
    #[must_use]
    pub fn at_time(mut self, iso_8601: impl Into<String>) -> Self {
        self.base_mut().timestamp = EventTime::from_text(iso_8601.into());
        self
    }

    /// The event with one of its own fields.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: Json) -> Self {
        self.set(name, value);
        self
    }

    /// The event with one of its own fields as text.
    #[must_use]
    pub fn with_text(self, name: impl Into<String>, value: &str) -> Self {
        self.with(name, Json::string(value))
    }

    /// The event with a variable for the environment of the processes it starts, such as the trace it belongs to. It
    /// never replaces a variable that the engine or a dialect sets.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.base_mut().variables.push((name.into(), value.into()));
        self
    }

    /// The event with the name under which it is recorded, for a host that has to refer to the record whether it gets an
    /// outcome or not. It must be unique among processes. Without one the engine names the event.
    #[must_use]
    pub fn recorded_as(mut self, name: impl Into<Arc<str>>) -> Self {
        self.base_mut().record_name = Some(name.into());
        self
    }

    /// What happened.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// The session, or an empty text.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.base.session_id
    }

    /// The transcript's path, or an empty text.
    #[must_use]
    pub fn transcript_path(&self) -> &str {
        &self.base.transcript_path
    }

    /// The working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.base.cwd
    }

    /// When it happened, as ISO 8601.
    #[must_use]
    pub fn timestamp(&self) -> &str {
        self.base.timestamp.text()
    }

    /// One of the event's own fields.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Json> {
        self.fields.get(name)
    }

    /// One of the event's own fields, when it is text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.field(name).and_then(Json::as_str)
    }

    /// Whether every dialect takes part in this occurrence of the event; true unless its host says otherwise. The
    /// [`Occurrences`](super::Occurrences) of a column say which dialects take part only then.
    pub(crate) fn is_for_all(&self) -> bool {
        let field = match self.kind() {
            EventKind::SessionStart | EventKind::SessionEnd => "launch",
            EventKind::BeforeModel => "conversation_turn",
            _ => return true,
        };
        self.field(field).and_then(Json::as_bool) != Some(false)
    }

    /// The event's own fields.
    #[must_use]
    pub fn fields(&self) -> &JsonObject {
        &self.fields
    }

    /// The variables for the processes it starts.
    #[must_use]
    pub fn variables(&self) -> &[(String, String)] {
        &self.base.variables
    }

    /// The name under which the host wants it to be recorded.
    #[must_use]
    pub fn record_name(&self) -> Option<&str> {
        self.base.record_name.as_deref()
    }

    /// Replaces a field: this is how a rewrite reaches the next hook.
    pub(crate) fn set(&mut self, name: impl Into<String>, value: Json) {
        Arc::make_mut(&mut self.fields).set(name, value);
    }

    /// Replaces the request of a model call. A list of messages that the host gave beside it shows the request as it was, so it
    /// goes if the conversation is another one now.
    pub(crate) fn set_request(&mut self, request: Json) {
        let conversation = |request: &Json| ModelRequest::read(request).messages;
        let is_stale = |old: &Json| conversation(old) != conversation(&request);
        if self.field("messages").is_some() && self.field("llm_request").is_none_or(is_stale) {
            Arc::make_mut(&mut self.fields).remove("messages");
        }
        self.set("llm_request", request);
    }

    fn base_mut(&mut self) -> &mut BaseFields {
        Arc::make_mut(&mut self.base)
    }

    /// The field's value, or the empty value of its type when it is required and missing.
    #[must_use]
    pub(crate) fn field_or_empty(&self, spec: &FieldSpec) -> Option<Json> {
        match self.field(spec.name) {
            Some(value) => Some(value.clone()),
            None if spec.required => Some(empty_value(spec.kind)),
            None => None,
        }
    }
}

/// The text of a field every event has.
fn base_text(field: &'static str, value: &Json) -> Result<String, EventError> {
    value.as_str().ok_or(EventError::FieldType { field, expected: "a string", found: value.kind() })
}

fn check_type(field: &'static FieldSpec, value: &Json) -> Result<(), EventError> {
    let found = value.kind();
    let (fits, expected) = match field.kind {
        FieldKind::Text => (found == JsonKind::String, "a string"),
        FieldKind::Object => (found == JsonKind::Object, "an object"),
        FieldKind::List => (found == JsonKind::Array, "a list"),
        FieldKind::Flag => (found == JsonKind::Boolean, "true or false"),
        FieldKind::Number => (found == JsonKind::Number, "a number"),
        FieldKind::Any => (true, "anything"),
    };
    if fits { Ok(()) } else { Err(EventError::FieldType { field: field.name, expected, found }) }
}

fn empty_value(kind: FieldKind) -> Json {
    match kind {
        FieldKind::Text => Json::string(""),
        FieldKind::Object => Json::empty_object(),
        FieldKind::List => Json::from(serde_json::Value::Array(Vec::new())),
        FieldKind::Flag => Json::boolean(false),
        FieldKind::Number => Json::from(serde_json::Value::from(0)),
        FieldKind::Any => Json::null(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(text: &str) -> Result<Event, EventError> {
        Event::new(EventKind::BeforeTool, "/p").with_payload(&Json::parse(text).unwrap())
    }

    #[test]
    fn known_fields_must_have_their_type() {
        assert_eq!(
            payload(r#"{"tool_input":[]}"#).unwrap_err(),
            EventError::FieldType { field: "tool_input", expected: "an object", found: JsonKind::Array }
        );
        assert_eq!(payload("[1]").unwrap_err(), EventError::NotAnObject { found: JsonKind::Array });
        let twice = r#"{"tool_input":{"path":"a"},"tool_input":{"path":"b"}}"#;
        assert_eq!(payload(twice).unwrap_err(), EventError::RepeatedField { field: "tool_input".to_owned() });
    }

    #[test]
    fn base_fields_are_taken_out_and_the_name_cannot_be_spoofed() {
        let event = payload(r#"{"session_id":"s","cwd":"/x","hook_event_name":"AfterTool","extra":1}"#).unwrap();
        assert_eq!((event.session_id(), event.cwd()), ("s", Path::new("/x")));
        assert!(event.field("hook_event_name").is_none());
        assert_eq!(event.field("extra").unwrap().text(), "1");
    }
}

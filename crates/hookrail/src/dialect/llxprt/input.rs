//! What hooks of this dialect receive, as types. The engine writes a hook's standard input from them.

use std::path::{Path, PathBuf};

use super::event_name::HookEventName;
use super::llm::{LlmRequest, LlmResponse};
use crate::event::{Event, EventError};
use crate::json::{Json, ObjectWriter};

/// The fields that every hook receives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookInput {
    /// The session, or an empty text.
    pub session_id: String,
    /// The path of the session's transcript, or an empty text.
    pub transcript_path: String,
    /// The working directory.
    pub cwd: PathBuf,
    /// When it happened, as ISO 8601; now when it is empty.
    pub timestamp: String,
}

impl HookInput {
    /// The fields of an event that happens now in this directory.
    #[must_use]
    pub fn new(session_id: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self { session_id: session_id.into(), cwd: cwd.into(), ..Self::default() }
    }

    fn of_event(event: &Event) -> Self {
        Self {
            session_id: event.session_id().to_owned(),
            transcript_path: event.transcript_path().to_owned(),
            cwd: event.cwd().to_owned(),
            timestamp: event.timestamp().to_owned(),
        }
    }

    fn to_event(&self, name: HookEventName) -> Event {
        let Self { session_id, transcript_path, cwd, timestamp } = self;
        let event = Event::new(name.kind(), cwd).session(session_id).transcript(transcript_path);
        if timestamp.is_empty() { event } else { event.at_time(timestamp) }
    }

    fn write(&self, name: HookEventName, object: &mut ObjectWriter) {
        let Self { session_id, transcript_path, cwd, timestamp } = self;
        object.text("session_id", session_id);
        object.text("transcript_path", transcript_path);
        object.text("cwd", &cwd.to_string_lossy());
        object.text("hook_event_name", name.name());
        object.text("timestamp", timestamp);
    }
}

/// A field of an input: read from an event's field, or made empty when the event does not have it.
trait Field: Sized {
    fn read(value: Option<&Json>) -> Self;
    /// None leaves the field out.
    fn to_json(&self) -> Option<Json>;
}

impl Field for String {
    fn read(value: Option<&Json>) -> Self {
        value.map(|value| value.as_str().unwrap_or_else(|| value.text().to_owned())).unwrap_or_default()
    }

    fn to_json(&self) -> Option<Json> {
        Some(Json::string(self))
    }
}

impl Field for bool {
    fn read(value: Option<&Json>) -> Self {
        value.and_then(Json::as_bool).unwrap_or_default()
    }

    fn to_json(&self) -> Option<Json> {
        Some(Json::boolean(*self))
    }
}

/// An object, kept as it was written: a tool's input with a key twice must reach the hook as it is.
impl Field for Json {
    fn read(value: Option<&Json>) -> Self {
        value.cloned().unwrap_or_else(Self::empty_object)
    }

    fn to_json(&self) -> Option<Json> {
        Some(self.clone())
    }
}

impl Field for Option<Json> {
    fn read(value: Option<&Json>) -> Self {
        value.cloned()
    }

    fn to_json(&self) -> Option<Json> {
        self.clone()
    }
}

impl Field for LlmRequest {
    fn read(value: Option<&Json>) -> Self {
        value.map(Self::read).unwrap_or_default()
    }

    fn to_json(&self) -> Option<Json> {
        Some(LlmRequest::to_json(self))
    }
}

impl Field for LlmResponse {
    fn read(value: Option<&Json>) -> Self {
        value.map(Self::read).unwrap_or_default()
    }

    fn to_json(&self) -> Option<Json> {
        Some(LlmResponse::to_json(self))
    }
}

/// What started a compression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompressTrigger {
    /// The user.
    Manual,
    /// The agent, whatever another dialect calls that.
    Auto,
    /// A word that this dialect does not define.
    Other(String),
}

impl CompressTrigger {
    /// The word as hooks receive it.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
            Self::Other(word) => word,
        }
    }
}

impl Field for CompressTrigger {
    fn read(value: Option<&Json>) -> Self {
        match String::read(value).as_str() {
            "manual" => Self::Manual,
            "auto" | "proactive" | "reactive" => Self::Auto,
            other => Self::Other(other.to_owned()),
        }
    }

    fn to_json(&self) -> Option<Json> {
        Some(Json::string(self.word()))
    }
}

/// Declares the input of each event: a struct, its way from and to an event, and a case of [`AnyHookInput`].
macro_rules! inputs {
    ($($(#[doc = $doc:literal])+ $name:ident => $input:ident {
        $($(#[doc = $field_doc:literal])+ $field:ident: $type:ty,)*
        $(optional { $($(#[doc = $optional_doc:literal])+ $optional:ident,)+ })?
    })+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Debug)]
            pub struct $input {
                /// The fields that every hook receives.
                pub base: HookInput,
                $($(#[doc = $field_doc])+ pub $field: $type,)*
                $($($(#[doc = $optional_doc])+ pub $optional: Option<Json>,)+)?
            }

            impl $input {
                /// The input with the fields that the event needs.
                #[must_use]
                pub fn new(base: HookInput $(, $field: impl Into<$type>)*) -> Self {
                    Self { base, $($field: $field.into(),)* $($($optional: None,)+)? }
                }

                fn of_event(event: &Event) -> Self {
                    Self {
                        base: HookInput::of_event(event),
                        $($field: Field::read(event.field(stringify!($field))),)*
                        $($($optional: Field::read(event.field(stringify!($optional))),)+)?
                    }
                }

                fn write(&self, object: &mut ObjectWriter) {
                    self.base.write(HookEventName::$name, object);
                    let fields: &[(&str, Option<Json>)] = &[
                        $((stringify!($field), Field::to_json(&self.$field)),)*
                        $($((stringify!($optional), Field::to_json(&self.$optional)),)+)?
                    ];
                    for (name, value) in fields {
                        if let Some(value) = value {
                            object.value(name, value.clone());
                        }
                    }
                }
            }

            impl From<$input> for Event {
                fn from(input: $input) -> Self {
                    let mut event = input.base.to_event(HookEventName::$name);
                    $(if let Some(value) = Field::to_json(&input.$field) {
                        event = event.with(stringify!($field), value);
                    })*
                    $($(if let Some(value) = Field::to_json(&input.$optional) {
                        event = event.with(stringify!($optional), value);
                    })+)?
                    event
                }
            }
        )+

        /// The input of any event of this dialect.
        #[derive(Clone, Debug)]
        pub enum AnyHookInput {
            $($(#[doc = $doc])+ $name($input),)+
        }

        impl AnyHookInput {
            /// What a hook of this dialect receives for an event; none if the dialect does not have the event.
            #[must_use]
            pub fn of_event(event: &Event) -> Option<Self> {
                Some(match HookEventName::of_kind(event.kind())? {
                    $(HookEventName::$name => Self::$name($input::of_event(event)),)+
                })
            }

            /// The event's name.
            #[must_use]
            pub fn event_name(&self) -> HookEventName {
                match self {
                    $(Self::$name(_) => HookEventName::$name,)+
                }
            }

            pub(super) fn write(&self, object: &mut ObjectWriter) {
                match self {
                    $(Self::$name(input) => input.write(object),)+
                }
            }
        }

        impl From<AnyHookInput> for Event {
            fn from(input: AnyHookInput) -> Self {
                match input {
                    $(AnyHookInput::$name(input) => input.into(),)+
                }
            }
        }
    };
}

inputs! {
    /// What a hook receives immediately before a tool runs.
    BeforeTool => BeforeToolInput {
        /// The tool.
        tool_name: String,
        /// Its arguments, an object.
        tool_input: Json,
        optional {
            /// Where the tool comes from, if that is an MCP server.
            mcp_context,
        }
    }
    /// What a hook receives immediately after a tool has run.
    AfterTool => AfterToolInput {
        /// The tool.
        tool_name: String,
        /// The arguments it ran with, an object.
        tool_input: Json,
        /// What it gave back, an object.
        tool_response: Json,
        optional {
            /// Where the tool comes from, if that is an MCP server.
            mcp_context,
        }
    }
    /// What a hook receives before the user's prompt is processed.
    BeforeAgent => BeforeAgentInput {
        /// The prompt.
        prompt: String,
    }
    /// What a hook receives when the agent has finished its answer.
    AfterAgent => AfterAgentInput {
        /// The prompt.
        prompt: String,
        /// The agent's answer.
        prompt_response: String,
        /// Whether the agent goes on because an earlier hook of this event wanted it to.
        stop_hook_active: bool,
    }
    /// What a hook receives before a model is called.
    BeforeModel => BeforeModelInput {
        /// The request.
        llm_request: LlmRequest,
    }
    /// What a hook receives after a model has answered.
    AfterModel => AfterModelInput {
        /// The request.
        llm_request: LlmRequest,
        /// The response.
        llm_response: LlmResponse,
    }
    /// What a hook receives before a request with tool definitions is sent.
    BeforeToolSelection => BeforeToolSelectionInput {
        /// The request.
        llm_request: LlmRequest,
    }
    /// What a hook receives when a session begins.
    SessionStart => SessionStartInput {
        /// How it began: `startup`, `resume`, `clear` or `compress`.
        source: String,
    }
    /// What a hook receives when a session ends.
    SessionEnd => SessionEndInput {
        /// Why it ended: `exit`, `clear`, `logout`, `prompt_input_exit` or `other`.
        reason: String,
    }
    /// What a hook receives before the conversation is compressed.
    PreCompress => PreCompressInput {
        /// What started it.
        trigger: CompressTrigger,
    }
    /// What a hook receives when the user is about to be notified.
    Notification => NotificationInput {
        /// The kind of notification, such as `ToolPermission`.
        notification_type: String,
        /// Its text.
        message: String,
        /// What it is about, an object.
        details: Json,
    }
}

/// The text that a matcher is compared with: the field as the hook receives it.
pub(super) fn matched_text(event: &Event, field: &str) -> String {
    let value = event.field(field);
    match field {
        "trigger" => CompressTrigger::read(value).word().to_owned(),
        _ => value.and_then(Json::as_str).unwrap_or_default(),
    }
}

impl AnyHookInput {
    /// Reads the object that a host of this dialect gives its hooks; none if it names no event of this dialect.
    ///
    /// # Errors
    /// When the value is not an object, has a key twice, or has a field of the wrong type.
    pub fn parse(payload: &Json) -> Result<Option<Self>, EventError> {
        let object = payload.as_object().ok_or(EventError::NotAnObject { found: payload.kind() })?;
        let name = object.get("hook_event_name").and_then(Json::as_str).unwrap_or_default();
        let Some(name) = HookEventName::from_name(&name) else { return Ok(None) };
        let event = Event::new(name.kind(), Path::new("")).with_payload(payload)?;
        Ok(Self::of_event(&event))
    }

    /// The object that a hook receives.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut object = ObjectWriter::new();
        self.write(&mut object);
        let text = object.finish().whole();
        Json::parse(&String::from_utf8_lossy(&text)).unwrap_or_else(|_| Json::empty_object())
    }
}

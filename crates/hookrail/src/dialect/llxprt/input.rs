//! The events of this dialect and what their hooks receive, as types. The engine writes a hook's standard input from them.

use std::fmt;
use std::path::{Path, PathBuf};

use super::llm::{LlmRequest, LlmResponse};
use crate::event::{Event, EventError, EventKind};
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

/// Declares each event: its name, the neutral event behind it, and its input, which is a struct, its way from and to an
/// event, and a case of [`AnyHookInput`].
macro_rules! events {
    ($($(#[doc = $doc:literal])+ $name:ident for $kind:ident => $input:ident {
        $($(#[doc = $field_doc:literal])+ $field:ident: $type:ty,)*
        $(optional { $($(#[doc = $optional_doc:literal])+ $optional:ident,)+ })?
    })+) => {
        /// The events of this dialect, by the names its settings and hooks use.
        ///
        /// ```
        /// use hookrail::dialect::llxprt::HookEventName;
        /// use hookrail::EventKind;
        ///
        /// assert_eq!(HookEventName::from_name("BeforeTool"), Some(HookEventName::BeforeTool));
        /// assert_eq!(HookEventName::BeforeAgent.kind(), EventKind::Prompt);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum HookEventName {
            $(#[doc = concat!("Fires", $($doc),+)] $name,)+
        }

        impl HookEventName {
            /// Every event of this dialect.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The name as it is written.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// The neutral event.
            #[must_use]
            pub fn kind(self) -> EventKind {
                match self {
                    $(Self::$name => EventKind::$kind,)+
                }
            }
        }

        $(
            #[doc = concat!("What a hook receives", $($doc),+)]
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

                /// The fields of this event that are there.
                fn fields(&self) -> Vec<(&'static str, Json)> {
                    let fields = [
                        $((stringify!($field), Field::to_json(&self.$field)),)*
                        $($((stringify!($optional), Field::to_json(&self.$optional)),)+)?
                    ];
                    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
                }
            }

            impl From<$input> for Event {
                fn from(input: $input) -> Self {
                    AnyHookInput::$name(input).into()
                }
            }
        )+

        /// The input of any event of this dialect.
        #[derive(Clone, Debug)]
        pub enum AnyHookInput {
            $(#[doc = concat!("What a hook receives", $($doc),+)] $name($input),)+
        }

        impl AnyHookInput {
            /// What a hook of this dialect receives for an event; none if the dialect does not have the event.
            #[must_use]
            pub fn of_event(event: &Event) -> Option<Self> {
                Some(match HookEventName::of_kind(event.kind())? {
                    $(HookEventName::$name => Self::$name($input::of_event(event)),)+
                })
            }

            /// The name of the event, the fields that every hook receives, and those of this event.
            fn parts(&self) -> (HookEventName, &HookInput, Vec<(&'static str, Json)>) {
                match self {
                    $(Self::$name(input) => (HookEventName::$name, &input.base, input.fields()),)+
                }
            }
        }
    };
}

events! {
    /// immediately before a tool runs.
    BeforeTool for BeforeTool => BeforeToolInput {
        /// The tool.
        tool_name: String,
        /// Its arguments, an object.
        tool_input: Json,
        optional {
            /// Where the tool comes from, if that is an MCP server.
            mcp_context,
            /// The sub-agent that uses the tool, if it is one.
            agent_id,
            /// The kind of that sub-agent.
            agent_type,
        }
    }
    /// immediately after a tool has run.
    AfterTool for AfterTool => AfterToolInput {
        /// The tool.
        tool_name: String,
        /// The arguments it ran with, an object.
        tool_input: Json,
        /// What it gave back, an object.
        tool_response: Json,
        optional {
            /// Where the tool comes from, if that is an MCP server.
            mcp_context,
            /// The sub-agent that uses the tool, if it is one.
            agent_id,
            /// The kind of that sub-agent.
            agent_type,
        }
    }
    /// before the user's prompt is processed.
    BeforeAgent for Prompt => BeforeAgentInput {
        /// The prompt.
        prompt: String,
        optional {
            /// `machine` if the agent made the prompt itself.
            origin,
        }
    }
    /// when the agent has finished its answer.
    AfterAgent for AgentEnd => AfterAgentInput {
        /// The prompt.
        prompt: String,
        /// The agent's answer.
        prompt_response: String,
        /// Whether the agent goes on because an earlier hook of this event wanted it to.
        stop_hook_active: bool,
    }
    /// before a model is called.
    BeforeModel for BeforeModel => BeforeModelInput {
        /// The request.
        llm_request: LlmRequest,
    }
    /// after a model has answered.
    AfterModel for AfterModel => AfterModelInput {
        /// The request.
        llm_request: LlmRequest,
        /// The response.
        llm_response: LlmResponse,
    }
    /// before a request with tool definitions is sent.
    BeforeToolSelection for ToolSelection => BeforeToolSelectionInput {
        /// The request.
        llm_request: LlmRequest,
    }
    /// when a session begins.
    SessionStart for SessionStart => SessionStartInput {
        /// How it began: `startup`, `resume`, `clear` or `compress`.
        source: String,
    }
    /// when a session ends.
    SessionEnd for SessionEnd => SessionEndInput {
        /// Why it ended: `exit`, `clear`, `logout`, `prompt_input_exit` or `other`.
        reason: String,
    }
    /// before the conversation is compressed.
    PreCompress for BeforeCompact => PreCompressInput {
        /// What started it.
        trigger: CompressTrigger,
    }
    /// when the user is about to be notified.
    Notification for Notification => NotificationInput {
        /// The kind of notification, such as `ToolPermission`.
        notification_type: String,
        /// Its text.
        message: String,
        /// What it is about, an object.
        details: Json,
    }
}

impl HookEventName {
    /// The event of that name. Case matters.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.name() == name)
    }

    /// The name of a neutral event in this dialect, if the dialect has it.
    #[must_use]
    pub fn of_kind(kind: EventKind) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.kind() == kind)
    }
}

impl fmt::Display for HookEventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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

    /// The event's name.
    #[must_use]
    pub fn event_name(&self) -> HookEventName {
        self.parts().0
    }

    pub(super) fn write(&self, object: &mut ObjectWriter) {
        let (name, base, fields) = self.parts();
        base.write(name, object);
        for (field, value) in fields {
            object.value(field, value);
        }
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

impl From<AnyHookInput> for Event {
    fn from(input: AnyHookInput) -> Self {
        let (name, base, fields) = input.parts();
        fields.into_iter().fold(base.to_event(name), |event, (field, value)| event.with(field, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::DialectId;

    #[test]
    fn the_names_are_those_of_the_event_table() {
        for kind in EventKind::all() {
            let column = kind.spec().column(DialectId::Llxprt).map(|column| column.name);
            assert_eq!(HookEventName::of_kind(kind).map(HookEventName::name), column, "{kind}");
        }
    }
}

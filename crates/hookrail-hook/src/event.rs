//! The events, one type each.
//!
//! One macro declares them: the fields, and what an answer can do. A test compares the declarations with the published JSON
//! Schemas.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::ability::{
    AddsContext, ChoosesTools, ClearsContext, Denies, GivesResponse, HookEvent, RewritesRequest, RewritesToolInput,
};
use crate::answer::HookAnswer;
use crate::field::{EventField, FieldValue, InputError, take};

/// What every event has. A host that does not know a value leaves it empty.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session.
    pub session_id: String,
    /// The path of the transcript.
    pub transcript_path: String,
    /// The working directory of the event.
    pub cwd: String,
    /// The time of the event, in ISO 8601.
    pub timestamp: String,
    /// The answers of the hooks before this one, if its group is sequential.
    pub previous_outputs: Vec<Value>,
}

impl SessionInfo {
    fn take(members: &mut Map<String, Value>) -> Self {
        let mut text = |name: &str| String::from_field(members.remove(name)).unwrap_or_default();
        let (session_id, transcript_path) = (text("session_id"), text("transcript_path"));
        let (cwd, timestamp) = (text("cwd"), text("timestamp"));
        let previous_outputs = match members.remove("previous_outputs") {
            Some(Value::Array(outputs)) => outputs,
            _ => Vec::new(),
        };
        Self { session_id, transcript_path, cwd, timestamp, previous_outputs }
    }
}

/// Declares the events: their types, how they are read, and which answers fit them.
macro_rules! events {
    ($(
        $(#[doc = $doc:literal])+
        $event:ident {
            $($(#[doc = $about:literal])+ $field:ident: $holds:ty,)*
        } can [$($ability:ident),*] answers [$($member:literal),*]
    )+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Debug, PartialEq)]
            #[non_exhaustive]
            pub struct $event {
                /// What every event has.
                pub session: SessionInfo,
                $($(#[doc = $about])+ pub $field: $holds,)*
            }

            impl HookEvent for $event {
                const NAME: &'static str = stringify!($event);
                const FIELDS: &'static [EventField] = &[$(EventField {
                    name: stringify!($field),
                    shape: <$holds as FieldValue>::SHAPE,
                    is_required: <$holds as FieldValue>::IS_REQUIRED,
                }),*];
                const ANSWERS: &'static [&'static str] = &[$($member),*];

                fn from_input(mut input: Map<String, Value>) -> Result<Self, InputError> {
                    expect_event(&input, Self::NAME)?;
                    Ok(Self {
                        $($field: take(&mut input, Self::NAME, stringify!($field))?,)*
                        session: SessionInfo::take(&mut input),
                    })
                }
            }

            $(impl $ability for $event {})*

            impl From<HookAnswer<$event>> for HookAnswer<AnyEvent> {
                fn from(answer: HookAnswer<$event>) -> Self {
                    answer.for_wider_event()
                }
            }
        )+

        /// Any event, for a program that handles several.
        ///
        /// ```
        /// use hookrail_hook::{AnyEvent, BeforeTool, HookAnswer, SessionStart};
        ///
        /// fn handle(event: AnyEvent) -> HookAnswer<AnyEvent> {
        ///     match event {
        ///         AnyEvent::BeforeTool(call) if call.tool_name == "deploy" => {
        ///             HookAnswer::<BeforeTool>::deny("only people deploy").into()
        ///         }
        ///         AnyEvent::SessionStart(_) => HookAnswer::<SessionStart>::none().context("Only people deploy.").into(),
        ///         _ => HookAnswer::none(),
        ///     }
        /// }
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum AnyEvent {
            $($(#[doc = $doc])+ $event($event),)+
        }

        impl HookEvent for AnyEvent {
            const NAME: &'static str = "any event";
            const FIELDS: &'static [EventField] = &[];
            const ANSWERS: &'static [&'static str] = &[];

            fn from_input(input: Map<String, Value>) -> Result<Self, InputError> {
                let name = event_name(&input);
                match name {
                    $(stringify!($event) => $event::from_input(input).map(Self::$event),)+
                    other => Err(InputError::OtherEvent { expected: Self::NAME, found: other.to_owned() }),
                }
            }
        }

        #[cfg(test)]
        pub(crate) const DECLARED: &[(&str, &[EventField], &[&str])] =
            &[$((<$event as HookEvent>::NAME, <$event as HookEvent>::FIELDS, <$event as HookEvent>::ANSWERS)),+];
    };
}

events! {
    /// A session begins.
    SessionStart {
        /// What began it: `startup`, `resume` or `clear`.
        source: String,
    } can [AddsContext] answers ["additionalContext"]
    /// A session ends.
    SessionEnd {
        /// Why it ends.
        reason: String,
    } can [] answers []
    /// The user has sent a prompt.
    BeforeAgent {
        /// The prompt.
        prompt: String,
        /// `machine` where a program of the agent has made the prompt.
        origin: Option<String>,
    } can [Denies, AddsContext] answers ["additionalContext"]
    /// The agent has finished its answer. To deny that makes it continue.
    AfterAgent {
        /// The prompt.
        prompt: String,
        /// The answer.
        prompt_response: String,
        /// Whether the agent continues because a hook denied its last end.
        stop_hook_active: bool,
    } can [Denies, ClearsContext] answers ["clearContext"]
    /// A tool is about to run.
    BeforeTool {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Map<String, Value>,
        /// The MCP server, if the tool belongs to one.
        mcp_context: Option<Map<String, Value>>,
        /// The sub-agent that calls the tool.
        agent_id: Option<String>,
        /// The kind of that sub-agent.
        agent_type: Option<String>,
    } can [Denies, RewritesToolInput] answers ["tool_input"]
    /// A tool has run.
    AfterTool {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Map<String, Value>,
        /// Its result: `llmContent`, `returnDisplay` and `error`.
        tool_response: Map<String, Value>,
        /// The MCP server, if the tool belongs to one.
        mcp_context: Option<Map<String, Value>>,
        /// The sub-agent that called the tool.
        agent_id: Option<String>,
        /// The kind of that sub-agent.
        agent_type: Option<String>,
    } can [AddsContext] answers ["additionalContext"]
    /// A model is about to be called.
    BeforeModel {
        /// The request.
        llm_request: Map<String, Value>,
    } can [Denies, RewritesRequest, GivesResponse] answers ["llm_request", "llm_response"]
    /// A model has answered.
    AfterModel {
        /// The request.
        llm_request: Map<String, Value>,
        /// The response.
        llm_response: Map<String, Value>,
    } can [GivesResponse] answers ["llm_response"]
    /// A request with tool definitions is about to be sent to a model.
    BeforeToolSelection {
        /// The request.
        llm_request: Map<String, Value>,
    } can [ChoosesTools] answers ["toolConfig"]
    /// The conversation is about to be compressed.
    PreCompress {
        /// What asked for it: `auto` or `manual`.
        trigger: String,
    } can [] answers []
    /// The user is about to be notified.
    Notification {
        /// The kind of notification.
        notification_type: String,
        /// The text.
        message: String,
        /// More about it.
        details: Map<String, Value>,
    } can [] answers []
}

impl BeforeTool {
    /// Returns an argument of the tool that is a text.
    #[must_use]
    pub fn input_text(&self, name: &str) -> Option<&str> {
        self.tool_input.get(name).and_then(Value::as_str)
    }

    /// Reads the arguments of the tool as a type of the hook's own.
    ///
    /// # Errors
    ///
    /// The arguments do not fit the type.
    pub fn input_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_value(Value::Object(self.tool_input.clone()))
    }
}

impl AfterTool {
    /// Returns an argument of the tool that is a text.
    #[must_use]
    pub fn input_text(&self, name: &str) -> Option<&str> {
        self.tool_input.get(name).and_then(Value::as_str)
    }

    /// Returns what the tool gave to the model, if that is a text.
    #[must_use]
    pub fn response_text(&self) -> Option<&str> {
        self.tool_response.get("llmContent").and_then(Value::as_str)
    }
}

impl AfterModel {
    /// Returns the text of the response.
    #[must_use]
    pub fn response_text(&self) -> Option<&str> {
        self.llm_response.get("text").and_then(Value::as_str)
    }
}

fn event_name(input: &Map<String, Value>) -> &str {
    input.get("hook_event_name").and_then(Value::as_str).unwrap_or_default()
}

fn expect_event(input: &Map<String, Value>, expected: &'static str) -> Result<(), InputError> {
    match event_name(input) {
        found if found == expected => Ok(()),
        found => Err(InputError::OtherEvent { expected, found: found.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::field::FieldShape;

    fn schema(name: &str) -> Value {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/llxprt").join(name);
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    }

    /// The schemas of the engine are beside this crate in the repository only.
    fn has_schemas() -> bool {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/llxprt").is_dir()
    }

    #[test]
    fn events_have_the_fields_of_their_schemas() {
        if !has_schemas() {
            return;
        }
        let base = ["session_id", "transcript_path", "cwd", "timestamp", "hook_event_name", "previous_outputs"];
        for (event, fields, _) in DECLARED {
            let schema = schema(&format!("{event}.stdin.json"));
            let required = |name: &str| schema["required"].as_array().unwrap().iter().any(|known| known == name);
            let properties = schema["properties"].as_object().unwrap();
            let mut expected: Vec<&String> = properties.keys().filter(|key| !base.contains(&key.as_str())).collect();
            let mut declared: Vec<&str> = fields.iter().map(|field| field.name).collect();
            expected.sort();
            declared.sort_unstable();
            assert_eq!(declared, expected, "{event}");
            for field in *fields {
                assert_eq!(field.is_required, required(field.name), "{event}.{}", field.name);
                let kind = match field.shape {
                    FieldShape::Text => "string",
                    FieldShape::Flag => "boolean",
                    FieldShape::Object => "object",
                };
                assert_eq!(properties[field.name]["type"], kind, "{event}.{}", field.name);
            }
        }
    }

    #[test]
    fn answers_have_the_members_of_their_schemas() {
        if !has_schemas() {
            return;
        }
        let common = ["hookEventName", "permissionDecision", "permissionDecisionReason"];
        for (event, _, answers) in DECLARED {
            let schema = schema(&format!("{event}.stdout.json"));
            let members = schema["properties"]["hookSpecificOutput"]["properties"].as_object().unwrap();
            let mut expected: Vec<&String> = members.keys().filter(|key| !common.contains(&key.as_str())).collect();
            expected.sort();
            let mut declared = answers.to_vec();
            declared.sort_unstable();
            assert_eq!(declared, expected, "{event}");
        }
    }

    #[test]
    fn every_event_of_the_schemas_has_a_type() {
        if !has_schemas() {
            return;
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/llxprt");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> =
            files.filter_map(|file| file.strip_suffix(".stdin.json").map(str::to_owned)).collect();
        let mut declared: Vec<&str> = DECLARED.iter().map(|(name, ..)| *name).collect();
        names.sort();
        declared.sort_unstable();
        assert_eq!(declared, names);
    }
}

//! Reads what an agent sends to its hook and makes the neutral events of it.

use std::path::PathBuf;

use hookrail::payload::ToolResponse;
use hookrail::{Event, EventKind, Json, JsonKind, JsonObject};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::Agent;
use crate::events::AgentEvent;
use crate::patch::{Operation, Patch, PatchError};
use crate::tools::AgentToolCall;

/// Larger payloads are refused: reading one takes longer than an agent waits.
pub const MAX_PAYLOAD: usize = 64 * 1024 * 1024;

/// What an agent gave its hook.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    /// The agent that the command line names.
    pub agent: Agent,
    /// The event that the command line names, for agents whose payload does not.
    pub event: Option<&'a str>,
    /// What came on standard input.
    pub payload: &'a [u8],
    /// The environment of the bridge.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// What is fired although the agent fires it far more often than it happens.
    pub noisy: NoisyEvents,
}

/// Whether events are fired that an agent repeats without need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoisyEvents {
    /// They are left out.
    #[default]
    Filtered,
    /// They are fired as they come.
    Fired,
}

/// What to do with what came in.
#[derive(Debug)]
pub enum Reading {
    /// Fire the events of the request and answer.
    Fire(Box<AgentRequest>),
    /// Answer with nothing.
    Pass(Pass),
}

/// Why nothing is fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The agent is newer than the table and has an event that hookrail does not know.
    UnknownEvent {
        /// Its name.
        name: String,
    },
    /// A prompt without text, which Qwen Code sends after every round of tools.
    EmptyPrompt,
    /// A prompt that the agent made itself.
    MachineMadePrompt,
    /// A piece of a response that goes on, which Gemini CLI sends for every piece that is streamed.
    PieceOfResponse,
    /// The announcement of a compression that Gemini CLI makes before every call of the model.
    CompressionCheck,
}

/// Why what came in cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The payload is too large.
    #[error("the payload has {size} bytes; at most {MAX_PAYLOAD} are read")]
    TooLarge {
        /// Its size.
        size: usize,
    },
    /// The payload is not JSON.
    #[error("the payload is not valid JSON: {message}")]
    NotJson {
        /// What the parser says.
        message: String,
    },
    /// The payload is JSON and not an object.
    #[error("the payload is not an object")]
    NotAnObject,
    /// Neither the payload nor the command line names the event.
    #[error("neither the payload nor `--event` names the event")]
    NoEvent,
    /// A tool event without the name of a tool.
    #[error("the payload names no tool")]
    NoTool,
    /// A tool event without an input that can be read.
    #[error("the input of the tool is not an object")]
    NoToolInput,
    /// A patch that cannot be parsed.
    #[error("the patch cannot be read: {0}")]
    Patch(#[from] PatchError),
}

/// What came in and cannot be used, with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The agent.
    pub agent: Agent,
    /// The event, if it is known.
    pub event: Option<AgentEvent>,
    /// What is wrong.
    pub error: RequestError,
}

impl RefusedRequest {
    /// Whether the operation must be denied. An event that is not known may be a gating one.
    #[must_use]
    pub fn denies(&self) -> bool {
        self.event.is_none_or(|event| event.kind.spec().is_gating())
    }
}

/// One event of an agent, ready to be fired.
#[derive(Clone, Debug)]
pub struct AgentRequest {
    /// The agent, as the environment shows it.
    pub agent: Agent,
    /// The agent's event.
    pub event: AgentEvent,
    /// The agent's session.
    pub session_id: String,
    /// Where the agent works now. A model can change it.
    pub cwd: PathBuf,
    /// The project directory that the agent declares.
    pub declared_project: Option<PathBuf>,
    /// The neutral events: one, or one for each file and hunk of a patch.
    pub events: Vec<Event>,
    /// The tool call of a tool event.
    pub call: Option<AgentToolCall>,
    /// The parsed patch.
    pub patch: Option<(Patch, Vec<Operation>)>,
    /// The tool's result in the agent's own shape.
    pub agent_result: Option<Json>,
    /// The prompt of a prompt event.
    pub prompt: Option<String>,
}

impl AgentRequest {
    /// The neutral event.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        self.event.kind
    }

    /// A key that the before and the after event of one call share. Gemini and Copilot give their calls no id.
    #[must_use]
    pub fn call_key(&self) -> Option<String> {
        self.call_key_with(&self.call.as_ref()?.agent_input)
    }

    /// The key that the call has with another input. A call with an id keeps its key.
    pub(crate) fn call_key_with(&self, input: &Json) -> Option<String> {
        let call = self.call.as_ref()?;
        let id = self.events.first().and_then(|event| event.text("tool_call_id")).filter(|id| !id.is_empty());
        Some(id.unwrap_or_else(|| {
            // An input may be a whole file; the state of a session must stay small.
            let digest = Sha256::digest(format!("{}\u{0}{}", call.agent_name, sorted(&input.to_value())));
            digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
        }))
    }
}

/// A value as text that does not depend on the order of members or on blanks: agents write an input anew.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut parts: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), sorted(value)))
                .collect();
            parts.sort_unstable();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// Finds out which agent calls. The environment and the payload overrule the command line, because Copilot also runs the
/// hooks of Claude Code's settings.
fn calling_agent(incoming: &Incoming<'_>, members: &JsonObject) -> Agent {
    let is_copilot = (incoming.variable)("COPILOT_CLI").is_some_and(|value| value == "1");
    match incoming.agent {
        Agent::Claude if is_copilot => Agent::Copilot,
        Agent::Claude if members.get("turn_id").is_some() && members.get("model").is_some() => Agent::Codex,
        named => named,
    }
}

/// Reads what came in.
///
/// # Errors
///
/// The payload cannot be used. [`RefusedRequest::denies`] tells whether the operation must then be denied.
pub fn read(incoming: &Incoming<'_>) -> Result<Reading, RefusedRequest> {
    let named = incoming.event.and_then(|name| incoming.agent.find_event(name));
    let refuse = |agent, event, error| RefusedRequest { agent, event, error };
    let members = parse(incoming.payload).map_err(|error| refuse(incoming.agent, named, error))?;
    let agent = calling_agent(incoming, &members);
    let text = |names: &[&str]| first_text(&members, names);
    // The payload knows better: one command may be configured for several events.
    let Some(name) = text(&["hook_event_name", "hookName"]).or_else(|| incoming.event.map(str::to_owned)) else {
        return Err(refuse(agent, named, RequestError::NoEvent));
    };
    // Copilot's own notifications carry Claude's event name; the command line then says which spelling was configured.
    let own = incoming.event.filter(|own| agent == Agent::Copilot && own.starts_with(char::is_lowercase));
    let Some(event) = agent.find_event(own.unwrap_or(&name)) else {
        return Ok(Reading::Pass(Pass::UnknownEvent { name }));
    };
    if let Some(pass) = filtered(incoming.noisy, agent, event.kind, &members) {
        return Ok(Reading::Pass(pass));
    }
    let request = Reader { agent, event, members: &members, incoming }.request();
    request.map(|request| Reading::Fire(Box::new(request))).map_err(|error| refuse(agent, Some(event), error))
}

fn parse(payload: &[u8]) -> Result<JsonObject, RequestError> {
    if payload.len() > MAX_PAYLOAD {
        return Err(RequestError::TooLarge { size: payload.len() });
    }
    let text = std::str::from_utf8(payload).map_err(|error| RequestError::NotJson { message: error.to_string() })?;
    let json = Json::parse(text).map_err(|error| RequestError::NotJson { message: error.to_string() })?;
    json.as_object().ok_or(RequestError::NotAnObject)
}

fn first_text(members: &JsonObject, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| members.get(name)?.as_str())
}

/// Prompts that begin with one of these are made by the agent, not typed by a user.
const MACHINE_MADE: [&str; 3] = ["<task-notification>", "<bash-stdout>", "<local-command-stdout>"];

fn filtered(noisy: NoisyEvents, agent: Agent, kind: EventKind, members: &JsonObject) -> Option<Pass> {
    if kind == EventKind::Prompt {
        let prompt = first_text(members, &["prompt"]).unwrap_or_default();
        if prompt.trim().is_empty() {
            return Some(Pass::EmptyPrompt);
        }
        let made = agent == Agent::Claude && MACHINE_MADE.iter().any(|mark| prompt.trim_start().starts_with(mark));
        return made.then_some(Pass::MachineMadePrompt);
    }
    if agent != Agent::Gemini || noisy == NoisyEvents::Fired {
        return None;
    }
    match kind {
        EventKind::BeforeCompact => Some(Pass::CompressionCheck),
        EventKind::AfterModel => {
            let response = members.get("llm_response").and_then(Json::as_object)?;
            let candidates = response.get("candidates").and_then(Json::as_array)?;
            let finished = |candidate: &Json| {
                let reason = candidate.as_object().and_then(|candidate| candidate.get("finishReason")?.as_str());
                reason.is_some_and(|reason| !reason.is_empty())
            };
            (!candidates.iter().any(finished)).then_some(Pass::PieceOfResponse)
        }
        _ => None,
    }
}

struct Reader<'a> {
    agent: Agent,
    event: AgentEvent,
    members: &'a JsonObject,
    incoming: &'a Incoming<'a>,
}

impl Reader<'_> {
    fn text(&self, names: &[&str]) -> Option<String> {
        first_text(self.members, names)
    }

    fn request(&self) -> Result<AgentRequest, RequestError> {
        let cwd = self.text(&["cwd"]).filter(|cwd| !cwd.is_empty()).map_or_else(|| PathBuf::from("."), PathBuf::from);
        let declared = self.agent.project_variables().iter().find_map(|name| (self.incoming.variable)(name));
        let mut request = AgentRequest {
            agent: self.agent,
            event: self.event,
            session_id: self.text(&["session_id", "sessionId"]).unwrap_or_default(),
            declared_project: declared.filter(|declared| !declared.is_empty()).map(PathBuf::from),
            cwd,
            events: Vec::new(),
            call: None,
            patch: None,
            agent_result: None,
            prompt: None,
        };
        match self.event.kind {
            EventKind::BeforeTool | EventKind::AfterTool => self.tool_events(&mut request)?,
            _ => {
                let event = self.fields(self.base(&request), &mut request);
                request.events.push(event);
            }
        }
        Ok(request)
    }

    /// An event with everything that all events have.
    fn base(&self, request: &AgentRequest) -> Event {
        let mut event = Event::new(self.event.kind, &request.cwd).session(&request.session_id);
        if let Some(path) = self.text(&["transcript_path", "transcriptPath"]) {
            event = event.transcript(path);
        }
        if let Some(time) = self.text(&["timestamp"]) {
            event = event.at_time(time);
        }
        // Codex and Qwen name the model in every event, Claude in some.
        for (field, names) in [("model_id", ["model"]), ("agent_id", ["agent_id"]), ("agent_type", ["agent_type"])] {
            if let Some(text) = self.text(&names).filter(|text| !text.is_empty()) {
                event = event.with_text(field, &text);
            }
        }
        event
    }

    fn fields(&self, event: Event, request: &mut AgentRequest) -> Event {
        let text = |names: &[&str]| self.text(names).unwrap_or_default();
        match self.event.kind {
            EventKind::SessionStart => {
                let source = text(&["source"]);
                // Other names for the same: Copilot's `new`, and `compact`, which LLxprt calls `compress`.
                let neutral = match source.as_str() {
                    "new" | "" => "startup",
                    "compact" => "compress",
                    other => other,
                };
                let launch = !matches!(source.as_str(), "compact" | "clear");
                event.with_text("source", neutral).with("launch", Json::boolean(launch))
            }
            EventKind::SessionEnd => {
                let reason = text(&["reason"]);
                event.with("launch", Json::boolean(reason != "clear")).with_text("reason", &reason)
            }
            EventKind::Prompt => {
                let prompt = text(&["prompt"]);
                request.prompt = Some(prompt.clone());
                event.with_text("prompt", &prompt)
            }
            EventKind::AgentEnd => {
                let active = self.members.get("stop_hook_active").and_then(Json::as_bool).unwrap_or(false);
                event
                    .with_text("prompt", &text(&["prompt"]))
                    .with_text("prompt_response", &text(&["prompt_response", "last_assistant_message"]))
                    .with("stop_hook_active", Json::boolean(active))
            }
            EventKind::TurnEnd => self.copy(event, &[("tool_results", "tool_calls")]),
            EventKind::BeforeCompact => {
                let trigger = text(&["trigger"]);
                self.copy(event.with_text("trigger", &trigger), &[("custom_instructions", "custom_instructions")])
            }
            EventKind::AfterCompact => event
                .with_text("trigger", &text(&["trigger"]))
                .with_text("summary", &text(&["compact_summary", "summary"])),
            EventKind::SubagentStart | EventKind::SubagentStop => {
                let names = [("name", text(&["agent_type"])), ("description", text(&["agent_id"]))];
                let agent = names.into_iter().map(|(name, value)| (name.to_owned(), Json::string(&value)));
                event.with("agent", agent.collect::<JsonObject>().to_json()).with_text("outcome", "completed")
            }
            EventKind::Notification => {
                let event = event
                    .with_text("notification_type", &text(&["notification_type", "notificationType"]))
                    .with_text("message", &text(&["message"]));
                let details = self.members.get("details").cloned().unwrap_or_else(Json::empty_object);
                event.with("details", details)
            }
            _ => self.copy(event, &[("llm_request", "llm_request"), ("llm_response", "llm_response")]),
        }
    }

    /// Copies fields, under their neutral names. What is null is not there.
    fn copy(&self, event: Event, fields: &[(&str, &str)]) -> Event {
        let given = |own: &str| self.members.get(own).filter(|value| value.kind() != JsonKind::Null);
        fields.iter().fold(event, |event, (neutral, own)| match given(own) {
            Some(value) => event.with(*neutral, value.clone()),
            None => event,
        })
    }

    fn tool_events(&self, request: &mut AgentRequest) -> Result<(), RequestError> {
        let name = self.text(&["tool_name", "toolName", "tool"]).filter(|name| !name.is_empty());
        let name = name.ok_or(RequestError::NoTool)?;
        let input = ["tool_input", "toolArgs", "toolInput", "args", "input"];
        let input = input.iter().find_map(|member| self.members.get(member)).cloned();
        // Copilot has sent the arguments as a JSON text in earlier versions.
        let input = input.map(|input| match input.as_str() {
            Some(text) => Json::parse(&text).unwrap_or(input),
            None => input,
        });
        let input = input.filter(|input| input.as_object().is_some()).ok_or(RequestError::NoToolInput)?;
        let mut base = self.base(request);
        if let Some(id) = self.text(&["tool_use_id", "tool_call_id", "toolCallId", "callID"]) {
            base = base.with_text("tool_call_id", &id);
        }
        if let Some(server) = self.mcp_context() {
            base = base.with("mcp_context", server);
        }
        if self.event.kind == EventKind::AfterTool {
            let (result, response) = self.tool_response();
            request.agent_result = result;
            base = base.with("tool_response", response.to_json());
        }
        let patch = if self.agent == Agent::Codex && name == "apply_patch" { Some(self.patch(&input)?) } else { None };
        request.call = Some(AgentToolCall::read(self.agent, &name, input));
        if let (None, Some(call)) = (&patch, &request.call) {
            request.events.push(base.with_text("tool_name", &call.name).with("tool_input", call.input.clone()));
            return Ok(());
        }
        let Some(patch) = patch else { return Ok(()) };
        let operations = patch.operations(&request.cwd);
        let events = operations.iter().map(|operation| {
            base.clone().with_text("tool_name", operation.tool).with("tool_input", operation.input.clone())
        });
        request.events.extend(events);
        request.patch = Some((patch, operations));
        Ok(())
    }

    fn patch(&self, input: &Json) -> Result<Patch, RequestError> {
        let command = input.as_object().and_then(|input| input.get("command")?.as_str());
        Ok(Patch::parse(&command.ok_or(RequestError::NoToolInput)?)?)
    }

    fn mcp_context(&self) -> Option<Json> {
        if let Some(context) = self.members.get("mcp_context") {
            return Some(context.clone());
        }
        let server = self.members.get("mcp_server")?.as_object()?;
        let name = server.get("name")?.clone();
        Some([("server_name".to_owned(), name)].into_iter().collect::<JsonObject>().to_json())
    }

    /// The tool's result in the agent's own shape, and as the neutral field carries it.
    fn tool_response(&self) -> (Option<Json>, ToolResponse) {
        if let Some(error) = self.text(&["error"]) {
            let text = Json::string(&error);
            return (None, ToolResponse::new(text.clone(), text).with_error(&error));
        }
        let names = ["tool_response", "toolResult", "tool_result", "output", "result"];
        let Some(own) = names.iter().find_map(|name| self.members.get(name)) else {
            return (None, ToolResponse::new(Json::string(""), Json::string("")));
        };
        let members = own.as_object();
        let is_neutral = members.as_ref().is_some_and(|members| members.get("llmContent").is_some());
        let response = if is_neutral {
            ToolResponse::read(own)
        } else {
            let text = Json::string(&result_text(own));
            let response = ToolResponse::new(text.clone(), text);
            let failed = members.as_ref().and_then(|members| {
                let kind = members.get("resultType").or_else(|| members.get("result_type"))?.as_str()?;
                (kind != "success").then_some(kind)
            });
            match failed {
                Some(kind) => response.with_error(&kind),
                None => response,
            }
        };
        (Some(own.clone()), response)
    }
}

/// The text of a result in the shape of any agent: what a hook that reads results looks for.
fn result_text(result: &Json) -> String {
    if let Some(text) = result.as_str() {
        return text;
    }
    if let Some(parts) = result.as_array() {
        return parts_text(&parts);
    }
    let Some(members) = result.as_object() else { return result.text().to_owned() };
    let text = |name: &str| members.get(name).and_then(Json::as_str);
    if let Some(text) = text("textResultForLlm").or_else(|| text("text_result_for_llm")) {
        return text;
    }
    if let Some(stdout) = text("stdout") {
        let stderr = text("stderr").filter(|stderr| !stderr.is_empty());
        return stderr.map_or(stdout.clone(), |stderr| format!("{stdout}\n{stderr}"));
    }
    if let Some(parts) = members.get("content").and_then(Json::as_array) {
        return parts_text(&parts);
    }
    let file = members.get("file").and_then(Json::as_object);
    if let Some(content) = file.and_then(|file| file.get("content")?.as_str()) {
        return content;
    }
    result.text().to_owned()
}

fn parts_text(parts: &[Json]) -> String {
    let text = |part: &Json| part.as_object().and_then(|part| part.get("text")?.as_str());
    parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

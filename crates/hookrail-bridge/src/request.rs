//! Reads what an agent sends to its hook and makes the neutral events of it.

mod caller;
mod known;
mod reader;

use std::path::PathBuf;

use hookrail::trust::Digest;
use hookrail::{Event, EventKind, Json, JsonObject};
use serde_json::Value;

use crate::agents::Agent;
use crate::forms::AnsweredEvent;
use crate::pieces::{PiecePlace, ResponsePiece};
use crate::spec::{AgentEvent, EventNamer, PayloadMembers, PayloadView, Repeats};
use crate::tool_call::AgentToolCall;
pub use known::UnknownName;

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

impl Incoming<'_> {
    /// What came in, refused before it is known to which event it belongs, unless the command line says so.
    #[must_use]
    pub fn refused(&self, error: RequestError) -> RefusedRequest {
        let event = self.event.and_then(|name| self.agent.find_event(name));
        RefusedRequest { agent: self.agent, event, session_id: String::new(), error }
    }
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
    /// A prompt without text, which some agents send after every round of tools.
    EmptyPrompt,
    /// A piece of a response that goes on: the agent sends every piece that is streamed. It has to be kept for the event of
    /// the last one: see [`BridgeSession::keep_piece`](crate::BridgeSession::keep_piece).
    PieceOfResponse(Box<ResponsePiece>),
    /// An event that the agent fires before every call of the model, although nothing happens.
    RepeatedEvent,
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
    /// A member of the payload comes twice: the agent may use the other one.
    #[error("duplicate key `{key}` in the payload; hooks and the agent may read different values")]
    DuplicateKey {
        /// The key.
        key: String,
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
    /// A tool event of a known tool without an input that can be read.
    #[error("the input of the tool is not an object")]
    NoToolInput,
    /// A prompt event without a prompt that can be read.
    #[error("the prompt is not a text")]
    NoPrompt,
    /// The payload did not arrive as a whole.
    #[error("the payload cannot be read: {message}")]
    Unreadable {
        /// What went wrong.
        message: String,
    },
}

/// What came in and cannot be used, with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The agent.
    pub agent: Agent,
    /// The event, if it is known.
    pub event: Option<AgentEvent>,
    /// The agent's session; empty if the payload could not be read so far.
    pub session_id: String,
    /// What is wrong.
    pub error: RequestError,
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
    /// The neutral event.
    pub events: Vec<Event>,
    /// The tool call of a tool event.
    pub call: Option<AgentToolCall>,
    /// The tool's result in the agent's own shape.
    pub agent_result: Option<Json>,
    /// The prompt of a prompt event.
    pub prompt: Option<String>,
    /// The last piece of a response whose earlier pieces were kept.
    pub last_piece: Option<ResponsePiece>,
    /// What a newer version of the agent brings and this version does not know.
    pub unknown: Vec<UnknownName>,
}

impl AgentRequest {
    /// The neutral event.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        self.event.kind
    }

    /// What forms need to know of the event.
    pub(crate) fn answered(&self) -> AnsweredEvent<'_> {
        AnsweredEvent {
            name: self.event.name,
            kind: self.event.kind,
            prompt: self.prompt.as_deref(),
            tool_result: self.agent_result.as_ref(),
            llm_request: self.events.first().and_then(|event| event.field("llm_request")),
        }
    }

    /// What tells the sessions of the agent apart: the session's ID, else its transcript. None if the payload has neither.
    #[must_use]
    pub fn state_key(&self) -> Option<&str> {
        let transcript = self.events.first().map_or("", Event::transcript_path);
        [self.session_id.as_str(), transcript].into_iter().find(|key| !key.is_empty())
    }

    /// A key that the before and the after event of one call share. Some agents give their calls no id.
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
            let mut key = Digest::of(format!("{}\u{0}{}", call.name, sorted(&input.to_value())).as_bytes()).hex();
            key.truncate(32);
            key
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

/// Reads what came in.
///
/// # Errors
///
/// The payload cannot be used. [`Answer::refusal`](crate::Answer::refusal) answers it.
pub fn read(incoming: &Incoming<'_>) -> Result<Reading, RefusedRequest> {
    let members = parse(incoming.payload).map_err(|error| incoming.refused(error))?;
    let session_id = first_text(&members, PayloadMembers::USUAL.session).unwrap_or_default();
    refuse_duplicate_members(incoming.payload)
        .map_err(|error| RefusedRequest { session_id: session_id.clone(), ..incoming.refused(error) })?;
    // The payload knows better: one command may be configured for several events.
    let named = first_text(&members, &["hook_event_name", "hookName"]).or_else(|| incoming.event.map(str::to_owned));
    let Some(name) = named else {
        return Err(RefusedRequest { session_id, ..incoming.refused(RequestError::NoEvent) });
    };
    let view =
        PayloadView { named: incoming.agent.name(), event: &name, members: &members, variable: incoming.variable };
    let agent = caller::calling_agent(incoming.agent, &view);
    let is_own = |name: &&str| agent.events().iter().any(|event| event.name == *name);
    let own = match (agent.spec().event_namer)(&view) {
        EventNamer::Payload => None,
        EventNamer::CommandLine => incoming.event.filter(is_own),
    };
    // A payload of another agent without the event's name: the command line names the event as the named agent does.
    let translated = |name: &str| agent.find_event(agent.event_name(incoming.agent.find_event(name)?.kind)?);
    let find = |name: &str| agent.find_event(name).or_else(|| translated(name));
    // A name that no table knows must not take an event from its guards that the command line names.
    let Some(event) = find(own.unwrap_or(&name)).or_else(|| find(incoming.event?)) else {
        return Ok(Reading::Pass(Pass::UnknownEvent { name }));
    };
    if let Some(pass) = filtered(incoming.noisy, event, &members) {
        return Ok(Reading::Pass(pass));
    }
    let gathers = event.repeats == Repeats::InPieces && incoming.noisy == NoisyEvents::Filtered;
    let piece = if gathers { ResponsePiece::read(agent, &members, session_key(agent, &members)) } else { None };
    let last_piece = match piece {
        Some(piece) if piece.place == PiecePlace::GoesOn => {
            return Ok(Reading::Pass(Pass::PieceOfResponse(Box::new(piece))));
        }
        other => other,
    };
    let request = reader::Reader { agent, event, members: &members, incoming }.request();
    let request = request.map(|request| AgentRequest { last_piece, ..request });
    request.map(|request| Reading::Fire(Box::new(request))).map_err(|error| RefusedRequest {
        agent,
        event: Some(event),
        session_id,
        error,
    })
}

fn parse(payload: &[u8]) -> Result<JsonObject, RequestError> {
    if payload.len() > MAX_PAYLOAD {
        return Err(RequestError::TooLarge { size: payload.len() });
    }
    let text = std::str::from_utf8(payload).map_err(|error| RequestError::NotJson { message: error.to_string() })?;
    let json = Json::parse(text).map_err(|error| RequestError::NotJson { message: error.to_string() })?;
    json.as_object().ok_or(RequestError::NotAnObject)
}

/// Refuses a payload that has one of its own members twice. Duplicate keys further inside are the engine's to judge: it denies
/// if a guard matches.
fn refuse_duplicate_members(payload: &[u8]) -> Result<(), RequestError> {
    let text = std::str::from_utf8(payload).unwrap_or_default();
    match hookrail::document::repeated_member(text) {
        Some(key) => Err(RequestError::DuplicateKey { key }),
        None => Ok(()),
    }
}

fn first_text(members: &JsonObject, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| members.get(name)?.as_str())
}

/// What tells the sessions of an agent apart, as [`AgentRequest::state_key`] does.
fn session_key(agent: Agent, members: &JsonObject) -> Option<String> {
    let names = &agent.spec().members;
    let texts = [names.session, names.transcript].into_iter();
    texts.filter_map(|names| first_text(members, names)).find(|text| !text.is_empty())
}

fn filtered(noisy: NoisyEvents, event: AgentEvent, members: &JsonObject) -> Option<Pass> {
    if event.kind == EventKind::Prompt {
        // What is not a text may be a prompt in a form that is not known here, so it is not empty.
        let prompt = first_text(members, &["prompt"])?;
        return prompt.trim().is_empty().then_some(Pass::EmptyPrompt);
    }
    (noisy == NoisyEvents::Filtered && event.repeats == Repeats::Filtered).then_some(Pass::RepeatedEvent)
}

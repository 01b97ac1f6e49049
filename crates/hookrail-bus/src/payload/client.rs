//! The messages that a client sends.

use std::path::PathBuf;

use hookrail::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::caller::CallerContext;
use super::field;
use super::input::EventInput;
use crate::error::{BusError, ErrorCode};
use crate::words::words;

/// A request to run the hooks of an event.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The id of the request, which its answer has too. The server generates one if it is missing or empty. It must not be
    /// the id of a request in flight on this connection.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The event's name in any dialect, or the neutral one.
    pub event_name: String,
    /// The event's own fields, and of the base fields `session_id`, `transcript_path`, `timestamp` and `cwd`.
    /// The server sets `hook_event_name`.
    pub(crate) input: EventInput,
    /// The project's directory. The default is the server's own project.
    #[serde(default, serialize_with = "field::lossy_path", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub project: Option<PathBuf>,
    /// W3C Trace Context; hooks find it in the variable `TRACEPARENT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// W3C Trace Context; hooks find it in the variable `TRACESTATE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// `answers` (the default): wait for the hooks whose answers affect the outcome. `all`: also wait for the others, and
    /// report the reason for every hook that did not run.
    #[serde(default, deserialize_with = "field::or_default", skip_serializing_if = "field::is_default")]
    #[schemars(with = "Option<WaitFor>")]
    pub wait: WaitFor,
    /// The environment (`environment`, an object of strings) and the tool names (`tools`) of a client that must get exactly
    /// what it would get without a server. The hooks then run in that environment, with nothing that the server was started
    /// with or remembers. It is never logged. `program` (a string, optional) is the name under which the client's events are
    /// recorded, with the `correlationId` as their `fire`. See the capability `caller`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub caller: Option<Box<CallerContext>>,
}

words! {
    /// The hooks that an answer waits for.
    #[derive(Default)]
    pub enum WaitFor {
        /// The hooks whose answers affect the outcome.
        #[default]
        Answers = "answers",
        /// All hooks. The outcome then has every hook, with the reason if it did not run.
        All = "all",
    }
}

impl Request {
    /// Makes a request for an event with these fields, with or without the base fields. The input must be an object;
    /// otherwise the server refuses the request.
    #[must_use]
    pub fn new(event_name: impl Into<String>, input: Json) -> Self {
        Self {
            correlation_id: None,
            event_name: event_name.into(),
            input: EventInput::Whole(input),
            project: None,
            traceparent: None,
            tracestate: None,
            wait: WaitFor::default(),
            caller: None,
        }
    }

    /// Sets the correlation id.
    #[must_use]
    pub fn named(mut self, correlation_id: impl Into<String>) -> Self {
        self.correlation_id = Some(correlation_id.into());
        self
    }

    /// Sets another project than the server's own.
    #[must_use]
    pub fn in_project(mut self, project: impl Into<PathBuf>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Makes the request a part of a trace.
    #[must_use]
    pub fn traced(mut self, traceparent: impl Into<String>) -> Self {
        self.traceparent = Some(traceparent.into());
        self
    }

    /// Runs the hooks as this caller would run them itself.
    #[must_use]
    pub fn for_caller(mut self, caller: CallerContext) -> Self {
        self.caller = Some(Box::new(caller));
        self
    }

    /// Prepares a request that came from another machine. The directory and the transcript of the event are dropped, because
    /// they are paths of that machine: hooks must not be led to whatever has the same paths here.
    ///
    /// # Errors
    /// If the request names a project or a caller, which only programs of the same user may do.
    pub fn from_another_machine(mut self) -> Result<Self, BusError> {
        if self.project.is_some() {
            let message = "a request from another machine cannot name a `project`";
            return Err(BusError::new(ErrorCode::InvalidProject, message));
        }
        if self.caller.is_some() {
            let message = "a request from another machine cannot have a `caller`";
            return Err(BusError::new(ErrorCode::UnsupportedCaller, message));
        }
        self.input.remove(&["cwd", "transcript_path"]);
        Ok(self)
    }

    /// Sets the hooks that the answer waits for.
    #[must_use]
    pub fn waiting_for(mut self, wait: WaitFor) -> Self {
        self.wait = wait;
        self
    }
}

/// The first message of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The id of the message; the answer has the same id.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The major version that the client uses. A higher one than the server's is refused.
    pub protocol: u64,
    /// The name of the client, for logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

impl Hello {
    /// Makes a hello for a protocol version.
    #[must_use]
    pub fn new(protocol: u64) -> Self {
        Self { correlation_id: None, protocol, client: None }
    }

    /// Sets the client's name.
    #[must_use]
    pub fn from_client(mut self, client: impl Into<String>) -> Self {
        self.client = Some(client.into());
        self
    }
}

/// The cancellation of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// The correlation id of the request.
    pub correlation_id: String,
}

impl Cancel {
    /// Makes the cancellation of the request with this correlation id.
    #[must_use]
    pub fn new(correlation_id: impl Into<String>) -> Self {
        Self { correlation_id: correlation_id.into() }
    }
}

/// The subscription to progress reports of this client's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subscribe {
    /// Whether progress is reported.
    pub lifecycle: bool,
}

impl Subscribe {
    /// Makes a subscription, or its end.
    #[must_use]
    pub fn new(lifecycle: bool) -> Self {
        Self { lifecycle }
    }
}

/// A check that the server answers, or the answer to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ping {
    /// The id of the message; the answer has the same id.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

impl Ping {
    /// Makes a ping with a correlation id.
    #[must_use]
    pub fn named(correlation_id: impl Into<String>) -> Self {
        Self { correlation_id: Some(correlation_id.into()) }
    }
}

/// The request to read all configuration again. The last good version of a removed source is then dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reload {
    /// The id of the message; the answer has the same id.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

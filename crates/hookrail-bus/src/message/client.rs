//! What a client sends.

use std::path::PathBuf;

use hookrail::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::Input;
use super::words;
use crate::wire::field;

/// A request to run the hooks of an event.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Names the request. Made up where it is missing or empty; must not be that of a request in flight on this
    /// connection.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The event's name in any dialect, or the neutral one.
    pub event_name: String,
    /// The event's own fields, and of the base fields `session_id`, `transcript_path`, `timestamp` and `cwd`.
    /// `hook_event_name` is the server's.
    pub(crate) input: Input,
    /// The project's directory. By default the server's own project.
    #[serde(default, serialize_with = "field::lossy_path", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub project: Option<PathBuf>,
    /// W3C Trace Context; hooks find it in the variable `TRACEPARENT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// W3C Trace Context; hooks find it in the variable `TRACESTATE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// `answers` (the default): the hooks whose answers count. `all`: also those no host has to wait for, and the reason
    /// for every hook that did not run.
    #[serde(default, deserialize_with = "field::or_default", skip_serializing_if = "field::is_default")]
    #[schemars(with = "Option<Wait>")]
    pub wait: Wait,
}

words! {
    /// What an answer waits for.
    #[derive(Default)]
    pub enum Wait {
        /// The hooks whose answers count.
        #[default]
        Answers = "answers",
        /// Also the hooks no host has to wait for; the outcome then has every hook, with the reason where it did not run.
        All = "all",
    }
}

impl Request {
    /// A request for an event with these fields, with or without the base fields. They must be an object; a request with
    /// anything else is refused.
    #[must_use]
    pub fn new(event_name: impl Into<String>, input: Json) -> Self {
        Self {
            correlation_id: None,
            event_name: event_name.into(),
            input: Input::Whole(input),
            project: None,
            traceparent: None,
            tracestate: None,
            wait: Wait::default(),
        }
    }

    /// The request under this name.
    #[must_use]
    pub fn named(mut self, correlation_id: impl Into<String>) -> Self {
        self.correlation_id = Some(correlation_id.into());
        self
    }

    /// The request for another project than the server's own.
    #[must_use]
    pub fn in_project(mut self, project: impl Into<PathBuf>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// The request as part of a trace.
    #[must_use]
    pub fn traced(mut self, traceparent: impl Into<String>) -> Self {
        self.traceparent = Some(traceparent.into());
        self
    }

    /// The request whose answer waits for this.
    #[must_use]
    pub fn waiting_for(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }
}

/// The first message of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// Names the message; the answer has the same name.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The major version the client speaks. A higher one than the server's is refused.
    pub protocol: u64,
    /// Who the client is, for logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

impl Hello {
    /// A hello for a protocol.
    #[must_use]
    pub fn new(protocol: u64) -> Self {
        Self { correlation_id: None, protocol, client: None }
    }

    /// The hello with the client's name.
    #[must_use]
    pub fn from_client(mut self, client: impl Into<String>) -> Self {
        self.client = Some(client.into());
        self
    }
}

/// The end of a request before its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// The request's name.
    pub correlation_id: String,
}

impl Cancel {
    /// The end of the request of this name.
    #[must_use]
    pub fn new(correlation_id: impl Into<String>) -> Self {
        Self { correlation_id: correlation_id.into() }
    }
}

/// Whether the life of this client's requests is to be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subscribe {
    /// Whether to tell.
    pub lifecycle: bool,
}

impl Subscribe {
    /// A wish to be told, or not to be.
    #[must_use]
    pub fn new(lifecycle: bool) -> Self {
        Self { lifecycle }
    }
}

/// A sign of life, or the answer to one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ping {
    /// Names the message; the answer has the same name.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

impl Ping {
    /// A sign of life with a name.
    #[must_use]
    pub fn named(correlation_id: impl Into<String>) -> Self {
        Self { correlation_id: Some(correlation_id.into()) }
    }
}

/// A wish that all configuration be read again. Sources that were removed are then gone for good.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reload {
    /// Names the message; the answer has the same name.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

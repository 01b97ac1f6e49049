//! The messages as types. How they look on a line is in `wire`; what each field means is in `spec`.

use std::path::PathBuf;
use std::time::Duration;

use hookrail::Json;

use crate::configuration::ConfigurationStatus;
use crate::error::BusError;
use crate::report::Report;
use crate::watch::WatchMode;

/// What a client says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToServer {
    /// Run the hooks of an event.
    Request(Box<Request>),
    /// Agree on a protocol.
    Hello(Hello),
    /// End a request.
    Cancel(Cancel),
    /// Begin or cease to report the life of this client's requests.
    Subscribe(Subscribe),
    /// Say that you are there.
    Ping(Ping),
    /// Read all configuration again.
    Reload(Reload),
}

impl ToServer {
    /// The name under which it is answered, if it has one.
    #[must_use]
    pub fn correlation_id(&self) -> Option<&str> {
        match self {
            Self::Request(request) => request.correlation_id.as_deref(),
            Self::Hello(hello) => hello.correlation_id.as_deref(),
            Self::Cancel(cancel) => Some(cancel.correlation_id.as_str()),
            Self::Subscribe(_) => None,
            Self::Ping(ping) => ping.correlation_id.as_deref(),
            Self::Reload(reload) => reload.correlation_id.as_deref(),
        }
        .filter(|name| !name.is_empty())
    }
}

/// What a server says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FromServer {
    /// What came of a request, or of a message that could not be served.
    Response(Box<Response>),
    /// The protocol is agreed on.
    Welcome(Welcome),
    /// What came of a [`Cancel`].
    Cancelled(Cancelled),
    /// Something happened to a request.
    Lifecycle(Lifecycle),
    /// I am here.
    Pong(Ping),
    /// What came of a [`Reload`].
    Reloaded(Reloaded),
}

/// A request to run the hooks of an event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// Names the request; one is made up where it is missing or empty.
    pub correlation_id: Option<String>,
    /// The event, in the words of any dialect or the neutral ones.
    pub event_name: String,
    /// The event's fields, with or without the base fields.
    pub input: Json,
    /// The project; none means the server's own.
    pub project: Option<PathBuf>,
    /// The trace this belongs to, as W3C Trace Context writes it.
    pub traceparent: Option<String>,
    /// What goes with the trace.
    pub tracestate: Option<String>,
    /// What the answer waits for.
    pub wait: Wait,
}

/// What an answer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// The hooks whose answers count.
    #[default]
    Answers,
    /// Also the hooks no host has to wait for; the outcome then has every hook, with the reason where it did not run.
    All,
}

impl Wait {
    /// The name in a message.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::All => "all",
        }
    }
}

impl Request {
    /// A request for an event with these fields.
    #[must_use]
    pub fn new(event_name: impl Into<String>, input: Json) -> Self {
        Self {
            correlation_id: None,
            event_name: event_name.into(),
            input,
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

/// What came of a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response {
    /// The request's name.
    pub correlation_id: String,
    /// What the hooks did, or why they were not run.
    pub result: Result<Report, BusError>,
    /// How long the request waited for its turn. This never counts against a hook's time.
    pub queued: Duration,
    /// How long its hooks took, all together.
    pub took: Duration,
    /// Whether texts in the report were cut because it came over a line.
    pub truncated: bool,
}

impl Response {
    pub(crate) fn refused(correlation_id: impl Into<String>, error: BusError) -> Self {
        let correlation_id = correlation_id.into();
        Self { correlation_id, result: Err(error), queued: Duration::ZERO, took: Duration::ZERO, truncated: false }
    }

    /// Whether the request was executed. What the hooks decided is in the report.
    #[must_use]
    pub fn success(&self) -> bool {
        self.result.is_ok()
    }
}

/// A client's first word.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hello {
    /// Names the message; the answer has the same name.
    pub correlation_id: Option<String>,
    /// The protocol's major version.
    pub protocol: u64,
    /// Who the client is, for logs.
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

/// The answer to a [`Hello`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Welcome {
    /// The name of the hello.
    pub correlation_id: Option<String>,
    /// The protocol's major version.
    pub protocol: u64,
    /// The server and its version.
    pub server: String,
    /// What the server can do beyond requests and responses.
    pub capabilities: Vec<String>,
    /// How many bytes a line may have.
    pub line_limit: u64,
    /// How many requests of a connection may be in flight; a server that has them stops reading.
    pub in_flight_limit: u64,
    /// How changes of configuration are noticed; none from a server that does not say.
    pub watch: Option<WatchMode>,
    /// The configuration of the server's own project; none before it is loaded.
    pub configuration: Option<ConfigurationStatus>,
}

/// A wish that all configuration be read again. Sources that were removed are then gone for good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reload {
    /// Names the message; the answer has the same name.
    pub correlation_id: Option<String>,
}

/// The answer to a [`Reload`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// The name of the message.
    pub correlation_id: Option<String>,
    /// Whether everything is now in force as it is written.
    pub success: bool,
    /// How many projects are open; the configuration of each was read.
    pub projects: u64,
    /// The revision of the configuration of the server's own project.
    pub revision: Option<u64>,
    /// Sources that cannot be used and whose last good version is in force.
    pub kept: Vec<String>,
    /// What cannot be used, in words.
    pub problems: Vec<String>,
}

/// The end of a request before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// What came of a [`Cancel`]. The request still gets its one response, with the code `cancelled`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cancelled {
    /// The request's name.
    pub correlation_id: String,
    /// Whether a request of that name was in flight.
    pub found: bool,
}

/// Whether the life of this client's requests is to be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subscribe {
    /// Whether to report it.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ping {
    /// Names the message; the answer has the same name.
    pub correlation_id: Option<String>,
}

impl Ping {
    /// A sign of life with a name.
    #[must_use]
    pub fn named(correlation_id: impl Into<String>) -> Self {
        Self { correlation_id: Some(correlation_id.into()) }
    }
}

/// Something that happened to a request. It is told as far as there is room, and never holds up an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lifecycle {
    /// The request's name.
    pub correlation_id: String,
    /// What happened.
    pub phase: Phase,
    /// The hook, for what happens to one.
    pub hook: Option<String>,
    /// How many hooks will run, when that is known.
    pub hooks: Option<u64>,
    /// How long the hook took, when it has ended.
    pub duration: Option<Duration>,
}

/// The steps in the life of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// It waits for its turn.
    Queued,
    /// Its hooks are known and begin to run.
    Planned,
    /// A hook was started.
    HookStarted,
    /// A hook has ended.
    HookEnded,
}

impl Phase {
    /// Every step, in order.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Planned, Self::HookStarted, Self::HookEnded];

    /// The name in a message.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Planned => "planned",
            Self::HookStarted => "hook-started",
            Self::HookEnded => "hook-ended",
        }
    }
}

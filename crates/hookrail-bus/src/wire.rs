//! Messages as lines: one JSON object with `type` and `payload` per line.
//!
//! A line is checked against the table before anything is made of it, so that every mistake is named by its field.

mod fit;
mod name;

use std::path::PathBuf;
use std::time::Duration;

use hookrail::{Json, JsonKind, JsonObject, repeated_member};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::configuration::ConfigurationStatus;
use crate::error::{BusError, ErrorCode};
use crate::message::{
    Cancel, Cancelled, FromServer, Hello, Lifecycle, Phase, Ping, Reload, Reloaded, Request, Response, Subscribe,
    ToServer, Wait, Welcome,
};
use crate::report::{self, Report};
use crate::spec::{self, FieldSpec, FieldType, MessageSpec};
use crate::transport::Refusal;
use crate::watch::WatchMode;

pub(crate) use name::NameScanner;

/// A message that can be written on a line.
pub(crate) trait Encode {
    /// The line, without its end. An answer is cut to so many bytes; nothing else has parts that could be left out.
    fn encode(&self, limit: usize) -> String;
}

/// A message that can be read from a line.
pub(crate) trait Decode: Sized {
    /// The message, or why the line is none.
    fn decode(line: &str) -> Result<Self, Refusal>;
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

/// A payload whose fields have the types the table says.
struct Payload(JsonObject);

impl Payload {
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Json::as_str)
    }

    /// A name that is one: an empty text names nothing.
    fn name(&self) -> Option<String> {
        self.text("correlationId").filter(|name| !name.is_empty())
    }

    fn required(&self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Json::as_bool).unwrap_or_default()
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Json::decode)
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.0.get(name).and_then(Json::decode).unwrap_or_default()
    }

    fn duration(&self, name: &str) -> Option<Duration> {
        let milliseconds: f64 = self.0.get(name).and_then(Json::decode)?;
        let is_meant = (0.0..LONGEST_MILLISECONDS).contains(&milliseconds);
        is_meant.then(|| Duration::from_micros((milliseconds * 1_000.0).round() as u64))
    }
}

impl Decode for ToServer {
    fn decode(line: &str) -> Result<Self, Refusal> {
        let (kind, payload) = open(line)?;
        let take = |spec: &MessageSpec| checked(spec, payload);
        Ok(match kind.as_str() {
            "HOOK_EXECUTION_REQUEST" => Self::Request(Box::new(request(take(&spec::REQUEST)?))),
            "hello" => {
                let payload = take(&spec::HELLO)?;
                Self::Hello(Hello {
                    correlation_id: payload.name(),
                    protocol: payload.count("protocol").unwrap_or_default(),
                    client: payload.text("client"),
                })
            }
            "cancel" => Self::Cancel(Cancel { correlation_id: take(&spec::CANCEL)?.required("correlationId") }),
            "notify" => Self::Subscribe(Subscribe { lifecycle: take(&spec::NOTIFY)?.flag("lifecycle") }),
            "ping" => Self::Ping(ping(payload)?),
            "reload" => Self::Reload(Reload { correlation_id: optional_name(&spec::RELOAD, payload)? }),
            other => {
                let message = format!("no message has the type `{}`", shortened(other));
                let error = BusError::new(ErrorCode::UnsupportedType, message);
                return Err(Refusal { correlation_id: name_in(payload), error });
            }
        })
    }
}

impl Decode for FromServer {
    fn decode(line: &str) -> Result<Self, Refusal> {
        let (kind, payload) = open(line)?;
        let take = |spec: &MessageSpec| checked(spec, payload);
        Ok(match kind.as_str() {
            "HOOK_EXECUTION_RESPONSE" => Self::Response(Box::new(response(&take(&spec::RESPONSE)?)?)),
            "hello" => {
                let payload = take(&spec::WELCOME)?;
                Self::Welcome(Welcome {
                    correlation_id: payload.name(),
                    protocol: payload.count("protocol").unwrap_or_default(),
                    server: payload.required("server"),
                    capabilities: payload.texts("capabilities"),
                    line_limit: payload.count("lineLimit").unwrap_or_default(),
                    in_flight_limit: payload.count("inFlightLimit").unwrap_or_default(),
                    watch: payload.text("watch").and_then(|name| WatchMode::from_name(&name)),
                    configuration: configuration(&payload),
                })
            }
            "cancel" => {
                let payload = take(&spec::CANCELLED)?;
                let correlation_id = payload.required("correlationId");
                Self::Cancelled(Cancelled { correlation_id, found: payload.flag("found") })
            }
            "notify" => {
                let payload = take(&spec::LIFECYCLE)?;
                let phase = payload.required("phase");
                Self::Lifecycle(Lifecycle {
                    correlation_id: payload.required("correlationId"),
                    phase: Phase::ALL.into_iter().find(|known| known.name() == phase).unwrap_or(Phase::Queued),
                    hook: payload.text("hook"),
                    hooks: payload.count("hooks"),
                    duration: payload.duration("durationMs"),
                })
            }
            "pong" => Self::Pong(ping(payload)?),
            "reload" => {
                let payload = take(&spec::RELOADED)?;
                Self::Reloaded(Reloaded {
                    correlation_id: payload.name(),
                    success: payload.flag("success"),
                    projects: payload.count("projects").unwrap_or_default(),
                    revision: payload.count("revision"),
                    kept: payload.texts("kept"),
                    problems: payload.texts("problems"),
                })
            }
            other => {
                let message = format!("no message has the type `{}`", shortened(other));
                let error = BusError::new(ErrorCode::UnsupportedType, message);
                return Err(Refusal { correlation_id: name_in(payload), error });
            }
        })
    }
}

/// The type and the payload of a line.
fn open(line: &str) -> Result<(String, Option<&RawValue>), Refusal> {
    if !line.trim_start().starts_with('{') {
        return Err(Refusal::new(BusError::invalid("the line is not a JSON object")));
    }
    let envelope: Envelope<'_> = serde_json::from_str(line).map_err(|error| Refusal {
        correlation_id: NameScanner::name_in(line.as_bytes()),
        error: BusError::invalid(format!("the line is not a JSON object: {error}")),
    })?;
    let problem = match envelope.kind {
        None => "`type` is missing".to_owned(),
        Some(kind) => match serde_json::from_str(kind.get()) {
            Ok(Value::String(kind)) => return Ok((kind, envelope.payload)),
            _ => "`type` must be a string".to_owned(),
        },
    };
    Err(Refusal { correlation_id: name_in(envelope.payload), error: BusError::invalid(problem) })
}

/// The payload, when every field is as the table says.
fn checked(spec: &MessageSpec, payload: Option<&RawValue>) -> Result<Payload, Refusal> {
    let Some(payload) = payload else {
        return Err(Refusal::new(BusError::invalid("`payload` is missing")));
    };
    let members: Result<JsonObject, _> = serde_json::from_str(payload.get());
    let Ok(members) = members else {
        return Err(Refusal::new(BusError::invalid("`payload` must be an object")));
    };
    let repeated = repeated_member(payload.get());
    let payload = Payload(members);
    // Of two inputs the client would act on one and the hooks would judge the other.
    if let Some(key) = repeated {
        let error = BusError::invalid(format!("duplicate key `{}`", shortened(&key)));
        return Err(Refusal { correlation_id: payload.name(), error });
    }
    match spec.fields.iter().find_map(|field| problem(field, payload.0.get(field.name))) {
        None => Ok(payload),
        Some(problem) => Err(Refusal { correlation_id: payload.name(), error: BusError::invalid(problem) }),
    }
}

fn problem(field: &FieldSpec, value: Option<&Json>) -> Option<String> {
    let name = field.name;
    let Some(value) = value.filter(|value| field.required || value.kind() != JsonKind::Null) else {
        return field.required.then(|| format!("`{name}` is missing"));
    };
    let fits = value.kind() == field.kind.json()
        && match field.kind {
            FieldType::Word(words) => value.as_str().is_some_and(|word| words.contains(&word.as_str())),
            FieldType::Texts => value.decode::<Vec<String>>().is_some(),
            FieldType::Count => value.decode::<u64>().is_some(),
            FieldType::Error => {
                let member = |name: &str| value.as_object()?.get(name)?.as_str();
                member("code").is_some() && member("message").is_some()
            }
            _ => true,
        };
    if fits {
        return None;
    }
    let found = if value.kind() == field.kind.json() { "this" } else { value.kind().described() };
    Some(format!("`{name}` must be {}, not {found}", field.kind.described()))
}

/// The name a payload has, whatever else is wrong with it.
fn name_in(payload: Option<&RawValue>) -> Option<String> {
    let members: JsonObject = serde_json::from_str(payload?.get()).ok()?;
    Payload(members).name()
}

fn request(mut payload: Payload) -> Request {
    Request {
        correlation_id: payload.name(),
        event_name: payload.required("eventName"),
        project: payload.text("project").map(PathBuf::from),
        traceparent: payload.text("traceparent"),
        tracestate: payload.text("tracestate"),
        wait: if payload.text("wait").as_deref() == Some("all") { Wait::All } else { Wait::Answers },
        input: payload.0.remove("input").unwrap_or_else(Json::empty_object),
    }
}

fn ping(payload: Option<&RawValue>) -> Result<Ping, Refusal> {
    Ok(Ping { correlation_id: optional_name(&spec::PING, payload)? })
}

/// The name of a message that has nothing else to say, and so may come without a payload.
fn optional_name(spec: &MessageSpec, payload: Option<&RawValue>) -> Result<Option<String>, Refusal> {
    match payload {
        None => Ok(None),
        Some(_) => Ok(checked(spec, payload)?.name()),
    }
}

fn configuration(payload: &Payload) -> Option<ConfigurationStatus> {
    Some(ConfigurationStatus {
        revision: payload.count("revision")?,
        age: payload.duration("configurationAgeMs").unwrap_or_default(),
        kept: payload.texts("kept"),
        system_unusable: payload.flag("systemUnusable"),
    })
}

/// A response says either what the hooks did or why they were not run. One that says neither must not pass for a yes.
fn response(payload: &Payload) -> Result<Response, Refusal> {
    let invalid = |problem: String| Err(Refusal { correlation_id: payload.name(), error: BusError::invalid(problem) });
    let error = || {
        let error = payload.0.get("error").and_then(Json::as_object);
        let text = |name: &str| error.as_ref().and_then(|error| error.get(name)?.as_str()).unwrap_or_default();
        BusError { code: text("code"), message: text("message") }
    };
    let result = if payload.flag("success") {
        let output = payload.0.get("output").cloned().unwrap_or_else(Json::empty_object);
        let Some(outcome) = payload.0.get("outcome").and_then(Json::as_object) else {
            return invalid("`outcome` is missing in a response with `success: true`".to_owned());
        };
        if let Err(problem) = report::read_decision(&outcome) {
            return invalid(problem);
        }
        Ok(Report::received(output, outcome))
    } else {
        Err(error())
    };
    Ok(Response {
        correlation_id: payload.required("correlationId"),
        result,
        queued: payload.duration("queueMs").unwrap_or_default(),
        took: payload.duration("durationMs").unwrap_or_default(),
        truncated: payload.flag("truncated"),
    })
}

impl Encode for ToServer {
    fn encode(&self, _limit: usize) -> String {
        match self {
            Self::Request(request) => {
                let mut line = Line::new(&spec::REQUEST);
                line.optional("correlationId", request.correlation_id.as_deref());
                line.add("eventName", &request.event_name);
                line.json("input", &request.input);
                line.optional("project", request.project.as_ref().map(|project| project.to_string_lossy()));
                line.optional("traceparent", request.traceparent.as_deref());
                line.optional("tracestate", request.tracestate.as_deref());
                line.optional("wait", (request.wait != Wait::default()).then(|| request.wait.name()));
                line.end()
            }
            Self::Hello(hello) => {
                let mut line = Line::new(&spec::HELLO);
                line.optional("correlationId", hello.correlation_id.as_deref());
                line.add("protocol", &hello.protocol);
                line.optional("client", hello.client.as_deref());
                line.end()
            }
            Self::Cancel(cancel) => {
                let mut line = Line::new(&spec::CANCEL);
                line.add("correlationId", &cancel.correlation_id);
                line.end()
            }
            Self::Subscribe(subscribe) => {
                let mut line = Line::new(&spec::NOTIFY);
                line.add("lifecycle", &subscribe.lifecycle);
                line.end()
            }
            Self::Ping(ping) => {
                let mut line = Line::new(&spec::PING);
                line.optional("correlationId", ping.correlation_id.as_deref());
                line.end()
            }
            Self::Reload(reload) => {
                let mut line = Line::new(&spec::RELOAD);
                line.optional("correlationId", reload.correlation_id.as_deref());
                line.end()
            }
        }
    }
}

fn response_line(response: &Response, result: Result<&fit::Parts, &BusError>) -> String {
    let mut line = Line::new(&spec::RESPONSE);
    line.add("correlationId", &response.correlation_id);
    line.add("success", &result.is_ok());
    match result {
        Ok(fit::Parts { output, outcome, truncated }) => {
            line.json("output", output);
            line.json("outcome", outcome);
            line.optional("truncated", truncated.then_some(true));
            line.add("queueMs", &milliseconds(response.queued));
            line.add("durationMs", &milliseconds(response.took));
        }
        Err(error) => line.add("error", &json!({"code": error.code, "message": error.message})),
    }
    line.end()
}

impl Encode for FromServer {
    fn encode(&self, limit: usize) -> String {
        match self {
            Self::Response(response) => fit::fitting(response, limit, |result| response_line(response, result)),
            Self::Welcome(welcome) => {
                let mut line = Line::new(&spec::WELCOME);
                line.optional("correlationId", welcome.correlation_id.as_deref());
                line.add("protocol", &welcome.protocol);
                line.add("server", &welcome.server);
                line.add("capabilities", &welcome.capabilities);
                line.add("lineLimit", &welcome.line_limit);
                line.add("inFlightLimit", &welcome.in_flight_limit);
                line.optional("watch", welcome.watch.map(WatchMode::name));
                if let Some(configuration) = &welcome.configuration {
                    line.add("revision", &configuration.revision);
                    line.add("configurationAgeMs", &milliseconds(configuration.age));
                    line.add("kept", &configuration.kept);
                    line.add("systemUnusable", &configuration.system_unusable);
                }
                line.end()
            }
            Self::Cancelled(cancelled) => {
                let mut line = Line::new(&spec::CANCELLED);
                line.add("correlationId", &cancelled.correlation_id);
                line.add("found", &cancelled.found);
                line.end()
            }
            Self::Lifecycle(lifecycle) => {
                let mut line = Line::new(&spec::LIFECYCLE);
                line.add("correlationId", &lifecycle.correlation_id);
                line.add("phase", lifecycle.phase.name());
                line.optional("hook", lifecycle.hook.as_deref());
                line.optional("hooks", lifecycle.hooks);
                line.optional("durationMs", lifecycle.duration.map(milliseconds));
                line.end()
            }
            Self::Pong(ping) => {
                let mut line = Line::new(&spec::PONG);
                line.optional("correlationId", ping.correlation_id.as_deref());
                line.end()
            }
            Self::Reloaded(reloaded) => {
                let mut line = Line::new(&spec::RELOADED);
                line.optional("correlationId", reloaded.correlation_id.as_deref());
                line.add("success", &reloaded.success);
                line.add("projects", &reloaded.projects);
                line.optional("revision", reloaded.revision);
                line.add("kept", &reloaded.kept);
                line.add("problems", &reloaded.problems);
                line.end()
            }
        }
    }
}

/// A line on its way. Members come in the order they are added; raw JSON keeps its bytes.
struct Line {
    text: String,
    empty: bool,
}

impl Line {
    fn new(spec: &MessageSpec) -> Self {
        Self { text: format!("{{\"type\":\"{}\",\"payload\":{{", spec.name), empty: true }
    }

    fn key(&mut self, name: &str) {
        if !std::mem::take(&mut self.empty) {
            self.text.push(',');
        }
        self.text.push('"');
        self.text.push_str(name);
        self.text.push_str("\":");
    }

    fn json(&mut self, name: &str, value: &Json) {
        self.key(name);
        self.text.push_str(value.text());
    }

    fn add<T: serde::Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.json(name, &Json::of(value).unwrap_or_else(|_| Json::null()));
    }

    fn optional<T: serde::Serialize>(&mut self, name: &str, value: Option<T>) {
        if let Some(value) = value {
            self.add(name, &value);
        }
    }

    fn end(mut self) -> String {
        self.text.push_str("}}");
        self.text
    }
}

/// A number of milliseconds from which on it is no duration: about thirty years. Below it every microsecond survives being
/// written and read again.
const LONGEST_MILLISECONDS: f64 = 1e12;

/// Milliseconds with three places, which is as fine as it is meaningful.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_nanos() as f64 / 1_000.0).round() / 1_000.0
}

/// Enough of a stranger's text to recognise it by.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 80 { text.to_owned() } else { text.chars().take(80).chain(['…']).collect() }
}

#[cfg(test)]
mod tests;

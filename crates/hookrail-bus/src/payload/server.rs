//! The messages that a server sends.

use std::time::Duration;

use hookrail::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field;
use crate::configuration::ConfigurationStatus;
use crate::error::BusError;
use crate::report::{self, HookReport};
use crate::watch::WatchMode;
use crate::words::words;

/// The result of a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "ResponsePayload")]
pub struct Response {
    /// The correlation id of the request.
    pub correlation_id: String,
    /// The report of the hooks, or the reason why they were not run.
    pub result: Result<HookReport, BusError>,
    /// The time that the request waited for its turn. It is not part of a hook's timeout.
    pub queued: Duration,
    /// The time that all its hooks took together.
    pub took: Duration,
    /// Whether texts in the report were cut to fit on a line.
    pub truncated: bool,
    /// The record of the event, which the caller that asked for it has to write.
    pub record: Option<Json>,
}

/// The payload of a response.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResponsePayload {
    /// The correlation id of the request.
    pub(crate) correlation_id: String,
    /// Whether the request was executed. The decision of the hooks is in `outcome`.
    pub(crate) success: bool,
    /// The aggregate of the hooks in settings files (LLxprt's `AggregatedHookResult`), if the request was executed.
    #[serde(default, deserialize_with = "field::object", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) output: Option<Json>,
    /// The reason why the request was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<BusError>,
    /// The whole outcome, as `hookrail fire --json` prints it, if the request was executed. The first 64 KiB of a run's
    /// `stdout` and `stderr` are kept; if an output was cut, the run has `stdoutTruncated` or `stderrTruncated`, which are
    /// true.
    #[serde(default, deserialize_with = "field::object", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) outcome: Option<Json>,
    /// Whether texts in `output` and `outcome` were cut. In an answer that would otherwise not fit on a line these are
    /// reasons, messages, diagnostics and the outputs of single hooks; in a denial, everything but the decision and its
    /// reason. A change of an operation that is not denied is never cut: such an answer has the error `answer_too_long`
    /// instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<bool>,
    /// The time that the request waited for its turn. It is not part of a hook's timeout.
    #[serde(rename = "queueMs", default, with = "field::milliseconds", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub(crate) queued: Option<Duration>,
    /// The time that all its hooks took together.
    #[serde(rename = "durationMs", default, with = "field::milliseconds", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub(crate) took: Option<Duration>,
    /// The record of the event for the journal, without `seq`, `prev` and `hash`, if the request has a `caller` with `records`, and the
    /// answer with it fits on a line. The server then does not record the event.
    #[serde(default, deserialize_with = "field::object", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) record: Option<Json>,
}

impl Response {
    /// Makes the response to a request whose hooks were not run, or whose result must not be taken for allowed.
    pub(crate) fn refused(correlation_id: impl Into<String>, error: BusError) -> Self {
        let correlation_id = correlation_id.into();
        Self {
            correlation_id,
            result: Err(error),
            queued: Duration::ZERO,
            took: Duration::ZERO,
            truncated: false,
            record: None,
        }
    }

    /// Whether the request was executed. The decision of the hooks is in the report.
    #[must_use]
    pub fn success(&self) -> bool {
        self.result.is_ok()
    }
}

impl TryFrom<ResponsePayload> for Response {
    type Error = String;

    /// Reads a response. A response with `success: true` must have an outcome with a decision: without one it would be
    /// taken for allowed. A response with `success: false` may lack its reason.
    fn try_from(payload: ResponsePayload) -> Result<Self, String> {
        let ResponsePayload { correlation_id, success, output, error, outcome, truncated, queued, took, record } =
            payload;
        let result = if success {
            let Some(outcome) = outcome.as_ref().and_then(Json::as_object) else {
                return Err("`outcome` is missing in a response with `success: true`".to_owned());
            };
            report::read_decision(&outcome)?;
            Ok(HookReport::received(output.unwrap_or_else(Json::empty_object), outcome))
        } else {
            Err(error.unwrap_or_else(BusError::without_reason))
        };
        let (queued, took) = (queued.unwrap_or_default(), took.unwrap_or_default());
        Ok(Self { correlation_id, result, queued, took, truncated: truncated.unwrap_or_default(), record })
    }
}

impl JsonSchema for Response {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        ResponsePayload::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        ResponsePayload::json_schema(generator)
    }
}

/// The answer to a [`Hello`](super::Hello).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    /// The id of the message; the answer has the same id.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The major version that both sides use.
    pub protocol: u64,
    /// The server and its version.
    pub server: String,
    /// The features of the server beyond requests and responses.
    pub capabilities: Vec<String>,
    /// The longest line in bytes, in both directions.
    pub line_limit: u64,
    /// The number of messages of a connection that may wait for their answer. At this number the server stops reading.
    pub in_flight_limit: u64,
    /// How changes of configuration are noticed: `events` of the operating system, `polling` once a second if it has none,
    /// or `off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<WatchMode>,
    /// The revision of the configuration of the server's own project; missing before it is loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The time since this revision was put in force.
    #[serde(
        rename = "configurationAgeMs",
        default,
        with = "field::milliseconds",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub configuration_age: Option<Duration>,
    /// The sources that are broken, empty or missing, and whose last good version is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Vec<String>>,
    /// Whether every gating event is denied because a source of the system layer cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_unusable: Option<bool>,
}

impl Welcome {
    /// Returns the configuration of the server's own project, or `None` before it is loaded.
    #[must_use]
    pub fn configuration(&self) -> Option<ConfigurationStatus> {
        Some(ConfigurationStatus {
            revision: self.revision?,
            age: self.configuration_age.unwrap_or_default(),
            kept: self.kept.clone().unwrap_or_default(),
            system_unusable: self.system_unusable.unwrap_or_default(),
        })
    }

    /// Adds the configuration of the server's own project, if it is loaded.
    pub(crate) fn with_configuration(self, configuration: Option<ConfigurationStatus>) -> Self {
        let Some(ConfigurationStatus { revision, age, kept, system_unusable }) = configuration else { return self };
        Self {
            revision: Some(revision),
            configuration_age: Some(age),
            kept: Some(kept),
            system_unusable: Some(system_unusable),
            ..self
        }
    }
}

/// The answer to a [`Reload`](super::Reload).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reloaded {
    /// The id of the message; the answer has the same id.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Whether everything is now in force as written.
    pub success: bool,
    /// The number of open projects; the configuration of each was read.
    pub projects: u64,
    /// The revision of the configuration of the server's own project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Sources that cannot be used and whose last good version is in force.
    pub kept: Vec<String>,
    /// A sentence for each part of the configuration that cannot be used.
    pub problems: Vec<String>,
}

/// The answer to a [`Cancel`](super::Cancel). The request still gets its one response, with the code `cancelled`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    /// The correlation id of the request.
    pub correlation_id: String,
    /// Whether a request with this id was in flight.
    pub found: bool,
}

/// A report on the progress of a request. Reports are dropped if there is no room, and never delay an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lifecycle {
    /// The correlation id of the request.
    pub correlation_id: String,
    /// What happened.
    pub phase: Phase,
    /// The hook, for `hook-started` and `hook-ended`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// The number of hooks that will run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<u64>,
    /// The time that the hook took.
    #[serde(rename = "durationMs", default, with = "field::milliseconds", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub duration: Option<Duration>,
}

words! {
    /// The phases of a request.
    #[non_exhaustive]
    pub enum Phase {
        /// It waits for its turn.
        Queued = "queued",
        /// Its hooks are known and begin to run.
        Planned = "planned",
        /// A hook was started.
        HookStarted = "hook-started",
        /// A hook has ended.
        HookEnded = "hook-ended",
    }
}

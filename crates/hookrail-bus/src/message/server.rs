//! What a server sends.

use std::time::Duration;

use hookrail::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words;
use crate::configuration::ConfigurationStatus;
use crate::error::BusError;
use crate::report::{self, Report};
use crate::watch::WatchMode;
use crate::wire::field;

/// What came of a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "ResponsePayload")]
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

/// A response as it is written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResponsePayload {
    /// The request's name.
    pub(crate) correlation_id: String,
    /// Whether the request was executed. It says nothing about what the hooks decided.
    pub(crate) success: bool,
    /// The aggregate of the hooks in settings files (LLxprt's `AggregatedHookResult`), when the request was executed.
    #[serde(default, deserialize_with = "field::object", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) output: Option<Json>,
    /// Why the request was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<BusError>,
    /// The whole outcome, as `hookrail fire --json` prints it, when the request was executed. Of a run's `stdout` and
    /// `stderr` the first 64 KiB are kept; where that was cut, the run has `stdoutTruncated` or `stderrTruncated`, which are
    /// true.
    #[serde(default, deserialize_with = "field::object", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) outcome: Option<Json>,
    /// Whether texts in `output` and `outcome` were cut. In an answer that would otherwise not fit on a line these are
    /// reasons, messages, diagnostics and the outputs of single hooks; in a denial, everything but the decision and its
    /// reason. What changes an operation that may go on is never cut: such an answer has the error `answer_too_long`
    /// instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<bool>,
    /// How long the request waited for its turn. This never counts against a hook's timeout.
    #[serde(rename = "queueMs", default, with = "field::milliseconds", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub(crate) queued: Option<Duration>,
    /// How long its hooks took, all together.
    #[serde(rename = "durationMs", default, with = "field::milliseconds", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub(crate) took: Option<Duration>,
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

impl TryFrom<ResponsePayload> for Response {
    type Error = String;

    /// A response says either what the hooks did or why they were not run. One that says neither must not pass for a yes.
    fn try_from(payload: ResponsePayload) -> Result<Self, String> {
        let ResponsePayload { correlation_id, success, output, error, outcome, truncated, queued, took } = payload;
        let result = if success {
            let Some(outcome) = outcome.as_ref().and_then(Json::as_object) else {
                return Err("`outcome` is missing in a response with `success: true`".to_owned());
            };
            report::read_decision(&outcome)?;
            Ok(Report::received(output.unwrap_or_else(Json::empty_object), outcome))
        } else {
            Err(error.unwrap_or_else(BusError::unnamed))
        };
        let (queued, took) = (queued.unwrap_or_default(), took.unwrap_or_default());
        Ok(Self { correlation_id, result, queued, took, truncated: truncated.unwrap_or_default() })
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
    /// Names the message; the answer has the same name.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The major version both speak.
    pub protocol: u64,
    /// The server and its version.
    pub server: String,
    /// What the server can do beyond requests and responses.
    pub capabilities: Vec<String>,
    /// How many bytes a line may have, in both directions.
    pub line_limit: u64,
    /// How many messages of a connection may wait for their answer. A server that has them stops reading.
    pub in_flight_limit: u64,
    /// How changes of configuration are noticed: `events` of the operating system, `polling` once a second because it
    /// offers none, or `off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<WatchMode>,
    /// How often the configuration of the server's own project was put in force; missing before it is loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// How long ago that was.
    #[serde(
        rename = "configurationAgeMs",
        default,
        with = "field::milliseconds",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub configuration_age: Option<Duration>,
    /// Its sources that are broken, empty or gone, of which the last good version is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Vec<String>>,
    /// Whether every gating event is denied because a source of the system layer cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_unusable: Option<bool>,
}

impl Welcome {
    /// The configuration of the server's own project; none before it is loaded.
    #[must_use]
    pub fn configuration(&self) -> Option<ConfigurationStatus> {
        Some(ConfigurationStatus {
            revision: self.revision?,
            age: self.configuration_age.unwrap_or_default(),
            kept: self.kept.clone().unwrap_or_default(),
            system_unusable: self.system_unusable.unwrap_or_default(),
        })
    }

    /// The welcome with the configuration of the server's own project, if it is loaded.
    pub(crate) fn in_force(self, configuration: Option<ConfigurationStatus>) -> Self {
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
    /// Names the message; the answer has the same name.
    #[serde(default, deserialize_with = "field::name", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Whether everything is now in force as it is written.
    pub success: bool,
    /// How many projects are open; the configuration of each was read.
    pub projects: u64,
    /// The revision of the configuration of the server's own project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Sources that cannot be used and whose last good version is in force.
    pub kept: Vec<String>,
    /// What cannot be used, in words.
    pub problems: Vec<String>,
}

/// What came of a [`Cancel`](super::Cancel). The request still gets its one response, with the code `cancelled`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    /// The request's name.
    pub correlation_id: String,
    /// Whether a request of that name was in flight.
    pub found: bool,
}

/// Something that happened to a request. It is told as far as there is room, and never holds up an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lifecycle {
    /// The request's name.
    pub correlation_id: String,
    /// What happened.
    pub phase: Phase,
    /// The hook, for what happens to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// How many hooks will run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<u64>,
    /// How long the hook took.
    #[serde(rename = "durationMs", default, with = "field::milliseconds", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub duration: Option<Duration>,
}

words! {
    /// The steps in the life of a request.
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

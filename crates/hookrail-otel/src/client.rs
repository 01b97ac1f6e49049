//! One request to the collector, and how it ended.

use std::time::{Duration, Instant};

use prost::Message as _;
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::tls::{RootCerts, TlsConfig};

use crate::encode::Payload;
use crate::options::{CollectorEndpoint, CollectorHeaders, TelemetryOptions};
use crate::proto::ExportResponse;

/// The most bytes of an answer that are read.
const LONGEST_ANSWER: u64 = 64 * 1024;

pub(crate) struct Client {
    agent: Agent,
    endpoint: CollectorEndpoint,
    headers: CollectorHeaders,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The collector has it, but for that many spans or log records.
    Accepted { rejected: u64 },
    /// The collector answered that it cannot take it now.
    Busy { status: u16, retry_after: Option<Duration> },
    /// The collector answered that it will never take it.
    Refused { status: u16 },
    /// There was no connection, or it broke.
    Away { problem: String },
    /// There was no answer in time.
    TimedOut,
}

impl Client {
    pub(crate) fn new(options: &TelemetryOptions) -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            // A redirection could send the headers to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("hookrail/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), endpoint: options.endpoint.clone(), headers: options.headers.clone() }
    }

    /// Sends a request and waits for its answer, at most that long.
    pub(crate) fn send(&self, payload: &Payload, limit: Duration) -> Delivery {
        let began = Instant::now();
        match self.post(payload, limit) {
            Ok(delivery) => delivery,
            Err(ureq::Error::Timeout(_)) => Delivery::TimedOut,
            // A socket reports the end of its time in its own words.
            Err(_) if began.elapsed() >= limit => Delivery::TimedOut,
            Err(error) => Delivery::Away { problem: error.to_string() },
        }
    }

    fn post(&self, payload: &Payload, limit: Duration) -> Result<Delivery, ureq::Error> {
        let request =
            self.agent.post(self.endpoint.of(payload.signal.name())).config().timeout_global(Some(limit)).build();
        let request = request.header("content-type", "application/x-protobuf");
        let request = self.headers.0.iter().fold(request, |request, (name, value)| request.header(name, value));
        let mut answer = request.send(&*payload.body)?;
        let status = answer.status();
        if status.is_success() {
            let body = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec()?;
            // An answer that is not understood is still one of success.
            let partial = ExportResponse::decode(&*body).ok().and_then(|answer| answer.partial_success);
            let rejected = partial.map_or(0, |partial| u64::try_from(partial.rejected).unwrap_or(0));
            return Ok(Delivery::Accepted { rejected: rejected.min(payload.records) });
        }
        Ok(match status {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => {
                let named = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
                let retry_after = named.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
                Delivery::Busy { status: status.as_u16(), retry_after }
            }
            status => Delivery::Refused { status: status.as_u16() },
        })
    }
}

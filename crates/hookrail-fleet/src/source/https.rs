//! A folder on a web server. Certificates are judged by the system's own authorities.

use std::time::Duration;

use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use super::BundleSource;
use crate::error::SourceError;

/// The time for one file.
const FILE_TIMEOUT: Duration = Duration::from_secs(120);

/// The time for connecting, and for the first byte of an answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

pub(super) struct HttpsSource {
    agent: Agent,
    url: String,
}

impl HttpsSource {
    pub(super) fn new(url: &str) -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .https_only(url.starts_with("https://"))
            // A redirection is an answer as any other that is not a file.
            .max_redirects(0)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(FILE_TIMEOUT))
            .user_agent(concat!("hookrail/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), url: url.to_owned() }
    }
}

impl BundleSource for HttpsSource {
    fn fetch(&mut self, name: &str, limit: u64) -> Result<Vec<u8>, SourceError> {
        let place = self.url.clone();
        let failed = |error: ureq::Error| match error {
            ureq::Error::StatusCode(404 | 410) => SourceError::NotFound { place: place.clone(), name: name.to_owned() },
            ureq::Error::BodyExceedsLimit(_) => {
                SourceError::TooLarge { place: place.clone(), name: name.to_owned(), limit }
            }
            other => SourceError::Unreachable { place: place.clone(), problem: other.to_string() },
        };
        let mut answer = self.agent.get(format!("{}/{name}", self.url)).call().map_err(failed)?;
        if answer.status() != 200 {
            return Err(SourceError::Unreachable { place, problem: format!("it answered with {}", answer.status()) });
        }
        // The client fails when it reaches its limit, so that a body of exactly this size needs one byte more.
        answer.body_mut().with_config().limit(limit.saturating_add(1)).read_to_vec().map_err(failed)
    }
}

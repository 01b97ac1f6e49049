//! The configuration of an enrolled machine, `fleet.toml`. Its existence is the enrolment: from then on the engine denies
//! events that can be denied until a bundle is in force.

mod nats_settings;
mod source_location;

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::error::BundleError;
use crate::name::Name;
use crate::signature::PublicKey;

pub use nats_settings::{NatsServer, NatsSettings, NotANatsServer};
pub use source_location::SourceLocation;

/// How long a machine may be out of reach of its source before that is reported.
const STALE_AFTER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The configuration of a machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetConfig {
    /// The organisation that the machine belongs to.
    pub tenant: Name,
    /// The public keys whose signatures count: two while a key is replaced.
    pub keys: Vec<PublicKey>,
    /// Where bundles come from.
    pub source: SourceLocation,
    /// The name of the machine, instead of one that is made from `/etc/machine-id`.
    pub machine: Option<Name>,
    /// The channel that the machine follows.
    pub channel: FleetChannel,
    /// The servers of the fleet, for audit, announcements and asking.
    pub nats: Option<NatsSettings>,
    /// How the journal is shipped.
    #[serde(default)]
    pub audit: AuditSettings,
}

/// How a journal is shipped.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditSettings {
    /// The number of records that may wait before the journal reports a failure; without one there is no limit.
    pub backlog_limit: Option<u64>,
    /// The most records in one slice.
    pub slice_records: usize,
    /// The most bytes of records in one slice, before compression. A larger record has a slice of its own.
    pub slice_bytes: usize,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { backlog_limit: None, slice_records: 500, slice_bytes: 256 * 1024 }
    }
}

/// The channel that a machine follows, and what applies while it cannot be reached.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetChannel {
    /// The name of the channel.
    pub name: Name,
    /// How long the source may be out of reach before every outcome reports that.
    #[serde(default = "stale_after", deserialize_with = "duration")]
    pub stale_after: Duration,
    /// What an expired bundle does to events that can be denied.
    #[serde(default)]
    pub expired: ExpiredPolicy,
}

/// What an expired bundle does to events that can be denied. Its hooks stay in force in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpiredPolicy {
    /// Only a diagnostic reports it.
    Allow,
    /// Every such event needs approval.
    Ask,
    /// Every such event is denied.
    #[default]
    Block,
}

impl FleetConfig {
    /// Parses the text of a configuration. The path is for messages.
    ///
    /// # Errors
    /// If it is not valid, or accepts no key.
    pub fn parse(file: &Path, text: &str) -> Result<Self, BundleError> {
        let problem = |problem: String| BundleError::Configuration { file: file.to_owned(), problem };
        let config: Self = toml::from_str(text).map_err(|error| problem(error.to_string()))?;
        if config.keys.is_empty() {
            return Err(problem("`keys` is empty, so that no bundle could be accepted".to_owned()));
        }
        Ok(config)
    }
}

fn stale_after() -> Duration {
    STALE_AFTER
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text).map_err(serde::de::Error::custom)
}

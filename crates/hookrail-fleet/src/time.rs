//! Times as manifests have them: whole seconds in UTC.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A moment in whole seconds, written as `2026-11-16T08:00:00Z`.
///
/// ```
/// use hookrail_fleet::Timestamp;
///
/// let at: Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
/// assert_eq!(at.to_string(), "2026-11-16T08:00:00Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(u64);

/// A text that is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a time is written as `2026-11-16T08:00:00Z`")]
pub struct NotATimestamp;

/// The last second that has a text, `9999-12-31T23:59:59Z`.
const LAST: u64 = 253_402_300_799;

impl Timestamp {
    /// Returns the current time.
    #[must_use]
    pub fn now() -> Self {
        Self::from_system_time(SystemTime::now())
    }

    /// Returns a time without its fraction of a second. A time before 1970 becomes the first second of 1970.
    #[must_use]
    pub fn from_system_time(at: SystemTime) -> Self {
        Self::from_seconds(at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
    }

    /// Returns the time that is so many seconds after the beginning of 1970, at most the last one that has a text.
    #[must_use]
    pub fn from_seconds(seconds: u64) -> Self {
        Self(seconds.min(LAST))
    }

    /// Returns the number of seconds since the beginning of 1970.
    #[must_use]
    pub fn seconds(self) -> u64 {
        self.0
    }

    /// Returns the time after this one by a duration.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self::from_seconds(self.0.saturating_add(duration.as_secs()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(self.0)))
    }
}

impl FromStr for Timestamp {
    type Err = NotATimestamp;

    fn from_str(text: &str) -> Result<Self, NotATimestamp> {
        let at = humantime::parse_rfc3339(text).map_err(|_| NotATimestamp)?;
        Ok(Self::from_system_time(at))
    }
}

impl From<Timestamp> for String {
    fn from(at: Timestamp) -> Self {
        at.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = NotATimestamp;

    fn try_from(text: String) -> Result<Self, NotATimestamp> {
        text.parse()
    }
}

/// Reads a duration such as `90d`, `12h` or `1day 6h`.
///
/// ```
/// assert_eq!(hookrail_fleet::parse_duration("7d").map(|week| week.as_secs()), Some(604_800));
/// ```
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    humantime::parse_duration(text).ok()
}

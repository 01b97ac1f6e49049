//! Functions that read and write fields whose derived form differs from the contract.

use std::path::PathBuf;

use hookrail::{Json, JsonKind};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Reads a correlation id. An empty string is the same as a missing one.
pub(crate) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name: Option<String> = Option::deserialize(deserializer)?;
    Ok(name.filter(|name| !name.is_empty()))
}

/// Reads a value. Null is the same as missing.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a value that must be an object, and keeps its text.
pub(crate) fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    let value = Json::deserialize(deserializer)?;
    match value.kind() {
        JsonKind::Object => Ok(Some(value)),
        JsonKind::Null => Ok(None),
        other => Err(D::Error::custom(format!("expected an object, not {}", other.described()))),
    }
}

/// Writes a path. One that is not Unicode is written with replacement characters.
pub(crate) fn lossy_path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.serialize_str(&path.to_string_lossy()),
        None => serializer.serialize_none(),
    }
}

/// A duration as a number of milliseconds with three decimal places.
pub(crate) mod milliseconds {
    use std::time::Duration;

    use super::*;

    /// The number of milliseconds from which a value is not accepted, about 30 years. Below it every microsecond is kept when
    /// a duration is written and read again.
    const LONGEST: f64 = 1e12;

    pub(crate) fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => serializer.serialize_f64((duration.as_nanos() as f64 / 1_000.0).round() / 1_000.0),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a duration. A number out of range is treated as missing, and the rest of the message stays valid.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let value = Json::deserialize(deserializer)?;
        match value.kind() {
            JsonKind::Null => Ok(None),
            JsonKind::Number => {
                let milliseconds = value.decode::<f64>().filter(|number| (0.0..LONGEST).contains(number));
                Ok(milliseconds.map(|number| Duration::from_micros((number * 1_000.0).round() as u64)))
            }
            other => Err(D::Error::custom(format!("expected a number, not {}", other.described()))),
        }
    }
}

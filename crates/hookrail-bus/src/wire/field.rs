//! How single fields are read and written where the derived way is not the contract.

use std::path::PathBuf;

use hookrail::{Json, JsonKind};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// A name that is one: an empty text names nothing.
pub(crate) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name: Option<String> = Option::deserialize(deserializer)?;
    Ok(name.filter(|name| !name.is_empty()))
}

/// Null is the same as missing.
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

/// A value that must be an object, kept as it is written.
pub(crate) fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    let value = Json::deserialize(deserializer)?;
    match value.kind() {
        JsonKind::Object => Ok(Some(value)),
        JsonKind::Null => Ok(None),
        other => Err(D::Error::custom(format!("expected an object, not {}", other.described()))),
    }
}

/// JSON is text, so a path that is not is written as closely as possible.
pub(crate) fn lossy_path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.serialize_str(&path.to_string_lossy()),
        None => serializer.serialize_none(),
    }
}

/// A duration as a number of milliseconds with three places, which is as fine as it is meaningful.
pub(crate) mod milliseconds {
    use std::time::Duration;

    use super::*;

    /// A number of milliseconds from which on it is no duration: about thirty years. Below it every microsecond survives
    /// being written and read again.
    const LONGEST: f64 = 1e12;

    pub(crate) fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => serializer.serialize_f64((duration.as_nanos() as f64 / 1_000.0).round() / 1_000.0),
            None => serializer.serialize_none(),
        }
    }

    /// What no run can take is not taken for a duration, and the rest of the message stays valid.
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

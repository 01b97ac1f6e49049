//! The fields of an event in a request.

use hookrail::{Json, JsonKind, JsonObject};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::duplicate_keys::DuplicateKeyRecorder;

/// The fields of an event, which a Rust caller passes as one value and a client sends as text.
///
/// A message is split into its members while it is read, so that a request of many megabytes costs one pass over its text
/// if no hook matches it.
#[derive(Clone)]
pub(crate) enum EventInput {
    /// The value that a Rust caller passed. It need not be an object.
    Whole(Json),
    /// The members that were read from a message.
    Members {
        members: JsonObject,
        /// The first key that occurs twice.
        repeated: Option<String>,
    },
}

impl EventInput {
    /// Returns the members and the first key that occurs twice, or the kind of the value if it is not an object.
    pub(crate) fn into_members(self) -> Result<(JsonObject, Option<String>), JsonKind> {
        match self {
            Self::Members { members, repeated } => Ok((members, repeated)),
            Self::Whole(json) => match json.decode() {
                Some(Self::Members { members, repeated }) => Ok((members, repeated)),
                Some(Self::Whole(_)) | None => Err(json.kind()),
            },
        }
    }
}

impl EventInput {
    /// Removes members. What is not an object is left as it is, and refused later.
    pub(crate) fn remove(&mut self, names: &[&str]) {
        if let Self::Whole(json) = self
            && let Some(read) = json.decode()
        {
            *self = read;
        }
        if let Self::Members { members, .. } = self {
            for name in names {
                members.remove(name);
            }
        }
    }
}

impl std::fmt::Debug for EventInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(json) => json.fmt(f),
            Self::Members { members, .. } => members.to_json().fmt(f),
        }
    }
}

impl Serialize for EventInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(json) => json.serialize(serializer),
            Self::Members { members, .. } => members.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EventInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut repeated = None;
        let members = JsonObject::deserialize(DuplicateKeyRecorder::new(deserializer, &mut repeated))?;
        Ok(Self::Members { members, repeated })
    }
}

impl schemars::JsonSchema for EventInput {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EventInput".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "object"})
    }
}

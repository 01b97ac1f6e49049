//! The types of values that a JSON Schema names.

use serde_json::Value;

/// A type of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaType {
    Text,
    Flag,
    Null,
    Integer,
    Number,
    List,
    Object,
}

impl SchemaType {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "string" => Self::Text,
            "boolean" => Self::Flag,
            "null" => Self::Null,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "array" => Self::List,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// Returns the types that a schema names; none if any value is right.
    pub(super) fn all_of(schema: &Value) -> Vec<Self> {
        let named = schema.get("type");
        let words = named.and_then(Value::as_array).map(Vec::as_slice).or_else(|| named.map(std::slice::from_ref));
        words.unwrap_or_default().iter().filter_map(Value::as_str).filter_map(Self::from_word).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word that is not known would silently become a type for anything.
    #[test]
    fn every_type_in_the_schemas_of_events_is_known() {
        fn check(value: &Value, seen: &mut usize) {
            match value {
                Value::Object(members) => {
                    // A member of an object's `properties` can be called `type`; it is a table then.
                    if let Some(kind @ (Value::String(_) | Value::Array(_))) = members.get("type") {
                        let words = kind.as_array().map_or(1, Vec::len);
                        assert_eq!(SchemaType::all_of(value).len(), words, "{kind}");
                        *seen += 1;
                    }
                    members.values().for_each(|member| check(member, seen));
                }
                Value::Array(elements) => elements.iter().for_each(|element| check(element, seen)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        let mut seen = 0;
        for (_, schema) in hookrail::dialect::llxprt::schemas() {
            check(&schema, &mut seen);
        }
        assert!(seen > 100, "{seen}");
    }
}

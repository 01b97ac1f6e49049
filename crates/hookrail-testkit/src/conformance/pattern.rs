//! Compares by subset: what a pattern does not mention is not compared.

use serde_json::{Map, Value};

/// The most characters of a value in a message.
const SHOWN_CHARACTERS: usize = 400;

/// One difference between the result and the expectation of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The place: `exit`, `json` or a file's path, with a JSON pointer if there is one.
    pub place: String,
    /// What the case expects.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl Mismatch {
    pub(super) fn new(place: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { place: place.into(), expected: expected.into(), found: found.into() }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: expected {}, found {}", self.place, self.expected, self.found)
    }
}

/// All operators.
const OPERATORS: &[&str] =
    &["$absent", "$contains", "$has", "$json", "$lacks", "$length", "$not", "$present", "$squeezed"];

/// Returns what differs between a document and a pattern.
#[must_use]
pub fn mismatches(pattern: &Value, found: &Value, place: &str) -> Vec<Mismatch> {
    let mut out = Vec::new();
    compare(pattern, Some(found), place, &mut out);
    out
}

/// Compares `found` with `pattern` and adds what differs to `out`.
pub(super) fn compare(pattern: &Value, found: Option<&Value>, place: &str, out: &mut Vec<Mismatch>) {
    match pattern {
        Value::Object(members) if is_operator(members) => {
            for (operator, operand) in members {
                apply(operator, operand, found, place, out);
            }
        }
        Value::Object(members) => match found {
            Some(Value::Object(object)) => {
                for (key, inner) in members {
                    compare(inner, object.get(key), &format!("{place}/{}", escaped(key)), out);
                }
            }
            other => out.push(differs(place, pattern, other)),
        },
        Value::Array(patterns) => match found {
            Some(Value::Array(items)) if items.len() == patterns.len() => {
                for (index, (inner, item)) in patterns.iter().zip(items).enumerate() {
                    compare(inner, Some(item), &format!("{place}/{index}"), out);
                }
            }
            other => out.push(differs(place, pattern, other)),
        },
        scalar if Some(scalar) == found => {}
        scalar => out.push(differs(place, scalar, found)),
    }
}

/// Whether the pattern uses operators that exist, with operands that they understand.
pub(super) fn check(pattern: &Value) -> Result<(), String> {
    match pattern {
        Value::Object(members) if is_operator(members) => members.iter().try_for_each(|(operator, operand)| {
            if !OPERATORS.contains(&operator.as_str()) {
                return Err(format!("there is no operator {operator}"));
            }
            let fits = match operator.as_str() {
                "$absent" | "$present" => operand == &Value::Bool(true),
                "$contains" | "$squeezed" => operand.is_string(),
                "$has" => operand.is_array(),
                "$length" => operand.is_u64(),
                _ => true,
            };
            if fits { check(operand) } else { Err(format!("{operator} cannot have the operand {operand}")) }
        }),
        Value::Object(members) => members.values().try_for_each(check),
        Value::Array(items) => items.iter().try_for_each(check),
        _ => Ok(()),
    }
}

fn is_operator(members: &Map<String, Value>) -> bool {
    members.keys().any(|key| key.starts_with('$'))
}

fn apply(operator: &str, operand: &Value, found: Option<&Value>, place: &str, out: &mut Vec<Mismatch>) {
    let items = || found.and_then(Value::as_array);
    let text = || found.and_then(Value::as_str);
    let holds = match operator {
        "$absent" => found.is_none_or(Value::is_null),
        "$present" => found.is_some_and(|value| !value.is_null()),
        "$contains" => text().zip(operand.as_str()).is_some_and(|(text, part)| text.contains(part)),
        "$squeezed" => {
            text().zip(operand.as_str()).is_some_and(|(text, part)| squeezed(text).contains(&squeezed(part)))
        }
        "$length" => items().map(|items| items.len() as u64) == operand.as_u64(),
        "$lacks" => items().is_some_and(|items| !items.iter().any(|item| matches(operand, Some(item)))),
        "$not" => !matches(operand, found),
        "$has" => {
            for wanted in operand.as_array().into_iter().flatten() {
                if !items().is_some_and(|items| items.iter().any(|item| matches(wanted, Some(item)))) {
                    out.push(Mismatch::new(place, format!("an element like {}", shown(Some(wanted))), shown(found)));
                }
            }
            true
        }
        "$json" => match text().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            Some(inner) => {
                compare(operand, Some(&inner), &format!("{place}$json"), out);
                true
            }
            None => false,
        },
        _ => false,
    };
    if !holds {
        out.push(Mismatch::new(place, format!("{operator} {}", shown(Some(operand))), shown(found)));
    }
}

fn matches(pattern: &Value, found: Option<&Value>) -> bool {
    let mut out = Vec::new();
    compare(pattern, found, "", &mut out);
    out.is_empty()
}

/// Returns the text without the white space outside of JSON strings.
fn squeezed(text: &str) -> String {
    let (mut quoted, mut escape) = (false, false);
    text.chars()
        .filter(|&character| {
            let keep = quoted || !character.is_ascii_whitespace();
            quoted ^= character == '"' && !escape;
            escape = quoted && character == '\\' && !escape;
            keep
        })
        .collect()
}

fn differs(place: &str, pattern: &Value, found: Option<&Value>) -> Mismatch {
    Mismatch::new(place, shown(Some(pattern)), shown(found))
}

fn shown(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Escapes a key for a JSON pointer (RFC 6901).
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

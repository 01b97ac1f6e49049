//! The answer of an operation as JSON text, made without a copy that could be many times as large.

use std::fmt::Write as _;

use hookrail::Json;
use serde::Serialize;
use serde_json::Value;

use super::OpError;

/// A value as JSON text.
#[derive(Debug)]
pub(crate) struct Answer(String);

impl Answer {
    /// Nothing to tell.
    pub(super) fn nothing() -> Self {
        Self("null".to_owned())
    }

    /// A value of known size.
    pub(super) fn of(value: &(impl Serialize + ?Sized)) -> Result<Self, OpError> {
        serde_json::to_string(value).map(Self).map_err(|error| OpError::new(error.to_string()))
    }

    /// Bytes, as text with one character for each.
    pub(super) fn bytes(bytes: &[u8], most: usize) -> Result<Self, OpError> {
        let mut text = String::new();
        quote_bytes(&mut text, bytes, most)?;
        Ok(Self(text))
    }

    /// A text that may be long.
    pub(super) fn text(text: &str, most: usize) -> Result<Self, OpError> {
        let mut out = String::new();
        quote_text(&mut out, text, most)?;
        Ok(Self(out))
    }

    /// Text that is JSON already.
    pub(super) fn written(text: String) -> Self {
        Self(text)
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self(value.to_string())
    }
}

impl From<Json> for Answer {
    fn from(json: Json) -> Self {
        Self(json.text().to_owned())
    }
}

/// Adds bytes as a JSON string with one character for each, when they take no more than `most` bytes that way.
pub(super) fn quote_bytes(out: &mut String, bytes: &[u8], most: usize) -> Result<(), OpError> {
    let length: usize = bytes.iter().map(|byte| length_of(*byte)).sum();
    if length > most {
        return Err(OpError::over_memory());
    }
    out.reserve(length + 2);
    out.push('"');
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0..0x20 => {
                // Writing to a text does not fail.
                let _ = write!(out, "\\u{byte:04x}");
            }
            other => out.push(char::from(*other)),
        }
    }
    out.push('"');
    Ok(())
}

/// Adds a text as a JSON string, likewise.
pub(super) fn quote_text(out: &mut String, text: &str, most: usize) -> Result<(), OpError> {
    let length = |byte: u8| if byte < 0x80 { length_of(byte) } else { 1 };
    if text.bytes().map(length).sum::<usize>() > most {
        return Err(OpError::over_memory());
    }
    let quoted = serde_json::to_string(text).map_err(|error| OpError::new(error.to_string()))?;
    out.push_str(&quoted);
    Ok(())
}

fn length_of(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x80.. => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_reads_as_the_character_of_its_number() {
        let all: Vec<u8> = (0..=255).collect();
        let text = Answer::bytes(&all, 1 << 20).unwrap().into_text();
        assert_eq!(text.len(), all.iter().map(|byte| length_of(*byte)).sum::<usize>() + 2);
        let read: String = serde_json::from_str(&text).unwrap();
        assert!(read.chars().map(u32::from).eq(0..256));
        assert!(Answer::bytes(&[0; 100], 599).is_err(), "it is refused before it is made");
    }
}

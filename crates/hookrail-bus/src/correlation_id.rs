//! Makes correlation ids, and finds the one in a line that is too long or is not JSON. Without it, a client could not assign
//! the error to its request and would wait for ever.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a new UUID (version 4). It is a keyed hash of a counter from the standard library, which is as unique as its
/// random keys. It need not be secret.
pub(crate) fn new_correlation_id() -> String {
    static KEYS: OnceLock<(RandomState, RandomState)> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (one, two) = KEYS.get_or_init(|| (RandomState::new(), RandomState::new()));
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let high = one.hash_one(count);
    let low = two.hash_one((count, std::process::id()));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        ((low >> 48) & 0x3fff) | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

/// The longest correlation id or key that is kept, in bytes of the line.
const LONGEST_TEXT: usize = 4 * 1024;

/// Searches for the first `payload.correlationId`, byte by byte, with memory that does not grow with the line.
#[derive(Debug, Default)]
pub(crate) struct CorrelationIdScanner {
    depth: usize,
    in_payload: bool,
    after_colon: bool,
    key: Key,
    string: Option<InString>,
    /// The raw text of a string that may be a key or the id, with its quotes.
    text: Vec<u8>,
    id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Key {
    Payload,
    CorrelationId,
    #[default]
    Other,
}

#[derive(Clone, Copy, Debug)]
struct InString {
    escaped: bool,
    kept: bool,
}

impl CorrelationIdScanner {
    /// Returns the correlation id in the beginning of a line.
    pub(crate) fn id_in(line: &[u8]) -> Option<String> {
        let mut scanner = Self::default();
        scanner.scan(line);
        scanner.into_id()
    }

    /// Reads the next piece of the line. Returns whether the correlation id is known.
    pub(crate) fn scan(&mut self, piece: &[u8]) -> bool {
        for byte in piece {
            if self.id.is_some() {
                return true;
            }
            match self.string {
                Some(string) => self.scan_in_string(string, *byte),
                None => self.scan_between(*byte),
            }
        }
        self.id.is_some()
    }

    pub(crate) fn into_id(self) -> Option<String> {
        self.id.filter(|id| !id.is_empty())
    }

    fn scan_in_string(&mut self, mut string: InString, byte: u8) {
        if string.kept {
            self.text.push(byte);
            string.kept = self.text.len() <= LONGEST_TEXT;
        }
        if !string.escaped && byte == b'"' {
            self.string = None;
            if string.kept {
                self.take_text();
            }
            return;
        }
        string.escaped = !string.escaped && byte == b'\\';
        self.string = Some(string);
    }

    fn scan_between(&mut self, byte: u8) {
        match byte {
            b'"' => {
                let is_level = self.depth == 1 || self.depth == 2 && self.in_payload;
                let kept = is_level && (!self.after_colon || self.key == Key::CorrelationId);
                self.text.clear();
                self.text.push(byte);
                self.string = Some(InString { escaped: false, kept });
            }
            b'{' | b'[' => {
                if self.depth == 1 {
                    self.in_payload = byte == b'{' && self.after_colon && self.key == Key::Payload;
                }
                self.depth += 1;
                self.after_colon = false;
                self.key = Key::Other;
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' => {
                self.after_colon = false;
                self.key = Key::Other;
            }
            b':' => self.after_colon = true,
            _ => {}
        }
    }

    /// Handles the end of a string that is a key or the correlation id.
    fn take_text(&mut self) {
        let Ok(text) = serde_json::from_slice::<String>(&self.text) else { return };
        if self.after_colon {
            self.id = Some(text);
        } else {
            self.key = match (self.depth, text.as_str()) {
                (1, "payload") => Key::Payload,
                (2, "correlationId") => Key::CorrelationId,
                _ => Key::Other,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_and_differ() {
        let (one, two) = (new_correlation_id(), new_correlation_id());
        assert_ne!(one, two);
        for id in [one, two] {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert!(id[14..].starts_with('4') && "89ab".contains(&id[19..20]), "{id}");
        }
    }

    /// The correlation id, found in pieces of every length.
    fn id(line: &str) -> Option<String> {
        let whole = CorrelationIdScanner::id_in(line.as_bytes());
        for length in 1..7 {
            let mut scanner = CorrelationIdScanner::default();
            for piece in line.as_bytes().chunks(length) {
                scanner.scan(piece);
            }
            assert_eq!(scanner.into_id(), whole, "in pieces of {length}: {line}");
        }
        whole
    }

    #[test]
    fn the_correlation_id_is_found_wherever_it_stands() {
        for line in [
            r#"{"type":"x","payload":{"correlationId":"n","input":{"a":"#,
            r#"{"payload":{"input":{"correlationId":"no","a":[{},"}"]},"correlationId":"n"}}"#,
            r#" { "payload" : { "eventName" : "correlationId" , "correlationId" : "n" "#,
            r#"{"payload":{"correlation\u0049d":"\u006e","input":NaN}}"#,
            r#"{"other":{"correlationId":"no"},"payload":{"input":"\"\\","correlationId":"n""#,
        ] {
            assert_eq!(id(line).as_deref(), Some("n"), "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_a_correlation_id_is_none() {
        for line in [
            r#"{"correlationId":"n"}"#,
            r#"["payload",{"correlationId":"n"}]"#,
            r#"{"payload":["correlationId","n"]}"#,
            r#"{"payload":[{"correlationId":"n"}]}"#,
            r#"{"payload":{"correlationId":{"correlationId":"n"}}}"#,
            r#"{"payload":{"correlationId":7,"a":"n"}}"#,
            r#"{"payload":{"correlationId":"","a":"n"}}"#,
            r#"{"payload":"{\"correlationId\":\"n\"}"}"#,
            r#"{"payload":{"correlationId":"cut off"#,
            "}}}}][",
        ] {
            assert_eq!(id(line), None, "{line}");
        }
        let long = format!(r#"{{"payload":{{"correlationId":"{}"}}}}"#, "n".repeat(LONGEST_TEXT));
        assert_eq!(id(&long), None);
    }
}

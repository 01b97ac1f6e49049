//! The answer of an operation as JSON text. It is written directly, without a tree of values that could be many times
//! as large.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::pin::Pin;

use hookrail::Json;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::op_error::OpError;

/// An operation of the host that takes time.
pub(crate) type PendingOp = Pin<Box<dyn Future<Output = Result<OpAnswer, OpError>> + Send>>;

/// The answer of an operation, as JSON text.
#[derive(Debug)]
pub(crate) struct OpAnswer(String);

impl OpAnswer {
    /// The answer `null`.
    pub(crate) fn nothing() -> Self {
        Self("null".to_owned())
    }

    /// Serializes a value whose size is known to be small.
    pub(crate) fn serialize(value: &(impl Serialize + ?Sized)) -> Result<Self, OpError> {
        Self::serialize_within(usize::MAX, value)
    }

    /// Serializes a value into at most this many bytes, and fails as soon as there are more.
    pub(crate) fn serialize_within(most: usize, value: &(impl Serialize + ?Sized)) -> Result<Self, OpError> {
        let mut text = LimitedBuffer { bytes: Vec::new(), most };
        match serde_json::to_writer(&mut text, value) {
            Ok(()) => String::from_utf8(text.bytes).map(Self).map_err(|error| OpError::new(error.to_string())),
            // The buffer's own error is the only I/O error that can occur.
            Err(error) if error.is_io() => Err(OpError::over_memory()),
            Err(error) => Err(OpError::new(error.to_string())),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl From<Value> for OpAnswer {
    fn from(value: Value) -> Self {
        Self(value.to_string())
    }
}

impl From<Json> for OpAnswer {
    fn from(json: Json) -> Self {
        Self(json.text().to_owned())
    }
}

/// A buffer that refuses to grow beyond a limit.
struct LimitedBuffer {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for LimitedBuffer {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if more.len() > self.most.saturating_sub(self.bytes.len()) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.write(more)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes that are serialized as text, with one character for each byte.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Display for Bytes<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // In chunks: the characters take up to twice as much memory as the bytes, and this way not all at once.
        self.0.chunks(1 << 12).try_for_each(|part| {
            let text: String = part.iter().copied().map(char::from).collect();
            f.write_str(&text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_reads_as_the_character_of_its_number() {
        let all: Vec<u8> = (0..=255).collect();
        let answer = OpAnswer::serialize_within(1 << 20, &Bytes(&all)).unwrap();
        let read: String = serde_json::from_str(answer.text()).unwrap();
        assert!(read.chars().map(u32::from).eq(0..256));
        assert!(OpAnswer::serialize_within(599, &Bytes(&[0; 100])).is_err(), "it stops before the end");
        assert!(OpAnswer::serialize_within(602, &Bytes(&[0; 100])).is_ok());
    }
}

//! The bytes that were read from a stream, up to a limit.

use std::borrow::Cow;
use std::str::Utf8Error;

/// The bytes a child wrote to one stream, as far as they were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedStream {
    /// The first bytes of the stream, up to the limit.
    pub bytes: Vec<u8>,
    /// Whether the stream had more bytes than that.
    pub truncation: Truncation,
    /// The number of bytes that were read in all, including those that were not kept.
    pub total: u64,
}

impl CapturedStream {
    /// Adds a chunk that was read. Only the first `keep` bytes of the stream are kept.
    pub(crate) fn add(&mut self, chunk: &[u8], keep: usize) {
        self.total = self.total.saturating_add(chunk.len() as u64);
        let kept = keep.saturating_sub(self.bytes.len()).min(chunk.len());
        self.bytes.extend_from_slice(chunk.get(..kept).unwrap_or(chunk));
        if kept < chunk.len() {
            self.truncation = Truncation::Cut;
        }
    }

    /// Returns the bytes as text if they are UTF-8.
    ///
    /// # Errors
    ///
    /// If the bytes are not UTF-8; the error has the position of the first bad byte. A cut may have split a character,
    /// so check [`truncation`](Self::truncation) first.
    pub fn text(&self) -> Result<&str, Utf8Error> {
        std::str::from_utf8(&self.bytes)
    }

    /// Returns the bytes as text, with a replacement character for everything that is not UTF-8.
    #[must_use]
    pub fn text_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// Whether a stream was kept as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Truncation {
    /// Everything that was read is kept.
    #[default]
    Whole,
    /// The end is missing, because the limit was reached.
    Cut,
}

#[cfg(test)]
mod tests {
    use super::{CapturedStream, Truncation};

    fn collect(keep: usize, chunks: &[&[u8]]) -> CapturedStream {
        let mut captured = CapturedStream::default();
        for chunk in chunks {
            captured.add(chunk, keep);
        }
        captured
    }

    #[test]
    fn exactly_the_bound_is_whole() {
        let captured = collect(4, &[b"ab", b"cd"]);
        assert_eq!(captured.bytes, b"abcd");
        assert_eq!(captured.truncation, Truncation::Whole);
    }

    #[test]
    fn one_byte_over_the_bound_is_cut() {
        let captured = collect(4, &[b"ab", b"cde", b"f"]);
        assert_eq!(captured.bytes, b"abcd");
        assert_eq!(captured.truncation, Truncation::Cut);
        assert_eq!(captured.total, 6);
    }

    #[test]
    fn a_character_in_two_pieces_is_whole_text() {
        let captured = collect(4, &[b"\xe2\x82", b"\xac"]);
        assert_eq!(captured.text(), Ok("€"));
    }

    #[test]
    fn half_a_character_is_lossy_text_and_no_strict_text() {
        let captured = collect(4, &[b"a\xe2\x82"]);
        assert!(captured.text().is_err());
        assert_eq!(captured.text_lossy(), "a\u{fffd}");
    }
}

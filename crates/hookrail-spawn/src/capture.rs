//! What was read of a stream, within its bound.

use std::borrow::Cow;
use std::str::Utf8Error;

/// The bytes a child wrote to one stream, as far as they were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes of the stream, up to the bound.
    pub bytes: Vec<u8>,
    /// Whether there was more than that.
    pub truncation: Truncation,
    /// How many bytes were read in all, the dropped ones included.
    pub total: u64,
}

impl Captured {
    /// Adds what was read; no more than the first `keep` bytes are kept.
    pub(crate) fn add(&mut self, chunk: &[u8], keep: usize) {
        self.total = self.total.saturating_add(chunk.len() as u64);
        let kept = keep.saturating_sub(self.bytes.len()).min(chunk.len());
        self.bytes.extend_from_slice(chunk.get(..kept).unwrap_or(chunk));
        if kept < chunk.len() {
            self.truncation = Truncation::Cut;
        }
    }

    /// The text, if the bytes are UTF-8.
    ///
    /// # Errors
    ///
    /// Where the first bad byte is. A cut may have split a character: ask
    /// [`truncation`](Self::truncation) first.
    pub fn text(&self) -> Result<&str, Utf8Error> {
        std::str::from_utf8(&self.bytes)
    }

    /// The text with a replacement character for everything that is not UTF-8.
    #[must_use]
    pub fn text_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// Whether a stream was kept as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Truncation {
    /// Everything that was read is there.
    #[default]
    Whole,
    /// The end is missing: the bound was reached.
    Cut,
}

#[cfg(test)]
mod tests {
    use super::{Captured, Truncation};

    fn collect(keep: usize, chunks: &[&[u8]]) -> Captured {
        let mut captured = Captured::default();
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

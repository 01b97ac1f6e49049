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

/// Takes what is read and keeps the first bytes of it.
#[derive(Debug)]
pub(crate) struct Collector {
    keep: usize,
    captured: Captured,
}

impl Collector {
    pub(crate) fn new(keep: usize) -> Self {
        Self { keep, captured: Captured::default() }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let captured = &mut self.captured;
        captured.total = captured.total.saturating_add(chunk.len() as u64);
        let room = self.keep.saturating_sub(captured.bytes.len());
        match chunk.split_at_checked(room) {
            Some((kept, dropped)) => {
                captured.bytes.extend_from_slice(kept);
                if !dropped.is_empty() {
                    captured.truncation = Truncation::Cut;
                }
            }
            None => captured.bytes.extend_from_slice(chunk),
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.captured.total
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.captured.truncation == Truncation::Cut
    }

    pub(crate) fn into_captured(self) -> Captured {
        self.captured
    }
}

#[cfg(test)]
mod tests {
    use super::{Collector, Truncation};

    fn collect(keep: usize, chunks: &[&[u8]]) -> super::Captured {
        let mut collector = Collector::new(keep);
        for chunk in chunks {
            collector.push(chunk);
        }
        collector.into_captured()
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

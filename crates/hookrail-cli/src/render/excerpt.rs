//! One line of a text, and the part of it that a diagnostic marks.

use std::ops::Range;

use hookrail_app::text::is_hidden;

/// The longest line that is shown, in bytes. Longer lines are unreadable and slow to render.
const MAX_LINE_BYTES: usize = 10_000;

/// A line without hidden characters, and the marked bytes of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

impl Excerpt {
    /// Returns the line in which the span begins; none if the span is outside of the text, or if its line is too long to
    /// be shown.
    pub(crate) fn from_span(text: &str, span: &Range<usize>) -> Option<Self> {
        let before = text.get(..span.start)?;
        let begins = before.rfind('\n').map_or(0, |at| at + 1);
        let whole = text.get(begins..)?.split('\n').next()?.trim_end_matches('\r');
        if whole.len() > MAX_LINE_BYTES {
            return None;
        }
        let from = (span.start - begins).min(whole.len());
        let to = span.end.saturating_sub(begins).clamp(from, whole.len());
        let head = replace_hidden(whole.get(..from)?);
        // A span that is empty or ends inside a character marks the character it begins with.
        let first = whole.get(from..)?.chars().next().map_or(0, char::len_utf8);
        let to = if to == from || !whole.is_char_boundary(to) { from + first } else { to };
        let marked = replace_hidden(whole.get(from..to)?);
        let tail = replace_hidden(whole.get(to..)?);
        // A replacement can have another length in bytes, so the span is computed again.
        let span = head.len()..head.len() + marked.len();
        let line = before.matches('\n').count() + 1;
        Some(Self { line, text: format!("{head}{marked}{tail}"), span })
    }
}

/// Replaces every hidden character by one visible character, so that columns do not move.
fn replace_hidden(text: &str) -> String {
    let shown = |character: char| match character {
        '\t' => '\t',
        _ if is_hidden(character) => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, span: Range<usize>, line: usize, shown: &str, marked: &str) {
        let excerpt = Excerpt::from_span(text, &span).unwrap();
        assert_eq!((excerpt.line, excerpt.text.as_str()), (line, shown));
        assert_eq!(excerpt.text.get(excerpt.span).unwrap_or_default(), marked);
    }

    #[test]
    fn the_line_and_the_mark() {
        check("a\nbcd\ne", 3..4, 2, "bcd", "c");
        check("a\nbcd\ne", 3..99, 2, "bcd", "cd");
        check("a\r\nb", 0..1, 1, "a", "a");
        check("x\u{1b}yz", 2..3, 1, "x\u{fffd}yz", "y");
        check("ab", 2..2, 1, "ab", "");
        assert_eq!(Excerpt::from_span("ab", &(9..10)), None);
    }

    #[test]
    fn a_line_without_end_is_not_shown() {
        assert_eq!(Excerpt::from_span(&"a".repeat(20_000), &(3..4)), None);
    }
}

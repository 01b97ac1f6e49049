//! One line of a text with a mark below what is meant.

use std::ops::Range;

use super::text::is_hidden;

/// Longer lines are no use to anybody, and cost time.
const LONGEST: usize = 10_000;

/// A line, made harmless, and the bytes of it that are meant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

impl Excerpt {
    /// The line that holds the beginning of the span; nothing when the text has no such place, or when its line is
    /// too long to be shown.
    pub(crate) fn of(text: &str, span: &Range<usize>) -> Option<Self> {
        let before = text.get(..span.start)?;
        let begins = before.rfind('\n').map_or(0, |at| at + 1);
        let whole = text.get(begins..)?.split('\n').next()?.trim_end_matches('\r');
        if whole.len() > LONGEST {
            return None;
        }
        let from = (span.start - begins).min(whole.len());
        let to = span.end.saturating_sub(begins).clamp(from, whole.len());
        let head = harmless(whole.get(..from)?);
        // A span that ends inside a character, or is empty, means the character it begins with.
        let first = whole.get(from..)?.chars().next().map_or(0, char::len_utf8);
        let to = if to == from || !whole.is_char_boundary(to) { from + first } else { to };
        let meant = harmless(whole.get(from..to)?);
        let tail = harmless(whole.get(to..)?);
        // The replacements have another length, so the span is counted anew.
        let span = head.len()..head.len() + meant.len();
        let line = before.matches('\n').count() + 1;
        Some(Self { line, text: format!("{head}{meant}{tail}"), span })
    }
}

/// The text with one visible character for every hidden one, so that columns stay what they are.
fn harmless(text: &str) -> String {
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
        let excerpt = Excerpt::of(text, &span).unwrap();
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
        assert_eq!(Excerpt::of("ab", &(9..10)), None);
    }

    #[test]
    fn a_line_without_end_is_not_shown() {
        assert_eq!(Excerpt::of(&"a".repeat(20_000), &(3..4)), None);
    }
}

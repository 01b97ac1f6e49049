//! The status line: the parts that hooks set, one per key, as one line of text.

use std::collections::BTreeMap;

/// The parts of a status line by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusLine {
    parts: BTreeMap<String, String>,
}

impl StatusLine {
    /// A line without parts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the part of a key; none removes it.
    pub fn set(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.parts.insert(key.to_owned(), sanitized(text)),
            None => self.parts.remove(key),
        };
    }

    /// The parts in the order of their keys, joined by a blank and cut to so many columns, with `…` in the last one.
    /// Colour sequences take no column; a cut line ends without colour.
    #[must_use]
    pub fn line(&self, columns: usize) -> String {
        let whole = self.parts.values().map(String::as_str).collect::<Vec<_>>().join(" ");
        cut(whole.trim(), columns)
    }
}

/// Controls and line breaks become blanks, runs of blanks collapse, colour sequences survive.
fn sanitized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        let piece = if piece.chars().all(char::is_control) { " " } else { piece };
        if piece != " " || !out.ends_with(' ') {
            out.push_str(piece);
        }
    }
    out.trim().to_owned()
}

/// The colour sequences of a text and its other characters, in order.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let length = colour_sequence(text).or_else(|| text.chars().next().map(char::len_utf8))?;
        let (piece, rest) = text.split_at_checked(length)?;
        text = rest;
        Some(piece)
    })
}

/// The length of the colour sequence (`ESC [ … m`) at the beginning of a text.
fn colour_sequence(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let length = parameters.find(|character: char| !(character.is_ascii_digit() || character == ';'))?;
    parameters.get(length..)?.starts_with('m').then_some(length + 3)
}

fn cut(text: &str, columns: usize) -> String {
    let is_longer = pieces(text).filter(|piece| colour_sequence(piece).is_none()).count() > columns;
    let columns = if is_longer { columns.saturating_sub(1) } else { columns };
    let mut out = String::new();
    let mut used = 0;
    let mut coloured = false;
    for piece in pieces(text) {
        if colour_sequence(piece).is_some() {
            coloured = true;
        } else if used == columns {
            out.push_str(if coloured { "…\u{1b}[0m" } else { "…" });
            return out;
        } else {
            used += 1;
        }
        out.push_str(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::StatusLine;

    #[test]
    fn parts_are_sorted_cleaned_and_cut() {
        let mut line = StatusLine::new();
        line.set("b", Some("two\r\n\ttoo"));
        line.set("a", Some("  one \u{7} "));
        assert_eq!(line.line(80), "one two too");
        assert_eq!(line.line(5), "one …");
        assert_eq!(line.line(11), "one two too");
        line.set("b", None);
        assert_eq!(line.line(80), "one");
    }

    #[test]
    fn colours_survive_and_take_no_room() {
        let mut line = StatusLine::new();
        line.set("a", Some("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}"));
        assert_eq!(line.line(80), "\u{1b}[31mred\u{1b}[0m ]0;title");
        assert_eq!(line.line(2), "\u{1b}[31mr…\u{1b}[0m");
    }
}

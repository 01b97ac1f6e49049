//! A text of which parts may not be known.

use crate::facts::Why;
use crate::parse::LONGEST_LINE;
use crate::syntax::Span;

/// Stands in a text for a part that is not known. No line has this character: the parser refuses it.
pub(crate) const HOLE: char = '\u{fdd0}';
/// Stands for `*` as a pattern.
pub(crate) const ANY: char = '\u{fdd1}';
/// Stands for `?` as a pattern.
pub(crate) const ONE: char = '\u{fdd2}';
/// Stands for `[` as a pattern.
pub(crate) const BRACKET: char = '\u{fdd3}';

/// Stands behind a folder for any of the files below it that are no hidden ones.
pub(crate) const TRACKED: char = '\u{fdd5}';

/// Stands before the number of a pipe, where a word is `<(…)`.
pub(crate) const PIPE: char = '\u{fdd4}';

/// A text with patterns and parts that are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: String,
    /// Why the first part that is not known is not known.
    pub(crate) hole: Option<Hole>,
}

/// Why a part of a text is not known, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) why: Why,
    pub(crate) span: Span,
    /// Whether it came from the network.
    pub(crate) net: bool,
    /// Whether it came from a secret.
    pub(crate) secret: bool,
}

impl Value {
    pub(crate) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), hole: None }
    }

    pub(crate) fn unknown(hole: Hole) -> Self {
        Self { text: HOLE.to_string(), hole: Some(hole) }
    }

    /// Returns the text if all of it is known and it has no pattern.
    pub(crate) fn plain(&self) -> Option<&str> {
        (!self.text.contains([HOLE, ANY, ONE, BRACKET, TRACKED])).then_some(self.text.as_str())
    }

    /// Whether it is a file that stands for the pipe to a command.
    pub(crate) fn is_pipe(&self) -> bool {
        self.text.starts_with(PIPE)
    }

    pub(crate) fn has_hole(&self) -> bool {
        self.hole.is_some() || self.text.contains(HOLE)
    }

    /// Adds a text. One that becomes too long is not known.
    pub(crate) fn push(&mut self, other: &Self) {
        if self.text.len().saturating_add(other.text.len()) > LONGEST_LINE {
            let hole = Hole { why: Why::TooManyWords, span: Span::default(), net: false, secret: false };
            *self = Self::unknown(self.hole.or(other.hole).unwrap_or(hole));
            return;
        }
        self.text.push_str(&other.text);
        self.hole = self.hole.or(other.hole);
    }
}

/// A pattern for names, as programs read one that a shell does not: `*.rs`.
pub(crate) fn with_marks(pattern: &str) -> String {
    let mark = |letter| match letter {
        '*' => ANY,
        '?' => ONE,
        '[' => BRACKET,
        other => other,
    };
    pattern.chars().map(mark).collect()
}

/// Whether a text has a character that matches names.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains([ANY, ONE, TRACKED]) || text.split_once(BRACKET).is_some_and(|(_, rest)| rest.contains(']'))
}

/// Returns a text as people read it.
pub(crate) fn shown(text: &str) -> String {
    if !text.contains([HOLE, ANY, ONE, BRACKET, PIPE, TRACKED]) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            HOLE | ONE => shown.push('?'),
            ANY => shown.push('*'),
            BRACKET => shown.push('['),
            TRACKED => shown.push_str("**"),
            PIPE => shown.push_str("pipe:"),
            other => shown.push(other),
        }
    }
    shown
}

//! A word of a shell line and the pieces that it consists of.

use std::borrow::Cow;

use super::sequence::Sequence;

/// A range of bytes of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a range from offsets. Offsets over 4 GiB become the largest one.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        let offset = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Self { start: offset(start), end: offset(end) }
    }

    /// Returns the range as offsets of a slice.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Moves the range by the offset at which its text begins in the line.
    #[must_use]
    pub fn shifted(self, base: u32) -> Self {
        Self { start: self.start.saturating_add(base), end: self.end.saturating_add(base) }
    }
}

/// How a piece of a word is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// Not at all.
    None,
    /// With a backslash.
    Backslash,
    /// With `"`.
    Double,
    /// With `'`.
    Single,
    /// With `$'`.
    AnsiC,
    /// It stands in a here-document.
    HereDocument {
        /// Whether parameters and substitutions are expanded in it.
        expands: bool,
    },
}

/// A word: what becomes one argument, or several, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it stands.
    pub span: Span,
    /// What it consists of.
    pub pieces: Vec<Piece>,
}

/// A part of a word that is quoted and expanded in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it stands.
    pub span: Span,
    /// How it is quoted.
    pub quotes: Quotes,
    /// What it is.
    pub kind: PieceKind,
}

/// What a piece of a word is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Text, without its quotes.
    Text(String),
    /// A parameter: `$x`, `${x:-y}`.
    Parameter(Box<Parameter>),
    /// The output of commands: `$(…)` or backticks.
    Command(Substitution),
    /// A file that stands for a pipe to commands: `<(…)`, `>(…)`.
    Process {
        /// Whether the word names what the commands read, `>(…)`.
        into: bool,
        /// The commands.
        code: Substitution,
    },
    /// A number: `$((…))`, with the substitutions and parameters in it.
    Arithmetic(Vec<Piece>),
    /// A character that matches file names.
    Glob(GlobMark),
    /// `~` or `~user` at the beginning, with the name of the user.
    Tilde(String),
    /// Alternatives: `{a,b}`.
    Brace(Vec<Vec<Piece>>),
    /// A sequence: `{1..3}`.
    Sequence(Sequence),
}

/// A character that matches file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobMark {
    /// `*`, and what only extended patterns have.
    Any,
    /// `?`.
    One,
    /// `[`.
    Bracket,
}

/// Commands in a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substitution {
    /// Where the code stands, without its brackets.
    pub code: Span,
    /// The code, if it is not the text of its place: backticks have their own backslashes.
    pub text: Option<String>,
    /// What the code is, once [`parse`](crate::parse) has read it.
    #[cfg(feature = "syntax")]
    pub script: Option<Box<super::ShellScript>>,
}

/// A parameter and what is done with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name: a name, a number or a special character.
    pub name: String,
    /// The index in brackets.
    pub subscript: Option<Vec<Piece>>,
    /// What is done with its value.
    pub operation: Operation,
}

/// What is done with the value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing: `$x`, `${x}`.
    Value,
    /// `${#x}`.
    Length,
    /// `${!x}`.
    Indirect,
    /// `${x-w}` and `${x:-w}`.
    Default(Vec<Piece>),
    /// `${x=w}` and `${x:=w}`.
    Assign(Vec<Piece>),
    /// `${x+w}` and `${x:+w}`.
    Alternative(Vec<Piece>),
    /// `${x?w}` and `${x:?w}`.
    Require(Vec<Piece>),
    /// `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`.
    Remove {
        /// Whether it is removed from the end.
        suffix: bool,
        /// Whether the longest match is removed.
        longest: bool,
        /// What is removed.
        pattern: Vec<Piece>,
    },
    /// `${x/p/w}` and its variants.
    Replace {
        /// Whether every match is replaced.
        all: bool,
        /// What is replaced.
        pattern: Vec<Piece>,
        /// What takes its place.
        with: Vec<Piece>,
    },
    /// `${x:1:2}`.
    Substring {
        /// The first character.
        from: Vec<Piece>,
        /// How many characters.
        length: Option<Vec<Piece>>,
    },
    /// `${x^}`, `${x,}` and their variants.
    Case {
        /// To upper case.
        upper: bool,
        /// Every character, not the first one only.
        all: bool,
    },
    /// `${x@P}` and the other letters.
    Transform(char),
    /// `${!x*}` and whatever else exists.
    Other,
}

impl Word {
    /// Returns the text of a word in which nothing is expanded.
    #[must_use]
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        literal(&self.pieces)
    }

    /// Returns the text of a word in which only parameters are expanded, all of which are known.
    pub fn resolve(&self, known: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match &piece.kind {
                PieceKind::Text(part) => text.push_str(part),
                PieceKind::Parameter(parameter) if parameter.is_plain() => text.push_str(&known(&parameter.name)?),
                PieceKind::Parameter(_)
                | PieceKind::Command(_)
                | PieceKind::Process { .. }
                | PieceKind::Arithmetic(_)
                | PieceKind::Glob(_)
                | PieceKind::Tilde(_)
                | PieceKind::Brace(_)
                | PieceKind::Sequence(_) => return None,
            }
        }
        Some(text)
    }
}

impl Parameter {
    /// Whether it is the value of a variable and nothing else.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.operation == Operation::Value && self.subscript.is_none()
    }
}

/// Returns the text of pieces in which nothing is expanded.
pub(crate) fn literal(pieces: &[Piece]) -> Option<Cow<'_, str>> {
    if let [Piece { kind: PieceKind::Text(text), .. }] = pieces {
        return Some(Cow::Borrowed(text));
    }
    let mut joined = String::new();
    for piece in pieces {
        match &piece.kind {
            PieceKind::Text(text) => joined.push_str(text),
            PieceKind::Parameter(_)
            | PieceKind::Command(_)
            | PieceKind::Process { .. }
            | PieceKind::Arithmetic(_)
            | PieceKind::Glob(_)
            | PieceKind::Tilde(_)
            | PieceKind::Brace(_)
            | PieceKind::Sequence(_) => return None,
        }
    }
    Some(Cow::Owned(joined))
}

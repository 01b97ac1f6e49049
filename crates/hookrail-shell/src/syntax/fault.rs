//! Why a part of a line is not understood.

use super::word::Span;

/// A part of a line that is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Where.
    pub span: Span,
}

/// Why a part of a line is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// The grammar does not accept it.
    Syntax,
    /// A quote or bracket is not closed.
    Unclosed,
    /// A here-document has no end.
    OpenHereDocument,
    /// A control character stands in it.
    ControlCharacter,
    /// The grammar and the reader of words disagree.
    Disagreement,
    /// It is too long.
    TooLong,
    /// Too many brackets stand in each other.
    TooDeep,
    /// The grammar takes too long.
    TooSlow,
}

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

impl FaultKind {
    /// Whether a limit was met.
    pub(crate) fn is_limit(self) -> bool {
        match self {
            Self::TooLong | Self::TooDeep | Self::TooSlow => true,
            Self::Syntax | Self::Unclosed | Self::OpenHereDocument | Self::ControlCharacter | Self::Disagreement => {
                false
            }
        }
    }

    #[cfg(feature = "syntax")]
    /// Whether a shell may read a line with this fault as it is meant, so that the line is not read here only.
    pub(crate) fn may_be_read_by_a_shell(self) -> bool {
        match self {
            Self::Syntax | Self::Disagreement => true,
            // A shell refuses the first; of the others what was found is all that stands there; the last are limits already.
            Self::Unclosed
            | Self::OpenHereDocument
            | Self::ControlCharacter
            | Self::TooLong
            | Self::TooDeep
            | Self::TooSlow => false,
        }
    }
}

//! What a line consists of, as data.

mod fault;
#[cfg(feature = "syntax")]
mod script;
mod sequence;
mod word;

pub use fault::{Fault, FaultKind};
#[cfg(feature = "syntax")]
pub use script::{
    AssignedValue, Assignment, Connector, HereDocument, Node, Redirect, RedirectOperator, RedirectTarget, ShellScript,
    SimpleCommand,
};
pub use sequence::Sequence;
#[cfg(feature = "syntax")]
pub(crate) use word::literal;
pub use word::{GlobMark, Operation, Parameter, Piece, PieceKind, Quotes, Span, Substitution, Word};

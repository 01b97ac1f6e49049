//! What a line consists of, as data.

#[cfg(feature = "syntax")]
mod script;
mod word;

#[cfg(feature = "syntax")]
pub use script::{
    AssignedValue, Assignment, Connector, Fault, FaultKind, HereDocument, Node, Redirect, RedirectOperator,
    RedirectTarget, ShellScript, SimpleCommand,
};
#[cfg(feature = "syntax")]
pub(crate) use word::literal;
pub use word::{GlobMark, Operation, Parameter, Piece, PieceKind, Quotes, Span, Substitution, Word};

//! What a shell line is, and what it would do.
//!
//! Two layers. [`tokens`], [`words`], [`loose_words`] and [`rewrite`] need nothing: they divide a text, read one plain command, read
//! any text generously, and change parts of words. With the feature
//! `syntax`, [`parse`] gives the commands of any line with their structure, and [`accesses`] what these commands would
//! read, write, delete, run and connect to.
//!
//! The crate touches no file and starts nothing. It never fails: what it does not understand is named in the result.

mod command_words;
mod facts;
mod lexer;
mod loose_words;
mod rewrite;
mod scanner;
mod syntax;
mod tokens;
mod words;

pub use command_words::CommandWords;
pub use facts::{
    Accesses, Class, CommandFact, Executed, Fact, FactKind, FactSet, Flow, FlowKind, GitFact, NetworkHost, PathUse,
    Unknown, Why,
};
pub use lexer::LexFault;
pub use loose_words::{Comments, LooseWord, loose_words};
pub use rewrite::rewrite;
pub use syntax::{
    Fault, FaultKind, GlobMark, Operation, Parameter, Piece, PieceKind, Quotes, Sequence, Span, Substitution, Word,
};
pub use tokens::{Token, TokenKind, Tokens, tokens};
pub use words::{NotPlain, PlainCommand, command_words, words};

#[cfg(feature = "syntax")]
mod accesses;
#[cfg(feature = "syntax")]
mod document;
#[cfg(feature = "syntax")]
mod parse;
#[cfg(feature = "syntax")]
mod resolve;
#[cfg(feature = "syntax")]
mod tables;

#[cfg(feature = "syntax")]
pub use accesses::{CommandSurroundings, Scene, accesses};
#[cfg(feature = "syntax")]
pub use document::{
    AccessDocument, CommandDocument, ExecutedDocument, FlowDocument, HostDocument, PathDocument, SpanDocument,
    UnknownDocument,
};
#[cfg(feature = "syntax")]
pub use parse::parse;
#[cfg(feature = "syntax")]
pub use syntax::{
    AssignedValue, Assignment, Connector, HereDocument, Node, Redirect, RedirectOperator, RedirectTarget, ShellScript,
    SimpleCommand,
};
#[cfg(feature = "syntax")]
pub use tables::{ProgramTables, RowProblem};

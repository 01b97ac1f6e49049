//! Which subjects an entry of a hook file applies to.
//!
//! A pattern is parsed once, by [`Matcher::compile`], and the [`Matcher`] that
//! comes out is always usable: what was wrong with the pattern is reported
//! beside it as a [`Problem`], and never turns into a matcher that silently
//! matches nothing.
//!
//! # The language
//!
//! * A missing pattern, `""` and `"*"` match everything. Blanks around a
//!   pattern are not part of it.
//! * Under [`Language::GlobOrRegex`], a pattern made only of
//!   `A-Z a-z 0-9 _ . : / - *` with at least one `*` that does not follow a `.`
//!   is an anchored glob.
//! * Everything else is a case-sensitive ECMAScript regular expression without
//!   flags, with the web-legacy syntax of ECMA-262's Annex B.
//!
//! # How a regular expression runs
//!
//! The pattern is parsed here, over UTF-16 code units, and the parser is what
//! decides whether it is valid. The tests hold it against recorded answers of a
//! JavaScript engine.
//!
//! * A pattern without look-around and back-references is written out again in
//!   the syntax of the `regex` crate and runs in time linear in the subject.
//! * The others run on a small backtracking machine that follows ECMA-262 step
//!   by step and counts its steps. A search that takes too many yields
//!   [`Verdict::LimitReached`], which counts as a match. The same goes for a
//!   pattern whose automaton would be too large.
//!
//! The machine is our own because no available one will do. The ECMAScript
//! engines have no step limit, and the backtracking engines with a limit are
//! not ECMAScript: they keep what a group matched in an earlier round of a
//! repetition, fail on a reference to a group that has not matched, and run
//! look-behinds in the other direction. For a hook that guards something, each
//! of these could be a missed match.
//!
//! Without the `u` flag ECMAScript sees UTF-16 code units, so `^.$` does not
//! match a character outside the basic plane. The `regex` crate works on
//! characters; each surrogate code unit therefore stands for one private-use
//! character in its pattern and in its subject, which makes the two views the
//! same.

mod backtrack;
mod class;
mod compile;
mod emit;
mod engine;
mod escape;
mod glob;
mod literal;
mod parser;
mod program;
mod scan;
mod set;
mod syntax;
mod types;

#[cfg(test)]
mod backtrack_tests;
#[cfg(test)]
mod conformance_tests;
#[cfg(test)]
mod property_tests;

pub use compile::Matcher;
pub(crate) use set::MatcherSet;
pub use types::{Compiled, Language, MatcherKind, OnInvalid, Problem, Scope, Verdict};

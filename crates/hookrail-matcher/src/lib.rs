//! Globs and ECMAScript regular expressions that decide which subjects an entry of a hook file applies to.
//!
//! A pattern is parsed once, by [`Matcher::compile`], and the [`Matcher`] that comes out is always usable: what is wrong
//! with the pattern is reported beside it as a [`PatternProblem`], and never becomes a matcher that silently matches nothing.
//! Every test of a subject ends in bounded time, so patterns and subjects may come from untrusted files.
//!
//! ```
//! use hookrail_matcher::{Language, Matcher, MatcherKind, MatcherSet, OnInvalid, PatternProblem, MatchScope, MatchResult};
//!
//! // A tool's name: a glob if the pattern has the shape of one, otherwise a regular expression.
//! let compile = |pattern| Matcher::compile(pattern, Language::GlobOrRegex, MatchScope::Anywhere, OnInvalid::MatchAll);
//! let writes = compile("write_file|edit").matcher;
//! assert_eq!(writes.test("write_file"), MatchResult::Matches);
//! assert_eq!(writes.test("read_file"), MatchResult::Differs);
//! let glob = compile("mcp__*__read").matcher;
//! assert_eq!(glob.kind(), MatcherKind::Glob);
//! assert!(glob.test("mcp__files__read").is_match());
//!
//! // A broken pattern is reported, and the entry still guards what it was meant to guard.
//! let broken = compile("write_(file");
//! assert!(matches!(broken.problem, Some(PatternProblem::Invalid { .. })));
//! assert!(broken.matcher.test("write_file").is_match());
//!
//! // A step limit bounds the search, and reaching it counts as a match.
//! let hostile = compile(r"^(a*)*\1$").matcher;
//! assert_eq!(hostile.test(&format!("{}b", "a".repeat(200))), MatchResult::LimitReached);
//!
//! // Many matchers are tried on one subject at once.
//! let set = MatcherSet::new([&writes, &glob, &broken.matcher]);
//! assert_eq!(set.test("edit"), [(0, MatchResult::Matches), (2, MatchResult::Matches)]);
//! ```
//!
//! # The language
//!
//! * A missing pattern, `""` and `"*"` match everything.
//! * Under [`Language::GlobOrRegex`], a pattern made only of `A-Z a-z 0-9 _ . : / - *` with at least one `*` that does not
//!   follow a `.` is an anchored glob. Blanks around a pattern are not part of it.
//! * Everything else is a case-sensitive ECMAScript regular expression without flags, with the web-legacy syntax of
//!   ECMA-262's Annex B.
//!
//! # How a regular expression runs
//!
//! The pattern is parsed here, over UTF-16 code units, and the parser decides whether it is valid. The tests compare it with
//! recorded answers of a JavaScript engine.
//!
//! * A pattern without look-around and back-references is written out again in the syntax of the `regex` crate and runs in
//!   time linear in the subject.
//! * The others run on a small backtracking machine that follows ECMA-262 step by step and counts its steps. A search that
//!   takes too many yields [`MatchResult::LimitReached`], which counts as a match. The same goes for a pattern whose automaton
//!   would be too large.
//!
//! The machine is our own because no available one will do. The ECMAScript engines have no step limit, and the backtracking
//! engines with a limit are not ECMAScript: they keep what a group matched in an earlier round of a repetition, fail on a
//! reference to a group that has not matched, and run look-behinds in the other direction. For a hook that guards something,
//! each of these could be a missed match.
//!
//! Without the `u` flag ECMAScript sees UTF-16 code units, so `^.$` does not match a character outside the basic plane. The
//! `regex` crate works on characters; each surrogate code unit therefore becomes one private-use character in its pattern
//! and in its subject, which makes the two views the same.

#![forbid(unsafe_code)]

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

pub use compile::{CompiledMatcher, Matcher};
pub use set::MatcherSet;
pub use types::{Language, MatchResult, MatchScope, MatcherKind, OnInvalid, PatternProblem};

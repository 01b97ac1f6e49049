//! The engines that run regular expressions, and the bounds they run in.

use std::borrow::Cow;

use super::backtrack;
use super::emit;
use super::program::Program;
use super::syntax::Node;
use super::types::{Scope, Verdict};

/// How large an automaton may become, in bytes. Larger ones take noticeable
/// time to compile.
const MAX_COMPILED_SIZE: usize = 2 << 20;

/// A regular expression that is ready to run.
#[derive(Clone, Debug)]
pub(super) enum Engine {
    /// Runs in time linear in the subject.
    Linear(regex::Regex),
    /// Runs under a limit.
    Backtracking(Program),
}

impl Engine {
    /// Compiles a pattern for the linear engine if that can take it, and for
    /// the backtracking one, which can take everything, otherwise.
    pub(super) fn new(root: &Node, scope: Scope) -> Self {
        linear(root, scope).map_or_else(|| Self::Backtracking(Program::new(root, scope)), Self::Linear)
    }

    /// Searches the subject.
    pub(super) fn test(&self, subject: &str) -> Verdict {
        match self {
            Self::Linear(regex) => regex.is_match(&in_code_units(subject)).into(),
            Self::Backtracking(program) => backtrack::search(program, subject),
        }
    }
}

fn linear(root: &Node, scope: Scope) -> Option<regex::Regex> {
    let text = emit::emit(root, scope)?;
    // The only errors there should be are that the automaton is too large and
    // that the pattern nests deeper than the engine allows by default. Its
    // compiler recurses, so that bound is better left alone.
    regex::RegexBuilder::new(&text).size_limit(MAX_COMPILED_SIZE).build().ok()
}

/// The subject with one character for each of its UTF-16 code units.
fn in_code_units(subject: &str) -> Cow<'_, str> {
    // Four-byte characters are the ones outside the basic plane.
    if subject.bytes().all(|byte| byte < 0xf0) {
        Cow::Borrowed(subject)
    } else {
        Cow::Owned(subject.encode_utf16().map(emit::character_of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::parser::{MAX_NESTING, parse};
    use super::*;

    fn engine(pattern: &str) -> Engine {
        let units: Vec<u16> = pattern.encode_utf16().collect();
        Engine::new(&parse(&units).unwrap(), Scope::Anywhere)
    }

    #[test]
    fn every_code_unit_becomes_one_character() {
        assert!(matches!(in_code_units("aé\u{ffff}"), Cow::Borrowed(_)));
        assert_eq!(in_code_units("a😀"), "a\u{10d83d}\u{10de00}");
        // A character of the plane that stands for surrogates is two of them.
        assert_eq!(in_code_units("\u{10d83d}").chars().count(), 2);
    }

    #[test]
    fn only_patterns_that_need_it_backtrack() {
        assert!(matches!(engine(r"(a)\b[^b]*?"), Engine::Linear(_)));
        assert!(matches!(engine(r"\Ba{3,}|.\B"), Engine::Linear(_)));
        assert!(matches!(engine(r"(a)\1"), Engine::Backtracking(_)));
        assert!(matches!(engine("a(?!b)"), Engine::Backtracking(_)));
    }

    #[test]
    fn the_deepest_patterns_run() {
        for depth in [20, MAX_NESTING - 1] {
            let pattern = format!("^{}b{}", "(a|".repeat(depth), ")*?".repeat(depth));
            assert_eq!(engine(&pattern).test("b"), Verdict::Matches);
            let pattern = format!("{}b{}", "(?=".repeat(depth), ")".repeat(depth));
            assert_eq!(engine(&pattern).test("ab"), Verdict::Matches);
            assert_eq!(engine(&pattern).test("a"), Verdict::Differs);
        }
    }

    #[test]
    fn what_compiles_too_large_runs_under_the_limit() {
        let engine = engine("^((a{1000}){1000}){1000}");
        assert!(matches!(engine, Engine::Backtracking(_)));
        assert_eq!(engine.test("aaa"), Verdict::Differs);
        assert_eq!(engine.test(&"a".repeat(200_000)), Verdict::LimitReached);
    }
}

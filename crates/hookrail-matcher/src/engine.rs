//! The engines that run regular expressions, and the bounds they run in.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::backtrack;
use super::emit;
use super::program::Program;
use super::syntax::Node;
use super::types::{Scope, Verdict};

/// How large an automaton may become, in bytes. Larger ones take noticeable
/// time to compile.
const MAX_COMPILED_SIZE: usize = 2 << 20;

/// How long a pattern may be to be put into a set with others, in bytes.
const MAX_TEXT_IN_SET: usize = 1 << 10;

/// A regular expression. It is compiled when it is first run, because most of those that are loaded never are.
#[derive(Debug)]
pub(super) struct Engine {
    root: Node,
    scope: Scope,
    /// The pattern in the linear engine's syntax, where that has words for it.
    linear: Option<String>,
    ready: OnceLock<Ready>,
}

#[derive(Debug)]
enum Ready {
    /// Runs in time linear in the subject.
    Linear(regex::Regex),
    /// Runs under a limit.
    Backtracking(Program),
}

impl Engine {
    pub(super) fn new(root: Node, scope: Scope) -> Self {
        let linear = emit::emit(&root, scope);
        Self { root, scope, linear, ready: OnceLock::new() }
    }

    /// Searches the subject.
    pub(super) fn test(&self, subject: &str) -> Verdict {
        match self.ready() {
            Ready::Linear(regex) => regex.is_match(&in_code_units(subject)).into(),
            Ready::Backtracking(program) => backtrack::search(program, subject),
        }
    }

    /// Whether it runs in linear time.
    pub(super) fn is_linear(&self) -> bool {
        matches!(self.ready(), Ready::Linear(_))
    }

    /// The pattern for a set of many, if it is sure to be small enough for the linear engine: an automaton grows out of
    /// proportion to its pattern by counted repetition only.
    pub(super) fn for_set(&self) -> Option<&str> {
        // Braces also stand around the numbers of characters.
        let counts = |text: &str| text.replace(r"\x{", "").contains('{');
        self.linear.as_deref().filter(|text| text.len() <= MAX_TEXT_IN_SET && !counts(text))
    }

    /// The linear engine if that can take the pattern, otherwise the backtracking one, which can take everything.
    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| {
            let linear = self.linear.as_deref().and_then(linear);
            linear.map_or_else(|| Ready::Backtracking(Program::new(&self.root, self.scope)), Ready::Linear)
        })
    }
}

fn linear(text: &str) -> Option<regex::Regex> {
    // The only errors there should be are that the automaton is too large and
    // that the pattern nests deeper than the engine allows by default. Its
    // compiler recurses, so that bound is better left alone.
    regex::RegexBuilder::new(text).size_limit(MAX_COMPILED_SIZE).build().ok()
}

/// The subject with one character for each of its UTF-16 code units.
pub(super) fn in_code_units(subject: &str) -> Cow<'_, str> {
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
        Engine::new(parse(&units).unwrap(), Scope::Anywhere)
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
        assert!(engine(r"(a)\b[^b]*?").is_linear());
        assert!(engine(r"\Ba{3,}|.\B").is_linear());
        assert!(!engine(r"(a)\1").is_linear());
        assert!(!engine("a(?!b)").is_linear());
    }

    #[test]
    fn what_cannot_grow_out_of_proportion_is_put_into_sets() {
        for pattern in ["^(read|write)_[a-z]*$", r"\w+", "a.*b", "[é😀]?"] {
            assert!(engine(pattern).for_set().is_some(), "{pattern}");
        }
        for pattern in ["a{2}", "(a{2,}){3}", "a(?=b)", r"(a)\1"] {
            assert!(engine(pattern).for_set().is_none(), "{pattern}");
        }
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
        assert!(!engine.is_linear());
        assert_eq!(engine.test("aaa"), Verdict::Differs);
        assert_eq!(engine.test(&"a".repeat(200_000)), Verdict::LimitReached);
    }
}

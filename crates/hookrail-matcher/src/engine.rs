//! The engines that run regular expressions, and their limits.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::backtrack;
use super::emit;
use super::program::Program;
use super::syntax::RegexNode;
use super::types::{MatchResult, MatchScope};

/// The largest automaton, in bytes. Larger ones take noticeable time to compile.
const MAX_COMPILED_SIZE: usize = 2 << 20;

/// The longest pattern that is tested in a set with others, in bytes.
const MAX_TEXT_IN_SET: usize = 1 << 10;

/// A regular expression. It is compiled at its first run, because most expressions that are loaded never run.
#[derive(Debug)]
pub(super) struct RegexEngine {
    root: RegexNode,
    scope: MatchScope,
    /// The pattern in the linear engine's syntax, if that can express it.
    linear: Option<String>,
    ready: OnceLock<CompiledRegex>,
}

#[derive(Debug)]
enum CompiledRegex {
    /// Runs in time linear in the subject.
    Linear(regex::Regex),
    /// Runs under a limit.
    Backtracking(Program),
}

impl RegexEngine {
    pub(super) fn new(root: RegexNode, scope: MatchScope) -> Self {
        let linear = emit::emit(&root, scope);
        Self { root, scope, linear, ready: OnceLock::new() }
    }

    /// Searches the subject.
    pub(super) fn test(&self, subject: &str) -> MatchResult {
        match self.ready() {
            CompiledRegex::Linear(regex) => regex.is_match(&in_code_units(subject)).into(),
            CompiledRegex::Backtracking(program) => backtrack::search(program, subject),
        }
    }

    /// Whether it runs in linear time.
    pub(super) fn is_linear(&self) -> bool {
        matches!(self.ready(), CompiledRegex::Linear(_))
    }

    /// Returns the pattern for a set of many, if its automaton is sure to be small: only counted repetition makes an
    /// automaton much larger than its pattern.
    pub(super) fn for_set(&self) -> Option<&str> {
        // Braces are also part of character escapes.
        let counts = |text: &str| text.replace(r"\x{", "").contains('{');
        self.linear.as_deref().filter(|text| text.len() <= MAX_TEXT_IN_SET && !counts(text))
    }

    /// Returns the linear engine if it can run the pattern, otherwise the backtracking one, which can run every pattern.
    fn ready(&self) -> &CompiledRegex {
        self.ready.get_or_init(|| {
            let linear = self.linear.as_deref().and_then(linear);
            linear.map_or_else(
                || CompiledRegex::Backtracking(Program::new(&self.root, self.scope)),
                CompiledRegex::Linear,
            )
        })
    }
}

fn linear(text: &str) -> Option<regex::Regex> {
    // The only expected errors are that the automaton is too large and that the pattern nests deeper than the engine's
    // default limit. Its compiler recurses, so that limit is not raised.
    regex::RegexBuilder::new(text).size_limit(MAX_COMPILED_SIZE).build().ok()
}

/// Returns the subject with one character for each of its UTF-16 code units.
pub(super) fn in_code_units(subject: &str) -> Cow<'_, str> {
    // Only characters outside the basic plane have four bytes and two code units.
    if subject.bytes().all(|byte| byte < 0xf0) {
        Cow::Borrowed(subject)
    } else {
        Cow::Owned(subject.encode_utf16().map(emit::character_for).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::parser::{MAX_NESTING, parse};
    use super::*;

    fn engine(pattern: &str) -> RegexEngine {
        let units: Vec<u16> = pattern.encode_utf16().collect();
        RegexEngine::new(parse(&units).unwrap(), MatchScope::Anywhere)
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
            assert_eq!(engine(&pattern).test("b"), MatchResult::Matches);
            let pattern = format!("{}b{}", "(?=".repeat(depth), ")".repeat(depth));
            assert_eq!(engine(&pattern).test("ab"), MatchResult::Matches);
            assert_eq!(engine(&pattern).test("a"), MatchResult::Differs);
        }
    }

    #[test]
    fn what_compiles_too_large_runs_under_the_limit() {
        let engine = engine("^((a{1000}){1000}){1000}");
        assert!(!engine.is_linear());
        assert_eq!(engine.test("aaa"), MatchResult::Differs);
        assert_eq!(engine.test(&"a".repeat(200_000)), MatchResult::LimitReached);
    }
}

//! Compiles the text of a pattern to a matcher.

use std::fmt;
use std::sync::Arc;

use super::engine::RegexEngine;
use super::glob;
use super::literal::Literals;
use super::parser::{self, MAX_NESTING, ParseError};
use super::types::{Language, MatchResult, MatchScope, MatcherKind, OnInvalid, PatternProblem};

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 16 << 10;

/// Decides which subjects an entry applies to.
///
/// A matcher is made once and is cheap to clone.
#[derive(Clone)]
pub struct Matcher(Arc<MatcherParts>);

/// A matcher together with what was wrong with its pattern.
#[derive(Clone, Debug)]
pub struct CompiledMatcher {
    /// The matcher, usable whether or not there was a problem.
    pub matcher: Matcher,
    /// What is wrong with the pattern, if anything.
    pub problem: Option<PatternProblem>,
}

struct MatcherParts {
    pattern: Option<Box<str>>,
    scope: MatchScope,
    test: Test,
}

enum Test {
    Everything,
    /// The pattern's own text.
    Text,
    Glob(RegexEngine),
    Literals(Literals),
    RegexEngine(RegexEngine),
}

/// How a set of matchers tests one of them.
pub(super) enum SetMembership<'m> {
    /// It needs no test.
    Always,
    /// It is found with all other literal texts in one pass.
    Literals(&'m Literals),
    /// It is found with all other patterns in one pass.
    Pattern(&'m str),
    /// It is tested by itself.
    Separately,
}

impl Matcher {
    /// Returns the matcher of an entry that has no pattern.
    #[must_use]
    pub fn everything() -> Self {
        Self(Arc::new(MatcherParts { pattern: None, scope: MatchScope::Anywhere, test: Test::Everything }))
    }

    /// Compiles a pattern.
    ///
    /// This always succeeds. The matcher of an invalid pattern comes with a
    /// [`PatternProblem`], and `on_invalid` decides what it matches.
    #[must_use]
    pub fn compile(pattern: &str, language: Language, scope: MatchScope, on_invalid: OnInvalid) -> CompiledMatcher {
        // A blank is a character of a regular expression like any other.
        let trimmed = match language {
            Language::GlobOrRegex => pattern.trim(),
            Language::Regex => pattern,
        };
        let (test, problem) = match interpret(trimmed, language, scope) {
            Ok(test) => (test, None),
            Err(mut problem) => {
                if let PatternProblem::Invalid { offset: Some(offset), .. } = &mut problem {
                    *offset +=
                        if language == Language::GlobOrRegex { pattern.len() - pattern.trim_start().len() } else { 0 };
                }
                let test = match on_invalid {
                    OnInvalid::MatchAll => Test::Everything,
                    OnInvalid::Literal => Test::Text,
                };
                (test, Some(problem))
            }
        };
        let matcher = Self(Arc::new(MatcherParts { pattern: Some(trimmed.into()), scope, test }));
        CompiledMatcher { matcher, problem }
    }

    /// Tests a subject.
    pub fn test(&self, subject: &str) -> MatchResult {
        let inner = &*self.0;
        let is_pattern = || inner.pattern.as_deref() == Some(subject);
        if inner.scope == MatchScope::Whole && is_pattern() {
            return MatchResult::Matches;
        }
        match &inner.test {
            Test::Everything => MatchResult::Matches,
            Test::Text => is_pattern().into(),
            Test::Literals(literals) => literals.matches(subject).into(),
            Test::Glob(engine) | Test::RegexEngine(engine) => engine.test(subject),
        }
    }

    /// Returns how a set tests this matcher.
    pub(super) fn set_membership(&self) -> SetMembership<'_> {
        match &self.0.test {
            Test::Everything => SetMembership::Always,
            Test::Text => SetMembership::Separately,
            Test::Literals(literals) => SetMembership::Literals(literals),
            Test::Glob(engine) | Test::RegexEngine(engine) => {
                engine.for_set().map_or(SetMembership::Separately, SetMembership::Pattern)
            }
        }
    }

    /// Returns the pattern's text if a subject that is equal to it matches, whatever the pattern means.
    pub(super) fn equal_text(&self) -> Option<&str> {
        let counts = self.0.scope == MatchScope::Whole || matches!(self.0.test, Test::Text);
        self.0.pattern.as_deref().filter(|_| counts)
    }

    /// Returns how the matcher tests subjects.
    #[must_use]
    pub fn kind(&self) -> MatcherKind {
        match &self.0.test {
            Test::Everything => MatcherKind::Everything,
            Test::Text => MatcherKind::Literal,
            Test::Glob(_) => MatcherKind::Glob,
            Test::Literals(_) => MatcherKind::Regex,
            Test::RegexEngine(engine) if engine.is_linear() => MatcherKind::Regex,
            Test::RegexEngine(_) => MatcherKind::Backtracking,
        }
    }

    /// The pattern as it was written, or `None` if there was none. One that can be a glob is without the blanks around
    /// it.
    #[must_use]
    pub fn pattern(&self) -> Option<&str> {
        self.0.pattern.as_deref()
    }
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher")
            .field("pattern", &self.0.pattern)
            .field("scope", &self.0.scope)
            .field("kind", &self.kind())
            .finish()
    }
}

/// Returns the test for a trimmed pattern.
fn interpret(pattern: &str, language: Language, scope: MatchScope) -> Result<Test, PatternProblem> {
    if matches!(pattern, "" | "*") {
        return Ok(Test::Everything);
    }
    if pattern.len() > MAX_PATTERN {
        return Err(PatternProblem::TooComplex {
            message: format!("{} bytes; the limit is {MAX_PATTERN} bytes", pattern.len()),
        });
    }
    if language == Language::GlobOrRegex
        && let Some(glob) = glob::parse(pattern)
    {
        return Ok(Test::Glob(RegexEngine::new(glob, MatchScope::Whole)));
    }
    if let Some(literals) = Literals::parse(pattern, scope) {
        return Ok(Test::Literals(literals));
    }
    regular_expression(pattern, scope).map(Test::RegexEngine)
}

fn regular_expression(pattern: &str, scope: MatchScope) -> Result<RegexEngine, PatternProblem> {
    let units: Vec<u16> = pattern.encode_utf16().collect();
    let root = parser::parse(&units).map_err(|error| match error {
        ParseError::Syntax { message, position } => {
            PatternProblem::Invalid { message: message.into(), offset: Some(byte_offset(pattern, position)) }
        }
        ParseError::TooDeep => {
            PatternProblem::TooComplex { message: format!("groups nest deeper than {MAX_NESTING} levels") }
        }
    })?;
    Ok(RegexEngine::new(root, scope))
}

/// Returns the number of bytes before the code unit at `position`.
fn byte_offset(pattern: &str, position: usize) -> usize {
    let mut units = 0;
    pattern
        .chars()
        .take_while(|c| {
            units += c.len_utf16();
            units <= position
        })
        .map(char::len_utf8)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_points_into_the_pattern_as_written() {
        for (pattern, expected) in [("a)", 1), ("  a)", 3), ("é😀)", 6), ("\u{3000}😀**", 8)] {
            let compiled = Matcher::compile(pattern, Language::Regex, MatchScope::Anywhere, OnInvalid::Literal);
            let Some(PatternProblem::Invalid { offset, .. }) = compiled.problem else {
                panic!("{pattern}");
            };
            assert_eq!(offset, Some(expected), "{pattern}");
        }
    }
}

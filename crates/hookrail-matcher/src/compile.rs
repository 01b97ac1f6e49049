//! From a pattern's text to a matcher.

use std::fmt;
use std::sync::Arc;

use super::engine::Engine;
use super::glob;
use super::literal::Literals;
use super::parser::{self, MAX_NESTING, ParseError};
use super::types::{Compiled, Language, MatcherKind, OnInvalid, Problem, Scope, Verdict};

/// How long a pattern may be, in bytes.
const MAX_PATTERN: usize = 16 << 10;

/// Decides which subjects an entry applies to.
///
/// A matcher is made once and is cheap to clone.
#[derive(Clone)]
pub struct Matcher(Arc<Inner>);

struct Inner {
    pattern: Option<Box<str>>,
    scope: Scope,
    test: Test,
}

enum Test {
    Everything,
    /// The pattern's own text.
    Text,
    Glob(Engine),
    Literals(Literals),
    Engine(Engine),
}

/// What a set of many matchers makes of one of them.
pub(super) enum InSet<'m> {
    /// It needs no test.
    Always,
    /// It is found with all other literal texts in one pass.
    Literals(&'m Literals),
    /// It is found with all other patterns in one pass.
    Pattern(&'m str),
    /// It has to be tried by itself.
    Singly,
}

impl Matcher {
    /// The matcher of an entry that has no pattern.
    #[must_use]
    pub fn everything() -> Self {
        Self(Arc::new(Inner { pattern: None, scope: Scope::Anywhere, test: Test::Everything }))
    }

    /// Makes the matcher for a pattern.
    ///
    /// This always succeeds. A pattern that means nothing comes with a
    /// [`Problem`], and what it stands for instead is up to `on_invalid`.
    #[must_use]
    pub fn compile(pattern: &str, language: Language, scope: Scope, on_invalid: OnInvalid) -> Compiled {
        let trimmed = pattern.trim();
        let (test, problem) = match interpret(trimmed, language, scope) {
            Ok(test) => (test, None),
            Err(mut problem) => {
                if let Problem::Invalid { offset: Some(offset), .. } = &mut problem {
                    *offset += pattern.len() - pattern.trim_start().len();
                }
                let test = match on_invalid {
                    OnInvalid::MatchAll => Test::Everything,
                    OnInvalid::Literal => Test::Text,
                };
                (test, Some(problem))
            }
        };
        let matcher = Self(Arc::new(Inner { pattern: Some(trimmed.into()), scope, test }));
        Compiled { matcher, problem }
    }

    /// Whether the matcher applies to a subject.
    pub fn test(&self, subject: &str) -> Verdict {
        let inner = &*self.0;
        let is_pattern = || inner.pattern.as_deref() == Some(subject);
        if inner.scope == Scope::Whole && is_pattern() {
            return Verdict::Matches;
        }
        match &inner.test {
            Test::Everything => Verdict::Matches,
            Test::Text => is_pattern().into(),
            Test::Literals(literals) => literals.matches(subject).into(),
            Test::Glob(engine) | Test::Engine(engine) => engine.test(subject),
        }
    }

    /// How the matcher takes part in a set of many.
    pub(super) fn in_set(&self) -> InSet<'_> {
        match &self.0.test {
            Test::Everything => InSet::Always,
            Test::Text => InSet::Singly,
            Test::Literals(literals) => InSet::Literals(literals),
            Test::Glob(engine) | Test::Engine(engine) => engine.for_set().map_or(InSet::Singly, InSet::Pattern),
        }
    }

    /// The text that is a match by itself, where the pattern's own is.
    pub(super) fn own_text(&self) -> Option<&str> {
        let counts = self.0.scope == Scope::Whole || matches!(self.0.test, Test::Text);
        self.0.pattern.as_deref().filter(|_| counts)
    }

    /// What became of the pattern.
    #[must_use]
    pub fn kind(&self) -> MatcherKind {
        match &self.0.test {
            Test::Everything => MatcherKind::Everything,
            Test::Text => MatcherKind::Literal,
            Test::Glob(_) => MatcherKind::Glob,
            Test::Literals(_) => MatcherKind::Regex,
            Test::Engine(engine) if engine.is_linear() => MatcherKind::Regex,
            Test::Engine(_) => MatcherKind::Backtracking,
        }
    }

    /// The pattern as it was written, without the blanks around it, or `None`
    /// if there was none.
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

/// Finds the test a trimmed pattern asks for.
fn interpret(pattern: &str, language: Language, scope: Scope) -> Result<Test, Problem> {
    if matches!(pattern, "" | "*") {
        return Ok(Test::Everything);
    }
    if pattern.len() > MAX_PATTERN {
        return Err(Problem::TooComplex {
            message: format!("{} bytes, where {MAX_PATTERN} are the limit", pattern.len()),
        });
    }
    if language == Language::GlobOrRegex
        && let Some(glob) = glob::parse(pattern)
    {
        return Ok(Test::Glob(Engine::new(glob, Scope::Whole)));
    }
    if let Some(literals) = Literals::parse(pattern, scope) {
        return Ok(Test::Literals(literals));
    }
    regular_expression(pattern, scope).map(Test::Engine)
}

fn regular_expression(pattern: &str, scope: Scope) -> Result<Engine, Problem> {
    let units: Vec<u16> = pattern.encode_utf16().collect();
    let root = parser::parse(&units).map_err(|error| match error {
        ParseError::Syntax { message, position } => {
            Problem::Invalid { message: message.into(), offset: Some(byte_offset(pattern, position)) }
        }
        ParseError::TooDeep => Problem::TooComplex { message: format!("groups nest deeper than {MAX_NESTING} levels") },
    })?;
    Ok(Engine::new(root, scope))
}

/// The number of bytes before the code unit at `position`.
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
            let compiled = Matcher::compile(pattern, Language::Regex, Scope::Anywhere, OnInvalid::Literal);
            let Some(Problem::Invalid { offset, .. }) = compiled.problem else {
                panic!("{pattern}");
            };
            assert_eq!(offset, Some(expected), "{pattern}");
        }
    }
}

//! The types in the signatures of the matcher.

use super::Matcher;

/// Which rule set a pattern is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// A glob where the pattern has the shape of one, otherwise a regular expression.
    GlobOrRegex,
    /// Always a regular expression.
    Regex,
}

/// What a pattern that is not valid stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnInvalid {
    /// Its own text, compared for equality.
    Literal,
    /// Everything: an entry that guards something must not stop guarding it
    /// because of a typing error.
    MatchAll,
}

/// How much of the subject a regular expression has to cover.
///
/// Globs and literals always cover the whole subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Any part of it, as for tool names.
    Anywhere,
    /// All of it, as for session values. A subject equal to the pattern's text
    /// matches before the pattern is even interpreted.
    Whole,
}

/// What became of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatcherKind {
    /// Matches every subject.
    Everything,
    /// Compares the subject with the pattern's text.
    Literal,
    /// An anchored glob.
    Glob,
    /// A regular expression that runs in linear time.
    Regex,
    /// A regular expression with look-around or back-references, which runs
    /// under a step limit.
    Backtracking,
}

/// The answer of a matcher for one subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Verdict {
    /// The subject matches.
    Matches,
    /// The subject does not match.
    Differs,
    /// The step limit was reached before the answer was known. Counts as a match.
    LimitReached,
}

impl Verdict {
    /// Whether the subject counts as matching.
    #[must_use]
    pub fn is_match(self) -> bool {
        match self {
            Self::Matches | Self::LimitReached => true,
            Self::Differs => false,
        }
    }
}

impl From<bool> for Verdict {
    fn from(matches: bool) -> Self {
        if matches { Self::Matches } else { Self::Differs }
    }
}

/// A matcher together with what was wrong with its pattern.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The matcher, usable whether or not there was a problem.
    pub matcher: Matcher,
    /// What the author of the pattern should be told.
    pub problem: Option<Problem>,
}

/// Why a pattern does not do what it says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The pattern is not a regular expression; [`OnInvalid`] says what it stands for.
    #[error("invalid regular expression: {message}{}", at(*.offset))]
    Invalid {
        /// What is wrong, as a clause without a full stop.
        message: String,
        /// Where, in bytes from the start of the pattern as it was written.
        offset: Option<usize>,
    },
    /// The pattern is larger than anything a person writes and was not
    /// interpreted; [`OnInvalid`] says what it stands for.
    #[error("pattern too complex: {message}")]
    TooComplex {
        /// Which limit it exceeds, as a clause without a full stop.
        message: String,
    },
}

fn at(offset: Option<usize>) -> String {
    offset.map_or_else(String::new, |offset| format!(" (at byte {offset})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reached_limit_counts_as_a_match() {
        assert!(Verdict::Matches.is_match());
        assert!(Verdict::LimitReached.is_match());
        assert!(!Verdict::Differs.is_match());
    }

    #[test]
    fn a_problem_says_where_it_is() {
        let mut problem = Problem::Invalid { message: "nothing to repeat".into(), offset: Some(3) };
        assert_eq!(problem.to_string(), "invalid regular expression: nothing to repeat (at byte 3)");
        if let Problem::Invalid { offset, .. } = &mut problem {
            *offset = None;
        }
        assert_eq!(problem.to_string(), "invalid regular expression: nothing to repeat");
    }
}

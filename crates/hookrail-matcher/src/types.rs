//! The types in the signatures of the matcher.

/// The language that a pattern is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// A glob if the pattern has the shape of one, otherwise a regular expression.
    GlobOrRegex,
    /// Always a regular expression.
    Regex,
}

/// What an invalid pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnInvalid {
    /// The subject that is equal to its text.
    Literal,
    /// Every subject: an entry that guards something must not stop guarding it
    /// because of a typing error.
    MatchAll,
}

/// The part of the subject that a regular expression must match.
///
/// Globs and literals always match the whole subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchScope {
    /// Any part of it, as for tool names.
    Anywhere,
    /// All of it, as for session values. A subject equal to the pattern's text
    /// matches before the pattern is even interpreted.
    Whole,
}

/// How a matcher tests subjects.
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

/// The result of a test of one subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum MatchResult {
    /// The subject matches.
    Matches,
    /// The subject does not match.
    Differs,
    /// The step limit was reached before the result was known. It counts as a match, so that a guard is not skipped.
    LimitReached,
}

impl MatchResult {
    /// Whether the subject counts as matching.
    #[must_use]
    pub fn is_match(self) -> bool {
        match self {
            Self::Matches | Self::LimitReached => true,
            Self::Differs => false,
        }
    }
}

impl From<bool> for MatchResult {
    fn from(matches: bool) -> Self {
        if matches { Self::Matches } else { Self::Differs }
    }
}

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternProblem {
    /// The pattern is not a valid regular expression; [`OnInvalid`] says what it matches.
    #[error("invalid regular expression: {message}{}", at_offset(*.offset))]
    Invalid {
        /// What is wrong, as a clause without a full stop.
        message: String,
        /// The position of the error, in bytes from the start of the pattern as it was written.
        offset: Option<usize>,
    },
    /// The pattern is larger than anything a person writes and was not
    /// interpreted; [`OnInvalid`] says what it matches.
    #[error("pattern too complex: {message}")]
    TooComplex {
        /// The limit that it exceeds, as a clause without a full stop.
        message: String,
    },
}

fn at_offset(offset: Option<usize>) -> String {
    offset.map_or_else(String::new, |offset| format!(" (at byte {offset})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reached_limit_counts_as_a_match() {
        assert!(MatchResult::Matches.is_match());
        assert!(MatchResult::LimitReached.is_match());
        assert!(!MatchResult::Differs.is_match());
    }

    #[test]
    fn a_problem_says_where_it_is() {
        let mut problem = PatternProblem::Invalid { message: "nothing to repeat".into(), offset: Some(3) };
        assert_eq!(problem.to_string(), "invalid regular expression: nothing to repeat (at byte 3)");
        if let PatternProblem::Invalid { offset, .. } = &mut problem {
            *offset = None;
        }
        assert_eq!(problem.to_string(), "invalid regular expression: nothing to repeat");
    }
}

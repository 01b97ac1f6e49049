//! Anchored globs in which `*` matches any text, including none.

use super::class::UnitSet;
use super::syntax::{Quantifier, RegexNode};

/// Parses `pattern` as a glob, or returns `None` if it does not have the shape of one. The result has to match the whole
/// subject.
///
/// In a regular expression `.*` matches any text, so a glob needs at least one star that does not follow a dot. This
/// distinguishes it from `mcp__.*`.
pub(super) fn parse(pattern: &str) -> Option<RegexNode> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-*".contains(&byte);
    let dots_before_stars = pattern.matches(".*").count();
    if !pattern.bytes().all(is_allowed) || pattern.matches('*').count() == dots_before_stars {
        return None;
    }
    let anything = || RegexNode::Repeat {
        body: Box::new(RegexNode::Class(UnitSet::default().complement())),
        quantifier: Quantifier { min: 0, max: None, lazy: false },
    };
    let terms = pattern.bytes().map(|byte| if byte == b'*' { anything() } else { RegexNode::Unit(byte.into()) });
    Some(RegexNode::Sequence(terms.collect()))
}

#[cfg(test)]
mod tests {
    use super::super::engine::RegexEngine;
    use super::super::types::{MatchResult, MatchScope};
    use super::*;

    fn test(glob: &str, subject: &str) -> bool {
        RegexEngine::new(parse(glob).unwrap(), MatchScope::Whole).test(subject) == MatchResult::Matches
    }

    #[test]
    fn only_a_star_that_does_not_follow_a_dot_makes_a_glob() {
        for glob in ["write_*", "*", "**", "a.*b*", "mcp__*__x", "*.rs", ".**"] {
            assert!(parse(glob).is_some(), "{glob}");
        }
        for other in ["", "write", "mcp__.*", ".*", "a.*b.*", "(a)*", "a*|b", "a b*", "é*"] {
            assert!(parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_glob_covers_the_whole_subject() {
        assert!(test("write_*", "write_file"));
        assert!(test("write_*", "write_"));
        assert!(!test("write_*", "rewrite_file"));
        assert!(test("*_file", "write_file"));
        assert!(!test("*_file", "write_files"));
        assert!(test("a*b*c", "a-b-b-c"));
        assert!(!test("a*b*c", "a-c-b"));
        assert!(test("a.b*", "a.bc"), "a dot stands for itself");
        assert!(!test("a.b*", "axbc"));
    }

    #[test]
    fn prefix_and_suffix_do_not_overlap() {
        assert!(!test("ab*ba", "aba"));
        assert!(test("ab*ba", "abba"));
    }
}

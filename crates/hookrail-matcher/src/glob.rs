//! Anchored globs in which `*` stands for any text, including none.

use super::class::UnitSet;
use super::syntax::{Node, Quantifier};

/// Reads `pattern` as a glob, or says it does not have the shape of one. As a regular expression it has to cover the
/// whole subject.
///
/// A star right after a dot is how regular expressions say "anything", so
/// at least one star elsewhere is what tells a glob from `mcp__.*`.
pub(super) fn parse(pattern: &str) -> Option<Node> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-*".contains(&byte);
    let dots_before_stars = pattern.matches(".*").count();
    if !pattern.bytes().all(is_allowed) || pattern.matches('*').count() == dots_before_stars {
        return None;
    }
    let anything = || Node::Repeat {
        body: Box::new(Node::Class(UnitSet::default().complement())),
        quantifier: Quantifier { min: 0, max: None, lazy: false },
    };
    let terms = pattern.bytes().map(|byte| if byte == b'*' { anything() } else { Node::Unit(byte.into()) });
    Some(Node::Sequence(terms.collect()))
}

#[cfg(test)]
mod tests {
    use super::super::engine::Engine;
    use super::super::types::{Scope, Verdict};
    use super::*;

    fn test(glob: &str, subject: &str) -> bool {
        Engine::new(parse(glob).unwrap(), Scope::Whole).test(subject) == Verdict::Matches
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

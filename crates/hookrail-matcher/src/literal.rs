//! Regular expressions that are only text: `write_file|edit`, `^run_`, `^exact$`.
//!
//! Nearly every pattern in a real hook file has this shape, and comparing
//! strings saves compiling an automaton for each of them.

use super::types::MatchScope;

/// An alternation of plain texts, each possibly anchored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literals(Box<[Literal]>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    at_start: bool,
    at_end: bool,
    text: Box<str>,
}

impl Literals {
    /// Parses a regular expression whose only operators are `|`, outer anchors
    /// and an outer `.*` without effect; returns `None` for every other one.
    pub(super) fn parse(pattern: &str, scope: MatchScope) -> Option<Self> {
        let whole = scope == MatchScope::Whole;
        pattern
            .split('|')
            .map(|alternative| {
                let (at_start, text) = strip(alternative, |text| text.strip_prefix('^'));
                let (at_end, text) = strip(text, |text| text.strip_suffix('$'));
                // `.*` has no effect at an end that is not anchored.
                let open = |anchored: bool| !whole && !anchored;
                let text = text.strip_suffix(".*").filter(|_| open(at_end)).unwrap_or(text);
                let text = text.strip_prefix(".*").filter(|_| open(at_start)).unwrap_or(text);
                is_plain(text).then(|| Literal {
                    at_start: whole || at_start,
                    at_end: whole || at_end,
                    text: text.into(),
                })
            })
            .collect::<Option<_>>()
            .map(Self)
    }

    /// Returns the alternatives, for a set that looks for many texts at once.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Literal> {
        self.0.iter()
    }

    /// Whether any of the alternatives matches.
    pub(super) fn matches(&self, subject: &str) -> bool {
        self.0.iter().any(|literal| literal.matches(subject))
    }
}

impl Literal {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether its anchors allow an occurrence in this range of a subject of this length.
    pub(super) fn may_match_at(&self, place: std::ops::Range<usize>, length: usize) -> bool {
        (!self.at_start || place.start == 0) && (!self.at_end || place.end == length)
    }

    fn matches(&self, subject: &str) -> bool {
        let text = &*self.text;
        match (self.at_start, self.at_end) {
            (true, true) => subject == text,
            (true, false) => subject.starts_with(text),
            (false, true) => subject.ends_with(text),
            (false, false) => subject.contains(text),
        }
    }
}

/// Returns whether `cut` removed something, and the text without it.
fn strip<'a>(text: &'a str, cut: impl Fn(&'a str) -> Option<&'a str>) -> (bool, &'a str) {
    cut(text).map_or((false, text), |rest| (true, rest))
}

/// Whether no character of the text is an operator.
///
/// In some places a brace or a closing bracket is not an operator either. Such
/// patterns are rare, and are parsed as regular expressions.
fn is_plain(text: &str) -> bool {
    !text.contains(|c| r"^$\.*+?()[]{}|".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(pattern: &str, scope: MatchScope, subject: &str) -> bool {
        Literals::parse(pattern, scope).unwrap().matches(subject)
    }

    #[test]
    fn alternatives_keep_their_own_anchors() {
        assert!(test("write_file|edit", MatchScope::Anywhere, "multi_edit"));
        assert!(!test("write_file|edit", MatchScope::Anywhere, "read"));
        assert!(test("^run_", MatchScope::Anywhere, "run_x"));
        assert!(!test("^run_", MatchScope::Anywhere, "rerun_x"));
        assert!(test("run$", MatchScope::Anywhere, "rerun"));
        assert!(!test("^exact$", MatchScope::Anywhere, "exactly"));
        assert!(test("^a|b$", MatchScope::Anywhere, "ax"));
        assert!(test("^a|b$", MatchScope::Anywhere, "xb"));
        assert!(test("mcp__.*", MatchScope::Anywhere, "x_mcp__y"));
        assert!(!test("^mcp__.*", MatchScope::Anywhere, "x_mcp__y"));
    }

    #[test]
    fn a_whole_match_ignores_anchors() {
        assert!(test("start|resume", MatchScope::Whole, "resume"));
        assert!(!test("start|resume", MatchScope::Whole, "resumed"));
        assert!(test("^start|resume", MatchScope::Whole, "start"));
    }

    #[test]
    fn operators_are_not_plain_text() {
        for pattern in ["a.b", "a*", "(a)", "a^b", "a$b", "^^a", "a{", "]", r"\d", "a.*$", "^.*a", r"a\.*"] {
            assert_eq!(Literals::parse(pattern, MatchScope::Anywhere), None, "{pattern}");
        }
    }
}

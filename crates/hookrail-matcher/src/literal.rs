//! Regular expressions that are only text: `write_file|edit`, `^run_`, `^exact$`.
//!
//! Nearly every pattern in a real hook file has this shape, and comparing
//! strings saves compiling an automaton for each of them.

use super::types::Scope;

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
    /// Reads a regular expression without any operator but `|`, outer anchors
    /// and an outer `.*` that changes nothing, or says it has more than that.
    pub(super) fn parse(pattern: &str, scope: Scope) -> Option<Self> {
        let whole = scope == Scope::Whole;
        pattern
            .split('|')
            .map(|alternative| {
                let (at_start, text) = strip(alternative, |text| text.strip_prefix('^'));
                let (at_end, text) = strip(text, |text| text.strip_suffix('$'));
                // What may be anything, or nothing, at an end that is open anyway says nothing.
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

    /// Whether it may stand at that place of a subject of that length.
    pub(super) fn may_stand(&self, place: std::ops::Range<usize>, length: usize) -> bool {
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

/// The text without what `cut` removes, and whether there was something to remove.
fn strip<'a>(text: &'a str, cut: impl Fn(&'a str) -> Option<&'a str>) -> (bool, &'a str) {
    cut(text).map_or((false, text), |rest| (true, rest))
}

/// Whether no character of the text means anything but itself.
///
/// A brace or a closing bracket can, in places, stand for itself too; such
/// patterns are rare and take the general way.
fn is_plain(text: &str) -> bool {
    !text.contains(|c| r"^$\.*+?()[]{}|".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(pattern: &str, scope: Scope, subject: &str) -> bool {
        Literals::parse(pattern, scope).unwrap().matches(subject)
    }

    #[test]
    fn alternatives_keep_their_own_anchors() {
        assert!(test("write_file|edit", Scope::Anywhere, "multi_edit"));
        assert!(!test("write_file|edit", Scope::Anywhere, "read"));
        assert!(test("^run_", Scope::Anywhere, "run_x"));
        assert!(!test("^run_", Scope::Anywhere, "rerun_x"));
        assert!(test("run$", Scope::Anywhere, "rerun"));
        assert!(!test("^exact$", Scope::Anywhere, "exactly"));
        assert!(test("^a|b$", Scope::Anywhere, "ax"));
        assert!(test("^a|b$", Scope::Anywhere, "xb"));
        assert!(test("mcp__.*", Scope::Anywhere, "x_mcp__y"));
        assert!(!test("^mcp__.*", Scope::Anywhere, "x_mcp__y"));
    }

    #[test]
    fn a_whole_match_ignores_anchors() {
        assert!(test("start|resume", Scope::Whole, "resume"));
        assert!(!test("start|resume", Scope::Whole, "resumed"));
        assert!(test("^start|resume", Scope::Whole, "start"));
    }

    #[test]
    fn operators_are_not_plain_text() {
        for pattern in ["a.b", "a*", "(a)", "a^b", "a$b", "^^a", "a{", "]", r"\d", "a.*$", "^.*a", r"a\.*"] {
            assert_eq!(Literals::parse(pattern, Scope::Anywhere), None, "{pattern}");
        }
    }
}

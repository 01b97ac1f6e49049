//! The matchers of this dialect: a list of exact names, or an expression that may match any part.

use crate::matcher::{CompiledMatcher, Language, MatchScope, Matcher, OnInvalid};

/// The matcher of a pattern: names of letters, digits and `_`, with `|` or `,` between them, match as a whole; anything else is a
/// regular expression.
pub(super) fn compile(pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher {
    if matches!(pattern, "" | "*") {
        return CompiledMatcher { matcher: Matcher::everything(), problem: None };
    }
    let is_list = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '|' | ',' | ' ');
    if !pattern.chars().all(is_list) {
        return Matcher::compile(pattern, Language::Regex, MatchScope::Anywhere, on_invalid);
    }
    let names: Vec<&str> = pattern.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty()).collect();
    Matcher::compile(&names.join("|"), Language::Regex, MatchScope::Whole, on_invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_whole_tools_and_anything_else_is_an_expression() {
        for (pattern, matching, differing) in [
            ("Write", &["Write"][..], &["write", "WriteFile", "TodoWrite"][..]),
            ("Edit|Write", &["Edit", "Write"], &["MultiEdit", "Wri"]),
            ("Edit, Write", &["Edit", "Write"], &["Edit, Write"]),
            ("Wri", &[], &["Write"]),
            ("W.*", &["Write", "NotWrite", "WebFetch"], &["Edit"]),
            ("mcp__demo__.*", &["mcp__demo__echo"], &["mcp__other__echo"]),
            ("^Bash$", &["Bash"], &["BashOutput"]),
            ("", &["Write", ""], &[]),
            ("*", &["Write", ""], &[]),
            ("Bash(git commit:*)", &[], &["Bash"]),
        ] {
            let matcher = compile(pattern, OnInvalid::Literal);
            assert_eq!(matcher.problem, None, "{pattern}");
            for name in matching {
                assert!(matcher.matcher.test(name).is_match(), "{pattern} {name}");
            }
            for name in differing {
                assert!(!matcher.matcher.test(name).is_match(), "{pattern} {name}");
            }
        }
        assert!(compile("(", OnInvalid::Literal).problem.is_some());
    }
}

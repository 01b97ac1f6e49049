//! Laws that hold for all patterns and subjects.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::backtrack;
use super::engine::RegexEngine;
use super::glob;
use super::literal::Literals;
use super::parser::parse;
use super::program::Program;
use super::set::MatcherSet;
use super::{CompiledMatcher, Language, MatchResult, MatchScope, Matcher, MatcherKind, OnInvalid, PatternProblem};

const LANGUAGES: [Language; 2] = [Language::GlobOrRegex, Language::Regex];
const SCOPES: [MatchScope; 2] = [MatchScope::Anywhere, MatchScope::Whole];

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn regex(pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher {
    Matcher::compile(pattern, Language::Regex, MatchScope::Anywhere, on_invalid)
}

/// A glob matcher that is slow and obvious.
fn naive_glob(glob: &[u8], subject: &[u8]) -> bool {
    match (glob.split_first(), subject.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            naive_glob(rest, subject) || subject.split_first().is_some_and(|(_, after)| naive_glob(glob, after))
        }
        (Some((wanted, rest)), Some((found, after))) => wanted == found && naive_glob(rest, after),
        _ => false,
    }
}

/// Pieces of syntax in any order, most of which make no sense together.
fn syntax_soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", "1", "-", "é", "😀", ".", "*", "+", "?", "|", "(", ")", "[", "]", "{", "}", "^", "$", "\\", "/",
        "{1}", "{1,}", "{2,1}", "{,2}", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>", "(?P<n>", "(?i)", "\\k<n>",
        "\\k", "\\1", "\\0", "\\8", "\\101", "\\b", "\\B", "\\d", "\\W", "\\s", "\\cA", "\\c", "\\x61", "\\x6",
        "\\u0061", "\\ud83d", "\\p{L}", "[^", "&&", "--", "a-z", "<", ">", "=", "!", ":", ",",
    ]);
    prop::collection::vec(piece, 1..10).prop_map(|pieces| pieces.concat())
}

/// Valid patterns that the linear engine can take.
fn linear_pattern() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "a", "b", "é", "😀", ".", "[ab]", "[^a]", "\\w", "\\W", "\\b", "\\B", "^", "$", "[]", "[^]", "",
    ])
    .prop_map(str::to_owned);
    atom.prop_recursive(4, 24, 3, |inner| {
        let quantifier = prop::sample::select(vec!["", "*", "+?", "?", "{2}", "{0,2}", "{0}"]);
        prop_oneof![
            (inner.clone(), quantifier).prop_map(|(body, q)| format!("({body}){q}")),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("{left}{right}")),
            (inner.clone(), inner).prop_map(|(left, right)| format!("(?:{left}|{right})")),
        ]
    })
}

/// Patterns of every kind: globs, plain texts, linear and other expressions, and ones that are not valid.
fn any_pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab.]{0,2}(\\*[ab.]{0,2}){1,3}",
        "\\^?[ab😀_-]{0,3}\\$?(\\|\\^?[ab😀_-]{0,3}\\$?){0,2}",
        linear_pattern(),
        syntax_soup(),
        Just(String::new()),
    ]
}

proptest! {
    #[test]
    fn a_glob_matches_what_the_obvious_one_matches(
        glob in "[ab.]{0,2}(\\*[ab.]{0,2}){1,4}",
        subject in "[ab.]{0,8}",
    ) {
        if let Some(parsed) = glob::parse(&glob) {
            let engine = RegexEngine::new(parsed, MatchScope::Whole);
            prop_assert_eq!(engine.test(&subject), naive_glob(glob.as_bytes(), subject.as_bytes()).into());
        }
    }

    #[test]
    fn plain_text_matches_what_the_regular_expression_matches(
        pattern in "\\^?(\\.\\*)?[ab😀_ -]{0,3}(\\.\\*)?\\$?(\\|\\^?[ab😀_ -]{0,3}(\\.\\*)?\\$?){0,2}",
        subject in "[ab😀_ \n-]{0,5}",
    ) {
        for scope in SCOPES {
            let Some(literals) = Literals::parse(&pattern, scope) else {
                prop_assert!(pattern.contains(".*"));
                continue;
            };
            let engine = RegexEngine::new(parse(&units(&pattern)).unwrap(), scope);
            prop_assert_eq!(MatchResult::from(literals.matches(&subject)), engine.test(&subject));
        }
    }

    #[test]
    fn a_set_answers_what_its_matchers_answer(
        patterns in prop::collection::vec((any_pattern(), prop::sample::select(LANGUAGES.to_vec()), prop::sample::select(SCOPES.to_vec())), 0..24),
        subject in "[ab.é😀\n_-]{0,6}",
        on_invalid in prop::sample::select(vec![OnInvalid::Literal, OnInvalid::MatchAll]),
    ) {
        let matchers: Vec<Matcher> = patterns
            .iter()
            .map(|(pattern, language, scope)| Matcher::compile(pattern, *language, *scope, on_invalid).matcher)
            .collect();
        let set = MatcherSet::new(matchers.iter());
        // The text of a pattern is a subject that some matchers treat in a way of its own.
        for subject in patterns.iter().map(|(pattern, ..)| pattern.trim()).chain([subject.as_str()]) {
            let one_by_one: Vec<(usize, MatchResult)> = matchers
                .iter()
                .map(|matcher| matcher.test(subject))
                .enumerate()
                .filter(|(_, verdict)| verdict.is_match())
                .collect();
            prop_assert_eq!(set.test(subject), one_by_one);
        }
    }

    #[test]
    fn both_engines_agree(pattern in linear_pattern(), subject in "[abé😀\n-]{0,6}") {
        let root = parse(&units(&pattern)).unwrap();
        for scope in SCOPES {
            let engine = RegexEngine::new(parse(&units(&pattern)).unwrap(), scope);
            prop_assert!(engine.is_linear());
            let verdict = backtrack::search(&Program::new(&root, scope), &subject);
            prop_assume!(verdict != MatchResult::LimitReached);
            prop_assert_eq!(engine.test(&subject), verdict);
        }
    }

    /// The other parser is known to accept a little more, such as `\b+`.
    #[test]
    fn what_is_valid_here_is_valid_to_another_parser(pattern in syntax_soup()) {
        if parse(&units(&pattern)).is_ok() {
            prop_assert!(regress::Regex::new(&pattern).is_ok());
        }
    }

    #[test]
    fn every_text_is_a_matcher(pattern in any::<String>(), subject in any::<String>()) {
        for language in LANGUAGES {
            for scope in SCOPES {
                let compiled = Matcher::compile(&pattern, language, scope, OnInvalid::Literal);
                let kept = if language == Language::Regex { pattern.as_str() } else { pattern.trim() };
                prop_assert_eq!(compiled.matcher.pattern(), Some(kept));
                let _ = compiled.matcher.test(&subject);
                if scope == MatchScope::Whole {
                    prop_assert!(compiled.matcher.test(kept).is_match());
                }
            }
        }
    }

    #[test]
    fn what_is_not_valid_follows_the_policy(pattern in syntax_soup(), subject in "[ab1é(]{0,3}") {
        let literal = regex(&pattern, OnInvalid::Literal);
        let all = regex(&pattern, OnInvalid::MatchAll);
        prop_assert_eq!(&literal.problem, &all.problem);
        if let Some(problem) = literal.problem {
            let PatternProblem::Invalid { offset: Some(offset), .. } = problem else {
                panic!("{problem:?}");
            };
            prop_assert!(pattern.is_char_boundary(offset), "{}", offset);
            prop_assert_eq!(literal.matcher.kind(), MatcherKind::Literal);
            prop_assert_eq!(literal.matcher.test(&pattern), MatchResult::Matches);
            prop_assert_eq!(literal.matcher.test(&subject).is_match(), subject == pattern);
            prop_assert_eq!(all.matcher.kind(), MatcherKind::Everything);
            prop_assert_eq!(all.matcher.test(&subject), MatchResult::Matches);
        }
    }

    #[test]
    fn blanks_around_a_pattern_that_can_be_a_glob_are_not_part_of_it(
        before in "[ \t\n]{0,2}",
        pattern in syntax_soup(),
        after in "[ \t\n]{0,2}",
        subject in "[ab1é]{0,3}",
    ) {
        // A backslash would make the first blank after it part of the pattern's
        // meaning, and it is trimmed all the same.
        let compile = |pattern: &str| {
            Matcher::compile(pattern, Language::GlobOrRegex, MatchScope::Anywhere, OnInvalid::Literal)
        };
        let bare = compile(&pattern);
        let padded = compile(&format!("{before}{pattern}{after}"));
        prop_assert_eq!(padded.matcher.kind(), bare.matcher.kind());
        prop_assert_eq!(padded.matcher.test(&subject), bare.matcher.test(&subject));
        if let (
            Some(PatternProblem::Invalid { offset: Some(padded), .. }),
            Some(PatternProblem::Invalid { offset: Some(bare), .. }),
        ) = (padded.problem, bare.problem) {
            prop_assert_eq!(padded, bare + before.len());
        }
    }

    #[test]
    fn a_pattern_for_everything_matches_everything(subject in any::<String>()) {
        prop_assert_eq!(Matcher::everything().test(&subject), MatchResult::Matches);
        for (pattern, languages) in [
            ("", LANGUAGES.as_slice()),
            ("*", &LANGUAGES),
            ("  ", &[Language::GlobOrRegex]),
            (" * \n", &[Language::GlobOrRegex]),
        ] {
            for language in languages.iter().copied() {
                for scope in SCOPES {
                    let compiled = Matcher::compile(pattern, language, scope, OnInvalid::Literal);
                    prop_assert_eq!(compiled.problem, None);
                    prop_assert_eq!(compiled.matcher.kind(), MatcherKind::Everything);
                    prop_assert_eq!(compiled.matcher.test(&subject), MatchResult::Matches);
                }
            }
        }
    }
}

#[test]
fn the_language_decides_about_globs() {
    let compile = |language| Matcher::compile("write_*", language, MatchScope::Anywhere, OnInvalid::Literal).matcher;
    let glob = compile(Language::GlobOrRegex);
    assert_eq!(glob.kind(), MatcherKind::Glob);
    assert!(!glob.test("rewrite_x").is_match());
    let regex = compile(Language::Regex);
    assert_eq!(regex.kind(), MatcherKind::Regex);
    assert!(regex.test("rewrite").is_match());
}

#[test]
fn a_session_value_matches_as_a_whole_or_by_its_text() {
    let matcher = |pattern| {
        let language = Language::GlobOrRegex;
        Matcher::compile(pattern, language, MatchScope::Whole, OnInvalid::Literal).matcher
    };
    assert!(matcher("start|resume").test("resume").is_match());
    assert!(!matcher("start|resume").test("resumed").is_match());
    assert!(matcher("re.*").test("resume").is_match());
    assert!(!matcher("re.").test("resume").is_match());
    assert!(matcher("a.b+").test("a.b+").is_match());
    assert!(matcher("a?(b").test("a?(b").is_match());
}

#[test]
fn a_blank_is_a_character_of_a_regular_expression() {
    for (pattern, subject, expected) in
        [(" ", "ab", false), (" ", "a b", true), ("a ", "a", false), ("a ", "a b", true)]
    {
        assert_eq!(
            regex(pattern, OnInvalid::MatchAll).matcher.test(subject).is_match(),
            expected,
            "{pattern:?} {subject}"
        );
    }
}

#[test]
fn a_matcher_says_what_it_is() {
    let matcher = regex("a(?=b)", OnInvalid::Literal).matcher;
    assert_eq!(matcher.kind(), MatcherKind::Backtracking);
    assert_eq!(matcher.pattern(), Some("a(?=b)"));
    assert_eq!(format!("{matcher:?}"), r#"Matcher { pattern: Some("a(?=b)"), scope: Anywhere, kind: Backtracking }"#);
    assert_eq!(Matcher::everything().pattern(), None);
}

#[test]
fn hostile_patterns_take_neither_time_nor_stack() {
    let patterns = [
        "a".repeat(1 << 20),
        "(".repeat(10_000),
        format!("{}{}", "(".repeat(8_000), ")".repeat(8_000)),
        "[".repeat(10_000),
        "(?=".repeat(5_000),
        "a|".repeat(8_000),
        "(a)".repeat(5_000),
        "[^a]{1000}".repeat(1_000),
        "(?:a?){1000}a{1000}".repeat(50),
        "((a{1000}){1000}){1000}".into(),
        "(?=a)((a{1000}){1000}){1000}".into(),
        "(a+)+$".into(),
        r"(a+)+\1$".into(),
        r"(a*)*\1b".into(),
        "(?:(?=a)|){2147483647}".into(),
        format!("{}{}", "(?:(a)|".repeat(199), r")*\1".repeat(199)),
        format!("{}(a){}", "(?=a)".repeat(3_000), r"\1*".repeat(300)),
        "\\u{99999}".into(),
        "(?<a>)".repeat(2_000),
    ];
    let subject = "a".repeat(2_000);
    for pattern in patterns {
        let started = Instant::now();
        let compiled = regex(&pattern, OnInvalid::MatchAll);
        let _ = compiled.matcher.test(&subject);
        let name: String = pattern.chars().take(40).collect();
        // Far above what it takes, so that a busy machine does not matter.
        assert!(started.elapsed() < Duration::from_secs(5), "{name}: {:?}", started.elapsed());
    }
}

#[test]
fn what_is_too_complex_is_treated_as_invalid() {
    for pattern in ["a".repeat(20_000), "(".repeat(300), "(?:".repeat(300)] {
        for (on_invalid, kind) in
            [(OnInvalid::Literal, MatcherKind::Literal), (OnInvalid::MatchAll, MatcherKind::Everything)]
        {
            let compiled = regex(&pattern, on_invalid);
            assert!(matches!(compiled.problem, Some(PatternProblem::TooComplex { .. })));
            assert_eq!(compiled.matcher.kind(), kind);
            assert!(compiled.matcher.test(&pattern).is_match());
        }
    }
}

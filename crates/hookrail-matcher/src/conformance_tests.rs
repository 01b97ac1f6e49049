//! Recorded answers of a JavaScript engine.
//!
//! The file has, for each pattern, `null` if `new RegExp(pattern)` throws, and
//! otherwise a list of subjects with the answers of `new RegExp(pattern)` and
//! of `new RegExp("^(?:" + pattern + ")$")`. They come from V8 11.3, which has
//! neither modifiers nor duplicate group names.

use super::backtrack;
use super::parser::parse;
use super::program::Program;
use super::{Language, MatchResult, MatchScope, Matcher, OnInvalid, PatternProblem};

const ANSWERS: &str = include_str!("../tests/data/ecmascript_regex.json");

struct Case {
    pattern: String,
    /// Subject, match anywhere, match of the whole; nothing if invalid.
    tests: Option<Vec<(String, bool, bool)>>,
}

fn cases() -> Vec<Case> {
    let file: serde_json::Value = serde_json::from_str(ANSWERS).unwrap();
    let case = |value: &serde_json::Value| Case {
        pattern: value["pattern"].as_str().unwrap().to_owned(),
        tests: value["tests"].as_array().map(|tests| {
            let test = |test: &serde_json::Value| {
                let subject = test[0].as_str().unwrap().to_owned();
                (subject, test[1].as_bool().unwrap(), test[2].as_bool().unwrap())
            };
            tests.iter().map(test).collect()
        }),
    };
    file.as_array().unwrap().iter().map(case).collect()
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

#[test]
fn the_corpus_is_not_trivial() {
    let cases = cases();
    let invalid = cases.iter().filter(|case| case.tests.is_none()).count();
    assert!(cases.len() > 300 && invalid > 50, "{} {invalid}", cases.len());
}

#[test]
fn the_same_patterns_are_valid() {
    for Case { pattern, tests } in cases() {
        let compiled = Matcher::compile(&pattern, Language::Regex, MatchScope::Anywhere, OnInvalid::Literal);
        match (tests, compiled.problem) {
            (Some(_), None) | (None, Some(PatternProblem::Invalid { .. })) => {}
            (tests, problem) => panic!("{pattern:?}: {} {problem:?}", tests.is_some()),
        }
    }
}

#[test]
fn the_same_subjects_match() {
    for Case { pattern, tests } in cases() {
        for (subject, anywhere, whole) in tests.into_iter().flatten() {
            for (scope, expected) in [(MatchScope::Anywhere, anywhere), (MatchScope::Whole, whole)] {
                let compiled = Matcher::compile(&pattern, Language::Regex, scope, OnInvalid::Literal);
                let verdict = compiled.matcher.test(&subject);
                assert_eq!(verdict, MatchResult::from(expected), "{pattern:?} {scope:?} on {subject:?}");
            }
        }
    }
}

/// What runs on the linear engine has to mean the same on the other one, which
/// takes over when an automaton would be too large.
#[test]
fn the_same_subjects_match_on_the_backtracking_machine() {
    for Case { pattern, tests } in cases() {
        for (subject, expected, _) in tests.into_iter().flatten() {
            let root = parse(&units(&pattern)).unwrap();
            let verdict = backtrack::search(&Program::new(&root, MatchScope::Anywhere), &subject);
            assert_eq!(verdict, MatchResult::from(expected), "{pattern:?} on {subject:?}");
        }
    }
}

//! What sets ECMAScript apart from other backtracking engines.

use super::backtrack::search;
use super::parser::parse;
use super::program::Program;
use super::{MatchResult, MatchScope};

fn test(pattern: &str, subject: &str) -> MatchResult {
    let units: Vec<u16> = pattern.encode_utf16().collect();
    let program = Program::new(&parse(&units).unwrap(), MatchScope::Anywhere);
    search(&program, subject)
}

#[track_caller]
fn check(pattern: &str, matching: &[&str], differing: &[&str]) {
    for subject in matching {
        assert_eq!(test(pattern, subject), MatchResult::Matches, "{subject:?}");
    }
    for subject in differing {
        assert_eq!(test(pattern, subject), MatchResult::Differs, "{subject:?}");
    }
}

#[test]
fn a_round_forgets_the_groups_of_the_one_before() {
    check(r"^(?:(a)|b)*\1$", &["ab", "aa", "b"], &["aba"]);
    check(r"^(.+)+\1$", &["baa", "aa"], &["ba"]);
}

#[test]
fn an_optional_round_that_matches_nothing_is_undone() {
    check(r"^(a?)*\1b$", &["aab", "b"], &["ab"]);
    check(r"^(?:(?=(a)))?\1ab$", &["ab"], &["aab"]);
    check(r"^(?:a?){3}$", &["", "a", "aaa"], &["aaaa"]);
}

#[test]
fn a_group_that_has_not_matched_refers_to_nothing() {
    check(r"^(?:(a)|b)\1$", &["b", "aa"], &["a", "ba"]);
    check(r"^\1(a)$", &["a"], &["aa"]);
    check(r"^(a\1)$", &["a"], &["aa"]);
    check(r"^(?!(a))\1b$", &["b"], &["ab"]);
}

#[test]
fn a_look_ahead_is_not_asked_twice() {
    check(r"(?=(a+))a*b\1", &["baaabac"], &["aab"]);
    check(r"^(?=(a+))\1a", &[], &["aaa"]);
    check(r"^(?=(a+?))\1$", &["a"], &["aa"]);
}

#[test]
fn a_negative_look_ahead_is_not_asked_twice() {
    check(r"^(?!a?)b", &[], &["b", "ab"]);
    check(r"^(?!a|a)[^]", &["b"], &["a"]);
    check(r"^(?!(a|ab)c)\1a", &["ab"], &["abc", "ac"]);
}

#[test]
fn a_look_behind_runs_from_right_to_left() {
    check(r"(?<=^(\d+)(\d+))x\1$", &["1053x1"], &["1053x105"]);
    check(r"(?<=\1(a))b", &["aab"], &["ab"]);
    check(r"(?<!a)b", &["b", "cb"], &["ab"]);
}

#[test]
fn repetitions_count() {
    check(r"(?=b)b{2,3}$", &["bb", "bbb", "bbbb"], &["b", "ba"]);
    check(r"^(?:(?=a)a){2,3}?$", &["aa", "aaa"], &["a", "aaaa"]);
    check(r"^((a{1000}){1000}){0}$", &[""], &["a"]);
}

#[test]
fn a_search_that_takes_too_long_is_cut_off() {
    let subject = "a".repeat(100);
    assert_eq!(test(r"(?=b|a)(a+)+$\1c", &subject), MatchResult::LimitReached);
    assert_eq!(test(r"(?=a)((a{1000}){1000}){1000}", &"a".repeat(5000)), MatchResult::LimitReached);
    assert_eq!(test(r"^(?=b|a)(a+)+\1$", "aaaaa"), MatchResult::Matches);
}

#[test]
fn rounds_that_match_nothing_do_not_go_on_for_ever() {
    check(r"^(?:(?=a)|b*)*$", &["", "bb"], &["a"]);
    assert_eq!(test(r"^(?:){2147483647}(?=a)", "a"), MatchResult::LimitReached);
}

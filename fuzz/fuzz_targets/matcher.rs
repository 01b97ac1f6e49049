//! Any pattern compiles or is reported, any subject gets a verdict in bounded time, and the verdict is always the same.
//! The pattern is the first line, the subject the rest.
#![no_main]

use hookrail_matcher::{Language, Matcher, OnInvalid, MatchScope};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &str| {
    let (pattern, subject) = data.split_once('\n').unwrap_or((data, "write_file"));
    for language in [Language::GlobOrRegex, Language::Regex] {
        for scope in [MatchScope::Anywhere, MatchScope::Whole] {
            for on_invalid in [OnInvalid::Literal, OnInvalid::MatchAll] {
                let matcher = Matcher::compile(pattern, language, scope, on_invalid).matcher;
                let verdict = matcher.test(subject);
                assert_eq!(verdict, Matcher::compile(pattern, language, scope, on_invalid).matcher.test(subject));
            }
        }
    }
});

//! Which names of members, variables, headers and options say that they hold a secret.

use std::sync::LazyLock;

use hookrail::secret_table::{NameInText, NameMeaning, SECRETS, is_other_word};

use crate::secret_values::{is_harmless, is_header_harmless};

/// Where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamePlace {
    /// It is the name of a member of JSON.
    Member,
    /// It is a name in a text, which may be source code or a sentence.
    Text,
}

/// What a key that is no secret is for, in a name of capital letters. There, every other key is a secret.
const OTHER_KEYS: [&str; 14] = [
    "public",
    "primary",
    "foreign",
    "sort",
    "cache",
    "partition",
    "host",
    "index",
    "row",
    "object",
    "gpg",
    "hot",
    "registry",
    "map",
];

/// How names end that are about a secret and hold none.
const HARMLESS_ENDS: [&str; 45] = [
    "file",
    "path",
    "dir",
    "directory",
    "folder",
    "jar",
    "name",
    "type",
    "kind",
    "url",
    "uri",
    "endpoint",
    "count",
    "counts",
    "limit",
    "limits",
    "usage",
    "estimate",
    "budget",
    "length",
    "expiry",
    "expires",
    "expiresin",
    "expiresat",
    "ttl",
    "ref",
    "policy",
    "izer",
    "izers",
    "ization",
    "ized",
    "stdin",
    "field",
    "fields",
    "prompt",
    "helper",
    "store",
    "provider",
    "manager",
    "format",
    "pattern",
    "window",
    "rate",
    "cost",
    "tokens",
];

/// The words that names in texts have.
static WORDS: LazyLock<Vec<(&str, NameInText)>> = LazyLock::new(|| {
    let rows = SECRETS.iter().filter(|row| row.found_in.has_texts());
    rows.filter_map(|row| row.form.name_in_text().map(|place| (row.begins, place))).collect()
});

/// What a name says about its value.
pub(crate) fn meaning_of_name(name: &str, place: NamePlace) -> NameMeaning {
    let plain = plain_name(name);
    let found = || WORDS.iter().filter_map(|(word, place)| meaning_of_word(name, &plain, word, *place));
    let is_doubtful = |meaning: &NameMeaning| matches!(meaning, NameMeaning::Perhaps | NameMeaning::Signature);
    if let Some(meaning) = found().find(|meaning| !is_doubtful(meaning)) {
        // `--with-token` reads it from standard input.
        return if plain == "withtoken" { NameMeaning::Other } else { meaning };
    }
    if is_key_of_capitals(name, &plain) {
        return NameMeaning::Secret;
    }
    if place == NamePlace::Member || is_in_capitals(name) {
        if HARMLESS_ENDS.iter().any(|end| plain.ends_with(end)) {
            return NameMeaning::Other;
        }
        let is_inside = |place: &NameInText| matches!(place, NameInText::EndOrInside(_) | NameInText::Inside);
        if WORDS.iter().any(|(word, place)| is_inside(place) && plain.contains(word)) {
            return NameMeaning::Secret;
        }
    }
    found().next().unwrap_or(NameMeaning::Other)
}

/// The letters and digits of a name, in small letters and without digits at its end.
fn plain_name(name: &str) -> String {
    let letters = name.trim_end_matches(|last: char| !last.is_ascii_alphabetic());
    letters.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// What a word says at the place that it has in a name; nothing if it is not there.
fn meaning_of_word(name: &str, plain: &str, word: &str, place: NameInText) -> Option<NameMeaning> {
    let (is_there, meaning) = match place {
        NameInText::Whole(meaning) => (plain == word, meaning),
        NameInText::End(meaning) | NameInText::EndOrInside(meaning) => (plain.ends_with(word), meaning),
        NameInText::Inside => return None,
        NameInText::After(kinds) => {
            let kind = plain.strip_suffix(word)?;
            (kinds.iter().any(|known| kind.ends_with(known)), NameMeaning::Secret)
        }
        NameInText::LastWord(meaning) => (last_word(name).eq_ignore_ascii_case(word), meaning),
        NameInText::LastWordEnd(meaning) => {
            let last = last_word(name).to_ascii_lowercase();
            let is_end = is_in_capitals(name) && last.ends_with(word) && !is_other_word(&last);
            (is_end || last == word, meaning)
        }
        NameInText::LastOfHeader(meaning) => {
            (plain.starts_with('x') && last_word(name).eq_ignore_ascii_case(word), meaning)
        }
    };
    is_there.then_some(meaning)
}

/// Whether a name in capital letters is that of a key which is no other one.
fn is_key_of_capitals(name: &str, plain: &str) -> bool {
    let Some(what) = plain.strip_suffix("key") else { return false };
    is_in_capitals(name)
        && last_word(name) == "KEY"
        && !what.is_empty()
        && !OTHER_KEYS.iter().any(|word| what.ends_with(word))
}

/// Whether a name is that of a variable of the environment.
pub(crate) fn is_in_capitals(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_uppercase()) && !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// The last word of a name: `Pass` of `userPass`, `PASS` of `DB_PASS`.
fn last_word(name: &str) -> &str {
    let name = name.trim_end_matches(|last: char| last.is_ascii_digit());
    let bytes = name.as_bytes();
    let mut begin = bytes.len();
    while let Some(byte) = begin.checked_sub(1).and_then(|at| bytes.get(at)) {
        let next_is_capital = bytes.get(begin).is_some_and(u8::is_ascii_uppercase);
        if !byte.is_ascii_alphanumeric() || byte.is_ascii_lowercase() && next_is_capital {
            break;
        }
        begin -= 1;
    }
    name.get(begin..).unwrap_or_default()
}

/// Whether a member of that name holds a secret. Its value is the text of a string, or other JSON.
pub(crate) fn is_secret_member(name: &str, value: MemberValue<'_>) -> bool {
    let meaning = meaning_of_name(name, NamePlace::Member);
    match (meaning, value) {
        (NameMeaning::Other | NameMeaning::Signature, _) => false,
        (NameMeaning::Perhaps, MemberValue::Other) => name.to_ascii_lowercase().ends_with("auth"),
        // The name of the working directory too.
        (NameMeaning::Perhaps, MemberValue::Text(text)) => {
            !(is_harmless(text) || text.starts_with(['/', '~', '.']) || text.contains(":\\"))
        }
        (NameMeaning::Authorization, MemberValue::Text(text)) => !is_header_harmless(text),
        (NameMeaning::Secret | NameMeaning::Password | NameMeaning::Cookie, MemberValue::Text(text)) => {
            !is_harmless(text)
        }
        // Numbers and objects about tokens are most often about those of a model, such as `token_estimate`.
        (NameMeaning::Secret, MemberValue::Other) => !is_about_tokens(name),
        (NameMeaning::Password | NameMeaning::Authorization | NameMeaning::Cookie, MemberValue::Other) => true,
    }
}

/// Whether a name, which is the value of another member, is that of a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    !matches!(meaning_of_name(name, NamePlace::Member), NameMeaning::Other | NameMeaning::Signature)
}

/// The value of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemberValue<'v> {
    Text(&'v str),
    Other,
}

fn is_about_tokens(name: &str) -> bool {
    let plain = plain_name(name);
    let is_one =
        |(word, place): &(&str, NameInText)| meaning_of_word(name, &plain, word, *place) == Some(NameMeaning::Secret);
    plain.contains("token") && !WORDS.iter().any(is_one)
}

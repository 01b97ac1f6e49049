//! Which names of members, variables, headers and options say that they hold a secret.

use crate::secret_values::{is_harmless, is_header_harmless};

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameMeaning {
    /// Nothing.
    Other,
    /// A password, or a short word that means other things too: `pass`, `pwd`, `auth`.
    Perhaps,
    /// A signature that lets its holder pass, if it is long.
    Signature,
    /// A token, a key or other credentials. These words are frequent in programs and in sentences.
    Secret,
    Password,
    /// The value of an `Authorization` header.
    Authorization,
    /// The value of a `Cookie` or `Set-Cookie` header.
    Cookie,
}

/// Where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamePlace {
    /// It is the name of a member of JSON.
    Member,
    /// It is a name in a text, which may be source code or a sentence.
    Text,
}

const PASSWORDS: [&str; 6] = ["password", "passwd", "passphrase", "passcode", "passwort", "passwords"];

/// Names that end so hold a secret.
const SECRETS: [&str; 12] = [
    "secret",
    "token",
    "credential",
    "credentials",
    "apikey",
    "apikeys",
    "accesstokens",
    "apitokens",
    "authtokens",
    "bearertokens",
    "refreshtokens",
    "secretkeybase",
];

/// What a key is for, if it is a secret one.
const SECRET_KEYS: [&str; 16] = [
    "access",
    "account",
    "api",
    "auth",
    "client",
    "encryption",
    "license",
    "master",
    "private",
    "secret",
    "service",
    "session",
    "shared",
    "signing",
    "storage",
    "subscription",
];

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

/// Names of members, and of variables in capital letters, that contain one of these are taken for secrets.
const CONTAINED: [&str; 10] =
    ["password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "credential", "privatekey", "cookie"];

/// Words that end like a password.
const OTHER_PASSES: [&str; 4] = ["ASKPASS", "BYPASS", "COMPASS", "TRESPASS"];

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

/// What a name says about its value.
pub(crate) fn meaning_of_name(name: &str, place: NamePlace) -> NameMeaning {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    let plain = plain.trim_end_matches(|last: char| last.is_ascii_digit());
    let ends_with = |words: &[&str]| words.iter().any(|word| plain.ends_with(word));
    if ends_with(&PASSWORDS) {
        return NameMeaning::Password;
    }
    if plain.ends_with("authorization") {
        return NameMeaning::Authorization;
    }
    if plain == "cookie" || plain == "setcookie" {
        return NameMeaning::Cookie;
    }
    if ends_with(&SECRETS) || is_secret_key(name, plain) {
        // `--with-token` reads it from standard input.
        return if plain == "withtoken" { NameMeaning::Other } else { NameMeaning::Secret };
    }
    if place == NamePlace::Member || is_in_capitals(name) {
        if ends_with(&HARMLESS_ENDS) {
            return NameMeaning::Other;
        }
        if CONTAINED.iter().any(|word| plain.contains(word)) || plain.contains("authorization") {
            return NameMeaning::Secret;
        }
    }
    // `SSHPASS`, but not `COMPASS`.
    let word = last_word(name);
    if is_in_capitals(name) && word.ends_with("PASS") && !OTHER_PASSES.contains(&word) {
        return NameMeaning::Perhaps;
    }
    match word.to_ascii_lowercase().as_str() {
        "pass" | "pwd" | "auth" => NameMeaning::Perhaps,
        "sig" | "signature" if plain == "sig" || plain.starts_with('x') => NameMeaning::Signature,
        _ if plain == "userpass" || plain == "dbpass" || plain.ends_with("auth") => NameMeaning::Perhaps,
        _ => NameMeaning::Other,
    }
}

fn is_secret_key(name: &str, plain: &str) -> bool {
    let Some(what) = plain.strip_suffix("keys").or_else(|| plain.strip_suffix("key")) else { return false };
    if SECRET_KEYS.iter().any(|word| what.ends_with(word)) {
        return true;
    }
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
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    plain.contains("token") && !SECRETS.iter().any(|word| plain.ends_with(word))
}

//! What gives a secret away: the name of the member that holds it, or its form inside a text.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// Words that give a secret away wherever they stand in the name of a member.
const TELLING: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "credential",
    "authorization",
    "privatekey",
    "cookie",
];

/// Names that contain such a word and are no secrets.
const HARMLESS: [&str; 8] = [
    "tokens",
    "maxtokens",
    "tokenusage",
    "tokencount",
    "maxoutputtokens",
    "inputtokens",
    "outputtokens",
    "totaltokens",
];

/// Whether the name of a member says that its value, which is JSON, is a secret.
pub(crate) fn is_telling(name: &str, value: &str) -> bool {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    if HARMLESS.contains(&plain.as_str()) {
        return false;
    }
    let Some(text) = value.strip_prefix('"') else {
        // Numbers and objects about tokens are most often about those of a model, such as `token_estimate`.
        let is_about_tokens = plain.contains("token") && !plain.ends_with("token");
        return plain.ends_with("auth") || !is_about_tokens && TELLING.iter().any(|word| plain.contains(word));
    };
    match plain.as_str() {
        // The name of the working directory too.
        "pwd" => !text.starts_with(['/', '~', '.']) && !text.contains(":\\"),
        "pass" => true,
        _ => plain.ends_with("auth") || TELLING.iter().any(|word| plain.contains(word)),
    }
}

/// A value in quotes, up to the quote that closes it or the end of the text.
macro_rules! quoted {
    ($least:literal) => {
        concat!(r#""((?:[^"\\\n]|\\.){"#, $least, r#",})(?:"|$)|'([^'\n]{"#, $least, r#",})(?:'|$)"#)
    };
}

/// Forms that give a secret away inside a text. What is captured is removed; without a capture, all of it. Without the
/// classes of Unicode the expression is ready in half the time, which every `hookrail fire` takes; letters beyond ASCII are
/// only matched by what a value does not contain, so each is taken whole.
pub(crate) static FORMS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms = [
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
        r"[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@]+:([^/\s@]+)@",
        r"gh[pousr]_[A-Za-z0-9]{20,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"glpat-[A-Za-z0-9_-]{20,}",
        r"npm_[A-Za-z0-9]{30,}",
        r"AIza[0-9A-Za-z_-]{30,}",
        r"(?:AKIA|ASIA)[0-9A-Z]{16}",
        r"eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*",
        r"(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{10,}",
        r"xox[abprs]-[0-9A-Za-z-]{10,}",
        r"sk-(?:ant-|proj-|or-|svcacct-)?[0-9A-Za-z_-]{20,}",
        r"(?:xai|gsk|hf|r8|pplx|nvapi|fw|csk)[_-][0-9A-Za-z_-]{20,}",
        // A header, with or without a scheme.
        r#"(?i:authorization)\\*["']?\s*[:=]\s*\\*["']?(?:(?i:bearer|basic|token|digest|apikey)\s+([^\s"']{4,})|([A-Za-z0-9._~+/=-]{16,}))"#,
        r"(?i:bearer|basic)\s+([A-Za-z0-9._~+/=-]{16,})",
        // An option of a command. The name ends here: `--password-stdin` and `--max-tokens` take no secret.
        concat!(
            r"--[A-Za-z0-9-]*(?i:password|passwd|passphrase|secret|token|api-?key)(?:=|\s+)(?:",
            quoted!(1),
            r#"|([^\s"'&;,|-][^\s"'&;,|]{3,}))"#
        ),
        // The user and the password for `curl`. Numbers are a user and a group, what begins with `/` is a path of a host.
        r#"(?:^|\s)(?:-u|--user[ =])\s*["']?[A-Za-z0-9_.@\\-]+:([^\s"'/~0-9][^\s"']*|[0-9]+[^\s"'0-9:][^\s"']*)"#,
        // An assignment or a member, also in JSON that stands in a text.
        concat!(
            r"(?i:password|passwd|passphrase|secret|token|credentials?|(?:api|access|secret|private)[_-]?key)",
            r#"\\*["']?\s*[=:]\s*(?:"#,
            quoted!(4),
            r#"|\\*["']?([^\s"'&;,]{6,}))"#
        ),
        // These are words of ordinary sentences too, and `PWD` is most often a path.
        concat!(
            r"(?:^|[^A-Za-z0-9])(?i:pwd|pass|auth)=(?:",
            r#""([^"\n/~.$][^"\n]{3,})(?:"|$)|'([^'\n/~.$][^'\n]{3,})(?:'|$)|([^\s"'&;,/~.$][^\s"'&;,]{5,}))"#
        ),
    ];
    RegexBuilder::new(&forms.join("|")).unicode(false).build().ok()
});

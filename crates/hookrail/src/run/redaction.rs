//! Removes secrets from the environment of hooks of every dialect. Off by default, because hooks are promised their
//! parent's variables; the user or the system settings switch it on.

use std::ffi::OsStr;
use std::sync::LazyLock;

use regex::Regex;

use super::Environment;
use super::environment::{is_harmless, is_word_of};

/// What the settings say about variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Redaction {
    /// Names that are always kept.
    pub(crate) allowed: Vec<String>,
    /// Names that are withheld, unless they are allowed.
    pub(crate) blocked: Vec<String>,
    /// The prefixes of the agent's own variables, which are kept.
    pub(crate) kept_prefix: Option<&'static str>,
}

/// Variables whose names look harmless and whose values usually are not.
const NEVER: &str = "
    DATABASE_URL REDIS_URL MONGODB_URI AMQP_URL SMTP_URL CONNECTION_STRING SENTRY_DSN DB_URI CLIENT_ID
";
/// Where a word has to stand in a name to indicate a secret. A name is divided into words by everything that is neither a letter
/// nor a digit; digits at the end of a word do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordPlace {
    /// Anywhere, also inside of another word.
    Anywhere,
    /// At the end of a word: `DB_PASS` and `SSHPASS`, but not `PASSED`.
    WordEnd,
    /// As a word of its own: `CARD_PIN`, but neither `SHOPPING` nor `PINNED`.
    Word,
}

/// Words in a name that indicate a secret.
const TELLING: [(&str, WordPlace); 16] = [
    ("TOKEN", WordPlace::Anywhere),
    ("SECRET", WordPlace::Anywhere),
    ("PASSWORD", WordPlace::Anywhere),
    ("PASSWD", WordPlace::Anywhere),
    ("PASSPHRASE", WordPlace::Anywhere),
    ("KEY", WordPlace::Anywhere),
    ("AUTH", WordPlace::Anywhere),
    ("CREDENTIAL", WordPlace::Anywhere),
    ("CREDS", WordPlace::Anywhere),
    ("PRIVATE", WordPlace::Anywhere),
    ("CERT", WordPlace::Anywhere),
    ("COOKIE", WordPlace::Anywhere),
    ("WEBHOOK", WordPlace::Anywhere),
    ("PASS", WordPlace::WordEnd),
    ("PWD", WordPlace::WordEnd),
    ("PIN", WordPlace::Word),
];

/// Words that end like one that tells, and do not. `ASKPASS` names a program.
const NOT_TELLING: &str = "ASKPASS BYPASS COMPASS ENCOMPASS OVERPASS SURPASS TRESPASS UNDERPASS";

/// Whether a name in capital letters indicates a secret.
fn is_telling(name: &str) -> bool {
    let words = || {
        let words = name.split(|part: char| !part.is_ascii_alphanumeric());
        words.map(|word| word.trim_end_matches(|digit: char| digit.is_ascii_digit()))
    };
    TELLING.iter().any(|(telling, place)| match place {
        WordPlace::Anywhere => name.contains(telling),
        WordPlace::WordEnd => words().any(|word| word.ends_with(telling) && !is_word_of(NOT_TELLING, word)),
        WordPlace::Word => words().any(|word| word == *telling),
    })
}

/// Patterns of values that indicate a secret.
static SECRET_VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        r"-----BEGIN [A-Z ]*(PRIVATE KEY|CERTIFICATE)",
        r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@]+:[^/\s@]+@",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}",
        r"\bgithub_pat_[A-Za-z0-9_]{20,}",
        r"\bAIza[0-9A-Za-z_-]{30,}",
        r"\b(AKIA|ASIA)[0-9A-Z]{16}\b",
        r"\beyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.",
        r"\b(sk|rk|pk)_(live|test)_[0-9A-Za-z]{10,}",
        r"\bxox[abprs]-[0-9A-Za-z-]{10,}",
        r"\b(hvs\.|shpat_|lin_api_|dp\.pt\.|fm2_)[0-9A-Za-z_+/=-]{20,}",
        r"\bdapi[0-9a-f]{32}",
        // Keys of model providers.
        r"\bsk-(ant-|proj-|or-|svcacct-)?[0-9A-Za-z_-]{20,}",
        r"\b(xai|gsk|hf|r8|pplx|nvapi|fw|csk)[_-][0-9A-Za-z_-]{20,}",
    ];
    Regex::new(&shapes.join("|")).ok()
});

impl Redaction {
    /// The environment without secrets.
    pub(crate) fn apply(&self, environment: &Environment) -> Environment {
        let strict = environment.get("GITHUB_SHA").is_some();
        environment.iter().filter(|(name, value)| self.keeps(name, value, strict)).collect()
    }

    fn keeps(&self, name: &OsStr, value: &OsStr, strict: bool) -> bool {
        let name = name.to_string_lossy().to_uppercase();
        let listed = |list: &[String]| list.iter().any(|given| given.to_uppercase() == name);
        if listed(&self.allowed) {
            return true;
        }
        if listed(&self.blocked) {
            return false;
        }
        if is_harmless(&name) || self.kept_prefix.is_some_and(|prefix| name.starts_with(prefix)) {
            return true;
        }
        if is_word_of(NEVER, &name) || strict || is_telling(&name) {
            return false;
        }
        let secret = SECRET_VALUE.as_ref().is_none_or(|shape| shape.is_match(&value.to_string_lossy()));
        !secret
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_give_secrets_away() {
        let redaction =
            Redaction { allowed: vec!["MY_TOKEN".into()], blocked: vec!["PLAIN".into()], kept_prefix: None };
        let check = |name: &str, value: &str, strict: bool, kept: bool| {
            assert_eq!(redaction.keeps(OsStr::new(name), OsStr::new(value), strict), kept, "{name}={value}");
        };
        check("PATH", "/bin", true, true);
        check("LC_ALL", "C", true, true);
        check("HARMLESS", "x", false, true);
        check("HARMLESS", "x", true, false);
        check("MY_TOKEN", "x", true, true);
        check("PLAIN", "x", false, false);
        check("API_KEY", "x", false, false);
        check("npm_config_authtoken", "x", false, false);
        check("DATABASE_URL", "x", false, false);
        let telling =
            "DB_PASS MYSQL_PWD SSHPASS GPG_PASSPHRASE SLACK_WEBHOOK_URL db_pass2 PASS MAIL-PASS SESSION_COOKIE
            DISCORD_WEBHOOK CARD_PIN PIN PIN1 LDAP_PWD";
        telling.split_whitespace().for_each(|name| check(name, "x", false, false));
        let plain =
            "PWD OLDPWD SHOPPING_LIST COMPASS COMPASS_HOME BYPASS_CACHE TESTS_PASSED PASSENGERS SSH_ASKPASS SPINNER
            PINNED_VERSION PINGS PWDX";
        plain.split_whitespace().for_each(|name| check(name, "x", false, true));
        check("X", "postgres://user:pass@host/db", false, false);
        check("X", "https://host/path", false, true);
        check("X", "ghp_0123456789abcdefghijABCDEFGHIJ", false, false);
        check("X", "sk-ant-api03-0123456789abcdefghijABCDEF", false, false);
        check("X", "sk-proj-0123456789abcdefghijABCDEF", false, false);
        check("X", "gsk_0123456789abcdefghijABCDEF", false, false);
        check("X", "sk-short", false, true);
        let random = "0123456789abcdef0123456789abcdef";
        for begin in ["hvs.", "shpat_", "lin_api_", "dapi", "dp.pt.", "fm2_"] {
            check("X", &format!("{begin}{random}"), false, false);
            check("X", &format!("{begin}short"), false, true);
        }
    }
}

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
/// Words in a name that indicate a secret.
const TELLING: [&str; 10] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "AUTH", "CREDENTIAL", "CREDS", "PRIVATE", "CERT"];

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
        if is_word_of(NEVER, &name) || strict || TELLING.iter().any(|word| name.contains(word)) {
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
        check("X", "postgres://user:pass@host/db", false, false);
        check("X", "https://host/path", false, true);
        check("X", "ghp_0123456789abcdefghijABCDEFGHIJ", false, false);
        check("X", "sk-ant-api03-0123456789abcdefghijABCDEF", false, false);
        check("X", "sk-proj-0123456789abcdefghijABCDEF", false, false);
        check("X", "gsk_0123456789abcdefghijABCDEF", false, false);
        check("X", "sk-short", false, true);
    }
}

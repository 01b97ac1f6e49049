//! Removes secrets from the environment of hooks of every dialect. Off by default, because hooks are promised their
//! parent's variables; the user or the system settings switch it on.

use std::ffi::OsStr;
use std::sync::LazyLock;

use regex::Regex;

use super::Environment;
use crate::hook::variables::is_harmless;
use crate::text::secret_table::{Alphabet, NameOfVariable, SECRETS, SecretForm, SecretRow, is_other_word};

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

/// Whether a name says that its variable holds a secret.
fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = || {
        let words = name.split(|part: char| !part.is_ascii_alphanumeric());
        words.map(|word| word.trim_end_matches(|digit: char| digit.is_ascii_digit()))
    };
    let mut rows = SECRETS.iter().filter(|row| row.found_in.has_variables());
    rows.any(|row| match row.form.name_of_variable() {
        Some(NameOfVariable::Whole) => name == row.begins,
        Some(NameOfVariable::Anywhere) => name.contains(row.begins),
        Some(NameOfVariable::WordEnd) => words().any(|word| word.ends_with(row.begins) && !is_other_word(word)),
        Some(NameOfVariable::Word) => words().any(|word| word == row.begins),
        None => false,
    })
}

/// The pattern of values that hold this secret; none for what is no value. It is wider than the form is in a text: the whole value is the
/// secret, so nothing harmless is expected behind such a beginning.
fn value_pattern(row: &SecretRow) -> Option<String> {
    let begins = regex::escape(row.begins);
    match row.form {
        SecretForm::Token(alphabet, least) | SecretForm::Behind(alphabet, least) => {
            Some(format!(r"\b{begins}{}{{{least},}}", characters(alphabet)))
        }
        // Keys of models are written with `_` and with `-`.
        SecretForm::TokenWithDigit(alphabet, least) => {
            let separator = if row.begins.ends_with(['-', '_']) { "[_-]" } else { "" };
            let begins = regex::escape(row.begins.trim_end_matches(['-', '_']));
            Some(format!(r"\b{begins}{separator}{}{{{least},}}", characters(alphabet)))
        }
        SecretForm::WebToken => Some(format!(r"\b{begins}[A-Za-z0-9_-]+\.{begins}")),
        SecretForm::KeyBlock => Some(format!("{begins}[A-Z ]*(PRIVATE KEY|CERTIFICATE)")),
        SecretForm::Address => Some(format!(r"^[a-zA-Z][a-zA-Z0-9+.-]*{begins}[^/\s:@]+:[^/\s@]+@")),
        SecretForm::Scheme | SecretForm::Program(_) | SecretForm::StandardInput => None,
        SecretForm::Name(..) | SecretForm::VariableName(_) | SecretForm::TextName(_) => None,
        SecretForm::PgpassPort | SecretForm::Pgpass => None,
    }
}

/// The characters of a token in a value.
const fn characters(alphabet: Alphabet) -> &'static str {
    match alphabet {
        Alphabet::Hex => "[0-9a-f]",
        Alphabet::Capitals => "[0-9A-Z]",
        Alphabet::Alphanumeric | Alphabet::Url => "[0-9A-Za-z_+/=-]",
        Alphabet::Dotted | Alphabet::Path => "[0-9A-Za-z_.+/=:%-]",
    }
}

/// Patterns of values that indicate a secret.
static SECRET_VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let rows = SECRETS.iter().filter(|row| row.found_in.has_variables());
    Regex::new(&rows.filter_map(value_pattern).collect::<Vec<_>>().join("|")).ok()
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
        if strict || is_telling(&name) {
            return false;
        }
        let secret = SECRET_VALUE.as_ref().is_none_or(|shape| shape.is_match(&value.to_string_lossy()));
        !secret
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(name: &str, value: &str) -> bool {
        Redaction::default().keeps(OsStr::new(name), OsStr::new(value), false)
    }

    #[test]
    fn lists_come_first_and_without_them_a_build_keeps_the_basics() {
        let redaction =
            Redaction { allowed: vec!["MY_TOKEN".into()], blocked: vec!["PLAIN".into()], kept_prefix: None };
        for (name, strict, kept) in [
            ("PATH", true, true),
            ("LC_ALL", true, true),
            ("HARMLESS", false, true),
            ("HARMLESS", true, false),
            ("MY_TOKEN", true, true),
            ("OTHER_TOKEN", false, false),
            ("PLAIN", false, false),
        ] {
            assert_eq!(redaction.keeps(OsStr::new(name), OsStr::new("x"), strict), kept, "{name}, strict: {strict}");
        }
    }

    /// Names that are withheld: one at least for every row of the table that has names of variables.
    const TELLING: &str = "
        API_KEY GITHUB_TOKEN npm_config_authtoken SSH_AUTH_SOCK CLIENT_SECRET DB_PASSWORD ROOT_PASSWD GPG_PASSPHRASE PASSCODE MAIL_PASSWORT DB_PASS DB_PASS2 SSHPASS PASS
        MAIL-PASS MYSQL_PWD LDAP_PWD GOOGLE_CREDENTIALS AWS_CREDS PRIVATE_REPO TLS_CERT SESSION_COOKIE SLACK_WEBHOOK_URL DISCORD_WEBHOOK
        CARD_PIN PIN PIN1 DATABASE_URL REDIS_URL MONGODB_URI AMQP_URL SMTP_URL CONNECTION_STRING SENTRY_DSN DB_URI CLIENT_ID
    ";
    /// What looks like it and is kept.
    const PLAIN: &str = "
        PWD OLDPWD SHOPPING_LIST COMPASS COMPASS_HOME BYPASS_CACHE TESTS_PASSED PASSENGERS SSH_ASKPASS SPINNER PINNED_VERSION PINGS PWDX
        DATABASE_URLS MY_CLIENT_ID
    ";

    #[test]
    fn names_give_secrets_away() {
        let wrong: Vec<&str> = TELLING.split_whitespace().filter(|name| keeps(name, "x")).collect();
        assert!(wrong.is_empty(), "kept: {wrong:?}");
        let wrong: Vec<&str> = PLAIN.split_whitespace().filter(|name| !keeps(name, "x")).collect();
        assert!(wrong.is_empty(), "withheld: {wrong:?}");
    }

    /// What tokens begin with: every row of the table that has values of variables, and spellings of some.
    const BEGINNINGS: &str = "
        ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- glrt- gldt- glptt- glcbt- glsoat- gloas- ATBB ATATT3 npm_ pypi-AgE dckr_pat_ dckr_oat_
        AIza ya29. GOCSPX- dop_v1_ doo_v1_ dor_v1_ hvs. hvb. dapi dp.pt. fm2_ sk- sk-ant- sk-proj- xai- xai_ gsk_ gsk- hf_
        r8_ pplx- nvapi- fw_ csk- sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ whsec_ shpat_ lin_api_ SG. xoxa- xoxb- xoxe. xoxp-
        xoxr- xoxs- xapp- https://hooks.slack.com/services/ https://hooks.slack.com/workflows/ https://discord.com/api/webhooks/
        https://api.telegram.org/bot
    ";
    /// Other values that are withheld.
    const SECRET_VALUES: [&str; 10] = [
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
        "-----BEGIN CERTIFICATE-----\nMIIE",
        "AGE-SECRET-KEY-1QZ7XK9LM2NP4RT6VW8YB",
        "postgres://user:pass@host/db",
        "AKIAQZ7XK9LM2NP4RT6V",
        "ASIAQZ7XK9LM2NP4RT6V",
        "sk_live_0123456789",
        "sk_test_0123456789",
        "eyJhbGciOi.eyJzdWIi.x",
        "use eyJhbGciOi.eyJzdWIi.x",
    ];

    #[test]
    fn values_give_secrets_away() {
        let hex = "0123456789abcdef0123456789abcdef";
        let letters = "abcdefghijklmnopqrstuvwxyzabcdef";
        for begin in BEGINNINGS.split_whitespace() {
            assert!(!keeps("X", &format!("{begin}{hex}")), "{begin}");
            assert!(!keeps("X", &format!("a {begin}{hex} b")), "{begin} inside");
            assert!(keeps("X", &format!("{begin}short")), "{begin} without a secret");
            assert!(keeps("X", &format!("x{begin}{hex}")) || begin.contains(':'), "{begin} inside of a word");
            assert_eq!(keeps("X", &format!("{begin}{letters}")), begin == "dapi", "{begin} and letters");
        }
        SECRET_VALUES.iter().for_each(|value| assert!(!keeps("X", value), "{value}"));
        for value in
            ["https://host/path", "https://host:80/a@b", "-----BEGIN PUBLIC KEY-----", "AKIAshort", "eyJhbGciOi"]
        {
            assert!(keeps("X", value), "{value}");
        }
    }

    #[test]
    fn every_row_counts_where_it_says_and_has_an_example() {
        for row in SECRETS {
            let is_name = row.form.name_of_variable().is_some();
            let is_value = row.found_in.has_variables() && value_pattern(row).is_some();
            assert_eq!(is_name || is_value, row.found_in.has_variables(), "{row:?}");
            let names = is_name && TELLING.to_lowercase().contains(row.begins);
            let values = is_value && (BEGINNINGS.contains(row.begins) || SECRET_VALUES.concat().contains(row.begins));
            assert_eq!(names || values, row.found_in.has_variables(), "{row:?} has no example of a variable");
        }
    }
}

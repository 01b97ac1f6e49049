//! The table of what gives a secret away inside a text. `tests/it/secret_forms.json` has an example of every row that
//! is removed, and examples of what looks like it and stays.

/// What stands behind the text that a form begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SecretForm {
    /// At least that many characters of an alphabet; the secret begins with the form.
    Token(Alphabet, usize),
    /// The same, and one of the characters is a digit, because names of other things begin so too.
    TokenWithDigit(Alphabet, usize),
    /// The same as a token, but what the form itself says stays: it is the address of a service.
    Behind(Alphabet, usize),
    /// Three parts in base64, with points between them.
    WebToken,
    /// A block of lines up to its own end, if its title is that of a private key.
    KeyBlock,
    /// The user and the password of an address.
    Address,
    /// The credentials of a header whose name stands elsewhere.
    Scheme,
    /// A word that stands in the name of a variable, a member, a header or an option.
    Name,
    /// An option of a program.
    Flag,
    /// The port of a line of `.pgpass`, with the colons around it.
    PgpassPort,
    /// The name of that file, near one of its lines.
    Pgpass,
    /// A word of a command that reads a secret from its standard input.
    StandardInput,
}

/// The characters that a token is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Alphabet {
    Alphanumeric,
    /// Digits and the letters from `a` to `f`.
    Hex,
    /// Digits and capital letters.
    Capitals,
    /// Letters, digits, `_` and `-`.
    Url,
    /// The same and `.`.
    Dotted,
    /// The same, `/`, `:`, `%` and what ends base64.
    Path,
}

impl Alphabet {
    pub(crate) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Capitals => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => Self::Url.has(byte) || byte == b'.',
            Self::Path => Self::Dotted.has(byte) || matches!(byte, b'/' | b':' | b'%' | b'+' | b'='),
        }
    }
}

use Alphabet::{Alphanumeric, Capitals, Dotted, Hex, Path, Url};
use SecretForm::{
    Address, Behind, Flag, KeyBlock, Name, Pgpass, PgpassPort, Scheme, StandardInput, Token, TokenWithDigit, WebToken,
};

/// Every form with the text that it begins with. Names, schemes and flags are found in any case, the others as they are.
pub(crate) const FORMS: &[(&str, SecretForm)] = &[
    ("-----BEGIN ", KeyBlock),
    ("AGE-SECRET-KEY-1", Token(Capitals, 20)),
    ("://", Address),
    // Hosts of code and of packages.
    ("ghp_", Token(Alphanumeric, 20)),
    ("gho_", Token(Alphanumeric, 20)),
    ("ghu_", Token(Alphanumeric, 20)),
    ("ghs_", Token(Alphanumeric, 20)),
    ("ghr_", Token(Alphanumeric, 20)),
    ("github_pat_", Token(Url, 20)),
    ("glpat-", Token(Dotted, 20)),
    ("glrt-", Token(Dotted, 20)),
    ("gldt-", Token(Url, 20)),
    ("glptt-", Token(Url, 20)),
    ("glcbt-", Token(Url, 20)),
    ("glsoat-", Token(Url, 20)),
    ("gloas-", Token(Url, 20)),
    ("ATBB", TokenWithDigit(Alphanumeric, 24)),
    ("ATATT3", Token(Path, 20)),
    ("npm_", Token(Alphanumeric, 30)),
    ("pypi-AgE", Token(Url, 20)),
    ("dckr_pat_", Token(Url, 20)),
    ("dckr_oat_", Token(Url, 20)),
    // Clouds.
    ("AKIA", Token(Capitals, 16)),
    ("ASIA", Token(Capitals, 16)),
    ("AIza", Token(Url, 30)),
    ("ya29.", Token(Dotted, 20)),
    ("GOCSPX-", Token(Url, 20)),
    ("dop_v1_", Token(Alphanumeric, 20)),
    ("doo_v1_", Token(Alphanumeric, 20)),
    ("dor_v1_", Token(Alphanumeric, 20)),
    ("hvs.", Token(Url, 20)),
    ("hvb.", Token(Url, 20)),
    ("dapi", Token(Hex, 32)),
    ("dp.pt.", Token(Alphanumeric, 20)),
    ("fm2_", Token(Path, 20)),
    // Models.
    ("sk-", TokenWithDigit(Url, 20)),
    ("sk-ant-", Token(Url, 16)),
    ("sk-proj-", Token(Url, 16)),
    ("sk-or-", Token(Url, 16)),
    ("sk-svcacct-", Token(Url, 16)),
    ("xai-", TokenWithDigit(Alphanumeric, 20)),
    ("gsk_", TokenWithDigit(Alphanumeric, 20)),
    ("hf_", TokenWithDigit(Alphanumeric, 20)),
    ("r8_", TokenWithDigit(Alphanumeric, 20)),
    ("pplx-", TokenWithDigit(Alphanumeric, 20)),
    ("nvapi-", TokenWithDigit(Url, 20)),
    ("fw_", TokenWithDigit(Alphanumeric, 20)),
    ("csk-", TokenWithDigit(Alphanumeric, 20)),
    // Payments, mail and messages.
    ("sk_live_", Token(Alphanumeric, 10)),
    ("sk_test_", Token(Alphanumeric, 10)),
    ("rk_live_", Token(Alphanumeric, 10)),
    ("rk_test_", Token(Alphanumeric, 10)),
    ("pk_live_", Token(Alphanumeric, 10)),
    ("pk_test_", Token(Alphanumeric, 10)),
    ("whsec_", Token(Path, 16)),
    ("shpat_", Token(Alphanumeric, 20)),
    ("lin_api_", Token(Alphanumeric, 20)),
    ("SG.", TokenWithDigit(Dotted, 30)),
    ("xoxa-", Token(Url, 10)),
    ("xoxb-", Token(Url, 10)),
    ("xoxe.", Token(Dotted, 10)),
    ("xoxp-", Token(Url, 10)),
    ("xoxr-", Token(Url, 10)),
    ("xoxs-", Token(Url, 10)),
    ("xapp-", TokenWithDigit(Url, 10)),
    ("hooks.slack.com/services/", Behind(Path, 20)),
    ("hooks.slack.com/workflows/", Behind(Path, 20)),
    ("discord.com/api/webhooks/", Behind(Path, 20)),
    ("api.telegram.org/bot", Behind(Path, 20)),
    ("eyJ", WebToken),
    // `Bearer …` and `Basic …` without the name of the header.
    ("bearer", Scheme),
    ("basic", Scheme),
    // Names; `secret_names` says which ones tell.
    ("pass", Name),
    ("pwd", Name),
    ("secret", Name),
    ("token", Name),
    ("key", Name),
    ("credential", Name),
    ("auth", Name),
    ("cookie", Name),
    ("sig", Name),
    // Lines of `.pgpass`, and what is written into programs.
    (":5432:", PgpassPort),
    (":5433:", PgpassPort),
    (":6432:", PgpassPort),
    (":*:", PgpassPort),
    (".pgpass", Pgpass),
    ("--password-stdin", StandardInput),
    ("--with-token", StandardInput),
    ("chpasswd", StandardInput),
    // Options; `PROGRAMS` says which ones take a secret.
    (" -", Flag),
    ("\t-", Flag),
    ("\n-", Flag),
];

/// How a program takes a secret with an option.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FlagValue {
    /// `-uUSER:SECRET` or `-u USER:SECRET`.
    UserAndSecret,
    /// `-b NAME=SECRET`; anything else is the name of a file.
    Cookies,
    /// `-pSECRET`; `-p` alone asks for it, and what follows is something else.
    Attached,
    /// `-p SECRET` or `-pSECRET`.
    Secret,
    /// `--from-literal NAME=SECRET` or `--from-literal=NAME=SECRET`.
    NameAndSecret,
    /// The program reads it from its standard input.
    StandardInput,
}

/// A program, by the words that call it, and its options that take a secret.
#[derive(Debug)]
pub(crate) struct SecretProgram {
    pub(crate) called: &'static str,
    pub(crate) flags: &'static [(&'static str, FlagValue)],
}

const fn program(called: &'static str, flags: &'static [(&'static str, FlagValue)]) -> SecretProgram {
    SecretProgram { called, flags }
}

/// A flag of its own may hold a secret in one program and a port in the next one, so the program is looked at too.
pub(crate) const PROGRAMS: &[SecretProgram] = &[
    program(
        "curl",
        &[
            ("-u", FlagValue::UserAndSecret),
            ("-U", FlagValue::UserAndSecret),
            ("--user", FlagValue::UserAndSecret),
            ("--proxy-user", FlagValue::UserAndSecret),
            ("-b", FlagValue::Cookies),
            ("--cookie", FlagValue::Cookies),
        ],
    ),
    program("mysql", &[("-p", FlagValue::Attached)]),
    program("mariadb", &[("-p", FlagValue::Attached)]),
    program("mongo", &[("-p", FlagValue::Secret)]),
    program("sqlcmd", &[("-P", FlagValue::Secret)]),
    program("redis-cli", &[("-a", FlagValue::Secret)]),
    program("ldapsearch", &[("-w", FlagValue::Secret)]),
    program("sshpass", &[("-p", FlagValue::Secret)]),
    program("zip", &[("-P", FlagValue::Secret)]),
    program("unzip", &[("-P", FlagValue::Secret)]),
    program("7z", &[("-p", FlagValue::Attached)]),
    program("docker login", &[("-p", FlagValue::Secret)]),
    program("podman login", &[("-p", FlagValue::Secret)]),
    program("registry login", &[("-p", FlagValue::Secret)]),
    program("skopeo login", &[("-p", FlagValue::Secret)]),
    program("oc login", &[("-p", FlagValue::Secret)]),
    program("az login", &[("-p", FlagValue::Secret)]),
    program("acr login", &[("-p", FlagValue::Secret)]),
    program("create secret", &[("--from-literal", FlagValue::NameAndSecret)]),
    program("sudo", &[("-S", FlagValue::StandardInput), ("--stdin", FlagValue::StandardInput)]),
];

/// Options that take a user and a password in many programs. Without one of `PROGRAMS` they are looked at with more care:
/// `docker run -u 1000:1000` has none.
pub(crate) const USER_FLAGS: [&str; 2] = ["-u", "--user"];

#[cfg(test)]
mod tests {
    use super::{FORMS, PROGRAMS};

    #[test]
    fn every_form_has_an_example() {
        let examples = include_str!("../tests/it/secret_forms.json").to_ascii_lowercase();
        let forms = FORMS.iter().map(|(begins, _)| *begins).filter(|begins| !begins.starts_with('\t'));
        for begins in forms.chain(PROGRAMS.iter().map(|program| program.called)) {
            let begins = begins.replace('\n', "\\n").to_ascii_lowercase();
            assert!(examples.contains(&begins), "`{begins}` has no example");
        }
    }
}

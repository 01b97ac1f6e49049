//! The table of what is secret, for the variables that hooks get and for the texts that the journal writes.
//!
//! To add a secret is to add a row, which says what it looks like and where it counts, and an example: of a text in
//! `hookrail-journal/tests/it/secret_forms.json`, of a variable in `run/redaction.rs`. The tests tell if one is missing.

/// One thing that gives a secret away.
#[derive(Clone, Copy, Debug)]
pub struct SecretRow {
    /// What it begins with, or the word in a name, in small letters. Names, schemes and programs are found in any case, the others as
    /// they are.
    pub begins: &'static str,
    /// Where it counts.
    pub found_in: FoundIn,
    /// What it looks like.
    pub form: SecretForm,
}

/// Where a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundIn {
    /// In the names and values of variables that hooks would get.
    Variables,
    /// In texts that would be recorded.
    Texts,
    /// In both.
    Both,
}

/// What stands behind the text that a form begins with.
#[derive(Clone, Copy, Debug)]
pub enum SecretForm {
    /// At least that many characters of an alphabet; the secret begins with the form.
    Token(Alphabet, usize),
    /// The same; in a text one of the characters is a digit, because names of other things begin so too.
    TokenWithDigit(Alphabet, usize),
    /// The same as a token, but what the form itself says stays: it is the address of a service.
    Behind(Alphabet, usize),
    /// Three parts in base64, with points between them.
    WebToken,
    /// A block of lines up to its own end, if its title is that of a private key; in a variable, of a certificate too.
    KeyBlock,
    /// The user and the password of an address.
    Address,
    /// The credentials of a header whose name stands elsewhere.
    Scheme,
    /// A word in the name of a variable, and in a name in a text: of a variable, a member, a header or an option.
    Name(NameOfVariable, NameInText),
    /// A word in the name of a variable that is too frequent in texts.
    VariableName(NameOfVariable),
    /// A word in a name in a text; variables have it with a shorter word.
    TextName(NameInText),
    /// A program, by the words that call it, with its options that take a secret.
    Program(&'static [(&'static str, FlagValue)]),
    /// The port of a line of `.pgpass`, with the colons around it.
    PgpassPort,
    /// The name of that file, near one of its lines.
    Pgpass,
    /// A word of a command that reads a secret from its standard input.
    StandardInput,
}

/// Where a word has to stand in the name of a variable. A name is divided into words by everything that is neither a letter nor a digit;
/// digits at the end of a word do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameOfVariable {
    /// It is the whole name.
    Whole,
    /// Anywhere, also inside of another word.
    Anywhere,
    /// At the end of a word: `DB_PASS` and `SSHPASS`, but not `PASSED`.
    WordEnd,
    /// As a word of its own: `CARD_PIN`, but neither `SHOPPING` nor `PINNED`.
    Word,
}

/// Where a word has to stand in a name in a text, which may be source code or a sentence. Only letters and digits of the name count,
/// without digits at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameInText {
    /// It is the whole name.
    Whole(NameMeaning),
    /// The name ends with it.
    End(NameMeaning),
    /// The same. Inside of the name of a member, or of a variable in capital letters, it is a secret too.
    EndOrInside(NameMeaning),
    /// Inside of such a name it is a secret.
    Inside,
    /// The name ends with it, behind one of these, and is a secret.
    After(&'static [&'static str]),
    /// It is the last word of the name: `Pass` of `userPass`.
    LastWord(NameMeaning),
    /// The same, and the end of the last word in capital letters: `SSHPASS`.
    LastWordEnd(NameMeaning),
    /// It is the last word of a name that begins with `x`, as those of headers do.
    LastOfHeader(NameMeaning),
}

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameMeaning {
    /// Nothing.
    Other,
    /// A password, or a short word that means other things too: `pass`, `pwd`, `auth`.
    Perhaps,
    /// A signature that lets its holder pass, if it is long.
    Signature,
    /// A token, a key or other credentials. These words are frequent in programs and in sentences.
    Secret,
    /// A password.
    Password,
    /// The value of an `Authorization` header.
    Authorization,
    /// The value of a `Cookie` or `Set-Cookie` header.
    Cookie,
}

/// The characters that a token is made of.
#[derive(Clone, Copy, Debug)]
pub enum Alphabet {
    /// Letters and digits.
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
    /// Whether a token of this alphabet may have this character.
    #[must_use]
    pub const fn has(self, byte: u8) -> bool {
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

/// How a program takes a secret with an option.
#[derive(Clone, Copy, Debug)]
pub enum FlagValue {
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

use Alphabet::{Alphanumeric, Capitals, Dotted, Hex, Path, Url};
use FoundIn::{Both, Texts, Variables};
use NameInText::{After, End, EndOrInside, Inside, LastOfHeader, LastWord, LastWordEnd};
use NameMeaning::{Authorization, Cookie, Password, Perhaps, Secret, Signature};
use NameOfVariable::{Anywhere, Word, WordEnd};
use SecretForm::{
    Address, Behind, KeyBlock, Name, Pgpass, PgpassPort, Program, Scheme, StandardInput, TextName, Token,
    TokenWithDigit, VariableName, WebToken,
};

const fn row(begins: &'static str, found_in: FoundIn, form: SecretForm) -> SecretRow {
    SecretRow { begins, found_in, form }
}

/// Every row.
pub const SECRETS: &[SecretRow] = &[
    row("-----BEGIN ", Both, KeyBlock),
    row("AGE-SECRET-KEY-1", Both, Token(Capitals, 20)),
    row("://", Both, Address),
    // Hosts of code and of packages.
    row("ghp_", Both, Token(Alphanumeric, 20)),
    row("gho_", Both, Token(Alphanumeric, 20)),
    row("ghu_", Both, Token(Alphanumeric, 20)),
    row("ghs_", Both, Token(Alphanumeric, 20)),
    row("ghr_", Both, Token(Alphanumeric, 20)),
    row("github_pat_", Both, Token(Url, 20)),
    row("glpat-", Both, Token(Dotted, 20)),
    row("glrt-", Both, Token(Dotted, 20)),
    row("gldt-", Both, Token(Url, 20)),
    row("glptt-", Both, Token(Url, 20)),
    row("glcbt-", Both, Token(Url, 20)),
    row("glsoat-", Both, Token(Url, 20)),
    row("gloas-", Both, Token(Url, 20)),
    row("ATBB", Both, TokenWithDigit(Alphanumeric, 24)),
    row("ATATT3", Both, Token(Path, 20)),
    row("npm_", Both, Token(Alphanumeric, 30)),
    row("pypi-AgE", Both, Token(Url, 20)),
    row("dckr_pat_", Both, Token(Url, 20)),
    row("dckr_oat_", Both, Token(Url, 20)),
    // Clouds.
    row("AKIA", Both, Token(Capitals, 16)),
    row("ASIA", Both, Token(Capitals, 16)),
    row("AIza", Both, Token(Url, 30)),
    row("ya29.", Both, Token(Dotted, 20)),
    row("GOCSPX-", Both, Token(Url, 20)),
    row("dop_v1_", Both, Token(Alphanumeric, 20)),
    row("doo_v1_", Both, Token(Alphanumeric, 20)),
    row("dor_v1_", Both, Token(Alphanumeric, 20)),
    row("hvs.", Both, Token(Url, 20)),
    row("hvb.", Both, Token(Url, 20)),
    row("dapi", Both, Token(Hex, 32)),
    row("dp.pt.", Both, Token(Alphanumeric, 20)),
    row("fm2_", Both, Token(Path, 20)),
    // Models. In a variable no digit is needed, so `sk-` has the rows that begin with it.
    row("sk-", Both, TokenWithDigit(Url, 20)),
    row("sk-ant-", Texts, Token(Url, 16)),
    row("sk-proj-", Texts, Token(Url, 16)),
    row("sk-or-", Texts, Token(Url, 16)),
    row("sk-svcacct-", Texts, Token(Url, 16)),
    row("xai-", Both, TokenWithDigit(Alphanumeric, 20)),
    row("gsk_", Both, TokenWithDigit(Alphanumeric, 20)),
    row("hf_", Both, TokenWithDigit(Alphanumeric, 20)),
    row("r8_", Both, TokenWithDigit(Alphanumeric, 20)),
    row("pplx-", Both, TokenWithDigit(Alphanumeric, 20)),
    row("nvapi-", Both, TokenWithDigit(Url, 20)),
    row("fw_", Both, TokenWithDigit(Alphanumeric, 20)),
    row("csk-", Both, TokenWithDigit(Alphanumeric, 20)),
    // Payments, mail and messages.
    row("sk_live_", Both, Token(Alphanumeric, 10)),
    row("sk_test_", Both, Token(Alphanumeric, 10)),
    row("rk_live_", Both, Token(Alphanumeric, 10)),
    row("rk_test_", Both, Token(Alphanumeric, 10)),
    row("pk_live_", Both, Token(Alphanumeric, 10)),
    row("pk_test_", Both, Token(Alphanumeric, 10)),
    row("whsec_", Both, Token(Path, 16)),
    row("shpat_", Both, Token(Alphanumeric, 20)),
    row("lin_api_", Both, Token(Alphanumeric, 20)),
    row("SG.", Both, TokenWithDigit(Dotted, 30)),
    row("xoxa-", Both, Token(Url, 10)),
    row("xoxb-", Both, Token(Url, 10)),
    row("xoxe.", Both, Token(Dotted, 10)),
    row("xoxp-", Both, Token(Url, 10)),
    row("xoxr-", Both, Token(Url, 10)),
    row("xoxs-", Both, Token(Url, 10)),
    row("xapp-", Both, TokenWithDigit(Url, 10)),
    row("hooks.slack.com/services/", Both, Behind(Path, 20)),
    row("hooks.slack.com/workflows/", Both, Behind(Path, 20)),
    row("discord.com/api/webhooks/", Both, Behind(Path, 20)),
    row("api.telegram.org/bot", Both, Behind(Path, 20)),
    row("eyJ", Both, WebToken),
    // `Bearer …` and `Basic …` without the name of the header.
    row("bearer", Texts, Scheme),
    row("basic", Texts, Scheme),
    // Names that hold secrets.
    row("password", Both, Name(Anywhere, EndOrInside(Password))),
    row("passwords", Texts, TextName(End(Password))),
    row("passwd", Both, Name(Anywhere, EndOrInside(Password))),
    row("passphrase", Both, Name(Anywhere, EndOrInside(Password))),
    row("passcode", Both, Name(Anywhere, EndOrInside(Password))),
    row("passwort", Both, Name(Anywhere, End(Password))),
    row("pass", Both, Name(WordEnd, LastWordEnd(Perhaps))),
    row("userpass", Texts, TextName(NameInText::Whole(Perhaps))),
    row("dbpass", Texts, TextName(NameInText::Whole(Perhaps))),
    row("pwd", Both, Name(WordEnd, LastWord(Perhaps))),
    row("secret", Both, Name(Anywhere, EndOrInside(Secret))),
    row("secretkeybase", Texts, TextName(End(Secret))),
    row("token", Both, Name(Anywhere, EndOrInside(Secret))),
    row("tokens", Texts, TextName(After(&["access", "api", "auth", "bearer", "refresh"]))),
    row("credential", Both, Name(Anywhere, EndOrInside(Secret))),
    row("credentials", Texts, TextName(End(Secret))),
    row("creds", Variables, VariableName(Anywhere)),
    row("key", Both, Name(Anywhere, After(SECRET_KEYS))),
    row("keys", Texts, TextName(After(SECRET_KEYS))),
    row("apikey", Texts, TextName(Inside)),
    row("privatekey", Texts, TextName(Inside)),
    row("private", Variables, VariableName(Anywhere)),
    row("cert", Variables, VariableName(Anywhere)),
    row("auth", Both, Name(Anywhere, End(Perhaps))),
    row("authorization", Texts, TextName(EndOrInside(Authorization))),
    row("cookie", Both, Name(Anywhere, Inside)),
    row("cookie", Texts, TextName(NameInText::Whole(Cookie))),
    row("setcookie", Texts, TextName(NameInText::Whole(Cookie))),
    row("sig", Texts, TextName(NameInText::Whole(Signature))),
    row("sig", Texts, TextName(LastOfHeader(Signature))),
    row("signature", Texts, TextName(LastOfHeader(Signature))),
    row("webhook", Variables, VariableName(Anywhere)),
    row("pin", Variables, VariableName(Word)),
    // Variables whose names look harmless and whose values usually are not.
    row("database_url", Variables, VariableName(NameOfVariable::Whole)),
    row("redis_url", Variables, VariableName(NameOfVariable::Whole)),
    row("mongodb_uri", Variables, VariableName(NameOfVariable::Whole)),
    row("amqp_url", Variables, VariableName(NameOfVariable::Whole)),
    row("smtp_url", Variables, VariableName(NameOfVariable::Whole)),
    row("connection_string", Variables, VariableName(NameOfVariable::Whole)),
    row("sentry_dsn", Variables, VariableName(NameOfVariable::Whole)),
    row("db_uri", Variables, VariableName(NameOfVariable::Whole)),
    row("client_id", Variables, VariableName(NameOfVariable::Whole)),
    // Lines of `.pgpass`, and what is written into programs.
    row(":5432:", Texts, PgpassPort),
    row(":5433:", Texts, PgpassPort),
    row(":6432:", Texts, PgpassPort),
    row(":*:", Texts, PgpassPort),
    row(".pgpass", Texts, Pgpass),
    row("--password-stdin", Texts, StandardInput),
    row("--with-token", Texts, StandardInput),
    row("chpasswd", Texts, StandardInput),
    // Programs. A flag of its own may hold a secret in one program and a port in the next one, so the program is looked at too.
    row(
        "curl",
        Texts,
        Program(&[
            ("-u", FlagValue::UserAndSecret),
            ("-U", FlagValue::UserAndSecret),
            ("--user", FlagValue::UserAndSecret),
            ("--proxy-user", FlagValue::UserAndSecret),
            ("-b", FlagValue::Cookies),
            ("--cookie", FlagValue::Cookies),
        ]),
    ),
    row("mysql", Texts, Program(&[("-p", FlagValue::Attached)])),
    row("mariadb", Texts, Program(&[("-p", FlagValue::Attached)])),
    row("mongo", Texts, Program(&[("-p", FlagValue::Secret)])),
    row("sqlcmd", Texts, Program(&[("-P", FlagValue::Secret)])),
    row("redis-cli", Texts, Program(&[("-a", FlagValue::Secret)])),
    row("ldapsearch", Texts, Program(&[("-w", FlagValue::Secret)])),
    row("sshpass", Texts, Program(&[("-p", FlagValue::Secret)])),
    row("zip", Texts, Program(&[("-P", FlagValue::Secret)])),
    row("unzip", Texts, Program(&[("-P", FlagValue::Secret)])),
    row("7z", Texts, Program(&[("-p", FlagValue::Attached)])),
    row("docker login", Texts, Program(&[("-p", FlagValue::Secret)])),
    row("podman login", Texts, Program(&[("-p", FlagValue::Secret)])),
    row("registry login", Texts, Program(&[("-p", FlagValue::Secret)])),
    row("skopeo login", Texts, Program(&[("-p", FlagValue::Secret)])),
    row("oc login", Texts, Program(&[("-p", FlagValue::Secret)])),
    row("az login", Texts, Program(&[("-p", FlagValue::Secret)])),
    row("acr login", Texts, Program(&[("-p", FlagValue::Secret)])),
    row("create secret", Texts, Program(&[("--from-literal", FlagValue::NameAndSecret)])),
    row("sudo", Texts, Program(&[("-S", FlagValue::StandardInput), ("--stdin", FlagValue::StandardInput)])),
];

/// What a key is for, if it is a secret one.
const SECRET_KEYS: &[&str] = &[
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

/// Words that end like one of the table and hold no secret, in small letters. `askpass` names a program.
const OTHER_WORDS: [&str; 8] =
    ["askpass", "bypass", "compass", "encompass", "overpass", "surpass", "trespass", "underpass"];

impl SecretForm {
    /// Where a word has to stand in the name of a variable, if this is one.
    #[must_use]
    pub const fn name_of_variable(self) -> Option<NameOfVariable> {
        if let Self::Name(place, _) | Self::VariableName(place) = self { Some(place) } else { None }
    }

    /// Where a word has to stand in a name in a text, if this is one.
    #[must_use]
    pub const fn name_in_text(self) -> Option<NameInText> {
        if let Self::Name(_, place) | Self::TextName(place) = self { Some(place) } else { None }
    }
}

impl FoundIn {
    /// Whether a row counts in variables.
    #[must_use]
    pub const fn has_variables(self) -> bool {
        matches!(self, Self::Variables | Self::Both)
    }

    /// Whether a row counts in texts.
    #[must_use]
    pub const fn has_texts(self) -> bool {
        matches!(self, Self::Texts | Self::Both)
    }
}

/// Whether a word ends like one that tells, and does not tell.
#[must_use]
pub fn is_other_word(word: &str) -> bool {
    OTHER_WORDS.iter().any(|other| word.eq_ignore_ascii_case(other))
}

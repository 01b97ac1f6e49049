//! Known forms of keys in a text that would be written or sent.

use crate::text::secret_table::{Alphabet, SECRETS, SecretForm};

/// Says which known form of a key a text has.
pub(crate) fn found_in(text: &str) -> Option<String> {
    SECRETS.iter().find_map(|row| match row.form {
        SecretForm::Token(alphabet, least) | SecretForm::TokenWithDigit(alphabet, least) => {
            let needs_digit = matches!(row.form, SecretForm::TokenWithDigit(..));
            let is_key = |at: usize| is_token(text, at, row.begins.len(), alphabet, least, needs_digit);
            text.match_indices(row.begins)
                .any(|(at, _)| is_key(at))
                .then(|| format!("a key that begins with `{}`", row.begins))
        }
        SecretForm::KeyBlock => {
            let is_private = |(at, _): (usize, &str)| {
                text.get(at..).and_then(|rest| rest.lines().next()).is_some_and(|line| line.contains("PRIVATE KEY"))
            };
            text.match_indices(row.begins).any(is_private).then(|| "a private key".to_owned())
        }
        SecretForm::Behind(..)
        | SecretForm::WebToken
        | SecretForm::Address
        | SecretForm::Scheme
        | SecretForm::Name(..)
        | SecretForm::VariableName(_)
        | SecretForm::TextName(_)
        | SecretForm::Program(_)
        | SecretForm::PgpassPort
        | SecretForm::Pgpass
        | SecretForm::StandardInput => None,
    })
}

fn is_token(text: &str, at: usize, begins: usize, alphabet: Alphabet, least: usize, needs_digit: bool) -> bool {
    let bytes = text.as_bytes();
    let continues = at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(u8::is_ascii_alphanumeric);
    let token: Vec<u8> =
        bytes.iter().skip(at + begins).copied().take_while(|byte| alphabet.has(*byte)).take(least.max(64)).collect();
    !continues && token.len() >= least && (!needs_digit || token.iter().any(u8::is_ascii_digit))
}

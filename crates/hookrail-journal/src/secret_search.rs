//! Finds the secrets of a text, in one pass over it.
//!
//! The beginnings of all forms are looked for at once; what stands there is then looked at by the form's own rule.
//! Every rule goes over a part of the text that no later one goes over again, or over one of bounded length, so that no text
//! takes more time than its length allows.

use std::ops::Range;

use hookrail::secret_table::{Alphabet, FlagValue, NameMeaning, SecretForm, SecretRow};

use crate::secret_beginnings::beginnings_in;
use crate::secret_names::{NamePlace, is_in_capitals, meaning_of_name};
use crate::secret_places;
use crate::secret_text::{FoundValue, TextReader, ValueQuote};
use crate::secret_values::{is_code, is_harmless, is_header_harmless, is_scheme, is_sentence};

/// Options that take a user and a password in many programs. Without a program of the table they are looked at with more care:
/// `docker run -u 1000:1000` has none.
const USER_FLAGS: [&str; 2] = ["-u", "--user"];

/// A secret inside a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FoundSecret {
    pub(crate) range: Range<usize>,
    /// How often the text of the secret was escaped as JSON.
    pub(crate) escaped: u32,
}

/// The secrets of a text, in its order.
///
/// A text that had secrets is looked at again as it will be written: what is left of one may complete another form, and what
/// is written must not change if it is redacted once more.
pub(crate) fn find_secrets(text: &str) -> Vec<FoundSecret> {
    /// Each round adds to what the one before found, and more than one that does is rare.
    const MOST_ROUNDS: usize = 8;
    let mut secrets = SecretSearch::new(text).run();
    for _ in 0..MOST_ROUNDS {
        if secrets.is_empty() {
            break;
        }
        let written = WrittenText::new(text, &secrets);
        let found = SecretSearch::new(&written.text).run();
        let more: Vec<_> = found.into_iter().map(|secret| written.to_original(secret)).collect();
        let is_known = |secret: &FoundSecret| secrets.iter().any(|known| known.range == secret.range);
        if more.iter().all(is_known) {
            break;
        }
        more.into_iter().for_each(|secret| insert_secret(&mut secrets, secret));
    }
    secrets
}

/// A text as it will be written, but for the hashes.
struct WrittenText {
    text: String,
    /// For each secret its range in this text and in the original one.
    places: Vec<(Range<usize>, Range<usize>)>,
}

impl WrittenText {
    fn new(original: &str, secrets: &[FoundSecret]) -> Self {
        let mut written = Self { text: String::new(), places: Vec::new() };
        let mut done = 0;
        for FoundSecret { range, .. } in secrets {
            written.text.push_str(original.get(done..range.start).unwrap_or_default());
            let begin = written.text.len();
            written.text.push_str(&format!("[redacted {:032} {} bytes]", 0, range.len()));
            written.places.push((begin..written.text.len(), range.clone()));
            done = range.end;
        }
        written.text.push_str(original.get(done..).unwrap_or_default());
        written
    }

    fn to_original(&self, secret: FoundSecret) -> FoundSecret {
        let Range { start, end } = secret.range;
        let (mut begin, mut behind) = (start, end);
        for (here, original) in &self.places {
            if here.end <= start {
                begin = original.end + (start - here.end);
            } else if here.start <= start {
                begin = original.start;
            }
            if here.end <= end {
                behind = original.end + (end - here.end);
            } else if here.start < end {
                behind = original.end;
            }
        }
        FoundSecret { range: begin..behind, escaped: secret.escaped }
    }
}

/// Puts a secret in its place. Those that overlap become one.
fn insert_secret(secrets: &mut Vec<FoundSecret>, mut secret: FoundSecret) {
    let mut behind = Vec::new();
    while let Some(last) = secrets.pop_if(|last| last.range.end > secret.range.start) {
        if last.range.start >= secret.range.end {
            behind.push(last);
        } else {
            let range = last.range.start.min(secret.range.start)..last.range.end.max(secret.range.end);
            secret = FoundSecret { range, escaped: 0 };
        }
    }
    secrets.push(secret);
    secrets.extend(behind.into_iter().rev());
}

/// Whether a name has a part that may tell. Most have none.
pub(crate) fn may_tell(name: &str) -> bool {
    beginnings_in(name).next().is_some()
}

/// The command whose options are looked at.
struct CommandInText {
    /// The options of its program that take a secret.
    flags: &'static [(&'static str, FlagValue)],
    /// How far the command was followed.
    at: usize,
    /// The quote that is open there.
    quote: Option<u8>,
}

struct SecretSearch<'t> {
    text: TextReader<'t>,
    /// The end of the last secret: what stands behind it begins anew.
    secret_end: usize,
    /// The end of the last name that was looked at.
    named: usize,
    command: Option<CommandInText>,
}

impl<'t> SecretSearch<'t> {
    const fn new(text: &'t str) -> Self {
        Self { text: TextReader(text), secret_end: 0, named: 0, command: None }
    }

    fn run(mut self) -> Vec<FoundSecret> {
        let mut secrets: Vec<FoundSecret> = Vec::new();
        for hit in beginnings_in(self.text.0) {
            // What stands between a form's beginning and its secret may hold another one, such as the user of an address.
            if secrets.last().is_some_and(|last| last.range.contains(&hit.range.start)) {
                continue;
            }
            let found = match hit.row() {
                Some(row) => self.look_at(row, hit.range),
                None => self.flag(hit.range.end - 1),
            };
            if let Some(secret) = found.filter(|secret| !secret.range.is_empty()) {
                self.secret_end = self.secret_end.max(secret.range.end);
                insert_secret(&mut secrets, secret);
            }
        }
        secrets
    }

    fn is_word_start(&self, at: usize) -> bool {
        at == self.secret_end || self.text.is_word_start(at)
    }

    /// The first place at which a name with a part at that place may begin.
    fn names_from(&self, at: usize) -> usize {
        if self.secret_end <= at { self.named.max(self.secret_end) } else { self.named }
    }

    fn look_at(&mut self, row: &SecretRow, at: Range<usize>) -> Option<FoundSecret> {
        let is_exact = self.text.part(at.clone()) == row.begins;
        let range = match row.form {
            SecretForm::Name(..) | SecretForm::TextName(_) => return self.name(at.start),
            SecretForm::VariableName(_) => return None,
            SecretForm::Program(flags) => {
                self.note_program(flags, &at);
                return None;
            }
            SecretForm::Scheme => self.scheme(at)?,
            _ if !is_exact => return None,
            SecretForm::Address => self.address(at.end)?,
            SecretForm::KeyBlock => self.key_block(at)?,
            SecretForm::WebToken => self.web_token(at)?,
            SecretForm::Token(alphabet, least) => at.start..self.token(&at, alphabet, least)?,
            SecretForm::PgpassPort => {
                return self.placed(secret_places::pgpass_line(self.text, &(at.start + 1..at.end - 1)));
            }
            SecretForm::Pgpass => return self.placed(secret_places::pgpass_near(self.text, at.start)),
            SecretForm::StandardInput => return self.placed(secret_places::standard_input(self.text, at.start)),
            SecretForm::Behind(alphabet, least) => at.end..self.token(&at, alphabet, least)?,
            SecretForm::TokenWithDigit(alphabet, least) => {
                // The first ones are enough, and many tokens without a digit then take no longer.
                let mut begin = self.text.bytes_from(at.end).take(200).take_while(|byte| alphabet.has(*byte));
                if !begin.any(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                at.start..self.token(&at, alphabet, least)?
            }
        };
        Some(FoundSecret { range, escaped: 0 })
    }

    /// A value that its place makes a secret, unless it is a reference or the like.
    fn placed(&self, value: Option<FoundValue>) -> Option<FoundSecret> {
        value.filter(|value| !value.is_harmless(self.text.part(value.range.clone()))).map(FoundValue::into_secret)
    }

    /// The end of a token, if what stands there is long enough.
    fn token(&self, at: &Range<usize>, alphabet: Alphabet, least: usize) -> Option<usize> {
        if !self.is_word_start(at.start) {
            return None;
        }
        let is_short = self.text.bytes_from(at.end).take(least).take_while(|byte| alphabet.has(*byte)).count() < least;
        (!is_short).then(|| self.text.end_of(at.end, alphabet))
    }

    fn web_token(&self, at: Range<usize>) -> Option<Range<usize>> {
        if !self.is_word_start(at.start) {
            return None;
        }
        let payload = self.text.end_of(at.end, Alphabet::Url);
        if !self.text.from(payload).starts_with(".eyJ") {
            return None;
        }
        let signature = self.text.end_of(payload + 1, Alphabet::Url);
        let end =
            if self.text.byte(signature) == b'.' { self.text.end_of(signature + 1, Alphabet::Url) } else { signature };
        Some(at.start..end)
    }

    fn key_block(&self, at: Range<usize>) -> Option<Range<usize>> {
        let title_length = self.text.bytes_from(at.end).take(64).take_while(|byte| *byte != b'-').count();
        let title = self.text.part(at.end..at.end + title_length);
        let inside = at.end + title_length + 5;
        let has_lines =
            self.text.bytes_from(inside).next().is_some_and(|next| next.is_ascii_whitespace() || next == b'\\');
        // A pattern that looks for such blocks is no secret.
        if !title.contains("PRIVATE KEY") || !has_lines && self.text.0.len() > inside {
            return None;
        }
        let behind = self.text.from(inside);
        let end = behind.find("-----END ").map_or(self.text.0.len(), |end| {
            let title = inside + end + 9;
            self.text.from(title).find("-----").map_or(self.text.0.len(), |length| title + length + 5)
        });
        Some(at.start..end)
    }

    /// The password of an address, or a user that is a token. `at` is behind `://`.
    fn address(&self, at: usize) -> Option<Range<usize>> {
        let word = self.text.from(at);
        let is_end = |end: char| end.is_whitespace() || matches!(end, '"' | '\'' | '`' | '<' | '>');
        let word = word.split("://").next()?;
        let word = word.split(is_end).next()?;
        let host_end = word.find(['/', '?', '#']).unwrap_or(word.len());
        let Some(colon) = word.get(..host_end)?.find(':') else { return self.user_token(at, word.get(..host_end)?) };
        if word.get(..colon)?.contains('@') {
            return None;
        }
        let behind = word.get(colon + 1..)?;
        let port_length = behind.bytes().take_while(u8::is_ascii_digit).count();
        let is_port =
            port_length <= 5 && !behind.get(port_length..)?.starts_with(|next: char| !matches!(next, '/' | '?' | '#'));
        // A password may have any of these characters. What stands behind a query is no part of it, nor is `/@scope`.
        let until_query = behind.split(['?', '#']).next()?;
        let separator = |text: &str| {
            let mut at = text.len();
            while let Some(found) = text.get(..at)?.rfind('@') {
                if !text.get(..found)?.ends_with('/') {
                    return Some(found);
                }
                at = found;
            }
            None
        };
        let end = separator(until_query).or_else(|| separator(behind)).or_else(|| behind.rfind('@'))?;
        let password = behind.get(..end)?;
        if is_port && password.len() > port_length || is_harmless(password) && !password.starts_with('/') {
            return None;
        }
        Some(at + colon + 1..at + colon + 1 + end)
    }

    /// A user of an address that has no password and is long and mixed enough to be one.
    fn user_token(&self, at: usize, host: &str) -> Option<Range<usize>> {
        let user = host.get(..host.rfind('@')?)?;
        let has_digit = user.bytes().any(|byte| byte.is_ascii_digit());
        let is_token = user.len() >= 20 && has_digit && user.bytes().all(|byte| Alphabet::Url.has(byte));
        is_token.then(|| at..at + user.len())
    }

    /// `Bearer` or `Basic` and credentials. They are words of sentences too, so there has to be a digit or the end of base64.
    fn scheme(&self, at: Range<usize>) -> Option<Range<usize>> {
        let begin = self.text.skip_blanks(at.end);
        if begin == at.end || !self.is_word_start(at.start) {
            return None;
        }
        let is_part = |byte: &u8| Alphabet::Path.has(*byte) || *byte == b'~';
        let length = self.text.bytes_from(begin).take_while(is_part).count();
        let value = self.text.part(begin..begin + length);
        let is_mixed = value.bytes().any(|byte| byte.is_ascii_digit()) || value.ends_with('=');
        (length >= 16 && is_mixed && !is_harmless(value)).then(|| begin..begin + length)
    }

    /// A name with a word that may tell, and its value.
    fn name(&mut self, hit: usize) -> Option<FoundSecret> {
        if hit < self.named {
            return None;
        }
        let found = self.text.name_around(hit, self.names_from(hit));
        self.named = found.end;
        let name = self.text.part(found.clone());
        let dashes = name.bytes().take_while(|byte| *byte == b'-').count();
        let quote = self.text.quote_at(found.end);
        let place = if quote.is_some() { NamePlace::Member } else { NamePlace::Text };
        let meaning = meaning_of_name(name, place);
        if meaning == NameMeaning::Other {
            return None;
        }
        let behind = quote.map_or(found.end, |(_, end)| end);
        let mut at = if quote.is_some() { self.text.skip_whitespace(behind) } else { self.text.skip_blanks(behind) };
        let is_apart = at > behind;
        let separator_length =
            self.text.bytes_from(at).take(3).take_while(|byte| matches!(byte, b'=' | b':' | b'>')).count();
        let separator = self.text.part(at..at + separator_length);
        if separator.is_empty() {
            return self.value_without_separator(&found, meaning, dashes, behind);
        }
        if separator == ">" && quote.is_none() && !is_apart {
            return self.placed(secret_places::element(self.text, &found));
        }
        if matches!(separator, "::" | ">" | "=>>") {
            return None;
        }
        let separator_end = at + separator_length;
        at = if quote.is_some() {
            self.text.skip_whitespace(separator_end)
        } else {
            self.text.skip_blanks(separator_end)
        };
        match meaning {
            NameMeaning::Authorization => return self.authorization(&found, separator_end, at),
            NameMeaning::Cookie => return self.cookies(&found, separator_end, at),
            NameMeaning::Other | NameMeaning::Perhaps | NameMeaning::Signature => {}
            NameMeaning::Secret | NameMeaning::Password => {}
        }
        if separator == ":"
            && matches!(meaning, NameMeaning::Secret | NameMeaning::Password)
            && let Some(block) = secret_places::yaml_block(self.text, found.start, at)
        {
            return self.placed(Some(block));
        }
        let is_attached = separator == "=" && !is_apart && at == separator_end;
        let is_option = dashes > 0 && is_attached;
        let value = self.text.value_at(at);
        // `echo "token:" x` has the end of a text behind the name.
        if quote.is_none() && separator == ":" && at == separator_end && self.text.is_closing_quote(&value) {
            return None;
        }
        let text = self.text.part(value.range.clone());
        let follows = self.text.from(value.range.end);
        let is_bare = value.quote == ValueQuote::None;
        let is_strict = is_option || is_attached && is_in_capitals(name) || quote.is_some();
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let is_kept = match meaning {
            NameMeaning::Perhaps if quote.is_some() => false,
            NameMeaning::Perhaps => {
                let is_source =
                    separator == ":" && at == separator_end && self.text.word_before(found.start).starts_with("-pass");
                let is_other = text.starts_with(['/', '~', '.', '$']) || text.len() < 4;
                !is_source && !is_option && (separator != "=" || is_other)
            }
            NameMeaning::Signature => separator != "=" || text.len() < 20,
            NameMeaning::Secret if is_number && !is_strict => text.len() <= 6,
            NameMeaning::Secret if is_bare && !is_strict && separator == ":" => is_sentence(text, follows),
            _ => is_number && text.len() < 4 && !is_option,
        };
        let is_short = !is_strict && text.len() < 4;
        if is_kept || is_short || value.is_harmless(text) || is_bare && !is_strict && is_code(text, name, follows) {
            return None;
        }
        Some(value.into_secret())
    }

    /// The value behind a name that no separator follows: that of an option, of `login USER password VALUE`, of `set NAME
    /// VALUE`, or of a list of names and values.
    fn value_without_separator(
        &self,
        name: &Range<usize>,
        meaning: NameMeaning,
        dashes: usize,
        behind: usize,
    ) -> Option<FoundSecret> {
        if let Some(at) = self.text.value_member_behind(name.start, behind) {
            let value = self.text.value_at(at);
            return (!value.is_harmless(self.text.part(value.range.clone()))).then(|| value.into_secret());
        }
        let at = self.text.skip_blanks(behind);
        // `-pass pass:…` of OpenSSL says itself where the secret is.
        let is_source = dashes == 1 && meaning == NameMeaning::Perhaps;
        if at == behind || is_source || matches!(meaning, NameMeaning::Signature | NameMeaning::Cookie) {
            return None;
        }
        if dashes == 0 {
            let before = self.text.words_before(name.start);
            if meaning == NameMeaning::Perhaps || before.0 != "set" && before.1 != "login" {
                return None;
            }
        }
        let value = self.text.value_at(at);
        let text = self.text.part(value.range.clone());
        let is_next_option = value.quote == ValueQuote::None && text.starts_with(['-', '|', '<', '>', ')']);
        /// What a sentence about an option goes on with.
        const SENTENCE: [&str; 14] =
            ["to", "is", "and", "or", "for", "in", "as", "the", "was", "with", "from", "on", "if", "not"];
        (!is_next_option && !SENTENCE.contains(&text) && !value.is_harmless(text)).then(|| value.into_secret())
    }

    /// The credentials of a header, without their scheme.
    fn authorization(&self, name: &Range<usize>, separator_end: usize, at: usize) -> Option<FoundSecret> {
        /// What stands in the middle of a line is a sentence if it is longer, and has no word that is a scheme.
        const LONGEST_INSIDE: usize = 200;
        let first_end = at + self.text.bytes_from(at).take(32).take_while(|byte| Alphabet::Url.has(*byte)).count();
        let is_header = self.text.is_header_start(name.start) || is_scheme(self.text.part(at..first_end));
        let value =
            self.text.header_at(name.start, separator_end, at, if is_header { usize::MAX } else { LONGEST_INSIDE });
        let text = self.text.part(value.range.clone());
        let (first, credentials) = text.split_once(' ').unwrap_or(("", text));
        let is_sentence = !is_header && !text.contains('=') && credentials.trim().contains(' ');
        if is_header_harmless(text) || is_sentence {
            return None;
        }
        let is_scheme = is_scheme(first) || first.len() < 16 && first.bytes().all(|byte| byte.is_ascii_alphabetic());
        let begin = if is_scheme { value.range.end - credentials.trim_start().len() } else { value.range.start };
        Some(FoundSecret { range: begin..value.range.end, ..value.into_secret() })
    }

    fn cookies(&self, name: &Range<usize>, separator_end: usize, at: usize) -> Option<FoundSecret> {
        let first = self.text.quote_at(at).map_or(at, |(_, behind)| behind);
        let first_length = self.text.bytes_from(first).take(200).take_while(|byte| Alphabet::Dotted.has(*byte)).count();
        if self.text.byte(first + first_length) != b'=' {
            return None;
        }
        let value = self.text.header_at(name.start, separator_end, at, usize::MAX);
        (!is_harmless(self.text.part(value.range.clone()))).then(|| value.into_secret())
    }

    fn note_program(&mut self, flags: &'static [(&'static str, FlagValue)], at: &Range<usize>) {
        if self.is_word_start(at.start) && !matches!(self.text.byte(at.end), b'=' | b':' | b'/') {
            self.command = Some(CommandInText { flags, at: at.end, quote: None });
        }
    }

    /// The value of an option that takes a secret. `at` is its dash.
    fn flag(&mut self, at: usize) -> Option<FoundSecret> {
        self.follow_command(at);
        let word =
            self.text.from(at).split(|end: char| end.is_ascii_whitespace() || matches!(end, '"' | '\'')).next()?;
        let flags = self.command.as_ref().map_or(&[][..], |command| command.flags);
        for (flag, takes) in flags {
            // `-sSu` is `-u` behind other ones.
            let is_long = flag.starts_with("--");
            let letters = word.get(1..).unwrap_or_default();
            let is_last = !is_long && letters.len() < 5 && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
            let length = if word == *flag || is_last && word.ends_with(flag.get(1..)?) {
                word.len()
            } else if word.starts_with(flag) && (!is_long || word.as_bytes().get(flag.len()) == Some(&b'=')) {
                flag.len() + usize::from(is_long)
            } else {
                continue;
            };
            return self.flag_value(at + length, *takes);
        }
        let flag = USER_FLAGS.iter().find(|flag| word.starts_with(**flag))?;
        let is_long = flag.starts_with("--");
        let length = flag.len() + usize::from(is_long && word.as_bytes().get(flag.len()) == Some(&b'='));
        if is_long && word.len() > flag.len() && length == flag.len() {
            return None;
        }
        self.user_and_secret(at + length, |user, secret| {
            let is_user = user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.@\\-".contains(&byte));
            // Numbers are a user and a group, and what begins with `/` is a path of a host.
            let is_secret = !secret.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
            is_user && is_secret && !secret.starts_with(['/', '~'])
        })
    }

    fn flag_value(&self, behind: usize, takes: FlagValue) -> Option<FoundSecret> {
        let at = self.text.skip_blanks(behind);
        let value = match takes {
            FlagValue::UserAndSecret => return self.user_and_secret(behind, |_, _| true),
            FlagValue::StandardInput => return self.placed(secret_places::standard_input(self.text, behind)),
            FlagValue::NameAndSecret => return self.name_and_secret(at),
            FlagValue::Attached if at > behind => return None,
            FlagValue::Attached | FlagValue::Secret => self.text.word_at(at),
            FlagValue::Cookies => {
                self.text.word_at(at).filter(|value| self.text.part(value.range.clone()).contains('='))
            }
        };
        let value = value?;
        let text = self.text.part(value.range.clone());
        let is_next_option = at > behind && text.starts_with('-');
        (!is_next_option && !value.is_harmless(text)).then(|| value.into_secret())
    }

    fn name_and_secret(&self, at: usize) -> Option<FoundSecret> {
        let value = self.text.word_at(at)?;
        let (name, _) = self.text.part(value.range.clone()).split_once('=')?;
        let secret = FoundValue { range: value.range.start + name.len() + 1..value.range.end, ..value };
        self.placed(Some(secret))
    }

    fn user_and_secret(&self, behind: usize, is_meant: impl Fn(&str, &str) -> bool) -> Option<FoundSecret> {
        let value = self.text.word_at(self.text.skip_blanks(behind))?;
        let (user, secret) = self.text.part(value.range.clone()).split_once(':')?;
        let begin = value.range.start + user.len() + 1;
        // A password may look like a path; a reference stays.
        let is_kept = value.is_harmless(secret) && !secret.starts_with('/');
        (!user.is_empty() && !is_kept && is_meant(user, secret))
            .then(|| FoundSecret { range: begin..value.range.end, ..value.into_secret() })
    }

    /// Follows the command to that place; it may end before.
    fn follow_command(&mut self, to: usize) {
        let Some(command) = &mut self.command else { return };
        let mut before = b' ';
        for byte in self.text.bytes_from(command.at).take(to.saturating_sub(command.at)) {
            match (command.quote, byte) {
                (Some(quote), _) if byte == quote && before != b'\\' => command.quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') if before != b'\\' => command.quote = Some(byte),
                (None, b';' | b'|' | b'&' | b'\n') if before != b'\\' => {
                    self.command = None;
                    return;
                }
                (None, _) => {}
            }
            before = byte;
        }
        command.at = command.at.max(to);
    }
}

impl FoundValue {
    fn into_secret(self) -> FoundSecret {
        FoundSecret { range: self.range, escaped: self.escaped }
    }
}

//! How names and values are written in texts: commands of a shell, JSON inside of texts, headers, configuration, source code.

use std::ops::Range;

use hookrail::secret_table::Alphabet;

use crate::secret_values::{is_harmless, length_of_redaction, length_of_reference};

/// The quotes around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueQuote {
    None,
    Single,
    Double,
}

/// A value in a text, without its quotes.
#[derive(Debug)]
pub(crate) struct FoundValue {
    pub(crate) range: Range<usize>,
    pub(crate) quote: ValueQuote,
    /// How often it was escaped as JSON.
    pub(crate) escaped: u32,
}

impl FoundValue {
    /// Whether the value is no secret. A shell replaces nothing between single quotes, so `'$ecret'` is one.
    pub(crate) fn is_harmless(&self, text: &str) -> bool {
        let is_literal = self.quote == ValueQuote::Single
            && text.strip_prefix('$').is_some_and(|name| name.starts_with(|first: char| first.is_ascii_lowercase()));
        !is_literal && is_harmless(text)
    }
}

/// A text, read by place. What is not there is empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextReader<'t>(pub(crate) &'t str);

impl<'t> TextReader<'t> {
    pub(crate) fn part(&self, range: Range<usize>) -> &'t str {
        self.0.get(range).unwrap_or_default()
    }

    pub(crate) fn from(&self, at: usize) -> &'t str {
        self.0.get(at..).unwrap_or_default()
    }

    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.0.as_bytes().get(at).copied().unwrap_or_default()
    }

    pub(crate) fn bytes_from(&self, at: usize) -> impl Iterator<Item = u8> + use<'t> {
        self.0.as_bytes().get(at..).unwrap_or_default().iter().copied()
    }

    pub(crate) fn end_of(&self, at: usize, alphabet: Alphabet) -> usize {
        at + self.bytes_from(at).take_while(|byte| alphabet.has(*byte)).count()
    }

    pub(crate) fn skip_blanks(&self, at: usize) -> usize {
        at + self.bytes_from(at).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    pub(crate) fn skip_whitespace(&self, at: usize) -> usize {
        at + self.bytes_from(at).take_while(u8::is_ascii_whitespace).count()
    }

    fn before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |at| self.byte(at))
    }

    /// Whether the character before that place is the letter of an escaped line end or tab.
    fn is_escape_before(&self, at: usize) -> bool {
        at >= 2 && matches!(self.before(at), b'n' | b'r' | b't') && self.before(at - 1) == b'\\'
    }

    /// Whether a word can begin there: behind `task` no `sk-` does.
    pub(crate) fn is_word_start(&self, at: usize) -> bool {
        let is_encoded = at >= 3
            && self.byte(at - 3) == b'%'
            && self.byte(at - 2).is_ascii_hexdigit()
            && self.before(at).is_ascii_hexdigit();
        !self.before(at).is_ascii_alphanumeric() || self.is_escape_before(at) || is_encoded
    }

    /// The name that has a part at that place, not before `least`.
    pub(crate) fn name_around(&self, at: usize, least: usize) -> Range<usize> {
        let before = self.0.as_bytes().get(least..at).unwrap_or_default();
        let mut begin = at - before.iter().rev().take_while(|byte| Alphabet::Url.has(**byte)).count();
        if begin < at && self.is_escape_before(begin + 1) {
            begin += 1;
        }
        begin..self.end_of(at, Alphabet::Url)
    }

    /// The quote that stands there, with the backslashes before it, and the place behind it.
    pub(crate) fn quote_at(&self, at: usize) -> Option<(usize, usize)> {
        let backslashes = self.bytes_from(at).take_while(|byte| *byte == b'\\').count();
        matches!(self.byte(at + backslashes), b'"' | b'\'').then_some((backslashes, at + backslashes + 1))
    }

    /// The two words before that place, the last one first.
    pub(crate) fn words_before(&self, at: usize) -> (&'t str, &'t str) {
        let mut words = self.part(0..at).trim_end().rsplit(|end: char| end.is_ascii_whitespace());
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    }

    pub(crate) fn word_before(&self, at: usize) -> &'t str {
        self.words_before(at).0
    }

    /// The place of the value in `{"name": "DB_PASSWORD", "value": …}`, in JSON or YAML. `name` and `behind` are where
    /// `DB_PASSWORD` begins and the place behind it.
    pub(crate) fn value_member_behind(&self, name: usize, behind: usize) -> Option<usize> {
        let is_quote = ['"', '\'', '\\', ' '];
        let before = self.part(0..name).trim_end_matches(is_quote).strip_suffix(':')?.trim_end_matches(is_quote);
        if !["name", "Name", "key", "Key"].iter().any(|member| before.ends_with(member)) {
            return None;
        }
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'"' | b'\'' | b'\\');
        let between = self.bytes_from(behind).take(64).take_while(is_between).count();
        // An escaped line end stands there as `\n`.
        let at = behind + between + usize::from(self.is_escape_before(behind + between + 1));
        let at = self.skip_blanks(at);
        let rest = self.from(at).strip_prefix("value")?;
        let colon = rest.trim_start_matches(['"', '\'', '\\', ' ']).strip_prefix(':')?;
        (between > 0).then(|| self.skip_whitespace(self.0.len() - colon.len()))
    }

    /// The value that begins there: in quotes, or up to a character that ends one.
    pub(crate) fn value_at(&self, at: usize) -> FoundValue {
        // `$'…'`, `b"…"`, `r"…"`.
        let has_prefix =
            matches!(self.byte(at), b'$' | b'b' | b'r' | b'f' | b'u') && matches!(self.byte(at + 1), b'"' | b'\'');
        let at = at + usize::from(has_prefix);
        let is_template = self.byte(at) == b'`' && length_of_reference(self.from(at)).is_none();
        match self.quote_at(at) {
            Some((backslashes, begin)) => self.quoted(begin, backslashes),
            None if is_template => self.quoted(at + 1, 0),
            None => FoundValue { range: at..self.end_of_bare(at), quote: ValueQuote::None, escaped: 0 },
        }
    }

    /// The word of a command that begins there.
    pub(crate) fn word_at(&self, at: usize) -> Option<FoundValue> {
        if let Some((backslashes, begin)) = self.quote_at(at) {
            return Some(self.quoted(begin, backslashes));
        }
        let end = self.end_of_units(at, |byte, _| byte.is_ascii_whitespace() || b"\"';&|".contains(&byte));
        (end > at).then_some(FoundValue { range: at..end, quote: ValueQuote::None, escaped: 0 })
    }

    /// The value in quotes that begins there. JSON inside of JSON has more backslashes before each of its quotes.
    fn quoted(&self, begin: usize, backslashes: usize) -> FoundValue {
        let quote = self.before(begin);
        let is_single = quote == b'\'' && backslashes == 0;
        let mut at = begin;
        let end = loop {
            let Some(offset) = memchr::memchr(quote, self.rest(at)) else { break self.end_of_line(begin) };
            let found = at + offset;
            let run = self
                .0
                .as_bytes()
                .get(begin..found)
                .unwrap_or_default()
                .iter()
                .rev()
                .take_while(|byte| **byte == b'\\')
                .count();
            let closes = is_single || run < backslashes || run % (2 * (backslashes + 1)) == backslashes;
            // A single quote inside of single quotes.
            let idiom = ["'\"'\"'", "'\\''"].iter().find(|idiom| is_single && self.from(found).starts_with(**idiom));
            match idiom {
                Some(idiom) => at = found + idiom.len(),
                None if closes => break found - run.min(backslashes),
                None => at = found + 1,
            }
        };
        let quote = if quote == b'"' { ValueQuote::Double } else { ValueQuote::Single };
        // 0, 1, 3 and 7 backslashes are the quotes of JSON inside of nothing, one, two and three other ones.
        let levels = (backslashes + 1).trailing_zeros() + 1;
        let escaped = if quote == ValueQuote::Double { levels } else { 0 };
        FoundValue { range: begin..end, quote, escaped }
    }

    fn rest(&self, at: usize) -> &'t [u8] {
        self.0.as_bytes().get(at..).unwrap_or_default()
    }

    fn end_of_line(&self, at: usize) -> usize {
        memchr::memchr(b'\n', self.rest(at)).map_or(self.0.len(), |offset| at + offset)
    }

    /// The end of a value without quotes. A comma ends it if another value follows, and is a part of it otherwise.
    fn end_of_bare(&self, at: usize) -> usize {
        self.end_of_units(at, |byte, next| match byte {
            b'"' | b'\'' | b'`' | b'&' | b';' => true,
            b',' => {
                let name_end = self.end_of(next, Alphabet::Url);
                let is_name = name_end > next && matches!(self.byte(name_end), b'=' | b':');
                is_name || !self.byte(next).is_ascii_graphic() || matches!(self.byte(next), b'"' | b'\'' | b'\\')
            }
            b'\\' => matches!(self.byte(next), b'"' | b'\'' | b'n' | b'r' | b't' | b'\\'),
            _ => byte.is_ascii_whitespace(),
        })
    }

    /// The end of what begins there. References, and what redaction left, are not taken apart.
    fn end_of_units(&self, begin: usize, is_end: impl Fn(u8, usize) -> bool) -> usize {
        let mut at = begin;
        while at < self.0.len() {
            let byte = self.byte(at);
            let unit = match byte {
                b'[' => length_of_redaction(self.from(at)),
                b'$' | b'{' | b'`' | b'<' => length_of_reference(self.from(at)),
                _ => None,
            };
            match unit {
                Some(length) => at += length,
                None if is_end(byte, at + 1) => return at,
                None => at += 1,
            }
        }
        self.0.len()
    }

    /// Whether the quote before that value closes another text: nothing, or the end of a word, follows it.
    pub(crate) fn is_closing_quote(&self, value: &FoundValue) -> bool {
        let next = self.byte(value.range.start);
        value.quote != ValueQuote::None && (next == 0 || next.is_ascii_whitespace() || b"),;|\\".contains(&next))
    }

    /// Whether a header may begin there: behind a quote, or at the begin of a line.
    pub(crate) fn is_header_start(&self, at: usize) -> bool {
        matches!(self.before(at), 0 | b'"' | b'\'' | b'\n') || self.is_escape_before(at)
    }

    /// The value of a header: in quotes of its own, or up to the end of the quotes around the header or of its line, or as
    /// long as it may be.
    pub(crate) fn header_at(&self, name: usize, separator_end: usize, at: usize, longest: usize) -> FoundValue {
        if self.quote_at(at).is_some() {
            return self.value_at(at);
        }
        let around = Some(self.before(name)).filter(|before| matches!(before, b'"' | b'\'' | b'`' | b'\n' | 0));
        let is_word = at == separator_end && around.is_none();
        let end = self.end_of_units(at, |byte, next| match byte {
            b'\n' | b'\r' => true,
            b'"' | b'\'' | b'`' => around.is_none_or(|quote| quote == byte),
            b'\\' => matches!(self.byte(next), b'n' | b'r' | b'"' | b'\'' | b'\\'),
            b' ' if next - at > longest => true,
            _ => is_word && byte.is_ascii_whitespace(),
        });
        let end = at + self.part(at..end).trim_end().len();
        FoundValue { range: at..end, quote: ValueQuote::None, escaped: 0 }
    }
}

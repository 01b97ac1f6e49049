//! Braces that stand for several words.

use super::{LexFault, Lexed, Lexer, Mode, Stop, is_word_end};
use crate::scanner::{Until, scan};
use crate::syntax::{Piece, PieceKind, Quotes, Span};

/// The most words of a sequence in braces, such as `{1..9}`.
const LONGEST_SEQUENCE: i64 = 4096;

impl Lexer<'_> {
    pub(super) fn brace(&mut self, out: &mut Vec<Piece>) -> Lexed<()> {
        let from = self.at;
        let found = self.brace_parts();
        let looked_at = found.as_ref().map_or(self.end - from, |(_, close)| close - from);
        if looked_at > self.brace_budget {
            return Err(LexFault::TooDeep(self.here()));
        }
        self.brace_budget -= looked_at;
        let Some((parts, close)) = found else {
            self.at += 1;
            self.push_text(from, Quotes::None, "{", out);
            return Ok(());
        };
        let mut alternatives = Vec::new();
        if let [(begin, end)] = parts.as_slice() {
            let sequence = self.text.get(*begin..*end).and_then(sequence);
            let Some(sequence) = sequence else {
                self.at += 1;
                self.push_text(from, Quotes::None, "{", out);
                return Ok(());
            };
            let span = Span::new(*begin, *end);
            for text in sequence {
                alternatives.push(vec![Piece { span, quotes: Quotes::None, kind: PieceKind::Text(text) }]);
            }
        } else {
            for (begin, end) in parts {
                let mut inner = self.part(begin, end);
                let mut pieces = Vec::new();
                inner.pieces(Stop::End, Mode::Plain, &mut pieces)?;
                alternatives.push(pieces);
            }
        }
        self.at = close + 1;
        out.push(Piece { span: Span::new(from, self.at), quotes: Quotes::None, kind: PieceKind::Brace(alternatives) });
        Ok(())
    }

    /// Returns the alternatives of a brace and where it ends; a single one may be a sequence.
    pub(super) fn brace_parts(&self) -> Option<(Vec<(usize, usize)>, usize)> {
        let bytes = self.text.as_bytes();
        let mut open = 0_u32;
        let mut index = self.at + 1;
        let mut begin = index;
        let mut parts = Vec::new();
        while index < self.end {
            match bytes.get(index)? {
                b'\\' => index += 1,
                b'\'' => index += 1 + bytes.get(index + 1..)?.iter().position(|byte| *byte == b'\'')?,
                b'"' => index = skip_double(bytes, index)?,
                b'$' if bytes.get(index + 1) == Some(&b'{') => open += 1,
                b'$' if bytes.get(index + 1) == Some(&b'(') => {
                    let found = scan(self.text.get(..self.end)?, index + 2, Until::Parenthesis);
                    if found.fault.is_some() {
                        return None;
                    }
                    index = found.end;
                }
                b'{' if bytes.get(index - 1) == Some(&b'$') => {}
                b'{' => open += 1,
                b',' if open == 0 => {
                    parts.push((begin, index));
                    begin = index + 1;
                }
                b'}' if open == 0 => {
                    parts.push((begin, index));
                    let is_sequence = self.text.get(begin..index).is_some_and(|text| text.contains(".."));
                    return (parts.len() > 1 || is_sequence).then_some((parts, index));
                }
                b'}' => open -= 1,
                byte if is_word_end(*byte) => return None,
                _ => {}
            }
            index += 1;
        }
        None
    }
}

fn skip_double(bytes: &[u8], from: usize) -> Option<usize> {
    let mut index = from + 1;
    loop {
        match bytes.get(index)? {
            b'\\' => index += 2,
            b'"' => return Some(index),
            _ => index += 1,
        }
    }
}

/// Returns the words of `1..3`, `a..e`, with a step if there is one.
fn sequence(text: &str) -> Option<Vec<String>> {
    let mut parts = text.split("..");
    let (first, last) = (parts.next()?, parts.next()?);
    let step = match parts.next() {
        Some(step) => step.parse::<i64>().ok()?,
        None => 1,
    };
    if parts.next().is_some() {
        return None;
    }
    let letter = |text: &str| text.chars().next().filter(|letter| text.len() == 1 && letter.is_ascii_alphabetic());
    let (from, to, is_number) = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => (from, to, true),
        _ => (i64::from(u32::from(letter(first)?)), i64::from(u32::from(letter(last)?)), false),
    };
    let step = step.checked_abs()?.max(1);
    let count = from.checked_sub(to)?.checked_abs()? / step;
    if count >= LONGEST_SEQUENCE {
        return None;
    }
    let width =
        if is_number && (first.starts_with('0') || last.starts_with('0')) { first.len().max(last.len()) } else { 0 };
    let direction = if to >= from { step } else { -step };
    let value = |index: i64| from + index * direction;
    let text_of = |value: i64| {
        if is_number {
            format!("{value:0width$}")
        } else {
            u32::try_from(value).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
        }
    };
    Some((0..=count).map(|index| text_of(value(index))).collect())
}

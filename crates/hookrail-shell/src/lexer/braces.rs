//! Braces that stand for several words.

use super::{LexFault, Lexed, Lexer, Mode, Stop, is_word_end};
use crate::scanner::{Until, scan};
use crate::syntax::{Piece, PieceKind, Quotes, Sequence, Span};

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
        let kind = if let [(begin, end)] = parts.as_slice() {
            let Some(sequence) = self.text.get(*begin..*end).and_then(Sequence::read) else {
                self.at += 1;
                self.push_text(from, Quotes::None, "{", out);
                return Ok(());
            };
            PieceKind::Sequence(sequence)
        } else {
            let mut alternatives = Vec::new();
            for (begin, end) in parts {
                let mut inner = self.part(begin, end);
                let mut pieces = Vec::new();
                inner.pieces(Stop::End, Mode::Plain, &mut pieces)?;
                alternatives.push(pieces);
            }
            PieceKind::Brace(alternatives)
        };
        self.at = close + 1;
        out.push(Piece { span: Span::new(from, self.at), quotes: Quotes::None, kind });
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

//! Divides a text into blanks, comments, operators and words. The spans of the tokens joined are the text.

use crate::lexer::{Lexer, is_word_end};
use crate::syntax::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Blanks, and lines that go on.
    Blank,
    /// The end of a line.
    Newline,
    /// From `#` to the end of the line.
    Comment,
    /// A character or two that divide commands or lead to files.
    Operator,
    /// A word.
    Word,
    /// The rest of the text, in which a quote or a bracket is not closed.
    Unclosed,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// The tokens of a text. Here-documents are not known: their lines are words.
#[derive(Clone, Debug)]
pub struct Tokens<'t> {
    text: &'t str,
    /// Where the next token begins.
    pub(crate) at: usize,
}

/// Divides a text.
#[must_use]
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

impl<'t> Tokens<'t> {
    /// The tokens from an offset on.
    pub(crate) fn from(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }
}

const OPERATORS: [&str; 20] = [
    "&>>", "<<<", "<<-", ";;&", "&&", "||", ";;", ";&", "|&", "&>", ">>", "<<", ">&", "<&", "<>", ">|", ";", "&", "|",
    "(",
];

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let rest = self.text.get(self.at..)?;
        let first = rest.bytes().next()?;
        let from = self.at;
        let (kind, end) = match first {
            b'\n' => (TokenKind::Newline, from + 1),
            b'#' => (TokenKind::Comment, from + rest.find('\n').unwrap_or(rest.len())),
            b' ' | b'\t' | b'\r' => self.blank(),
            b'\\' if rest.starts_with("\\\n") => self.blank(),
            b'<' | b'>' if rest.as_bytes().get(1) == Some(&b'(') => self.word(),
            byte if is_word_end(byte) => {
                let length =
                    OPERATORS.iter().find(|operator| rest.starts_with(**operator)).map_or(1, |operator| operator.len());
                (TokenKind::Operator, from + length)
            }
            _ => self.word(),
        };
        // A token is never empty, so the tokens end.
        self.at = end.max(from + 1);
        Some(Token { kind, span: Span::new(from, self.at) })
    }
}

impl Tokens<'_> {
    fn blank(&self) -> (TokenKind, usize) {
        let mut lexer = Lexer::new(self.text, self.at, self.text.len());
        lexer.skip_blanks();
        (TokenKind::Blank, lexer.at)
    }

    fn word(&self) -> (TokenKind, usize) {
        let mut lexer = Lexer::new(self.text, self.at, self.text.len());
        match lexer.word() {
            Ok(_) => (TokenKind::Word, lexer.at),
            Err(_) => (TokenKind::Unclosed, self.text.len()),
        }
    }
}

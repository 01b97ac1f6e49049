//! One plain command: quotes, escapes and parameters. Everything else is reported as not plain.

use crate::lexer::{LexFault, Lexer, is_word_end};
use crate::syntax::{Piece, PieceKind, Span, Word};

/// The words of one plain command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainCommand {
    /// The words.
    pub words: Vec<Word>,
}

/// Why a text is more than one plain command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPlain {
    /// A quote or a bracket is not closed, or too many stand in each other.
    Unreadable(Span),
    /// An operator divides commands, leads to a file, or opens a bracket.
    Operator(Span),
    /// The text has several lines.
    Newline(Span),
    /// A comment follows.
    Comment(Span),
    /// Commands or numbers are put in.
    Substitution(Span),
    /// A pattern of file names, a tilde or braces are expanded.
    Expansion(Span),
}

/// Reads one plain command.
///
/// # Errors
/// The first part of the text that is more than words with quotes, escapes and parameters.
pub fn words(text: &str) -> Result<PlainCommand, NotPlain> {
    let mut words = Vec::new();
    let mut lexer = Lexer::new(text, 0, text.len());
    loop {
        lexer.skip_blanks();
        let here = Span::new(lexer.at, lexer.at + 1);
        match lexer.peek(0) {
            None => return Ok(PlainCommand { words }),
            Some(b'\n') => return Err(NotPlain::Newline(here)),
            Some(b'#') => return Err(NotPlain::Comment(here)),
            Some(b'<' | b'>') if lexer.peek(1) == Some(b'(') => return Err(NotPlain::Substitution(here)),
            Some(byte) if is_word_end(byte) => return Err(NotPlain::Operator(here)),
            Some(_) => {}
        }
        let word = lexer.word().map_err(|fault| match fault {
            LexFault::Unclosed(span) | LexFault::TooDeep(span) | LexFault::NoWord(span) => NotPlain::Unreadable(span),
        })?;
        if let Some(not_plain) = word.pieces.iter().find_map(not_plain) {
            return Err(not_plain);
        }
        words.push(word);
    }
}

fn not_plain(piece: &Piece) -> Option<NotPlain> {
    match &piece.kind {
        PieceKind::Text(_) => None,
        PieceKind::Parameter(parameter) if parameter.is_plain() => None,
        PieceKind::Parameter(_) | PieceKind::Command(_) | PieceKind::Process { .. } | PieceKind::Arithmetic(_) => {
            Some(NotPlain::Substitution(piece.span))
        }
        PieceKind::Glob(_) | PieceKind::Tilde(_) | PieceKind::Brace(_) => Some(NotPlain::Expansion(piece.span)),
    }
}

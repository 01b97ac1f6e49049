//! One plain command: quotes, escapes and parameters. Everything else is reported as not plain.

use crate::lexer::{LexFault, Lexer, is_word_end};
use crate::syntax::{Piece, PieceKind, Quotes, Span, Word};

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
    /// Shells differ in what they take away here: a line that goes on, a carriage return, or `$` before double quotes.
    Ambiguous(Span),
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
    let words = command_words(text)?;
    match words.iter().flat_map(|word| &word.pieces).find_map(not_plain) {
        Some(not_plain) => Err(not_plain),
        None => Ok(PlainCommand { words }),
    }
}

/// Reads the words of one command, whatever is put in and expanded in them.
///
/// # Errors
/// The first part of the text that is more than words.
pub fn command_words(text: &str) -> Result<Vec<Word>, NotPlain> {
    let mut words = Vec::new();
    let mut lexer = Lexer::new(text, 0, text.len());
    loop {
        lexer.skip_blanks();
        let here = Span::new(lexer.at, lexer.at + 1);
        match lexer.peek(0) {
            None => {
                return match ambiguous(text, &words) {
                    Some(span) => Err(NotPlain::Ambiguous(span)),
                    None => Ok(words),
                };
            }
            Some(b'\n') => return Err(NotPlain::Newline(here)),
            Some(b'#') => return Err(NotPlain::Comment(here)),
            Some(b'<' | b'>') if lexer.peek(1) == Some(b'(') => return Err(NotPlain::Substitution(here)),
            Some(byte) if is_word_end(byte) => return Err(NotPlain::Operator(here)),
            Some(_) => {}
        }
        let mut word = lexer.word().map_err(|fault| match fault {
            LexFault::Unclosed(span) | LexFault::TooDeep(span) | LexFault::NoWord(span) => NotPlain::Unreadable(span),
        })?;
        word.pieces.iter_mut().for_each(|piece| piece.span = without_closing_quote(piece, text));
        words.push(word);
    }
}

/// Where a piece stands without the quote that closes its word: what the shell puts in has none.
pub(crate) fn without_closing_quote(piece: &Piece, text: &str) -> Span {
    let is_closed = text.get(piece.span.range()).is_some_and(|written| written.ends_with('"'));
    match piece.kind {
        PieceKind::Text(_) => piece.span,
        _ if is_closed => Span { end: piece.span.end.saturating_sub(1), ..piece.span },
        _ => piece.span,
    }
}

/// The first place outside of all pieces that is more than a blank or a closing quote, or a backslash before nothing.
fn ambiguous(text: &str, words: &[Word]) -> Option<Span> {
    let end = Span::new(text.len(), text.len());
    let pieces = || words.iter().flat_map(|word| &word.pieces);
    let spans = pieces().map(|piece| piece.span).chain([end]);
    let gaps = spans.scan(0, |before, span| Some(Span { start: std::mem::replace(before, span.end), end: span.start }));
    let is_blank = |gap: &Span| {
        text.get(gap.range()).is_some_and(|gap| gap.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'"')))
    };
    // A piece of escapes has two characters for each.
    let escapes_nothing = |piece: &&Piece| {
        let written = text.get(piece.span.range()).unwrap_or_default();
        piece.quotes == Quotes::Backslash && written.chars().count() % 2 == 1
    };
    gaps.into_iter().find(|gap| !is_blank(gap)).or_else(|| pieces().find(escapes_nothing).map(|piece| piece.span))
}

fn not_plain(piece: &Piece) -> Option<NotPlain> {
    match &piece.kind {
        PieceKind::Text(_) => None,
        PieceKind::Parameter(parameter) if parameter.is_plain() => None,
        PieceKind::Parameter(_) | PieceKind::Command(_) | PieceKind::Process { .. } | PieceKind::Arithmetic(_) => {
            Some(NotPlain::Substitution(piece.span))
        }
        PieceKind::Glob(_) | PieceKind::Tilde(_) | PieceKind::Brace(_) | PieceKind::Sequence(_) => {
            Some(NotPlain::Expansion(piece.span))
        }
    }
}

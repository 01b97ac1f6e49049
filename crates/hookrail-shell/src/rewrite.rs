//! Changes parts of words wherever they stand: in substitutions too, but neither in comments nor in here-documents.

use crate::lexer::Lexer;
use crate::scanner::{Until, scan};
use crate::syntax::{Operation, Parameter, Piece, PieceKind, Quotes, Span};
use crate::tokens::{TokenKind, Tokens};
use crate::words::without_closing_quote;

/// Replaces the pieces for which `change` returns another text. Returns nothing if there are none.
///
/// What a piece that stays contains is visited too. The text behind an unclosed quote or bracket stays as it is.
///
/// ```
/// use hookrail_shell::{PieceKind, Quotes, rewrite};
///
/// let quoted = rewrite("cp $x \"$x\" $(ls $x)", &mut |piece| match &piece.kind {
///     PieceKind::Parameter(_) if piece.quotes == Quotes::None => Some("\"$x\"".to_owned()),
///     _ => None,
/// });
/// assert_eq!(quoted.as_deref(), Some("cp \"$x\" \"$x\" $(ls \"$x\")"));
/// ```
pub fn rewrite(text: &str, change: &mut dyn FnMut(&Piece) -> Option<String>) -> Option<String> {
    let documents = scan(text, 0, Until::End).here_documents;
    let mut skipped: Vec<Span> = documents.iter().flat_map(|found| [found.operator, found.whole]).collect();
    skipped.sort_unstable();
    let mut rewriter = Rewriter { text, skipped, change, out: String::new(), copied: 0 };
    rewriter.code(Span::new(0, text.len()));
    let rest = text.get(rewriter.copied..)?;
    (rewriter.copied > 0).then(|| rewriter.out + rest)
}

struct Rewriter<'t, 'c> {
    text: &'t str,
    /// Here-documents with their operators, in order.
    skipped: Vec<Span>,
    change: &'c mut dyn FnMut(&Piece) -> Option<String>,
    out: String,
    /// How much of the text is in `out`.
    copied: usize,
}

impl Rewriter<'_, '_> {
    fn code(&mut self, span: Span) {
        let Some(text) = self.text.get(..span.range().end) else { return };
        let mut tokens = Tokens::from(text, span.range().start);
        loop {
            if let Some(end) = self.end_of_skipped(tokens.at) {
                tokens.at = end;
            }
            let Some(token) = tokens.next() else { return };
            match token.kind {
                TokenKind::Word => {
                    // It was read once, so it is a word.
                    if let Ok(word) = Lexer::new(text, token.span.range().start, text.len()).word() {
                        self.pieces(&word.pieces);
                    }
                }
                TokenKind::Unclosed => return,
                TokenKind::Blank | TokenKind::Newline | TokenKind::Comment | TokenKind::Operator => {}
            }
        }
    }

    fn end_of_skipped(&self, at: usize) -> Option<usize> {
        let before = self.skipped.partition_point(|span| span.range().start <= at).checked_sub(1)?;
        let range = self.skipped.get(before)?.range();
        range.contains(&at).then_some(range.end)
    }

    fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match (self.change)(piece) {
                Some(text) => self.replace(without_closing_quote(piece, self.text), &text),
                None => self.inside(piece),
            }
        }
    }

    fn replace(&mut self, span: Span, text: &str) {
        let range = span.range();
        self.out.push_str(self.text.get(self.copied..range.start).unwrap_or_default());
        self.out.push_str(text);
        self.copied = range.end;
    }

    fn inside(&mut self, piece: &Piece) {
        match &piece.kind {
            PieceKind::Text(_) | PieceKind::Glob(_) | PieceKind::Tilde(_) | PieceKind::Sequence(_) => {}
            PieceKind::Parameter(parameter) => self.parameter(parameter, piece.quotes),
            PieceKind::Command(code) | PieceKind::Process { code, .. } => self.code(code.code),
            PieceKind::Arithmetic(pieces) => self.pieces(pieces),
            PieceKind::Brace(alternatives) => alternatives.iter().for_each(|pieces| self.pieces(pieces)),
        }
    }

    fn parameter(&mut self, parameter: &Parameter, quotes: Quotes) {
        self.pieces(parameter.subscript.as_deref().unwrap_or_default());
        match &parameter.operation {
            Operation::Default(word)
            | Operation::Assign(word)
            | Operation::Alternative(word)
            | Operation::Require(word) => self.pieces(word),
            Operation::Remove { pattern, .. } if quotes == Quotes::None => self.pieces(pattern),
            Operation::Replace { pattern, with, .. } => {
                if quotes == Quotes::None {
                    self.pieces(pattern);
                }
                self.pieces(with);
            }
            Operation::Substring { from, length } => {
                self.pieces(from);
                self.pieces(length.as_deref().unwrap_or_default());
            }
            // A pattern in double quotes is read as if it had none, and stays as it is written.
            Operation::Remove { .. } => {}
            Operation::Value
            | Operation::Length
            | Operation::Indirect
            | Operation::Case { .. }
            | Operation::Transform(_)
            | Operation::Other => {}
        }
    }
}

//! Reads words: quotes, escapes, parameters, substitutions, patterns and braces.

mod braces;
mod escapes;
mod parameter;

use crate::scanner::{ScanFault, Until, closes_twice, scan};
use crate::syntax::{GlobMark, Operation, Parameter, Piece, PieceKind, Quotes, Span, Substitution, Word};

/// The most quotes and parameters that may stand in each other.
const DEEPEST: u32 = 24;
/// The most bytes that are looked at for the ends of braces: each one without an end is looked for to the end of the line.
const BRACE_BUDGET: usize = 1 << 20;

pub(crate) use escapes::decode_ansi_c;
#[cfg(feature = "syntax")]
pub(crate) use escapes::is_mark;

/// Why a word cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexFault {
    /// A quote or bracket is not closed.
    Unclosed(Span),
    /// Too many quotes or brackets stand in each other.
    TooDeep(Span),
    /// An operator stands where a word is expected.
    NoWord(Span),
}

/// Where a run of pieces ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// At a blank or an operator.
    Word,
    /// At the end of the range.
    End,
    /// At `"`.
    Double,
    /// At `}`.
    Brace,
    /// At `/` or `}`.
    SlashOrBrace,
    /// At `:` or `}`.
    ColonOrBrace,
    /// At `]`.
    Bracket,
}

/// The context of a run of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    Double,
    HereDocument,
}

impl Mode {
    fn quotes(self) -> Quotes {
        match self {
            Self::Plain => Quotes::None,
            Self::Double => Quotes::Double,
            Self::HereDocument => Quotes::HereDocument { expands: true },
        }
    }
}

/// A reader of words of a part of a text.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    pub(crate) at: usize,
    end: usize,
    depth: u32,
    /// How many bytes may still be looked at for the ends of braces.
    brace_budget: usize,
}

type Lexed<T> = Result<T, LexFault>;

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str, from: usize, end: usize) -> Self {
        Self { text, at: from, end: end.min(text.len()), depth: 0, brace_budget: BRACE_BUDGET }
    }

    pub(crate) fn peek(&self, ahead: usize) -> Option<u8> {
        let index = self.at + ahead;
        if index < self.end { self.text.as_bytes().get(index).copied() } else { None }
    }

    /// A reader of a part of the text.
    fn part(&self, from: usize, end: usize) -> Lexer<'t> {
        Lexer { at: from, end, ..*self }
    }

    fn here(&self) -> Span {
        Span::new(self.at, self.end)
    }

    /// Skips blanks, and lines that go on.
    pub(crate) fn skip_blanks(&mut self) {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.peek(1) == Some(b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Reads one word.
    pub(crate) fn word(&mut self) -> Lexed<Word> {
        let from = self.at;
        // Most words have one.
        let mut pieces = Vec::with_capacity(1);
        self.tilde(&mut pieces);
        self.pieces(Stop::Word, Mode::Plain, &mut pieces)?;
        if self.at == from {
            return Err(LexFault::NoWord(self.here()));
        }
        if self.text.get(from..self.at) == Some("[") {
            pieces =
                vec![Piece { span: Span::new(from, self.at), quotes: Quotes::None, kind: PieceKind::Text("[".into()) }];
        }
        Ok(Word { span: Span::new(from, self.at), pieces })
    }

    #[cfg(feature = "syntax")]
    /// Reads a value behind `=`: a tilde can stand at its beginning.
    pub(crate) fn value(&mut self) -> Lexed<Word> {
        let from = self.at;
        let mut pieces = Vec::new();
        self.tilde(&mut pieces);
        self.pieces(Stop::Word, Mode::Plain, &mut pieces)?;
        Ok(Word { span: Span::new(from, self.at), pieces })
    }

    fn tilde(&mut self, out: &mut Vec<Piece>) {
        if self.peek(0) != Some(b'~') {
            return;
        }
        let from = self.at;
        let mut length = 1;
        while self
            .peek(length)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.'))
        {
            length += 1;
        }
        let ends = self.peek(length).is_none_or(|byte| matches!(byte, b'/' | b':' | b'}') || is_word_end(byte));
        if ends {
            let user = self.text.get(from + 1..from + length).unwrap_or_default().to_owned();
            self.at += length;
            out.push(Piece { span: Span::new(from, self.at), quotes: Quotes::None, kind: PieceKind::Tilde(user) });
        }
    }

    fn stops(&self, stop: Stop, byte: u8) -> bool {
        match stop {
            Stop::Word => is_word_end(byte),
            Stop::End => false,
            Stop::Double => byte == b'"',
            Stop::Brace => byte == b'}',
            Stop::SlashOrBrace => matches!(byte, b'/' | b'}'),
            Stop::ColonOrBrace => matches!(byte, b':' | b'}'),
            Stop::Bracket => byte == b']',
        }
    }

    /// Reads pieces up to a stop, which is not consumed.
    pub(crate) fn pieces(&mut self, stop: Stop, mode: Mode, out: &mut Vec<Piece>) -> Lexed<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(LexFault::TooDeep(self.here()));
        }
        while let Some(byte) = self.peek(0) {
            if self.stops(stop, byte) && !self.is_process(stop, byte) {
                if stop == Stop::Word && byte == b'(' && self.extended_pattern(out)? {
                    continue;
                }
                break;
            }
            self.piece(byte, stop, mode, out)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn is_process(&self, stop: Stop, byte: u8) -> bool {
        stop == Stop::Word && matches!(byte, b'<' | b'>') && self.peek(1) == Some(b'(')
    }

    fn piece(&mut self, byte: u8, stop: Stop, mode: Mode, out: &mut Vec<Piece>) -> Lexed<()> {
        let from = self.at;
        match (byte, mode) {
            (b'\\', _) => self.backslash(mode, out),
            (b'\'', Mode::Plain) => return self.single(out),
            (b'"', Mode::Plain) => return self.double(out),
            (b'"', Mode::Double) if stop != Stop::Double => return self.double(out),
            (b'$', _) => return self.dollar(mode, out),
            (b'`', _) => return self.backtick(mode, out),
            (b'<' | b'>', Mode::Plain) if self.is_process(stop, byte) => {
                self.at += 2;
                let code = self.code(from)?;
                let kind = PieceKind::Process { into: byte == b'>', code };
                out.push(Piece { span: Span::new(from, self.at), quotes: Quotes::None, kind });
            }
            (b'*', Mode::Plain) => self.glob(GlobMark::Any, out),
            (b'?', Mode::Plain) => self.glob(GlobMark::One, out),
            (b'[', Mode::Plain) => self.glob(GlobMark::Bracket, out),
            (b'{', Mode::Plain) if matches!(stop, Stop::Word | Stop::End) => return self.brace(out),
            _ => self.text_run(stop, mode, out),
        }
        Ok(())
    }

    fn glob(&mut self, mark: GlobMark, out: &mut Vec<Piece>) {
        let from = self.at;
        self.at += 1;
        out.push(Piece { span: Span::new(from, self.at), quotes: Quotes::None, kind: PieceKind::Glob(mark) });
    }

    fn text_run(&mut self, stop: Stop, mode: Mode, out: &mut Vec<Piece>) {
        let from = self.at;
        while let Some(byte) = self.peek(0) {
            let is_special = matches!(byte, b'\\' | b'$' | b'`')
                || (byte == b'"' && mode != Mode::HereDocument)
                || (mode == Mode::Plain && matches!(byte, b'\'' | b'*' | b'?' | b'[' | b'{' | b'<' | b'>'));
            if self.at > from && (is_special || self.stops(stop, byte)) {
                break;
            }
            self.at += 1;
        }
        self.push_text(from, mode.quotes(), self.text.get(from..self.at).unwrap_or_default(), out);
    }

    fn push_text(&self, from: usize, quotes: Quotes, text: &str, out: &mut Vec<Piece>) {
        let span = Span::new(from, self.at);
        if let Some(Piece { span: last, quotes: before, kind: PieceKind::Text(joined) }) = out.last_mut()
            && *before == quotes
            && last.end == span.start
        {
            joined.push_str(text);
            last.end = span.end;
            return;
        }
        out.push(Piece { span, quotes, kind: PieceKind::Text(text.to_owned()) });
    }

    fn backslash(&mut self, mode: Mode, out: &mut Vec<Piece>) {
        let from = self.at;
        let next = self.text.get(self.at + 1..self.end).and_then(|rest| rest.chars().next());
        let Some(next) = next else {
            self.at += 1;
            self.push_text(from, Quotes::Backslash, "\\", out);
            return;
        };
        self.at += 1 + next.len_utf8();
        if next == '\n' {
            return;
        }
        let is_escape = match mode {
            Mode::Plain => true,
            Mode::Double => matches!(next, '$' | '`' | '"' | '\\' | '}'),
            Mode::HereDocument => matches!(next, '$' | '`' | '\\'),
        };
        let quotes = if mode == Mode::Plain { Quotes::Backslash } else { mode.quotes() };
        if is_escape {
            self.push_text(from, quotes, next.encode_utf8(&mut [0; 4]), out);
        } else {
            self.push_text(from, quotes, self.text.get(from..self.at).unwrap_or_default(), out);
        }
    }

    fn single(&mut self, out: &mut Vec<Piece>) -> Lexed<()> {
        let from = self.at;
        let rest = self.text.get(from + 1..self.end).unwrap_or_default();
        let length = rest.find('\'').ok_or(LexFault::Unclosed(Span::new(from, self.end)))?;
        self.at = from + length + 2;
        self.push_text(from, Quotes::Single, rest.get(..length).unwrap_or_default(), out);
        Ok(())
    }

    fn double(&mut self, out: &mut Vec<Piece>) -> Lexed<()> {
        let from = self.at;
        self.at += 1;
        let before = out.len();
        // Pieces of different quotes never join, so an empty text marks where quotes begin.
        out.push(Piece {
            span: Span::new(from, self.at),
            quotes: Quotes::Double,
            kind: PieceKind::Text(String::new()),
        });
        self.pieces(Stop::Double, Mode::Double, out)?;
        if self.peek(0) != Some(b'"') {
            return Err(LexFault::Unclosed(Span::new(from, self.end)));
        }
        self.at += 1;
        if let Some(Piece { span, .. }) = out.get_mut(before) {
            span.end = span.end.max(span.start + 1);
        }
        if let Some(last) = out.last_mut()
            && last.quotes == Quotes::Double
        {
            last.span.end = u32::try_from(self.at).unwrap_or(u32::MAX);
        }
        Ok(())
    }

    fn dollar(&mut self, mode: Mode, out: &mut Vec<Piece>) -> Lexed<()> {
        let from = self.at;
        let quotes = mode.quotes();
        match self.peek(1) {
            Some(b'(') => {
                let kind = match self.arithmetic_end() {
                    Some(close) => {
                        let mut inner = self.part(from + 3, close);
                        let mut pieces = Vec::new();
                        inner.pieces(Stop::End, Mode::Double, &mut pieces)?;
                        self.at = close + 2;
                        PieceKind::Arithmetic(pieces)
                    }
                    None => {
                        self.at += 2;
                        PieceKind::Command(self.code(from)?)
                    }
                };
                out.push(Piece { span: Span::new(from, self.at), quotes, kind });
            }
            Some(b'[') => {
                self.at += 2;
                let mut pieces = Vec::new();
                self.pieces(Stop::Bracket, Mode::Double, &mut pieces)?;
                self.close(b']', from)?;
                out.push(Piece { span: Span::new(from, self.at), quotes, kind: PieceKind::Arithmetic(pieces) });
            }
            Some(b'{') => {
                self.at += 2;
                let parameter = self.braced_parameter(from, mode)?;
                let kind = PieceKind::Parameter(Box::new(parameter));
                out.push(Piece { span: Span::new(from, self.at), quotes, kind });
            }
            Some(b'\'') if mode == Mode::Plain => return self.ansi_c(out),
            Some(b'"') if mode == Mode::Plain => {
                self.at += 1;
                return self.double(out);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.at += 1;
                let name = self.name();
                self.push_parameter(from, quotes, name, out);
            }
            Some(byte) if byte.is_ascii_digit() || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => {
                self.at += 2;
                self.push_parameter(from, quotes, char::from(byte).to_string(), out);
            }
            _ => {
                self.at += 1;
                self.push_text(from, quotes, "$", out);
            }
        }
        Ok(())
    }

    fn push_parameter(&self, from: usize, quotes: Quotes, name: String, out: &mut Vec<Piece>) {
        let parameter = Parameter { name, subscript: None, operation: Operation::Value };
        let kind = PieceKind::Parameter(Box::new(parameter));
        out.push(Piece { span: Span::new(from, self.at), quotes, kind });
    }

    fn name(&mut self) -> String {
        let from = self.at;
        while self.peek(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        self.text.get(from..self.at).unwrap_or_default().to_owned()
    }

    /// Returns the offset of the two brackets that end an arithmetic expression.
    fn arithmetic_end(&self) -> Option<usize> {
        if self.peek(2) != Some(b'(') {
            return None;
        }
        if !closes_twice(self.text.as_bytes().get(..self.end)?, self.at + 1) {
            return None;
        }
        let found = scan(self.text.get(..self.end)?, self.at + 3, Until::Arithmetic);
        if found.fault.is_some() { None } else { found.end.checked_sub(2) }
    }

    /// Reads code up to the bracket that closes it.
    fn code(&mut self, from: usize) -> Lexed<Substitution> {
        let begin = self.at;
        let found = scan(self.text.get(..self.end).unwrap_or_default(), begin, Until::Parenthesis);
        match found.fault {
            None => {
                self.at = found.end + 1;
                Ok(Substitution::new(Span::new(begin, found.end), None))
            }
            Some(ScanFault::Unclosed(_)) => Err(LexFault::Unclosed(Span::new(from, self.end))),
            Some(ScanFault::TooDeep(_)) => Err(LexFault::TooDeep(Span::new(from, self.end))),
        }
    }

    fn backtick(&mut self, mode: Mode, out: &mut Vec<Piece>) -> Lexed<()> {
        let from = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut begin = self.at;
        let mut is_changed = false;
        loop {
            match self.peek(0) {
                None => return Err(LexFault::Unclosed(Span::new(from, self.end))),
                Some(b'`') => break,
                Some(b'\\') => {
                    let next = self.peek(1);
                    let is_escape =
                        matches!(next, Some(b'`' | b'\\' | b'$')) || (mode == Mode::Double && next == Some(b'"'));
                    if is_escape {
                        text.push_str(self.text.get(begin..self.at).unwrap_or_default());
                        begin = self.at + 1;
                        is_changed = true;
                    }
                    self.at += 2;
                }
                Some(_) => self.at += 1,
            }
        }
        text.push_str(self.text.get(begin..self.at).unwrap_or_default());
        let code = Span::new(from + 1, self.at);
        self.at += 1;
        let kind = PieceKind::Command(Substitution::new(code, is_changed.then_some(text)));
        out.push(Piece { span: Span::new(from, self.at), quotes: mode.quotes(), kind });
        Ok(())
    }

    fn close(&mut self, mark: u8, from: usize) -> Lexed<()> {
        if self.peek(0) != Some(mark) {
            return Err(LexFault::Unclosed(Span::new(from, self.end)));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads `@(…)` and its relatives, which stand for any name.
    fn extended_pattern(&mut self, out: &mut Vec<Piece>) -> Lexed<bool> {
        let before = self.at.checked_sub(1).and_then(|index| self.text.as_bytes().get(index)).copied();
        if out.is_empty() || !before.is_some_and(|byte| matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!')) {
            return Ok(false);
        }
        let from = self.at;
        self.at += 1;
        self.code(from)?;
        out.push(Piece { span: Span::new(from, self.at), quotes: Quotes::None, kind: PieceKind::Glob(GlobMark::Any) });
        Ok(true)
    }

    fn ansi_c(&mut self, out: &mut Vec<Piece>) -> Lexed<()> {
        let from = self.at;
        let begin = from + 2;
        let mut end = begin;
        loop {
            match self.text.as_bytes().get(end).filter(|_| end < self.end) {
                None => return Err(LexFault::Unclosed(Span::new(from, self.end))),
                Some(b'\'') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        let text = decode_ansi_c(self.text.get(begin..end).unwrap_or_default());
        self.push_text(from, Quotes::AnsiC, &text, out);
        Ok(())
    }
}

impl Substitution {
    pub(crate) fn new(code: Span, text: Option<String>) -> Self {
        Self {
            code,
            text,
            #[cfg(feature = "syntax")]
            script: None,
        }
    }
}

pub(crate) fn is_word_end(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

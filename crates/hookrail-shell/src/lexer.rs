//! Reads words: quotes, escapes, parameters, substitutions, patterns and braces.

use crate::scanner::{ScanFault, Until, closes_twice, scan};
use crate::syntax::{GlobMark, Operation, Parameter, Piece, PieceKind, Quotes, Span, Substitution, Word};

/// The most quotes and parameters that may stand in each other.
const DEEPEST: u32 = 24;
/// The most words of a sequence in braces, such as `{1..9}`.
const LONGEST_SEQUENCE: i64 = 4096;
/// The most bytes that are looked at for the ends of braces: each one without an end is looked for to the end of the line.
const BRACE_BUDGET: usize = 1 << 20;

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
        let mut pieces = Vec::new();
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

    fn brace(&mut self, out: &mut Vec<Piece>) -> Lexed<()> {
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
    fn brace_parts(&self) -> Option<(Vec<(usize, usize)>, usize)> {
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

    fn braced_parameter(&mut self, from: usize, mode: Mode) -> Lexed<Parameter> {
        let mut operation = Operation::Value;
        match self.peek(0) {
            Some(b'#')
                if self.peek(1).is_some_and(|byte| byte != b'}' && !matches!(byte, b':' | b'%' | b'/' | b'-')) =>
            {
                operation = Operation::Length;
                self.at += 1;
            }
            Some(b'!') if self.peek(1).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                operation = Operation::Indirect;
                self.at += 1;
            }
            _ => {}
        }
        let name = match self.peek(0) {
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => self.name(),
            Some(byte) if byte.is_ascii_digit() => self.name(),
            Some(byte) if matches!(byte, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => {
                self.at += 1;
                char::from(byte).to_string()
            }
            _ => return Err(LexFault::Unclosed(Span::new(from, self.end))),
        };
        let mut subscript = None;
        if self.peek(0) == Some(b'[') {
            self.at += 1;
            let mut pieces = Vec::new();
            self.pieces(Stop::Bracket, mode, &mut pieces)?;
            self.close(b']', from)?;
            subscript = Some(pieces);
        }
        if self.peek(0) != Some(b'}') {
            let found = self.operation(mode)?;
            operation = if operation == Operation::Value { found } else { Operation::Other };
        }
        self.close(b'}', from)?;
        Ok(Parameter { name, subscript, operation })
    }

    fn operand(&mut self, stop: Stop, mode: Mode) -> Lexed<Vec<Piece>> {
        let mut pieces = Vec::new();
        if mode == Mode::Plain {
            self.tilde(&mut pieces);
        }
        self.pieces(stop, mode, &mut pieces)?;
        Ok(pieces)
    }

    fn operation(&mut self, mode: Mode) -> Lexed<Operation> {
        let first = self.peek(0);
        let second = self.peek(1);
        if first == Some(b':') && !matches!(second, Some(b'-' | b'=' | b'+' | b'?')) {
            self.at += 1;
            let from = self.operand(Stop::ColonOrBrace, mode)?;
            let length = if self.peek(0) == Some(b':') {
                self.at += 1;
                Some(self.operand(Stop::Brace, mode)?)
            } else {
                None
            };
            return Ok(Operation::Substring { from, length });
        }
        let sign = if first == Some(b':') {
            self.at += 1;
            second
        } else {
            first
        };
        self.at += 1;
        let doubled = self.peek(0) == sign;
        Ok(match sign {
            Some(b'-') => Operation::Default(self.operand(Stop::Brace, mode)?),
            Some(b'=') => Operation::Assign(self.operand(Stop::Brace, mode)?),
            Some(b'+') => Operation::Alternative(self.operand(Stop::Brace, mode)?),
            Some(b'?') => Operation::Require(self.operand(Stop::Brace, mode)?),
            Some(mark @ (b'#' | b'%')) => {
                if doubled {
                    self.at += 1;
                }
                // Patterns are patterns in double quotes too.
                let pattern = self.operand(Stop::Brace, Mode::Plain)?;
                Operation::Remove { suffix: mark == b'%', longest: doubled, pattern }
            }
            Some(b'/') => {
                let all = doubled;
                if doubled {
                    self.at += 1;
                }
                let pattern = self.operand(Stop::SlashOrBrace, Mode::Plain)?;
                let with = if self.peek(0) == Some(b'/') {
                    self.at += 1;
                    self.operand(Stop::Brace, mode)?
                } else {
                    Vec::new()
                };
                Operation::Replace { all, pattern, with }
            }
            Some(mark @ (b'^' | b',')) => {
                if doubled {
                    self.at += 1;
                }
                let pattern = self.operand(Stop::Brace, Mode::Plain)?;
                if pattern.is_empty() {
                    Operation::Case { upper: mark == b'^', all: doubled }
                } else {
                    Operation::Other
                }
            }
            Some(b'@') => {
                let letter = self.peek(0).map_or(' ', char::from);
                if self.peek(0) != Some(b'}') {
                    self.at += 1;
                }
                Operation::Transform(letter)
            }
            _ => {
                self.operand(Stop::Brace, mode)?;
                Operation::Other
            }
        })
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

/// Decodes the escapes of `$'…'`.
pub(crate) fn decode_ansi_c(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(index) = rest.find('\\') {
        out.extend_from_slice(rest.get(..index).unwrap_or_default().as_bytes());
        rest = rest.get(index + 1..).unwrap_or_default();
        let Some(letter) = rest.chars().next() else {
            out.push(b'\\');
            break;
        };
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        let simple = match letter {
            'n' => Some(b'\n'),
            't' => Some(b'\t'),
            'r' => Some(b'\r'),
            'a' => Some(7),
            'b' => Some(8),
            'e' | 'E' => Some(27),
            'f' => Some(12),
            'v' => Some(11),
            '\\' | '\'' | '"' | '?' => u8::try_from(letter).ok(),
            _ => None,
        };
        if let Some(byte) = simple {
            out.push(byte);
            continue;
        }
        match letter {
            'x' => out.extend(number(&mut rest, 16, 2).and_then(|value| u8::try_from(value).ok())),
            'u' => push_char(number(&mut rest, 16, 4), &mut out),
            'U' => push_char(number(&mut rest, 16, 8), &mut out),
            'c' => {
                if let Some(control) = rest.chars().next() {
                    rest = rest.get(control.len_utf8()..).unwrap_or_default();
                    out.push(u8::try_from(u32::from(control) & 0x1f).unwrap_or_default());
                }
            }
            '0'..='7' => {
                let mut digits = text.get(text.len() - rest.len() - 1..).unwrap_or_default();
                let value = number(&mut digits, 8, 3);
                rest = digits;
                out.extend(value.map(|value| u8::try_from(value & 0xff).unwrap_or_default()));
            }
            _ => {
                out.push(b'\\');
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    out.extend_from_slice(rest.as_bytes());
    // A NUL ends the text, as in the shell.
    out.truncate(out.iter().position(|byte| *byte == 0).unwrap_or(out.len()));
    String::from_utf8_lossy(&out).into_owned()
}

fn push_char(value: Option<u32>, out: &mut Vec<u8>) {
    if let Some(letter) = value.and_then(char::from_u32) {
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn number(rest: &mut &str, radix: u32, most: usize) -> Option<u32> {
    let digits = rest.bytes().take(most).take_while(|byte| char::from(*byte).is_digit(radix)).count();
    let value = u32::from_str_radix(rest.get(..digits)?, radix).ok();
    *rest = rest.get(digits..)?;
    value
}

//! Reads one simple command: assignments, words and redirections.

use super::Budget;
use crate::lexer::{LexFault, Lexer, Mode, Stop, is_word_end};
use crate::scanner::FoundHereDocument;
use crate::syntax::{
    AssignedValue, Assignment, Fault, FaultKind, HereDocument, Node, Redirect, RedirectOperator, RedirectTarget,
    SimpleCommand,
};
use crate::syntax::{Operation, Piece, PieceKind, Quotes, Span, Substitution, Word};

/// Reads the simple commands of a text.
pub(super) struct LeafReader<'t> {
    pub(super) text: &'t str,
    pub(super) here_documents: &'t [FoundHereDocument],
    pub(super) depth: u32,
    pub(super) base: Option<u32>,
    pub(super) faults: Vec<Fault>,
    /// What of the whole line may still be read.
    pub(super) budget: &'t Budget,
}

impl LeafReader<'_> {
    fn fault(&mut self, fault: LexFault) {
        let (kind, span) = match fault {
            LexFault::Unclosed(span) => (FaultKind::Unclosed, span),
            LexFault::TooDeep(span) => (FaultKind::TooDeep, span),
            LexFault::NoWord(span) => (FaultKind::Disagreement, span),
        };
        self.faults.push(Fault { kind, span });
    }

    /// Reads what stands in a range: a simple command, a test or an arithmetic command.
    pub(super) fn leaf(&mut self, start: usize, end: usize) -> Node {
        let mut lexer = Lexer::new(self.text, start, end);
        lexer.skip_blanks();
        let begin = lexer.at;
        let rest = self.text.get(begin..end).unwrap_or_default();
        if rest.starts_with("[[") && rest.get(2..3).is_some_and(|byte| byte.trim().is_empty()) {
            return self.test(begin, end);
        }
        if rest.starts_with("((") {
            return self.arithmetic(begin, end);
        }
        match self.simple(begin, end) {
            Ok(command)
                if command.assignments.is_empty() && command.words.is_empty() && command.redirects.is_empty() =>
            {
                Node::Nothing
            }
            Ok(command) => {
                // The grammar takes a reserved word that has no block for the name of a command.
                if command.words.first().is_some_and(is_reserved_word) && command.assignments.is_empty() {
                    self.faults.push(Fault { kind: FaultKind::Syntax, span: command.span });
                }
                Node::Command(Box::new(command))
            }
            Err(fault) => {
                self.fault(fault);
                Node::Nothing
            }
        }
    }

    fn simple(&mut self, start: usize, end: usize) -> Result<SimpleCommand, LexFault> {
        let mut command = SimpleCommand {
            span: Span::new(start, end),
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
        };
        let mut lexer = Lexer::new(self.text, start, end);
        let mut last = start;
        loop {
            lexer.skip_blanks();
            let Some(byte) = lexer.peek(0) else { break };
            if byte == b'\n' {
                lexer.at += 1;
                continue;
            }
            if byte == b'#' {
                while lexer.peek(0).is_some_and(|byte| byte != b'\n') {
                    lexer.at += 1;
                }
                continue;
            }
            if !self.budget.take_word() {
                self.faults.push(Fault { kind: FaultKind::TooSlow, span: Span::new(lexer.at, end) });
                break;
            }
            if let Some(redirect) = self.redirect(&mut lexer)? {
                command.redirects.push(redirect);
            } else if let Some(assignment) = self.assignment(&mut lexer, &command)? {
                command.assignments.push(assignment);
            } else {
                let mut word = lexer.word()?;
                // An array as an argument of `declare` and its like.
                if lexer.peek(0) == Some(b'(') && ends_with_equals(&word) {
                    let (values, array_end) = self.array(lexer.at, end)?;
                    for value in values {
                        word.pieces.extend(value.pieces);
                    }
                    lexer.at = array_end;
                }
                self.attach_all(&mut word.pieces);
                command.words.push(word);
            }
            last = lexer.at;
        }
        command.span = Span::new(start, last);
        Ok(command)
    }

    /// Reads redirections behind a structure.
    pub(super) fn redirects(&mut self, start: usize, end: usize) -> Vec<Redirect> {
        match self.simple(start, end) {
            Ok(command) if command.words.is_empty() && command.assignments.is_empty() => command.redirects,
            Ok(command) => {
                self.faults.push(Fault { kind: FaultKind::Disagreement, span: command.span });
                command.redirects
            }
            Err(fault) => {
                self.fault(fault);
                Vec::new()
            }
        }
    }

    /// Reads the words of a range.
    pub(super) fn words(&mut self, start: usize, end: usize) -> Vec<Word> {
        let mut words = Vec::new();
        let mut lexer = Lexer::new(self.text, start, end);
        loop {
            lexer.skip_blanks();
            match lexer.peek(0) {
                None => break,
                Some(b'\n' | b';' | b'|' | b'(' | b')') => lexer.at += 1,
                Some(b'#') => {
                    while lexer.peek(0).is_some_and(|byte| byte != b'\n') {
                        lexer.at += 1;
                    }
                }
                Some(_) if !self.budget.take_word() => {
                    self.faults.push(Fault { kind: FaultKind::TooSlow, span: Span::new(lexer.at, end) });
                    break;
                }
                Some(_) => match lexer.word() {
                    Ok(mut word) => {
                        self.attach_all(&mut word.pieces);
                        words.push(word);
                    }
                    Err(fault) => {
                        self.fault(fault);
                        break;
                    }
                },
            }
        }
        words
    }

    fn array(&mut self, open: usize, end: usize) -> Result<(Vec<Word>, usize), LexFault> {
        let found = crate::scanner::scan(
            self.text.get(..end).unwrap_or_default(),
            open + 1,
            crate::scanner::Until::Parenthesis,
        );
        if found.fault.is_some() {
            return Err(LexFault::Unclosed(Span::new(open, end)));
        }
        Ok((self.words(open + 1, found.end), found.end + 1))
    }

    fn assignment(&mut self, lexer: &mut Lexer<'_>, command: &SimpleCommand) -> Result<Option<Assignment>, LexFault> {
        if !command.words.is_empty() {
            return Ok(None);
        }
        let from = lexer.at;
        let end = command.span.end as usize;
        let rest = self.text.get(from..end).unwrap_or_default();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let name = rest.get(..length).unwrap_or_default();
        if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
            return Ok(None);
        }
        let mut behind = from + length;
        let mut subscript = None;
        if self.text.as_bytes().get(behind) == Some(&b'[') {
            let mut inner = Lexer::new(self.text, behind + 1, end);
            let mut pieces = Vec::new();
            inner.pieces(Stop::Bracket, Mode::Double, &mut pieces)?;
            behind = inner.at + 1;
            subscript = Some(pieces);
        }
        let bytes = self.text.as_bytes();
        let appends = bytes.get(behind) == Some(&b'+') && bytes.get(behind + 1) == Some(&b'=');
        if appends {
            behind += 1;
        }
        if behind >= end || bytes.get(behind) != Some(&b'=') {
            return Ok(None);
        }
        lexer.at = behind + 1;
        let value = if lexer.peek(0) == Some(b'(') {
            let (values, array_end) = self.array(lexer.at, end)?;
            lexer.at = array_end;
            AssignedValue::Array(values)
        } else {
            let mut word = lexer.value()?;
            self.attach_all(&mut word.pieces);
            AssignedValue::Word(word)
        };
        if let Some(pieces) = &mut subscript {
            self.attach_all(pieces);
        }
        Ok(Some(Assignment { span: Span::new(from, lexer.at), name: name.to_owned(), subscript, appends, value }))
    }

    fn redirect(&mut self, lexer: &mut Lexer<'_>) -> Result<Option<Redirect>, LexFault> {
        let from = lexer.at;
        let here = self.here_documents.binary_search_by_key(&from, |found| found.operator.start as usize);
        if let Some(found) = here.ok().and_then(|index| self.here_documents.get(index)) {
            lexer.at = found.operator.end as usize;
            let target = RedirectTarget::HereDocument(self.here_document(found)?);
            let operator = RedirectOperator::HereDocument;
            return Ok(Some(Redirect { span: found.operator, descriptor: None, operator, target }));
        }
        let mut length = 0;
        if lexer.peek(0) == Some(b'{') {
            // A variable gets the number: `{fd}>`.
            let rest = self.text.get(from + 1..).unwrap_or_default();
            let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            if name == 0 || lexer.peek(name + 1) != Some(b'}') {
                return Ok(None);
            }
            length = name + 2;
        }
        while lexer.peek(length).is_some_and(|byte| byte.is_ascii_digit()) {
            length += 1;
        }
        let descriptor = self.text.get(from..from + length).and_then(|digits| digits.parse().ok());
        let at = |ahead: usize| lexer.peek(length + ahead);
        let (operator, size) = match (at(0), at(1), at(2)) {
            (Some(b'&'), Some(b'>'), Some(b'>')) => (RedirectOperator::Append, 3),
            (Some(b'&'), Some(b'>'), _) => (RedirectOperator::Write, 2),
            (Some(b'<'), Some(b'<'), Some(b'<')) => (RedirectOperator::HereString, 3),
            (Some(b'<' | b'>'), Some(b'('), _) => return Ok(None),
            (Some(b'<'), Some(b'>'), _) => (RedirectOperator::ReadWrite, 2),
            (Some(b'<' | b'>'), Some(b'&'), _) => (RedirectOperator::Duplicate, 2),
            (Some(b'>'), Some(b'>'), _) => (RedirectOperator::Append, 2),
            (Some(b'>'), Some(b'|'), _) => (RedirectOperator::Write, 2),
            (Some(b'>'), _, _) => (RedirectOperator::Write, 1),
            (Some(b'<'), Some(b'<'), _) => return Err(LexFault::NoWord(Span::new(from, from + length))),
            (Some(b'<'), _, _) => (RedirectOperator::Read, 1),
            _ => return Ok(None),
        };
        lexer.at += length + size;
        lexer.skip_blanks();
        let mut word = lexer.word()?;
        self.attach_all(&mut word.pieces);
        let span = Span::new(from, lexer.at);
        Ok(Some(Redirect { span, descriptor, operator, target: RedirectTarget::Word(word) }))
    }

    fn here_document(&mut self, found: &FoundHereDocument) -> Result<HereDocument, LexFault> {
        let body = self.text.get(found.body.range()).unwrap_or_default();
        if found.expands && !found.strips_tabs {
            let mut lexer = Lexer::new(self.text, found.body.start as usize, found.body.end as usize);
            let mut pieces = Vec::new();
            lexer.pieces(Stop::End, Mode::HereDocument, &mut pieces)?;
            self.attach_all(&mut pieces);
            return Ok(HereDocument { expands: true, word: Word { span: found.body, pieces } });
        }
        let text = if found.strips_tabs {
            body.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
        } else {
            body.to_owned()
        };
        let mut pieces = Vec::new();
        if found.expands {
            let mut lexer = Lexer::new(&text, 0, text.len());
            lexer.pieces(Stop::End, Mode::HereDocument, &mut pieces)?;
            let mut reader = LeafReader {
                text: &text,
                here_documents: &[],
                depth: self.depth,
                base: None,
                faults: Vec::new(),
                budget: self.budget,
            };
            reader.attach_all(&mut pieces);
            self.faults.extend(reader.faults.into_iter().map(|fault| Fault { span: found.body, ..fault }));
        } else {
            let quotes = Quotes::HereDocument { expands: false };
            pieces.push(Piece { span: found.body, quotes, kind: PieceKind::Text(text) });
        }
        Ok(HereDocument { expands: found.expands, word: Word { span: found.body, pieces } })
    }

    fn test(&mut self, start: usize, end: usize) -> Node {
        let mut words = Vec::new();
        let mut lexer = Lexer::new(self.text, start + 2, end);
        loop {
            lexer.skip_blanks();
            match lexer.peek(0) {
                None => break,
                Some(byte) if is_word_end(byte) && !(matches!(byte, b'<' | b'>') && lexer.peek(1) == Some(b'(')) => {
                    lexer.at += 1;
                }
                Some(b']') if lexer.peek(1) == Some(b']') && lexer.peek(2).is_none() => break,
                Some(_) => match lexer.word() {
                    Ok(mut word) => {
                        self.attach_all(&mut word.pieces);
                        words.push(word);
                    }
                    Err(fault) => {
                        self.fault(fault);
                        break;
                    }
                },
            }
        }
        Node::Test(words, Span::new(start, end))
    }

    fn arithmetic(&mut self, start: usize, end: usize) -> Node {
        let close = self.text.get(start..end).and_then(|text| text.rfind("))")).map_or(end, |index| start + index);
        let pieces = self.expression(start + 2, close);
        let command = Node::Arithmetic(pieces, Span::new(start, end));
        let redirects = self.redirects((close + 2).min(end), end);
        if redirects.is_empty() { command } else { Node::Redirected(Box::new(command), redirects) }
    }

    /// Reads an arithmetic expression.
    pub(super) fn expression(&mut self, start: usize, end: usize) -> Vec<Piece> {
        let mut lexer = Lexer::new(self.text, start, end);
        let mut pieces = Vec::new();
        match lexer.pieces(Stop::End, Mode::Double, &mut pieces) {
            Ok(()) => self.attach_all(&mut pieces),
            Err(fault) => self.fault(fault),
        }
        pieces
    }

    /// Parses the code in pieces.
    fn attach_all(&mut self, pieces: &mut [Piece]) {
        for piece in pieces {
            match &mut piece.kind {
                PieceKind::Text(_) | PieceKind::Glob(_) | PieceKind::Tilde(_) | PieceKind::Sequence(_) => {}
                PieceKind::Command(code) | PieceKind::Process { code, .. } => self.attach(code),
                PieceKind::Arithmetic(inner) => self.attach_all(inner),
                PieceKind::Brace(alternatives) => {
                    for alternative in alternatives {
                        self.attach_all(alternative);
                    }
                }
                PieceKind::Parameter(parameter) => {
                    if let Some(inner) = &mut parameter.subscript {
                        self.attach_all(inner);
                    }
                    match &mut parameter.operation {
                        Operation::Default(inner)
                        | Operation::Assign(inner)
                        | Operation::Alternative(inner)
                        | Operation::Require(inner)
                        | Operation::Remove { pattern: inner, .. } => self.attach_all(inner),
                        Operation::Replace { pattern, with, .. } => {
                            self.attach_all(pattern);
                            self.attach_all(with);
                        }
                        Operation::Substring { from, length } => {
                            self.attach_all(from);
                            if let Some(inner) = length {
                                self.attach_all(inner);
                            }
                        }
                        Operation::Value
                        | Operation::Length
                        | Operation::Indirect
                        | Operation::Case { .. }
                        | Operation::Transform(_)
                        | Operation::Other => {}
                    }
                }
            }
        }
    }

    fn attach(&mut self, code: &mut Substitution) {
        if !self.budget.take_substitution(code.code.range().len()) {
            self.faults.push(Fault { kind: FaultKind::TooSlow, span: code.code });
            return;
        }
        let script = match &code.text {
            Some(text) => super::parse_part(text, None, self.depth + 1, self.budget),
            None => {
                let text = self.text.get(code.code.range()).unwrap_or_default();
                let base = self.base.map(|base| base.saturating_add(code.code.start));
                super::parse_part(text, base, self.depth + 1, self.budget)
            }
        };
        code.script = Some(Box::new(script));
    }
}

fn is_reserved_word(word: &Word) -> bool {
    matches!(word.pieces.as_slice(), [Piece { kind: PieceKind::Text(text), quotes: Quotes::None, .. }]
        if text != "in" && crate::scanner::is_reserved(text.as_bytes()))
}

fn ends_with_equals(word: &Word) -> bool {
    matches!(word.pieces.last(), Some(Piece { kind: PieceKind::Text(text), quotes: Quotes::None, .. }) if text.ends_with('='))
}

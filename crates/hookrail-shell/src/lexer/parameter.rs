//! Parameters in braces, and what is done with their values.

use super::{LexFault, Lexed, Lexer, Mode, Stop};
use crate::syntax::{Operation, Parameter, Piece, Span};

impl Lexer<'_> {
    pub(super) fn braced_parameter(&mut self, from: usize, mode: Mode) -> Lexed<Parameter> {
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

    pub(super) fn operand(&mut self, stop: Stop, mode: Mode) -> Lexed<Vec<Piece>> {
        let mut pieces = Vec::new();
        if mode == Mode::Plain {
            self.tilde(&mut pieces);
        }
        self.pieces(stop, mode, &mut pieces)?;
        Ok(pieces)
    }

    pub(super) fn operation(&mut self, mode: Mode) -> Lexed<Operation> {
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

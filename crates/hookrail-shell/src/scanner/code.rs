//! Blanks, operators, brackets and the parts of words.

use super::quoted::closes_twice;
use super::{Frame, MaskKind, Scanner};
use crate::syntax::Span;

impl Scanner<'_> {
    pub(super) fn code(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.at += 1;
                self.operator();
                self.read_bodies();
                if self.frames.is_empty() {
                    self.scan.last_whole_line = self.at;
                }
            }
            b' ' | b'\t' | b'\r' => {
                let from = self.at;
                while self.peek(0).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                    self.at += 1;
                }
                // A command with its arguments is one word to the grammar: only the reader of words divides it.
                let is_word = |byte| !matches!(byte, b'\n' | b'#' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>');
                if self.in_arguments && self.is_base() && self.peek(0).is_some_and(is_word) {
                    self.mask(from, MaskKind::Letters);
                }
                self.begins_word = true;
            }
            b'#' if self.begins_word => {
                let from = self.at;
                while self.peek(0).is_some_and(|byte| byte != b'\n') {
                    self.at += 1;
                }
                self.mask(from, MaskKind::Blanks);
            }
            b'&' if self.peek(1) == Some(b'>') => {
                self.at += 1;
                self.mask(self.at - 1, MaskKind::Blanks);
            }
            b';' | b'&' | b'|' => {
                let from = self.at;
                self.at += 1;
                self.operator();
                // Of `&` and `;` only the doubled `&&` leaves a command to come.
                let is_double = self.peek(0) == Some(byte) || byte == b'|' && self.peek(0) == Some(b'&');
                if is_double {
                    self.at += 1;
                }
                let wants_command = self.is_base() && (byte == b'|' || byte == b'&' && is_double);
                self.wants_command = wants_command.then_some(Span::new(from, self.at));
            }
            b'<' if self.starts_with(b"<<<") => {
                // The grammar knows it behind simple commands only; for the structure it is any redirection.
                self.at += 3;
                self.mask(self.at - 2, MaskKind::Blanks);
                self.begins_word = true;
            }
            b'<' if self.starts_with(b"<<") => self.here_document(),
            b'<' | b'>' if self.peek(1) == Some(b'(') => {
                let from = self.at;
                self.at += 2;
                self.push(Frame::Parenthesis, from, MaskKind::Letters);
                self.in_substitution();
            }
            b'<' | b'>' => {
                self.at += 1;
                // The character behind belongs to the operator.
                if self.peek(0).is_some_and(|next| matches!(next, b'&' | b'|' | b'>')) {
                    self.at += 1;
                    self.mask(self.at - 1, MaskKind::Blanks);
                }
                self.begins_word = true;
            }
            b'(' => self.open_parenthesis(),
            b')' => self.close_parenthesis(),
            _ => self.word_part(byte),
        }
    }

    pub(super) fn in_substitution(&mut self) {
        self.begins_word = true;
        self.begins_command = true;
    }

    pub(super) fn operator(&mut self) {
        if self.is_base() {
            self.scan.is_structured = true;
            self.in_arguments = false;
        }
        self.in_substitution();
    }

    pub(super) fn open_parenthesis(&mut self) {
        let from = self.at;
        let behind_for = self.word_is(b"for");
        if self.peek(1) == Some(b'(') && (self.begins_command || behind_for) && closes_twice(self.text, self.at) {
            self.at += 2;
            let kind = if behind_for { MaskKind::LoopHead } else { MaskKind::Letters };
            if behind_for && self.is_base() {
                self.scan.is_structured = true;
            }
            self.push(Frame::Arithmetic { open: 0 }, from, kind);
            self.in_word();
            return;
        }
        let before = self.at.checked_sub(1).and_then(|index| self.text.get(index)).copied();
        let is_part_of_word =
            !self.begins_word && before.is_some_and(|byte| matches!(byte, b'=' | b'?' | b'*' | b'+' | b'@' | b'!'));
        self.at += 1;
        if is_part_of_word {
            self.push(Frame::Parenthesis, from, MaskKind::Letters);
            self.begins_word = true;
            self.begins_command = false;
            return;
        }
        if self.is_base() {
            self.scan.is_structured = true;
            self.in_arguments = false;
            self.scan.brackets += 1;
            self.frames.push(Frame::Subshell);
        } else {
            self.frames.push(Frame::Parenthesis);
        }
        self.in_substitution();
    }

    pub(super) fn close_parenthesis(&mut self) {
        self.at += 1;
        match self.frames.last() {
            Some(Frame::Subshell | Frame::Parenthesis) => {
                let was_word = self.masked_since.is_some_and(|(_, depth, _)| self.frames.len() == depth + 1);
                self.pop();
                self.begins_command = !was_word;
                self.begins_word = !was_word;
                self.in_arguments &= was_word;
            }
            // The end of a pattern, or one too many, which the grammar reports.
            _ => self.operator(),
        }
    }

    pub(super) fn word_is(&self, word: &[u8]) -> bool {
        self.text.get(self.last_word.range()) == Some(word)
    }

    pub(super) fn word_part(&mut self, byte: u8) {
        let from = self.at;
        self.in_arguments |= self.begins_word && self.begins_command && self.is_base();
        match byte {
            b'\\' => {
                if self.peek(1) == Some(b'\n') {
                    self.at += 2;
                    self.mask(from, MaskKind::Blanks);
                    return;
                }
                self.at = (self.at + 2).min(self.text.len());
                while self.peek(0).is_some_and(|byte| byte & 0xC0 == 0x80) {
                    self.at += 1;
                }
                self.mask(from, MaskKind::Letters);
                self.in_word();
            }
            b'\'' => self.single(from),
            b'"' => {
                self.at += 1;
                self.push(Frame::Double, from, MaskKind::Letters);
                self.in_word();
            }
            b'`' => self.backtick(),
            b'$' => self.dollar(),
            b'[' if self.begins_word && self.begins_command && self.is_test() => {
                self.at += 2;
                self.push(Frame::Test, from, MaskKind::Letters);
                self.in_word();
            }
            _ if self.begins_word => self.plain_word(),
            b'{' | b'}' | b'[' | b']' | b'*' | b'?' | b'~' | b'!' | b'=' | b'+' | b'@' | b'%' | b'^' | b'#' | b':'
            | b',' => {
                self.at += 1;
                self.mask(from, MaskKind::Letters);
                self.in_word();
            }
            _ => {
                self.at += 1;
                self.in_word();
            }
        }
    }

    pub(super) fn is_test(&self) -> bool {
        self.starts_with(b"[[") && self.peek(2).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
    }
}

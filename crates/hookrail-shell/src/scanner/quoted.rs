//! Quotes, substitutions and expressions: what is no structure.

use super::{Frame, MaskKind, ScanFault, Scanner};

impl Scanner<'_> {
    pub(super) fn single(&mut self, from: usize) {
        self.in_word();
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        let Some(length) = rest.iter().position(|byte| *byte == b'\'') else {
            self.scan.fault = Some(ScanFault::Unclosed(from));
            self.at = self.text.len();
            return;
        };
        self.at += length + 2;
        self.mask(from, MaskKind::Letters);
    }

    pub(super) fn backtick(&mut self) {
        self.escaped("`".len(), b'`');
    }

    pub(super) fn ansi_c(&mut self) {
        self.escaped("$'".len(), b'\'');
    }

    /// A part that ends at a mark, unless a backslash stands before it.
    fn escaped(&mut self, opening: usize, mark: u8) {
        let from = self.at;
        self.in_word();
        self.at += opening;
        while let Some(byte) = self.peek(0) {
            if byte == mark {
                self.at += 1;
                self.mask(from, MaskKind::Letters);
                return;
            }
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
        self.at = self.text.len();
        self.scan.fault = Some(ScanFault::Unclosed(from));
    }

    pub(super) fn dollar(&mut self) {
        let from = self.at;
        let is_quoted = self.frames.last() == Some(&Frame::Double);
        match self.peek(1) {
            Some(b'(') if self.peek(2) == Some(b'(') && closes_twice(self.text, self.at + 1) => {
                self.at += 3;
                self.push(Frame::Arithmetic { open: 0 }, from, MaskKind::Letters);
                self.in_word();
            }
            Some(b'(') => {
                self.at += 2;
                self.push(Frame::Parenthesis, from, MaskKind::Letters);
                self.in_substitution();
            }
            Some(b'{') => {
                self.at += 2;
                self.push(Frame::Brace, from, MaskKind::Letters);
                self.in_word();
            }
            Some(b'\'') if !is_quoted => self.ansi_c(),
            Some(b'#' | b'$' | b'!' | b'?' | b'*' | b'@' | b'-') => {
                self.at += 2;
                self.mask(from, MaskKind::Letters);
                self.in_word();
            }
            _ => {
                self.at += 1;
                self.mask(from, MaskKind::Letters);
                self.in_word();
            }
        }
    }

    pub(super) fn double(&mut self, byte: u8) {
        match byte {
            b'\\' => self.at = (self.at + 2).min(self.text.len()),
            b'"' => {
                self.at += 1;
                self.pop();
                self.in_word();
            }
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            _ => self.at += 1,
        }
    }

    pub(super) fn brace(&mut self, byte: u8) {
        let is_quoted = self.frames.iter().rev().find(|frame| **frame != Frame::Brace) == Some(&Frame::Double);
        let from = self.at;
        match byte {
            b'\\' => self.at = (self.at + 2).min(self.text.len()),
            b'}' => {
                self.at += 1;
                self.pop();
                self.in_word();
            }
            b'\'' if !is_quoted => self.single(from),
            b'"' => {
                self.at += 1;
                self.push(Frame::Double, from, MaskKind::Letters);
            }
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            _ => self.at += 1,
        }
    }

    pub(super) fn arithmetic(&mut self, byte: u8, open: u32) {
        match byte {
            b'(' => {
                self.at += 1;
                self.set_open(open + 1);
            }
            b')' if open > 0 => {
                self.at += 1;
                self.set_open(open - 1);
            }
            b')' => {
                self.at = (self.at + 2).min(self.text.len());
                self.pop();
                self.begins_word = false;
                self.begins_command = false;
            }
            b'\\' => self.at = (self.at + 2).min(self.text.len()),
            b'"' => {
                let from = self.at;
                self.at += 1;
                self.push(Frame::Double, from, MaskKind::Letters);
            }
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            _ => self.at += 1,
        }
    }

    pub(super) fn set_open(&mut self, open: u32) {
        if let Some(frame) = self.frames.last_mut() {
            *frame = Frame::Arithmetic { open };
        }
    }

    pub(super) fn test(&mut self, byte: u8) {
        let from = self.at;
        let before = self.at.checked_sub(1).and_then(|index| self.text.get(index)).copied();
        match byte {
            b']' if self.starts_with(b"]]") && before.is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n')) => {
                self.at += 2;
                self.pop();
                self.in_word();
            }
            b'\\' => self.at = (self.at + 2).min(self.text.len()),
            b'\'' => self.single(from),
            b'"' => {
                self.at += 1;
                self.push(Frame::Double, from, MaskKind::Letters);
            }
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            _ => self.at += 1,
        }
    }
}

/// The longest expression. A longer one is none, so that the end of one is not looked for in the whole text again and again.
const LONGEST_EXPRESSION: usize = 4096;

/// Whether the two brackets at an offset are closed by two that stand together, which makes them arithmetic.
pub(crate) fn closes_twice(text: &[u8], at: usize) -> bool {
    let mut open = 0_usize;
    let mut index = at;
    let mut quote = None;
    while let Some(byte) = text.get(index).copied().filter(|_| index - at <= LONGEST_EXPRESSION) {
        match (quote, byte) {
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(mark), _) if mark == byte => quote = None,
            (None | Some(b'"'), b'\\') => index += 1,
            (None, b'(') => open += 1,
            (None, b')') => {
                open = open.saturating_sub(1);
                if open == 1 {
                    return text.get(index + 1) == Some(&b')');
                }
                if open == 0 {
                    return false;
                }
            }
            _ => {}
        }
        index += 1;
    }
    false
}

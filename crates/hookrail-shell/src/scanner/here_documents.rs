//! Here-documents: their operators, and their bodies behind the line.

use super::{FoundHereDocument, Pending, ScanFault, Scanner};
use crate::syntax::Span;

impl Scanner<'_> {
    pub(super) fn here_document(&mut self) {
        let mut from = self.at;
        while from.checked_sub(1).and_then(|index| self.text.get(index)).is_some_and(u8::is_ascii_digit) {
            from -= 1;
        }
        if self.begins_word {
            from = self.at;
        }
        self.at += 2;
        let strips_tabs = self.peek(0) == Some(b'-');
        if strips_tabs {
            self.at += 1;
        }
        while self.peek(0).is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            self.at += 1;
        }
        let mut delimiter = Vec::new();
        let mut expands = true;
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                b'\\' => {
                    expands = false;
                    delimiter.extend(self.peek(1));
                    self.at += 2;
                }
                b'\'' | b'"' => {
                    expands = false;
                    let rest = self.text.get(self.at + 1..).unwrap_or_default();
                    let Some(length) = rest.iter().position(|other| *other == byte) else {
                        self.scan.fault = Some(ScanFault::Unclosed(self.at));
                        return;
                    };
                    delimiter.extend(rest.get(..length).unwrap_or_default());
                    self.at += length + 2;
                }
                b'$' if self.peek(1).is_some_and(|next| matches!(next, b'\'' | b'"')) => self.at += 1,
                _ => {
                    delimiter.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at = self.at.min(self.text.len());
        self.begins_word = false;
        self.pending.push(Pending { operator: Span::new(from, self.at), delimiter, expands, strips_tabs });
    }

    /// Reads the bodies of the here-documents of a line that has ended.
    pub(super) fn read_bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let body_start = self.at;
            let mut body_end = None;
            while self.at < self.text.len() {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let line = rest.get(..length).unwrap_or_default();
                let tabs = if pending.strips_tabs { line.iter().take_while(|byte| **byte == b'\t').count() } else { 0 };
                let line_start = self.at;
                if line.get(tabs..) == Some(pending.delimiter.as_slice()) {
                    // The line break stays: it ends the command behind.
                    self.at += length;
                    body_end = Some(line_start);
                    break;
                }
                self.at = (self.at + length + 1).min(self.text.len());
            }
            self.scan.here_documents.push(FoundHereDocument {
                operator: pending.operator,
                body: Span::new(body_start, body_end.unwrap_or(self.at)),
                whole: Span::new(body_start, self.at),
                expands: pending.expands,
                strips_tabs: pending.strips_tabs,
                is_closed: body_end.is_some(),
            });
            // Behind a body the next one begins on the next line.
            if self.peek(0) == Some(b'\n') {
                self.at += 1;
            }
        }
    }
}

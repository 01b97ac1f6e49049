//! The bodies of here-documents.

use super::super::quotes::Quotes;
use super::Scan;

/// A here-document whose body is still to come.
pub(super) struct Document {
    end: String,
    /// Whether leading tabs do not count.
    tabs: bool,
    /// Whether its text was meant as it stands.
    raw: bool,
}

impl Scan<'_, '_> {
    /// `<<WORD`: remembers that a body follows the line.
    pub(super) fn here_document(&mut self) {
        self.copy(2);
        let tabs = self.peek(0) == Some('-');
        if tabs {
            self.copy(1);
        }
        while self.peek(0).is_some_and(|next| next == ' ' || next == '\t') {
            self.copy(1);
        }
        let quote = self.peek(0).filter(|next| matches!(next, '\'' | '"'));
        let from = self.at + usize::from(quote.is_some());
        let rest = self.text.get(from..).unwrap_or_default();
        let end: String = rest.iter().take_while(|next| next.is_ascii_alphanumeric() || **next == '_').collect();
        let length = end.chars().count();
        let closed = quote.is_none_or(|quote| rest.get(length) == Some(&quote));
        if end.is_empty() || !closed {
            return;
        }
        // The body of a quoted document is written anew with everything escaped, so that a reference can stand in it.
        self.push(&end, &end);
        self.at = from + length + usize::from(quote.is_some());
        self.documents.push(Document { end, tabs, raw: quote.is_some() });
    }

    pub(super) fn bodies(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            while self.at < self.text.len() && !self.ends(&document) {
                self.body_line(document.raw);
            }
            while self.peek(0).is_some_and(|next| next != '\n') {
                self.copy(1);
            }
        }
    }

    fn ends(&self, document: &Document) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let line: String = rest.iter().take_while(|next| **next != '\n').collect();
        let line = if document.tabs { line.trim_start_matches('\t') } else { &line };
        line == document.end
    }

    fn body_line(&mut self, raw: bool) {
        while let Some(next) = self.peek(0) {
            match next {
                '\n' => return self.copy(1),
                '$' if self.peek(1) == Some('{') && raw => self.raw_braces(),
                '$' if !raw => self.dollar(Quotes::Document, false),
                '`' if !raw => self.backtick(),
                '\\' if !raw => self.backslash(Quotes::Document),
                '$' | '`' | '\\' => {
                    self.out.push('\\');
                    self.copy(1);
                }
                _ => self.copy(1),
            }
        }
    }

    fn raw_braces(&mut self) {
        if let Some((value, length)) = self.known_at(0) {
            self.insert(&value, Quotes::Document);
            self.at += length;
            return;
        }
        self.out.push('\\');
        self.copy(1);
    }
}

//! Code for another shell, such as that of `sh -c '…'`.

use super::super::code_words::UnsafeUse;
use super::super::quotes::{Quotes, Value};
use super::{DEEPEST, Meaning, Scan, Until};

impl Scan<'_, '_> {
    /// A program for another shell: references are left for that shell to resolve, in the quotes they have there.
    pub(super) fn nested(&mut self, quote: char) {
        self.look_into_code(quote);
        self.copy(1);
        let mut inner = Quotes::None;
        // What this shell runs to put the code together, before the other one sees it.
        let (mut parentheses, mut in_backticks) = (0_usize, false);
        while let Some(next) = self.peek(0) {
            if next == quote {
                return self.copy(1);
            }
            let is_escaped_quote = quote == '"' && next == '\\' && self.peek(1) == Some('"');
            inner = match (if is_escaped_quote { '"' } else { next }, inner) {
                ('\'', Quotes::None) => Quotes::Single,
                ('"', Quotes::None) => Quotes::Double,
                ('\'', Quotes::Single) | ('"', Quotes::Double) => Quotes::None,
                _ => inner,
            };
            match next {
                '$' if self.peek(1) == Some('{') => {
                    if parentheses > 0 || in_backticks {
                        self.refuse_unless_plain();
                    }
                    self.nested_braces(quote, inner);
                }
                '$' if quote == '"' => {
                    if self.known_at(1).is_some() {
                        self.notes.refuse(UnsafeUse::PieceOfCode);
                    }
                    self.shell_inserts(self.peek(1));
                    self.copy(1);
                    if self.peek(0) == Some('(') {
                        parentheses += 1;
                        self.copy(1);
                    }
                }
                '`' if quote == '"' => {
                    self.shell_inserts(None);
                    in_backticks = !in_backticks;
                    self.copy(1);
                }
                '(' | ')' if parentheses > 0 => {
                    parentheses = if next == '(' { parentheses + 1 } else { parentheses - 1 };
                    self.copy(1);
                }
                '\\' if self.known_at(1).is_some() => self.nested_backslash(quote, inner),
                '\\' if quote == '"' || inner != Quotes::Single => self.copy(2),
                _ => self.copy(1),
            }
        }
    }

    /// Refuses a value that is not plain in a command whose output becomes code.
    fn refuse_unless_plain(&mut self) {
        if self.known_at(0).is_some_and(|(value, _)| !value.is_plain()) {
            self.notes.refuse(UnsafeUse::PieceOfCode);
        }
    }

    /// Judges a program for another shell as a command of its own.
    fn look_into_code(&mut self, quote: char) {
        let mut code = Vec::new();
        let mut rest = self.text.iter().skip(self.at + 1).copied().peekable();
        while let Some(next) = rest.next().filter(|next| *next != quote) {
            let is_escape = quote == '"' && next == '\\';
            match rest.next_if(|escaped| is_escape && matches!(escaped, '"' | '\\' | '$' | '`')) {
                Some(escaped) => code.push(escaped),
                None => code.push(next),
            }
        }
        // `find` and `xargs` put what they have found there.
        self.notes.has_code_with_arguments |= code.windows(2).any(|pair| pair == ['{', '}']);
        if self.depth >= DEEPEST {
            return self.notes.refuse(UnsafeUse::PieceOfCode);
        }
        let mut inner = Scan::new(code, self.depth + 1, &mut *self.ask);
        inner.plain(Until::End);
        let mut notes = inner.notes;
        notes.conclude();
        self.notes.add_code(&notes);
    }

    fn nested_braces(&mut self, quote: char, inner: Quotes) {
        let meaning = self.content(0).map(|content| ((self.ask)(&content), content));
        let (written, seen, length) = match meaning {
            Some((Meaning::Known(value), content)) => {
                (self.nested_value(&value, inner), value.text, content.chars().count())
            }
            Some((Meaning::Verbatim, content)) => {
                (inner.verbatim(&content, false), content.clone(), content.chars().count())
            }
            Some((Meaning::Shell, _)) | None => {
                if quote == '"' {
                    self.shell_inserts(self.peek(2));
                }
                return self.copy(2);
            }
        };
        self.at += length + 3;
        self.push(&fitted(&written, quote), &seen);
    }

    /// `\${…}`: the backslash escapes a value's first character, which a reference does not need.
    fn nested_backslash(&mut self, quote: char, inner: Quotes) {
        let Some((value, length)) = self.known_at(1) else { return self.copy(2) };
        self.at += 1 + length;
        let written = match value.is_plain() && !value.text.is_empty() {
            true => format!("\\{}", value.text),
            false => fitted(&self.nested_value(&value, inner), quote),
        };
        self.push(&written, &value.text);
    }

    fn nested_value(&mut self, value: &Value, inner: Quotes) -> String {
        if value.is_plain() {
            return inner.plain(&value.text);
        }
        self.notes.refers = true;
        inner.reference(&value.variable)
    }
}

/// A text inside of quoted code, so that the other shell sees it as it is.
fn fitted(text: &str, quote: char) -> String {
    match quote {
        '\'' => text.replace('\'', "'\\''"),
        _ => text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$"),
    }
}

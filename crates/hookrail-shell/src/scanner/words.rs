//! Words that the grammar reserves, where they may stand.

use super::{Frame, Mask, MaskKind, Scanner};
use crate::syntax::Span;

impl Scanner<'_> {
    /// Reads the beginning of a word up to a character that means something.
    pub(super) fn plain_word(&mut self) {
        let from = self.at;
        while self.peek(0).is_some_and(|byte| !is_special(byte)) {
            self.at += 1;
        }
        if self.at == from {
            self.at += 1;
        }
        let ends = self.peek(0).is_none_or(|byte| {
            matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
        });
        let text = self.text;
        let word = text.get(from..self.at).unwrap_or_default();
        let could_begin = self.begins_command;
        let structure_end = self.structure_end.take();
        self.last_word = Span::new(from, self.at);
        self.in_word();
        if !ends {
            if !word.iter().all(u8::is_ascii_alphanumeric) {
                self.mask(from, MaskKind::Letters);
            }
            return;
        }
        if std::mem::take(&mut self.expects_name) {
            self.begins_command = true;
        } else if could_begin {
            self.reserved_word(from, word, structure_end);
        } else if word == b"in" && self.expects_in {
            self.expects_in = false;
            // `esac` can follow.
            self.begins_command = self.frames.last() == Some(&Frame::Case);
        } else if is_reserved(word)
            || !word.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/'))
        {
            self.mask(from, MaskKind::Letters);
        }
    }

    pub(super) fn reserved_word(&mut self, from: usize, word: &[u8], structure_end: Option<usize>) {
        // A reserved word may follow the end of a structure at once; the grammar wants something between them.
        let between = structure_end.and_then(|end| Some((end, self.text.get(end..from)?)));
        if let Some((end, blanks)) = between
            && !blanks.is_empty()
            && blanks.iter().all(|byte| matches!(byte, b' ' | b'\t'))
            && matches!(word, b"fi" | b"done" | b"esac" | b"}" | b"then" | b"do" | b"else" | b"elif")
        {
            let span = Span::new(end, end + 1);
            self.scan.masks.push(Mask { span, kind: MaskKind::Separator });
        }
        let structured = match word {
            b"{" => {
                self.loop_in_braces(from);
                self.begins_command = true;
                true
            }
            b"!" => {
                self.begins_command = true;
                // The grammar knows it before commands only.
                if self.negates_structure() {
                    self.mask(from, MaskKind::Blanks);
                }
                true
            }
            b"if" | b"then" | b"elif" | b"else" | b"while" | b"until" | b"do" => {
                if word == b"do" {
                    self.loop_words = None;
                }
                self.begins_command = true;
                true
            }
            b"time" | b"coproc" => {
                self.begins_command = true;
                self.skip_prefix(word == b"coproc");
                self.mask(from, MaskKind::Blanks);
                true
            }
            b"case" => {
                self.frames.push(Frame::Case);
                self.expects_in = true;
                true
            }
            b"esac" => {
                if self.frames.last() == Some(&Frame::Case) {
                    self.frames.pop();
                }
                self.structure_end = Some(self.at);
                self.begins_command = true;
                true
            }
            b"for" | b"select" => {
                self.expects_in = true;
                self.loop_words = self.is_base().then_some(self.at);
                true
            }
            b"function" => {
                self.expects_name = true;
                true
            }
            b"fi" | b"done" | b"}" => {
                self.structure_end = Some(self.at);
                self.begins_command = true;
                true
            }
            _ => {
                if word.iter().any(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'.' | b'/')) {
                    self.mask(from, MaskKind::Letters);
                }
                false
            }
        };
        if structured && self.is_base() {
            self.in_arguments = false;
            self.scan.is_structured = true;
            self.open_structures += match word {
                b"if" | b"while" | b"until" | b"for" | b"select" | b"{" => 1,
                b"fi" | b"done" | b"}" => -1,
                _ => 0,
            };
        }
    }

    /// Whether a structure or another `!` follows.
    pub(super) fn negates_structure(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default().trim_ascii_start();
        let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\n')).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        matches!(word, b"{" | b"!" | b"if" | b"while" | b"until" | b"for" | b"case" | b"select")
    }

    /// The words of a loop whose body stands in braces, `for x in a b; { … }`, which the grammar does not know.
    pub(super) fn loop_in_braces(&mut self, brace: usize) {
        if !self.is_base() {
            return;
        }
        let Some(begin) = self.loop_words.take() else { return };
        // No `done` will come.
        self.open_structures -= 1;
        let head = self.text.get(begin..brace).unwrap_or_default();
        let blanks = head.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let end = head.iter().rposition(|byte| !byte.is_ascii_whitespace() && *byte != b';').map_or(0, |last| last + 1);
        let span = Span::new(begin + blanks, begin + end);
        let is_arithmetic = head.get(blanks..).is_some_and(|words| words.starts_with(b"(("));
        let is_for = self.text.get(..begin).is_some_and(|before| before.ends_with(b"for"));
        if end < blanks + 6 || is_arithmetic || !is_for {
            return;
        }
        self.scan.masks.push(Mask { span, kind: MaskKind::LoopWords });
    }

    /// Skips the option of `time`, or the name behind `coproc`.
    pub(super) fn skip_prefix(&mut self, has_name: bool) {
        let blanks = |at: usize| {
            let rest = self.text.get(at..).unwrap_or_default();
            at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
        };
        let begin = blanks(self.at);
        let rest = self.text.get(begin..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
        let word = rest.get(..length).unwrap_or_default();
        let next = blanks(begin + length);
        let is_compound = self.text.get(next).is_some_and(|byte| matches!(byte, b'{' | b'('));
        if matches!(word, b"-p" | b"--") || (has_name && length > 0 && is_compound && !is_reserved(word)) {
            self.at = begin + length;
            self.begins_word = true;
            if word == b"-p" {
                self.skip_prefix(false);
            }
        }
    }
}

fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b'\r'
            | b';'
            | b'&'
            | b'|'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'\\'
            | b'\''
            | b'"'
            | b'`'
            | b'$'
    )
}

pub(crate) fn is_reserved(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"then"
            | b"elif"
            | b"else"
            | b"fi"
            | b"for"
            | b"while"
            | b"until"
            | b"do"
            | b"done"
            | b"case"
            | b"esac"
            | b"select"
            | b"function"
            | b"{"
            | b"}"
            | b"!"
            | b"time"
            | b"coproc"
            | b"in"
    )
}

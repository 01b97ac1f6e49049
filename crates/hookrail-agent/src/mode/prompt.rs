//! The line that is being typed, as somebody who writes above it has to know it. The line editor tells of every change.
//!
//! The editor has a way of its own to write above its line, but then it waits for more keys while it still has some,
//! which is what pasted text looks like.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};

use hookrail_spawn::lock;
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use crate::text::width;
use crate::view::columns;
use crate::view::output::Output;
use crate::view::screen::AbovePrompt;

/// The prompt, what was typed after it, and how many bytes of that stand before the cursor.
#[derive(Clone, Default)]
pub(super) struct Prompt(Arc<Mutex<Line>>);

#[derive(Default)]
struct Line {
    prompt: String,
    typed: String,
    cursor: usize,
}

impl Prompt {
    fn line(&self) -> MutexGuard<'_, Line> {
        lock(&self.0)
    }

    /// A new line begins.
    pub(super) fn begin(&self, prompt: &str, typed: &str) {
        *self.line() = Line { prompt: prompt.to_owned(), typed: typed.to_owned(), cursor: typed.len() };
    }
}

impl Line {
    /// What takes the line away, writes something, and puts the line back with the cursor where it was.
    fn below(&self, text: &str, columns: usize) -> String {
        let (before, after) = self.typed.split_at_checked(self.cursor).unwrap_or((&self.typed, ""));
        let wide = |text: &str| text.chars().map(width).sum::<usize>();
        let columns = columns.max(1);
        let (at, end) = (wide(&self.prompt) + wide(before), wide(&self.prompt) + wide(&self.typed));
        let up = |rows: usize| if rows > 0 { format!("\u{1b}[{rows}A") } else { String::new() };
        let mut out = format!("\r{}\u{1b}[J{text}{}{before}{after}", up(at / columns), self.prompt);
        if end > at {
            out.push_str(&up(end / columns - at / columns));
            out.push('\r');
            if at % columns > 0 {
                let _ = write!(out, "\u{1b}[{}C", at % columns);
            }
        }
        out
    }
}

impl AbovePrompt for Prompt {
    fn write(&mut self, output: &Output, text: String) {
        output.write(&self.line().below(&text, columns()));
    }
}

/// The editor asks for a hint whenever its line has changed.
impl Hinter for Prompt {
    type Hint = String;

    fn hint(&self, typed: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        let mut line = self.line();
        typed.clone_into(&mut line.typed);
        line.cursor = cursor;
        None
    }
}

impl Completer for Prompt {
    type Candidate = String;
}

impl Highlighter for Prompt {}

impl Validator for Prompt {}

impl Helper for Prompt {}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn the_line_is_put_back_with_its_cursor() {
        let line = |typed: &str, cursor: usize| Line { prompt: "> ".to_owned(), typed: typed.to_owned(), cursor };
        assert_eq!(line("", 0).below("x\n", 80), "\r\u{1b}[Jx\n> ");
        assert_eq!(line("abc", 3).below("x\n", 80), "\r\u{1b}[Jx\n> abc");
        assert_eq!(line("abc", 1).below("x\n", 80), "\r\u{1b}[Jx\n> abc\r\u{1b}[3C");
        assert_eq!(line("abcdefgh", 1).below("", 4), "\r\u{1b}[J> abcdefgh\u{1b}[2A\r\u{1b}[3C");
        assert_eq!(line("abcdefgh", 8).below("", 4), "\r\u{1b}[2A\u{1b}[J> abcdefgh");
    }
}

//! Draws the line that is being typed, with its cursor, below everything else that is written.

use crossterm::cursor::{MoveRight, MoveUp};
use crossterm::terminal::{Clear, ClearType};

use crate::text::width;

/// The line that is being typed, as it is on the screen.
#[derive(Default)]
pub(super) struct PromptLine {
    prompt: String,
    typed: String,
    /// The number of typed bytes before the cursor.
    cursor: usize,
    /// The row of the cursor on the screen, counted from the row of the prompt.
    row: usize,
}

impl PromptLine {
    /// Changes the line. The next drawing shows it.
    pub(super) fn set(&mut self, prompt: &str, typed: &str, cursor: usize) {
        prompt.clone_into(&mut self.prompt);
        typed.clone_into(&mut self.typed);
        self.cursor = cursor;
    }

    /// Returns the sequence that erases the line, writes a text above it, and draws the line with its cursor.
    pub(super) fn draw(&mut self, above: &str, columns: usize) -> String {
        let columns = columns.max(1);
        let (before, after) = self.typed.split_at_checked(self.cursor).unwrap_or((&self.typed, ""));
        let cursor = place(place((0, 0), &self.prompt, columns), before, columns);
        let end = place(cursor, after, columns);
        // In raw mode a line feed alone does not go back to the first column.
        let lines = |text: &str| text.replace('\n', "\r\n");
        let mut out = format!("\r{}{}", up(self.row), Clear(ClearType::FromCursorDown));
        out.push_str(&lines(above));
        out.push_str(&self.prompt);
        out.push_str(&lines(&self.typed));
        if end.1 == 0 && end.0 > 0 && !self.typed.ends_with('\n') {
            // The row is full, and terminals keep the cursor in it until the next character.
            out.push_str("\r\n");
        }
        if end != cursor {
            out.push_str(&up(end.0 - cursor.0));
            out.push('\r');
            if let Ok(right @ 1..) = u16::try_from(cursor.1) {
                out.push_str(&MoveRight(right).to_string());
            }
        }
        self.row = cursor.0;
        out
    }
}

fn up(rows: usize) -> String {
    match u16::try_from(rows) {
        Ok(rows @ 1..) => MoveUp(rows).to_string(),
        Ok(0) | Err(_) => String::new(),
    }
}

/// Returns the row and the column after a text that begins at a position.
fn place((mut row, mut column): (usize, usize), text: &str, columns: usize) -> (usize, usize) {
    for character in text.chars() {
        let wide = width(character);
        if character == '\n' || column + wide > columns {
            (row, column) = (row + 1, 0);
        }
        if character != '\n' {
            column += wide;
        }
    }
    if column >= columns { (row + 1, 0) } else { (row, column) }
}

#[cfg(test)]
mod tests {
    use super::PromptLine;

    /// What a terminal of so many columns shows, and the row and column of its cursor.
    fn shown(columns: u16, draw: impl FnOnce(&mut PromptLine) -> Vec<String>) -> (String, (u16, u16)) {
        let mut terminal = vt100::Parser::new(8, columns, 0);
        for text in draw(&mut PromptLine::default()) {
            terminal.process(text.as_bytes());
        }
        (terminal.screen().contents(), terminal.screen().cursor_position())
    }

    fn drawn(typed: &str, cursor: usize, columns: u16) -> (String, (u16, u16)) {
        shown(columns, |line| {
            line.set("> ", typed, cursor);
            vec![line.draw("", columns.into()), line.draw("x\n", columns.into())]
        })
    }

    #[test]
    fn the_line_is_drawn_below_with_its_cursor() {
        assert_eq!(drawn("", 0, 80), ("x\n> ".to_owned(), (1, 2)));
        assert_eq!(drawn("abc", 3, 80), ("x\n> abc".to_owned(), (1, 5)));
        assert_eq!(drawn("abc", 1, 80), ("x\n> abc".to_owned(), (1, 3)));
        assert_eq!(drawn("a\nbc", 1, 80), ("x\n> a\nbc".to_owned(), (1, 3)));
        assert_eq!(drawn("日本", 3, 80), ("x\n> 日本".to_owned(), (1, 4)));
    }

    #[test]
    fn a_long_line_wraps() {
        assert_eq!(drawn("abcdefgh", 1, 4), ("x\n> abcdefgh".to_owned(), (1, 3)));
        assert_eq!(drawn("abcdefgh", 7, 4), ("x\n> abcdefgh".to_owned(), (3, 1)));
        assert_eq!(drawn("ab", 2, 4).1, (2, 0));
        assert_eq!(drawn("abcde", 2, 4).1, (2, 0));
        assert_eq!(drawn("a日b", 1, 4).1, (1, 3));
    }

    #[test]
    fn what_becomes_shorter_leaves_nothing() {
        let (text, cursor) = shown(4, |line| {
            line.set("> ", "abcdefgh", 8);
            let long = line.draw("", 4);
            line.set("> ", "a", 1);
            vec![long, line.draw("", 4)]
        });
        assert_eq!((text.as_str(), cursor), ("> a", (0, 3)));
    }
}

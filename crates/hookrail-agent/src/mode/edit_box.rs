//! The dialog in which a text of several lines is edited. It draws itself and takes keys, as the components of hooks do.

use std::sync::{Mutex, MutexGuard};

use hookrail::{Component, HostFuture};
use hookrail_spawn::lock;
use tokio::sync::Notify;

use crate::text::{visible, width};

/// A text that is being edited.
pub(super) struct EditBox {
    title: String,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    lines: Vec<String>,
    /// The line, and how many characters stand before the cursor in it.
    row: usize,
    column: usize,
    end: Option<Option<String>>,
}

impl EditBox {
    pub(super) fn new(title: &str, text: &str) -> Self {
        let lines: Vec<String> = text.replace('\r', "").split('\n').map(str::to_owned).collect();
        let row = lines.len() - 1;
        let column = lines.last().map_or(0, |line| line.chars().count());
        let state = Mutex::new(State { lines, row, column, end: None });
        Self { title: visible(title), state, changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The text, once it was accepted.
    pub(super) fn text(&self) -> Option<String> {
        self.state().end.clone().flatten()
    }
}

impl Component for EditBox {
    fn render(&self, columns: usize) -> HostFuture<'_, Vec<String>> {
        let state = self.state();
        let mut lines: Vec<String> = self.title.lines().map(str::to_owned).collect();
        for (at, line) in state.lines.iter().enumerate() {
            lines.push(if at == state.row { with_cursor(line, state.column, columns) } else { format!("  {line}") });
        }
        lines.push("Ctrl-D accepts, Escape cancels".to_owned());
        Box::pin(std::future::ready(lines))
    }

    fn key(&self, data: &str) {
        self.state().take(data);
        self.changed.notify_one();
    }

    fn changed(&self) -> HostFuture<'_, bool> {
        Box::pin(async move {
            loop {
                if self.state().end.is_some() {
                    return false;
                }
                self.changed.notified().await;
                if self.state().end.is_none() {
                    return true;
                }
            }
        })
    }
}

/// The line with its cursor, and of a long one the part around it.
fn with_cursor(line: &str, column: usize, columns: usize) -> String {
    let room = columns.saturating_sub(4).max(8);
    let characters: Vec<char> = line.chars().collect();
    let mut from = 0;
    let mut before: usize = characters.iter().take(column).map(|character| width(*character)).sum();
    while before >= room {
        before -= characters.get(from).map_or(1, |character| width(*character));
        from += 1;
    }
    let part = |from: usize, to: usize| -> String { characters.iter().take(to).skip(from).collect() };
    let under = characters.get(column).map_or_else(|| " ".to_owned(), char::to_string);
    format!("  {}\u{1b}[7m{under}\u{1b}[27m{}", part(from, column), part(column + 1, characters.len()))
}

impl State {
    fn line(&self) -> &str {
        self.lines.get(self.row).map_or("", String::as_str)
    }

    /// The line before and after the cursor.
    fn halves(&self) -> (String, String) {
        let at = self.line().char_indices().nth(self.column).map_or(self.line().len(), |(at, _)| at);
        let (before, after) = self.line().split_at(at);
        (before.to_owned(), after.to_owned())
    }

    fn set_line(&mut self, text: String) {
        if let Some(line) = self.lines.get_mut(self.row) {
            *line = text;
        }
    }

    fn length(&self) -> usize {
        self.line().chars().count()
    }

    fn take(&mut self, data: &str) {
        match data {
            "\u{4}" => self.end = Some(Some(self.lines.join("\n"))),
            "\u{1b}" | "\u{3}" => self.end = Some(None),
            "\r" | "\n" => {
                let (before, after) = self.halves();
                self.set_line(before);
                self.row += 1;
                self.lines.insert(self.row, after);
                self.column = 0;
            }
            "\u{7f}" | "\u{8}" => self.erase(),
            "\u{1b}[3~" => {
                let (before, after) = self.halves();
                self.set_line(before + after.get(after.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default());
            }
            "\u{1b}[A" | "\u{1b}OA" => self.row = self.row.saturating_sub(1),
            "\u{1b}[B" | "\u{1b}OB" => self.row = (self.row + 1).min(self.lines.len() - 1),
            "\u{1b}[C" | "\u{1b}OC" => self.column += 1,
            "\u{1b}[D" | "\u{1b}OD" => self.column = self.column.saturating_sub(1),
            "\u{1b}[H" | "\u{1b}[1~" | "\u{1}" => self.column = 0,
            "\u{1b}[F" | "\u{1b}[4~" | "\u{5}" => self.column = usize::MAX,
            "\u{15}" => {
                let (_, after) = self.halves();
                self.set_line(after);
                self.column = 0;
            }
            "\u{b}" => {
                let (before, _) = self.halves();
                self.set_line(before);
            }
            typed if typed == "\t" || !typed.chars().any(char::is_control) => {
                let (before, after) = self.halves();
                self.set_line(before + typed + &after);
                self.column += typed.chars().count();
            }
            _ => {}
        }
        self.column = self.column.min(self.length());
    }

    /// Takes the character before the cursor away, or the line break.
    fn erase(&mut self) {
        let (mut before, after) = self.halves();
        if before.pop().is_some() {
            self.set_line(before + &after);
            self.column -= 1;
        } else if self.row > 0 {
            self.lines.remove(self.row);
            self.row -= 1;
            self.column = self.length();
            let joined = self.line().to_owned() + &after;
            self.set_line(joined);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EditBox;
    use hookrail::Component as _;

    fn typed(text: &str, keys: &[&str]) -> Option<String> {
        let edit = EditBox::new("title", text);
        keys.iter().for_each(|key| edit.key(key));
        edit.text()
    }

    #[test]
    fn a_text_is_edited_with_keys() {
        assert_eq!(typed("one\ntwo", &["!", "\r", "é", "\u{4}"]).as_deref(), Some("one\ntwo!\né"));
        assert_eq!(typed("ab\ncd", &["\u{1}", "\u{7f}", "x", "\u{4}"]).as_deref(), Some("abxcd"));
        assert_eq!(
            typed("ab\ncd", &["\u{1b}[A", "\u{1b}[D", "\u{1b}[3~", "\u{5}", "z", "\u{4}"]).as_deref(),
            Some("az\ncd")
        );
        assert_eq!(typed("abc", &["\u{1b}[D", "\u{15}", "\u{1b}[C", "\u{b}", "\u{4}"]).as_deref(), Some("c"));
        assert_eq!(typed("abc", &["x", "\u{1b}"]), None);
        assert_eq!(typed("abc", &["x"]), None);
    }
}

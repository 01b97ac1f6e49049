//! The dialog in which a text of several lines is edited.

use std::sync::{Mutex, MutexGuard};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use crossterm::style::Attribute;
use hookrail::host::HostFuture;
use hookrail_spawn::lock_mutex;
use tokio::sync::Notify;

use super::painter::Widget;
use super::text_edit::TextEdit;
use crate::text::{readable, width};

/// A text that is being edited.
pub(super) struct EditBox {
    title: String,
    state: Mutex<EditBoxState>,
    changed: Notify,
}

struct EditBoxState {
    edit: TextEdit,
    end: Option<EditBoxEnd>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EditBoxEnd {
    Accepted,
    Cancelled,
}

impl EditBox {
    pub(super) fn new(title: &str, text: &str) -> Self {
        let state = Mutex::new(EditBoxState { edit: TextEdit::new(&text.replace('\r', "")), end: None });
        Self { title: readable(title), state, changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, EditBoxState> {
        lock_mutex(&self.state)
    }

    /// Returns the text if the user accepted it.
    pub(super) fn text(&self) -> Option<String> {
        let state = self.state();
        (state.end == Some(EditBoxEnd::Accepted)).then(|| state.edit.text().to_owned())
    }
}

impl Widget for EditBox {
    fn render(&self, columns: usize) -> HostFuture<'_, Vec<String>> {
        let state = self.state();
        let before = state.edit.before();
        let row = before.matches('\n').count();
        let column = before.chars().rev().take_while(|character| *character != '\n').count();
        let mut lines: Vec<String> = self.title.lines().map(str::to_owned).collect();
        for (at, line) in state.edit.text().split('\n').enumerate() {
            lines.push(if at == row { with_cursor(line, column, columns) } else { format!("  {line}") });
        }
        lines.push("Ctrl-D accepts, Escape cancels".to_owned());
        Box::pin(std::future::ready(lines))
    }

    fn press(&self, key: &KeyEvent) {
        let mut state = self.state();
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('d') if control => state.end = Some(EditBoxEnd::Accepted),
            KeyCode::Char('c') if control => state.end = Some(EditBoxEnd::Cancelled),
            KeyCode::Char('j') if control => state.edit.insert("\n"),
            KeyCode::Esc => state.end = Some(EditBoxEnd::Cancelled),
            KeyCode::Enter => state.edit.insert("\n"),
            KeyCode::Up | KeyCode::Down => {
                state.edit.move_line(key.code == KeyCode::Down);
            }
            _ => state.edit.press(key),
        }
        drop(state);
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

/// Returns the line with its cursor; of a long line, the part around the cursor.
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
    let (on, off) = (Attribute::Reverse, Attribute::NoReverse);
    format!("  {}{on}{under}{off}{}", part(from, column), part(column + 1, characters.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCEPT: (KeyCode, KeyModifiers) = (KeyCode::Char('d'), KeyModifiers::CONTROL);

    fn plain(code: KeyCode) -> (KeyCode, KeyModifiers) {
        (code, KeyModifiers::NONE)
    }

    fn typed(text: &str, keys: &[(KeyCode, KeyModifiers)]) -> Option<String> {
        let edit = EditBox::new("title", text);
        keys.iter().for_each(|(code, modifiers)| edit.press(&KeyEvent::new(*code, *modifiers)));
        edit.text()
    }

    #[test]
    fn a_text_is_edited_with_keys() {
        let (enter, up, left) = (plain(KeyCode::Enter), plain(KeyCode::Up), plain(KeyCode::Left));
        let letter = |letter| plain(KeyCode::Char(letter));
        let control = |letter| (KeyCode::Char(letter), KeyModifiers::CONTROL);
        assert_eq!(typed("one\ntwo", &[letter('!'), enter, letter('é'), ACCEPT]).as_deref(), Some("one\ntwo!\né"));
        let erase = plain(KeyCode::Backspace);
        assert_eq!(typed("ab\ncd", &[control('a'), erase, letter('x'), ACCEPT]).as_deref(), Some("abxcd"));
        let delete = plain(KeyCode::Delete);
        assert_eq!(typed("ab\ncd", &[up, left, delete, control('e'), letter('z'), ACCEPT]).as_deref(), Some("az\ncd"));
        let right = plain(KeyCode::Right);
        assert_eq!(typed("abc", &[left, control('u'), right, control('k'), ACCEPT]).as_deref(), Some("c"));
        assert_eq!(typed("abc", &[letter('x'), plain(KeyCode::Esc)]), None);
        assert_eq!(typed("abc", &[letter('x')]), None);
    }
}

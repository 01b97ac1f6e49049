//! A text that is being edited, and the effect of keys on it. The prompt and the editing dialog use it and draw the text
//! themselves.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::text::is_hidden;

/// A text with a cursor.
#[derive(Clone, Default)]
pub(super) struct TextEdit {
    text: String,
    /// The number of bytes before the cursor.
    cursor: usize,
    /// The text that was cut last, for Ctrl-Y.
    cut: String,
}

impl TextEdit {
    /// Makes a text with the cursor at its end.
    pub(super) fn new(text: &str) -> Self {
        Self { cursor: text.len(), text: text.to_owned(), cut: String::new() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Replaces the text.
    pub(super) fn replace(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.cursor = text.len();
    }

    pub(super) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// Inserts pasted text, with line breaks and without other control characters.
    pub(super) fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
        self.insert(&text.chars().filter(|character| *character == '\n' || !is_hidden(*character)).collect::<String>());
    }

    pub(super) fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Handles the keys that have the same effect in every text.
    pub(super) fn press(&mut self, key: &KeyEvent) {
        let has = |modifier| key.modifiers.contains(modifier);
        let by_word = has(KeyModifiers::CONTROL) || has(KeyModifiers::ALT);
        match key.code {
            KeyCode::Char(letter) if has(KeyModifiers::CONTROL) => self.press_control(letter),
            KeyCode::Char('b') if has(KeyModifiers::ALT) => self.cursor = self.word_start(),
            KeyCode::Char('f') if has(KeyModifiers::ALT) => self.cursor = self.word_end(),
            KeyCode::Char('d') if has(KeyModifiers::ALT) => self.cut_to(self.word_end()),
            KeyCode::Char(character) if !has(KeyModifiers::ALT) && !is_hidden(character) => {
                self.insert(character.encode_utf8(&mut [0; 4]));
            }
            KeyCode::Tab => self.insert("    "),
            KeyCode::Left if by_word => self.cursor = self.word_start(),
            KeyCode::Right if by_word => self.cursor = self.word_end(),
            KeyCode::Left => self.cursor = self.previous(),
            KeyCode::Right => self.cursor = self.next(),
            KeyCode::Home => self.cursor = self.line_start(),
            KeyCode::End => self.cursor = self.line_end(),
            KeyCode::Backspace if by_word => self.cut_to(self.word_start()),
            KeyCode::Backspace => self.remove_to(self.previous()),
            KeyCode::Delete => self.remove_to(self.next()),
            // No other key means anything in a text.
            _ => {}
        }
    }

    fn press_control(&mut self, letter: char) {
        match letter {
            'a' => self.cursor = self.line_start(),
            'b' => self.cursor = self.previous(),
            'd' => self.remove_to(self.next()),
            'e' => self.cursor = self.line_end(),
            'f' => self.cursor = self.next(),
            'h' => self.remove_to(self.previous()),
            'k' => self.cut_to(self.line_end()),
            'u' => self.cut_to(self.line_start()),
            'w' => self.cut_to(self.word_start()),
            'y' => self.insert(&self.cut.clone()),
            _ => {}
        }
    }

    /// Moves the cursor one line up or down. Returns false if there is no such line.
    pub(super) fn move_line(&mut self, down: bool) -> bool {
        let column = self.before().chars().count() - self.before_line().chars().count();
        let start = if down {
            let end = self.line_end();
            if end == self.text.len() {
                return false;
            }
            end + 1
        } else {
            let Some(end) = self.line_start().checked_sub(1) else { return false };
            self.text.get(..end).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1)
        };
        let line = self.text.get(start..).unwrap_or_default();
        let line = line.split('\n').next().unwrap_or_default();
        self.cursor = start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        true
    }

    /// Returns everything before the line of the cursor.
    fn before_line(&self) -> &str {
        self.text.get(..self.line_start()).unwrap_or_default()
    }

    fn previous(&self) -> usize {
        self.before().char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn next(&self) -> usize {
        self.cursor + self.after().chars().next().map_or(0, char::len_utf8)
    }

    fn line_start(&self) -> usize {
        self.before().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.after().find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn word_start(&self) -> usize {
        let words = self.before().trim_end_matches(|character: char| !character.is_alphanumeric());
        words.trim_end_matches(char::is_alphanumeric).len()
    }

    fn word_end(&self) -> usize {
        let words = self.after().trim_start_matches(|character: char| !character.is_alphanumeric());
        self.text.len() - words.trim_start_matches(char::is_alphanumeric).len()
    }

    /// Removes the text between the cursor and another position.
    fn remove_to(&mut self, place: usize) {
        let (from, to) = (place.min(self.cursor), place.max(self.cursor));
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    /// Removes the text between the cursor and another position, and keeps it for Ctrl-Y.
    fn cut_to(&mut self, place: usize) {
        let (from, to) = (place.min(self.cursor), place.max(self.cursor));
        if let Some(cut) = self.text.get(from..to).filter(|cut| !cut.is_empty()) {
            self.cut = cut.to_owned();
        }
        self.remove_to(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: KeyModifiers = KeyModifiers::NONE;

    fn after(text: &str, keys: &[(KeyCode, KeyModifiers)]) -> (String, usize) {
        let mut edit = TextEdit::new(text);
        keys.iter().for_each(|(code, modifiers)| edit.press(&KeyEvent::new(*code, *modifiers)));
        (edit.text().to_owned(), edit.cursor())
    }

    fn control(letter: char) -> (KeyCode, KeyModifiers) {
        (KeyCode::Char(letter), KeyModifiers::CONTROL)
    }

    fn alt(letter: char) -> (KeyCode, KeyModifiers) {
        (KeyCode::Char(letter), KeyModifiers::ALT)
    }

    #[test]
    fn keys_edit_and_move() {
        assert_eq!(after("ab", &[(KeyCode::Char('é'), NONE)]), ("abé".to_owned(), 4));
        assert_eq!(after("abé", &[(KeyCode::Backspace, NONE), (KeyCode::Left, NONE)]), ("ab".to_owned(), 1));
        assert_eq!(after("abc", &[(KeyCode::Home, NONE), (KeyCode::Delete, NONE)]), ("bc".to_owned(), 0));
        assert_eq!(after("one two.", &[control('w'), control('w'), control('y')]), ("one ".to_owned(), 4));
        assert_eq!(after("one two", &[alt('b'), alt('b'), alt('f')]), ("one two".to_owned(), 3));
        assert_eq!(after("one two", &[control('a'), alt('d')]), (" two".to_owned(), 0));
        assert_eq!(after("a\nbcd", &[(KeyCode::Left, NONE), control('u')]), ("a\nd".to_owned(), 2));
        assert_eq!(after("ab\ncd", &[control('a'), control('h')]), ("abcd".to_owned(), 2));
        assert_eq!(after("ab", &[control('a'), control('k'), control('y'), control('y')]), ("abab".to_owned(), 4));
    }

    #[test]
    fn the_cursor_goes_from_line_to_line() {
        let mut edit = TextEdit::new("one\n\nthree");
        assert!(edit.move_line(false) && edit.cursor() == 4);
        assert!(edit.move_line(false) && edit.cursor() == 0);
        assert!(!edit.move_line(false));
        edit.press(&KeyEvent::new(KeyCode::End, NONE));
        assert!(edit.move_line(true) && edit.move_line(true) && edit.cursor() == 5);
        assert!(!edit.move_line(true));
    }

    #[test]
    fn nothing_that_is_pasted_is_acted_on() {
        let mut edit = TextEdit::default();
        edit.paste("a\r\nb\t\u{1b}[2J\u{202e}c");
        assert_eq!(edit.text(), "a\nb    [2Jc");
    }
}

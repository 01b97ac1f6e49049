//! The line in which a prompt or an answer is typed: editing keys, the history, and the search in it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::history::History;
use super::text_edit::TextEdit;

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// The line is still being typed and must be drawn.
    Edited,
    /// The line is complete.
    Done,
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D on an empty line.
    Closed,
    /// Ctrl-L.
    ClearScreen,
    /// Ctrl-Z.
    Suspend,
}

/// A line that is being typed.
pub(super) struct LineEditor<'h> {
    prompt: String,
    edit: TextEdit,
    /// The earlier lines; none while an answer is typed.
    history: Option<&'h History>,
    /// How many lines ago the shown line was typed; zero for a new line.
    ago: usize,
    /// The text that was typed before a line of the history replaced it.
    draft: String,
    search: Option<String>,
}

impl<'h> LineEditor<'h> {
    pub(super) fn new(prompt: &str, text: &str, history: Option<&'h History>) -> Self {
        let edit = TextEdit::new(text);
        Self { prompt: prompt.to_owned(), edit, history, ago: 0, draft: String::new(), search: None }
    }

    /// Returns the prompt before the text.
    pub(super) fn prompt(&self) -> String {
        match &self.search {
            Some(text) => format!("(search) {text}: "),
            None => self.prompt.clone(),
        }
    }

    pub(super) fn text(&self) -> &str {
        self.edit.text()
    }

    /// Returns the number of bytes before the cursor.
    pub(super) fn cursor(&self) -> usize {
        self.edit.cursor()
    }

    /// Moves the cursor to the end of the text, so that output follows it.
    pub(super) fn finish(&mut self) {
        self.search = None;
        let text = self.edit.text().to_owned();
        self.edit.replace(&text);
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.search = None;
        self.edit.paste(text);
    }

    pub(super) fn press(&mut self, key: &KeyEvent) -> Pressed {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if self.search.is_some() && self.press_in_search(key, control) {
            return Pressed::Edited;
        }
        match key.code {
            // A line that was typed while the terminal was not in raw mode ends with a line feed, which is Ctrl-J.
            KeyCode::Enter => return Pressed::Done,
            KeyCode::Char('j' | 'm') if control => return Pressed::Done,
            KeyCode::Char('c') if control => return Pressed::Interrupted,
            KeyCode::Char('d') if control && self.edit.text().is_empty() => return Pressed::Closed,
            KeyCode::Char('l') if control => return Pressed::ClearScreen,
            KeyCode::Char('z') if control => return Pressed::Suspend,
            KeyCode::Char('r') if control && self.history.is_some() => self.search = Some(String::new()),
            KeyCode::Char('p') if control => self.go_back(),
            KeyCode::Char('n') if control => self.go_forth(),
            KeyCode::Up => self.go_back(),
            KeyCode::Down => self.go_forth(),
            _ => self.edit.press(key),
        }
        Pressed::Edited
    }

    /// Moves one line up in the text, or else in the history.
    fn go_back(&mut self) {
        if !self.edit.move_line(false) {
            self.take_up(self.ago + 1);
        }
    }

    fn go_forth(&mut self) {
        if !self.edit.move_line(true)
            && let Some(ago) = self.ago.checked_sub(1)
        {
            self.take_up(ago);
        }
    }

    /// Shows the line that was typed `ago` lines ago.
    fn take_up(&mut self, ago: usize) {
        if self.ago == 0 {
            self.edit.text().clone_into(&mut self.draft);
        }
        let line = match (ago, self.history) {
            (0, _) => self.draft.as_str(),
            (_, Some(history)) => match history.ago(ago) {
                Some(line) => line,
                None => return,
            },
            (_, None) => return,
        };
        let line = line.to_owned();
        self.edit.replace(&line);
        self.ago = ago;
    }

    /// Handles a key of the search. Returns false for any other key, which ends the search with the line that was found.
    fn press_in_search(&mut self, key: &KeyEvent, control: bool) -> bool {
        let Some(mut text) = self.search.take() else { return false };
        let mut from = self.ago.max(1);
        match key.code {
            KeyCode::Char('r') if control => from = self.ago + 1,
            KeyCode::Char('g' | 'c') if control => {
                self.take_up(0);
                return true;
            }
            KeyCode::Esc => {
                self.take_up(0);
                return true;
            }
            KeyCode::Backspace => {
                text.pop();
                from = 1;
            }
            KeyCode::Char(character) if !control => text.push(character),
            _ => return false,
        }
        if let Some(ago) = self.history.and_then(|history| history.search(&text, from)).filter(|_| !text.is_empty()) {
            self.take_up(ago);
        }
        self.search = Some(text);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(editor: &mut LineEditor<'_>, keys: &[(KeyCode, KeyModifiers)]) -> Pressed {
        let mut last = Pressed::Edited;
        for (code, modifiers) in keys {
            last = editor.press(&KeyEvent::new(*code, *modifiers));
        }
        last
    }

    fn control(letter: char) -> (KeyCode, KeyModifiers) {
        (KeyCode::Char(letter), KeyModifiers::CONTROL)
    }

    fn plain(code: KeyCode) -> (KeyCode, KeyModifiers) {
        (code, KeyModifiers::NONE)
    }

    fn history() -> History {
        let mut history = History::default();
        ["make it red", "make it blue", "thanks"].iter().for_each(|line| history.add(line));
        history
    }

    #[test]
    fn lines_of_before_are_taken_up_and_what_was_typed_comes_back() {
        let history = history();
        let mut editor = LineEditor::new("> ", "new", Some(&history));
        let (up, down) = (plain(KeyCode::Up), plain(KeyCode::Down));
        press(&mut editor, &[up, up]);
        assert_eq!(editor.text(), "make it blue");
        press(&mut editor, &[up, up, up]);
        assert_eq!(editor.text(), "make it red");
        press(&mut editor, &[down, down, down, down]);
        assert_eq!((editor.text(), editor.cursor()), ("new", 3));
        let mut answer = LineEditor::new("sure? ", "", None);
        press(&mut answer, &[up]);
        assert_eq!(answer.text(), "", "an answer is not one of the prompts of before");
    }

    #[test]
    fn the_history_is_searched() {
        let history = history();
        let mut editor = LineEditor::new("> ", "", Some(&history));
        let letter = |letter| plain(KeyCode::Char(letter));
        press(&mut editor, &[control('r'), letter('i'), letter('t')]);
        assert_eq!((editor.text(), editor.prompt().as_str()), ("make it blue", "(search) it: "));
        press(&mut editor, &[control('r')]);
        assert_eq!(editor.text(), "make it red");
        assert_eq!(press(&mut editor, &[plain(KeyCode::Enter)]), Pressed::Done);
        assert_eq!((editor.text(), editor.prompt().as_str()), ("make it red", "> "));
        let mut editor = LineEditor::new("> ", "kept", Some(&history));
        press(&mut editor, &[control('r'), letter('b'), plain(KeyCode::Esc)]);
        assert_eq!(editor.text(), "kept");
    }

    #[test]
    fn a_line_ends_in_one_of_these_ways() {
        let end = |text: &str, key| press(&mut LineEditor::new("", text, None), &[key]);
        assert_eq!(end("x", plain(KeyCode::Enter)), Pressed::Done);
        assert_eq!(end("x", control('j')), Pressed::Done);
        assert_eq!(end("x", control('c')), Pressed::Interrupted);
        assert_eq!(end("", control('d')), Pressed::Closed);
        assert_eq!(end("x", control('d')), Pressed::Edited);
        assert_eq!(end("x", control('z')), Pressed::Suspend);
    }
}

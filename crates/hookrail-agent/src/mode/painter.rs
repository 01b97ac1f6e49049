//! Draws a widget below the output so far, redraws it in the same rows when it changes, and removes it when it is done.

use std::io::{self, Write as _};

use crossterm::cursor::{Hide, MoveUp, Show};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use crossterm::terminal::{Clear, ClearType};
use hookrail::HostError;
use hookrail::host::{Component, HostFuture};

use super::keys::{Input, KeyListener, sequence};
use crate::text::coloured;
use crate::view::screen::{columns, has_colours, rows};

/// Something that draws itself and handles keys: a dialog of the agent, or a component of a module.
pub(super) trait Widget: Sync {
    /// Returns the lines of the widget for this width.
    fn render(&self, columns: usize) -> HostFuture<'_, Vec<String>>;

    /// Handles a key.
    fn press(&self, key: &KeyEvent);

    /// Waits until the widget must be drawn again. Returns false if it is done.
    fn changed(&self) -> HostFuture<'_, bool>;
}

impl Widget for &dyn Component {
    fn render(&self, columns: usize) -> HostFuture<'_, Vec<String>> {
        Component::render(*self, columns)
    }

    fn press(&self, key: &KeyEvent) {
        if let Some(data) = sequence(key) {
            self.key(&data);
        }
    }

    fn changed(&self) -> HostFuture<'_, bool> {
        Component::changed(*self)
    }
}

/// Shows a widget until it is done. Pressing Ctrl-C twice in a row always closes it, because a component of a module may
/// handle the key in any way or not at all.
pub(super) async fn show(widget: &dyn Widget, keys: &mut KeyListener<'_>) -> io::Result<()> {
    let mut drawing = Drawing::default();
    let mut last_was_interrupt = false;
    loop {
        drawing.replace(&widget.render(columns()).await)?;
        tokio::select! {
            input = keys.next() => match input {
                Input::Key(key) => {
                    let is_interrupt =
                        key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
                    if is_interrupt && last_was_interrupt {
                        return Ok(());
                    }
                    last_was_interrupt = is_interrupt;
                    widget.press(&key);
                }
                Input::Pasted(text) => {
                    text.chars().for_each(|character| widget.press(&KeyCode::Char(character).into()));
                }
                Input::Resized => {}
                Input::Closed => return Ok(()),
            },
            is_open = widget.changed() => if !is_open { return Ok(()) },
        }
    }
}

/// Makes the error for a terminal on which a widget cannot be shown.
pub(super) fn terminal_error(error: &io::Error) -> HostError {
    HostError::new(format!("the component cannot be shown on this terminal: {error}"))
}

/// The drawn lines of a widget. Dropping this removes them from the screen.
#[derive(Default)]
struct Drawing {
    lines: Vec<String>,
}

impl Drawing {
    /// Replaces the drawn lines. Lines below the last row of the screen are left out, because the cursor cannot move back
    /// to lines that were scrolled off the screen.
    fn replace(&mut self, lines: &[String]) -> io::Result<()> {
        let most_lines = rows().saturating_sub(1).max(1);
        let lines: Vec<String> = lines.iter().take(most_lines).map(|line| fit_to_screen(line)).collect();
        // An empty drawing is written all the same: the first one hides the cursor.
        if lines == self.lines && !lines.is_empty() {
            return Ok(());
        }
        let frame = format!("{}{Hide}{}", self.erase_sequence(), lines.join("\r\n"));
        self.lines = lines;
        write(&frame)
    }

    /// Returns the sequence that moves the cursor back to the start of the drawing and clears the drawing.
    fn erase_sequence(&self) -> String {
        let clear = Clear(ClearType::FromCursorDown);
        match u16::try_from(self.lines.len().saturating_sub(1)) {
            Ok(up @ 1..) => format!("\r{}{clear}", MoveUp(up)),
            Ok(0) | Err(_) => format!("\r{clear}"),
        }
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        let _ = write(&format!("{}{Show}", self.erase_sequence()));
    }
}

/// Returns a line cut to the width of the screen, with colours if the terminal has any.
fn fit_to_screen(line: &str) -> String {
    let line = coloured(line, columns());
    if has_colours() { line } else { anstream::adapter::strip_str(&line).to_string() }
}

fn write(text: &str) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}

//! Draws a widget below what was written so far, again and again in the same place, and removes it when it is done.

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
    fn render(&self, columns: usize) -> HostFuture<'_, Vec<String>>;

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

/// Shows a widget until it is done. Ctrl-C twice in a row always closes it.
pub(super) async fn show(widget: &dyn Widget, keys: &mut KeyListener<'_>) -> io::Result<()> {
    let mut painted = Painted::default();
    let mut interrupted = false;
    loop {
        painted.paint(&widget.render(columns()).await)?;
        tokio::select! {
            input = keys.next() => match input {
                Input::Key(key) => {
                    let interrupts =
                        key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
                    if interrupts && interrupted {
                        return Ok(());
                    }
                    interrupted = interrupts;
                    widget.press(&key);
                }
                Input::Pasted(text) => {
                    text.chars().for_each(|character| widget.press(&KeyCode::Char(character).into()));
                }
                Input::Resized => {}
                Input::Closed => return Ok(()),
            },
            more = widget.changed() => if !more { return Ok(()) },
        }
    }
}

/// Makes the error for a terminal on which a widget cannot be shown.
pub(super) fn unusable(error: &io::Error) -> HostError {
    HostError::new(format!("the component cannot be shown on this terminal: {error}"))
}

/// The drawn lines of a widget. Dropping this removes them from the screen.
#[derive(Default)]
struct Painted {
    lines: Vec<String>,
}

impl Painted {
    fn paint(&mut self, lines: &[String]) -> io::Result<()> {
        let most = rows().saturating_sub(1).max(1);
        let lines: Vec<String> = lines.iter().take(most).map(|line| shown(line)).collect();
        if lines == self.lines && !lines.is_empty() {
            return Ok(());
        }
        let frame = format!("{}{Hide}{}", self.back(), lines.join("\r\n"));
        self.lines = lines;
        write(&frame)
    }

    /// Returns the sequence that moves the cursor back to the start of the drawing and clears the drawing.
    fn back(&self) -> String {
        let clear = Clear(ClearType::FromCursorDown);
        match u16::try_from(self.lines.len().saturating_sub(1)) {
            Ok(up @ 1..) => format!("\r{}{clear}", MoveUp(up)),
            Ok(0) | Err(_) => format!("\r{clear}"),
        }
    }
}

impl Drop for Painted {
    fn drop(&mut self) {
        let _ = write(&format!("{}{Show}", self.back()));
    }
}

/// Returns a line cut to the width of the screen, with colours if the terminal has any.
fn shown(line: &str) -> String {
    let line = coloured(line, columns());
    if has_colours() { line } else { anstream::adapter::strip_str(&line).to_string() }
}

fn write(text: &str) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}

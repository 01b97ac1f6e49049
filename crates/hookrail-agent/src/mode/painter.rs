//! Draws a widget below what was written so far, again and again in the same place, and removes it when it is done.

use std::io::{self, Write as _};

use crossterm::cursor::{Hide, MoveUp, Show};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use crossterm::terminal::{Clear, ClearType};
use hookrail::HostError;
use hookrail::host::{Component, HostFuture};

use super::keys::{Input, Listening, sequence};
use crate::text::coloured;
use crate::view::screen::{columns, has_colours, rows};

/// What draws itself and takes keys: a dialog of the agent, or a component of a module.
pub(super) trait Widget: Sync {
    fn render(&self, columns: usize) -> HostFuture<'_, Vec<String>>;

    fn press(&self, key: &KeyEvent);

    /// Waits until it has to be drawn again. False if it is done.
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

/// Shows a widget until it is done. Ctrl-C twice in a row closes it, whatever the widget makes of the key.
pub(super) async fn show(widget: &dyn Widget, keys: &mut Listening<'_>) -> io::Result<()> {
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

/// The error of a terminal that a widget cannot be shown on.
pub(super) fn unusable(error: &io::Error) -> HostError {
    HostError::new(format!("the terminal cannot be used for it: {error}"))
}

/// What of a widget is on the screen. Dropping it removes that.
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

    /// What brings the cursor back to where the drawing begins, and clears what is there.
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

/// A line as it is written: cut to the screen, and with colours only where there are any.
fn shown(line: &str) -> String {
    let line = coloured(line, columns());
    if has_colours() { line } else { anstream::adapter::strip_str(&line).to_string() }
}

fn write(text: &str) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}

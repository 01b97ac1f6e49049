//! Draws a component below what was written so far, again and again in the same place, and takes it away when it is done.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use hookrail::{Component, HostError};

use super::keys::Keys;
use crate::text::coloured;
use crate::view::columns;
use crate::view::screen::has_colours;

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const INTERRUPT: &str = "\u{3}";

/// Shows a component until it is done. Whoever presses Ctrl-C twice in a row closes it, whatever it thinks of that.
pub(super) async fn show(component: &dyn Component) -> Result<(), HostError> {
    let unusable = |error: io::Error| HostError::new(format!("the terminal cannot be used for it: {error}"));
    let mut keys = Keys::listen().map_err(unusable)?;
    let mut painted = Painted::default();
    let mut interrupted = false;
    loop {
        painted.paint(&component.render(columns()).await).map_err(unusable)?;
        tokio::select! {
            key = keys.pressed.recv() => {
                let Some(key) = key else { break };
                if key == INTERRUPT && interrupted {
                    break;
                }
                interrupted = key == INTERRUPT;
                component.key(&key);
            }
            more = component.changed() => if !more { break },
        }
    }
    Ok(())
}

/// What of a component is on the screen. It is taken away with this.
#[derive(Default)]
struct Painted {
    lines: Vec<String>,
}

impl Painted {
    fn paint(&mut self, lines: &[String]) -> io::Result<()> {
        let most = rows().saturating_sub(1).max(1);
        let lines: Vec<String> = lines.iter().take(most).map(|line| coloured(line, columns())).collect();
        if lines == self.lines && !lines.is_empty() {
            return Ok(());
        }
        let mut frame = self.back();
        frame.push_str(HIDE_CURSOR);
        frame.push_str(&lines.join("\r\n"));
        let frame = if has_colours() { frame } else { without_colours(&frame) };
        self.lines = lines;
        write(&frame)
    }

    /// What brings the cursor back to where the drawing begins, and clears what is there.
    fn back(&self) -> String {
        let mut back = "\r".to_owned();
        if self.lines.len() > 1 {
            let _ = write!(back, "\u{1b}[{}A", self.lines.len() - 1);
        }
        back.push_str("\u{1b}[J");
        back
    }
}

impl Drop for Painted {
    fn drop(&mut self) {
        let _ = write(&format!("{}{SHOW_CURSOR}", self.back()));
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}

/// Colours end in `m`; the sequences that move the cursor do not.
fn without_colours(frame: &str) -> String {
    let mut out = String::with_capacity(frame.len());
    let mut rest = frame;
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, sequence) = rest.split_at(at);
        out.push_str(before);
        let parameters = |character: &char| character.is_ascii_digit() || matches!(character, ';' | ':' | '?');
        let length = 2 + sequence.chars().skip(2).take_while(parameters).count() + 1;
        let (sequence, after) = sequence.split_at(length.min(sequence.len()));
        if !sequence.ends_with('m') {
            out.push_str(sequence);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(unix)]
fn rows() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr());
    size.ok().map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0).unwrap_or(24)
}

#[cfg(not(unix))]
fn rows() -> usize {
    24
}

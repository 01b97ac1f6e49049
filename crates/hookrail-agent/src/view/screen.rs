//! The screen of the user. All output goes through it, because three things share it: a prompt that is being typed stays
//! below the output; while a component covers the screen, other output waits.

use std::sync::{Mutex, MutexGuard};

use hookrail_spawn::lock_mutex;

use super::output::{Output, write_whole};
use super::prompt_line::PromptLine;

/// The stream that a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Answers,
    Asides,
}

/// The screen.
#[derive(Default)]
pub(crate) struct Screen {
    state: Mutex<ScreenState>,
    output: Output,
}

#[derive(Default)]
struct ScreenState {
    /// The prompt that is being typed.
    prompt: Option<PromptLine>,
    /// The beginning of a line that will be shown above the prompt.
    line: String,
    covered: bool,
    held: Vec<(Stream, String)>,
}

impl Screen {
    fn state(&self) -> MutexGuard<'_, ScreenState> {
        lock_mutex(&self.state)
    }

    /// Writes text, with colours if the stream supports them.
    pub(crate) fn write(&self, stream: Stream, text: &str) {
        let state = &mut *self.state();
        if state.covered {
            state.held.push((stream, text.to_owned()));
        } else {
            state.write(&self.output, stream, text);
        }
    }

    /// Returns the reason if nothing more can be written to standard output.
    pub(crate) fn failure(&self) -> Option<String> {
        self.output.failure()
    }

    /// Returns whether lines can be erased: not while a prompt or a component has the last line.
    pub(crate) fn has_last_line(&self) -> bool {
        let state = self.state();
        state.prompt.is_none() && !state.covered
    }

    /// Marks that a prompt is being typed, until the guard is dropped.
    pub(crate) fn typing(&self) -> Typing<'_> {
        self.state().prompt = Some(PromptLine::default());
        Typing(self)
    }

    /// Draws the prompt that is being typed, with the cursor after `cursor` bytes of the text.
    pub(crate) fn draw_prompt(&self, prompt: &str, typed: &str, cursor: usize) {
        if let Some(line) = &mut self.state().prompt {
            line.set(prompt, typed, cursor);
            self.output.write(&line.draw("", columns()));
        }
    }

    /// Writes a command to the terminal on which a prompt is typed.
    pub(crate) fn control(&self, command: &impl crossterm::Command) {
        let mut sequence = String::new();
        if command.write_ansi(&mut sequence).is_ok() {
            self.output.write(&sequence);
        }
    }

    /// Marks that a component covers the screen, until the guard is dropped.
    pub(crate) fn cover(&self) -> Cover<'_> {
        self.state().covered = true;
        Cover(self)
    }
}

impl ScreenState {
    fn write(&mut self, output: &Output, stream: Stream, text: &str) {
        if let Some(prompt) = &mut self.prompt {
            self.line.push_str(text);
            let Some(end) = self.line.rfind('\n') else { return };
            let rest = self.line.split_off(end + 1);
            let lines = std::mem::replace(&mut self.line, rest);
            let lines = if has_colours() { lines } else { anstream::adapter::strip_str(&lines).to_string() };
            output.write(&prompt.draw(&lines, columns()));
            return;
        }
        match stream {
            Stream::Answers => output.write(text),
            Stream::Asides => {
                let plain = if has_colours() { None } else { Some(anstream::adapter::strip_str(text).to_string()) };
                // Only the answer must be readable: the work continues if standard error cannot be written.
                let _ = write_whole(&mut std::io::stderr().lock(), plain.as_deref().unwrap_or(text).as_bytes());
            }
        }
    }
}

/// Returns whether output for people has colours.
pub(crate) fn has_colours() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// Returns the number of columns of the terminal.
pub(crate) fn columns() -> usize {
    size().map_or(80, |(columns, _)| columns)
}

/// Returns the number of rows of the terminal.
pub(crate) fn rows() -> usize {
    size().map_or(24, |(_, rows)| rows)
}

/// Returns the size of the terminal that is written to. `crossterm` asks the one that controls the process, which may be
/// another, and starts a program from the search path if that fails.
#[cfg(unix)]
fn size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col.into(), size.ws_row.into()))
}

#[cfg(not(unix))]
fn size() -> Option<(usize, usize)> {
    let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let size = crossterm::terminal::window_size().ok().filter(|_| is_terminal)?;
    (size.columns > 0 && size.rows > 0).then_some((size.columns.into(), size.rows.into()))
}

/// A prompt is being typed.
pub(crate) struct Typing<'s>(&'s Screen);

impl Drop for Typing<'_> {
    fn drop(&mut self) {
        let state = &mut *self.0.state();
        state.prompt = None;
        let line = std::mem::take(&mut state.line);
        if !line.is_empty() {
            state.write(&self.0.output, Stream::Asides, &line);
        }
    }
}

/// A component covers the screen.
pub(crate) struct Cover<'s>(&'s Screen);

impl Drop for Cover<'_> {
    fn drop(&mut self) {
        let state = &mut *self.0.state();
        state.covered = false;
        for (stream, text) in std::mem::take(&mut state.held) {
            state.write(&self.0.output, stream, &text);
        }
    }
}

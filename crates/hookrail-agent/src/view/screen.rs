//! The screen of a person: one place that everything written goes through, because three things share it. A prompt
//! that is being typed stays below what is written; while a component covers the screen, everything else waits.

use std::sync::{Mutex, MutexGuard};

use hookrail_spawn::lock;

use super::output::{Output, write_whole};

/// Which stream a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Answers,
    Asides,
}

/// Writes above a prompt that is being typed.
pub(crate) trait AbovePrompt: Send {
    /// Writes whole lines.
    fn write(&mut self, output: &Output, text: String);
}

/// The screen.
#[derive(Default)]
pub(crate) struct Screen {
    state: Mutex<State>,
    output: Output,
}

#[derive(Default)]
struct State {
    above: Option<Box<dyn AbovePrompt>>,
    /// Whether a prompt is being typed.
    typing: bool,
    /// The beginning of a line that is to stand above the prompt.
    line: String,
    covered: bool,
    held: Vec<(Stream, String)>,
}

impl Screen {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Says how to write above a prompt.
    pub(crate) fn set_above(&self, above: Box<dyn AbovePrompt>) {
        self.state().above = Some(above);
    }

    /// Writes text, with its colours where the stream has any.
    pub(crate) fn write(&self, stream: Stream, text: &str) {
        let state = &mut *self.state();
        if state.covered {
            state.held.push((stream, text.to_owned()));
        } else {
            state.write(&self.output, stream, text);
        }
    }

    /// Why nothing more can be written to standard output.
    pub(crate) fn failure(&self) -> Option<String> {
        self.output.failure()
    }

    /// Whether lines can be taken back: not while something else has the last one.
    pub(crate) fn has_last_line(&self) -> bool {
        let state = self.state();
        !state.typing && !state.covered
    }

    /// A prompt is being typed until the guard is gone.
    pub(crate) fn typing(&self) -> Typing<'_> {
        self.state().typing = true;
        Typing(self)
    }

    /// A component covers the screen until the guard is gone.
    pub(crate) fn cover(&self) -> Cover<'_> {
        self.state().covered = true;
        Cover(self)
    }
}

impl State {
    fn write(&mut self, output: &Output, stream: Stream, text: &str) {
        if self.typing
            && let Some(above) = &mut self.above
        {
            self.line.push_str(text);
            let Some(end) = self.line.rfind('\n') else { return };
            let rest = self.line.split_off(end + 1);
            let lines = std::mem::replace(&mut self.line, rest);
            let lines = if has_colours() { lines } else { anstream::adapter::strip_str(&lines).to_string() };
            above.write(output, lines);
            return;
        }
        match stream {
            Stream::Answers => output.write(text),
            Stream::Asides => {
                let plain = if has_colours() { None } else { Some(anstream::adapter::strip_str(text).to_string()) };
                // Remarks are not what the agent was asked for: the work goes on without a reader for them.
                let _ = write_whole(&mut std::io::stderr().lock(), plain.as_deref().unwrap_or(text).as_bytes());
            }
        }
    }
}

/// Whether what is written for people has colours.
pub(crate) fn has_colours() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// A prompt is being typed.
pub(crate) struct Typing<'s>(&'s Screen);

impl Drop for Typing<'_> {
    fn drop(&mut self) {
        let state = &mut *self.0.state();
        state.typing = false;
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

//! How the command ends: the exit statuses that scripts rely on, and failures of the command itself.
//!
//! A failure is a sentence, maybe an excerpt of what was wrong, and hints. Nothing here knows what hooks said.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use crate::render::text::visible;
use crate::style::{BAD, HINT, paint};

/// The exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well; after `fire`: go on.
    Fine,
    /// The command failed, `check` found an error, or `trust diff` a change.
    Failed,
    /// Hooks blocked the event.
    Blocked,
    /// Hooks want the agent to stop.
    Stop,
    /// Hooks want the user to be asked.
    Ask,
    /// A signal ended the command: 128 and the signal's number.
    Signalled(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Blocked => 2,
            Exit::Stop => 3,
            Exit::Ask => 4,
            Exit::Signalled(number) => 128 + number,
        })
    }
}

/// Why the command could not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    excerpt: Option<String>,
    hints: Vec<String>,
}

/// The result of a step of a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure, as a sentence that reads after `error: `.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), excerpt: None, hints: Vec::new() }
    }

    /// What went wrong, for programs that report it in their own way.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The failure with advice.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The failure with an excerpt of what was wrong, ready to be shown.
    pub(crate) fn excerpt(mut self, excerpt: String) -> Self {
        self.excerpt = Some(excerpt);
        self
    }

    /// Shows the failure on standard error.
    pub(crate) fn report(&self) {
        let mut text = format!("{}: {}\n", paint(BAD, "error"), visible(&self.message));
        if let Some(excerpt) = &self.excerpt {
            let _ = writeln!(text, "{excerpt}");
        }
        for hint in &self.hints {
            let _ = writeln!(text, "{}: {}", paint(HINT, "hint"), visible(hint));
        }
        // There is nobody left to tell when this cannot be written.
        let _ = anstream::stderr().write_all(text.as_bytes());
    }
}

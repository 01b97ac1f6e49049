//! How the command ends: the exit statuses that scripts rely on, and failures of the command itself.
//!
//! A failure is a sentence, an optional excerpt of what is wrong, and hints. Outcomes of hooks are not failures.

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::render::text::visible;
use crate::style::{BAD, HINT, paint};

/// The exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded; after `fire`, the event is allowed.
    Fine,
    /// The command failed, `check` found an error, `trust diff` a change, or a case of `test` failed.
    Failed,
    /// Hooks blocked the event.
    Blocked,
    /// The audit of a fleet is not what it must be.
    #[cfg(feature = "fleet")]
    Alarm,
    /// Hooks require the agent to stop.
    Stop,
    /// Hooks require the approval of the user.
    Ask,
    /// A signal ended the command: 128 plus the signal's number.
    Signalled(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Blocked => 2,
            #[cfg(feature = "fleet")]
            Exit::Alarm => 2,
            Exit::Stop => 3,
            Exit::Ask => 4,
            Exit::Signalled(number) => 128 + number,
        })
    }
}

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    excerpt: Option<String>,
    hints: Vec<String>,
}

/// The result of a step of a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Makes a failure from a sentence that is printed after `error: `.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), excerpt: None, hints: Vec::new() }
    }

    /// Returns the sentence alone, for callers that report it in their own way.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns the first hint, for callers that report it in their own way.
    pub(crate) fn first_hint(&self) -> Option<&str> {
        self.hints.first().map(String::as_str)
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds an excerpt of what is wrong, ready to be printed.
    pub(crate) fn excerpt(mut self, excerpt: String) -> Self {
        self.excerpt = Some(excerpt);
        self
    }

    /// Prints the failure to standard error; its hints not with `--quiet`.
    pub(crate) fn report(&self) {
        let mut text = format!("{}: {}\n", paint(BAD, "error"), visible(&self.message));
        if let Some(excerpt) = &self.excerpt {
            let _ = writeln!(text, "{excerpt}");
        }
        for hint in self.hints.iter().filter(|_| !crate::verbosity::is_quiet()) {
            let _ = writeln!(text, "{}: {}", paint(HINT, "hint"), visible(hint));
        }
        crate::output::errors(&text);
    }
}

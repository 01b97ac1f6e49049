//! What is at the path of a source now, and whether it can be believed: a file that is being written is read when it is stable.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookrail_spawn::FileStamp;

use super::file::{ReadProblem, is_want_of_resources, read_file};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::Location;
use crate::text::digest::Digest;
use crate::text::names::named;

/// A changed file is read when its metadata is the same twice, with this pause between.
const SETTLING: Duration = Duration::from_millis(20);

/// How long to wait for a file that keeps changing.
const LONGEST_SETTLING: Duration = Duration::from_millis(500);

named! {
    /// Why the last good version of a source is in force.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum KeptReason {
        /// It is empty, broken or cannot be read.
        Unusable = "unusable",
        /// It is missing, and its removal was not accepted.
        Removed = "removed",
        /// It could not be read for lack of descriptors, memory or threads; the next event tries again.
        OutOfResources = "out-of-resources",
    }
}

impl KeptReason {
    /// The reason for keeping the last good version after this error.
    pub(crate) fn of_error(error: &io::Error) -> Self {
        if is_want_of_resources(error) { Self::OutOfResources } else { Self::Unusable }
    }
}

/// What a source holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceState {
    Text(Arc<str>),
    Gone,
    Unreadable,
}

impl SourceState {
    /// The present state of a file.
    pub(crate) fn now(path: &Path) -> Self {
        match read_file(path) {
            Ok(Some(text)) => Self::Text(text.into()),
            Ok(None) => Self::Gone,
            Err(_) => Self::Unreadable,
        }
    }

    /// The state as a text that is the same for the same state.
    pub(crate) fn described(&self) -> String {
        match self {
            Self::Text(text) => Digest::of(text.as_bytes()).hex(),
            Self::Gone => "gone".to_owned(),
            Self::Unreadable => "unreadable".to_owned(),
        }
    }
}

/// What is at a path now.
pub(super) enum CurrentState {
    Text(Arc<str>),
    Gone,
    Unreadable(Diagnostic, KeptReason),
}

impl CurrentState {
    pub(super) fn state(&self) -> SourceState {
        match self {
            Self::Text(text) => SourceState::Text(Arc::clone(text)),
            Self::Gone => SourceState::Gone,
            Self::Unreadable(..) => SourceState::Unreadable,
        }
    }

    pub(super) fn from_read(path: &Path, read: Result<Option<String>, ReadProblem>) -> Self {
        match read {
            Ok(Some(text)) => Self::Text(text.into()),
            Ok(None) => Self::Gone,
            Err(problem) => {
                let message = format!("`{}` cannot be read: {problem}", path.display());
                let reason = match &problem {
                    ReadProblem::Io(error) => KeptReason::of_error(error),
                    ReadProblem::NotAFile | ReadProblem::TooLarge | ReadProblem::NotText => KeptReason::Unusable,
                };
                Self::Unreadable(Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(path)), reason)
            }
        }
    }

    /// The text of a file once its metadata is the same twice.
    pub(super) fn once_stable(path: &Path) -> Self {
        let started = Instant::now();
        loop {
            let before = FileStamp::read(path);
            let read = read_file(path);
            std::thread::sleep(SETTLING);
            if FileStamp::read(path) == before || started.elapsed() > LONGEST_SETTLING {
                return Self::from_read(path, read);
            }
        }
    }
}

/// Waits until changed files have the same metadata twice, so that a file is not read while it is being written.
pub(crate) fn wait_until_stable(paths: &[PathBuf]) {
    let started = Instant::now();
    let look = || paths.iter().map(|path| FileStamp::read(path)).collect::<Vec<_>>();
    let mut before = look();
    while started.elapsed() < LONGEST_SETTLING {
        std::thread::sleep(SETTLING);
        let now = look();
        if now == before {
            return;
        }
        before = now;
    }
}

/// The finding about a source whose last good version is in force.
pub(crate) fn kept_finding(path: &Path, reason: KeptReason) -> Diagnostic {
    let shown = path.display();
    let (code, message, hint) = match reason {
        KeptReason::Unusable => (
            Code::KeptLastGood,
            format!("`{shown}` cannot be used; its last good version stays in force"),
            "repair it; it is read again when it changes",
        ),
        KeptReason::OutOfResources => (
            Code::KeptLastGood,
            format!("`{shown}` could not be read for lack of resources; its last good version stays in force"),
            "free file descriptors, memory or threads; the next event tries again",
        ),
        KeptReason::Removed => (
            Code::SourceRemoved,
            format!("`{shown}` is gone; its last good version stays in force"),
            "bring it back, or reload to accept that it is gone",
        ),
    };
    Diagnostic::new(code, message).at(Location::whole_file(path)).hint(hint)
}

//! How a run ended, before any dialect has looked at it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::Protection;

use crate::effects::Effects;
use crate::json::Json;
use crate::outcome::EndKind;

/// How a run ended and what it left behind.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// The end itself.
    pub how: How,
    /// What it wrote to standard output.
    pub stdout: Output,
    /// What it wrote to standard error.
    pub stderr: Output,
    /// From before the start to the end.
    pub duration: Duration,
    /// What only the runner of this hook reports.
    pub report: RunnerReport,
    /// Where it ran in place of the event's working directory.
    pub relocated: Option<Relocation>,
    /// The protections of its sandbox that this system could not enforce.
    pub unenforced: Vec<Protection>,
}

/// What each runner reports beside the end. A hook is run by one of them.
#[derive(Clone, Debug)]
pub enum RunnerReport {
    /// The hook was not run.
    NotRun,
    /// A process was run.
    Process(ProcessReport),
    /// The handlers of a module were called.
    Module(ModuleReport),
    /// A closure of the embedding program was called.
    Native,
}

/// What is known of a process beside its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessReport {
    /// How many processes it left running in the background.
    pub survivors: u32,
}

/// What is known of a module's handlers beside their end.
#[derive(Clone, Debug, Default)]
pub struct ModuleReport {
    /// What they returned although one of them failed.
    pub partial: Option<Json>,
    /// What else failed, in words.
    pub failures: Vec<String>,
    /// Messages they sent to the conversation.
    pub messages: Vec<Json>,
    /// Entries they added to the session.
    pub entries: Vec<Json>,
}

impl RunnerReport {
    /// An empty report of the runner whose hooks end in this way. An end that several runners have is taken for one of a
    /// hook that was not run.
    fn for_end(how: &How) -> Self {
        match how {
            How::Exited(_) | How::Signalled(_) | How::StatusUnknown | How::OutputLimit | How::BrokeProtocol(_) => {
                Self::Process(ProcessReport::default())
            }
            How::Returned(_) | How::Threw(_) | How::OverLimit(_) => Self::Module(ModuleReport::default()),
            How::Decided(_) => Self::Native,
            How::TimedOut(_) | How::Cancelled | How::SpawnFailed(_) | How::Unusable(_) | How::ContentChanged => {
                Self::NotRun
            }
        }
    }
}

/// A working directory that was not used, and the one in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Why the directory of the event was not used.
    pub why: RelocationReason,
    /// The directory of the event.
    pub unusable: PathBuf,
    /// The directory in which the hook ran.
    pub used: PathBuf,
}

/// Why a hook did not run in the directory of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationReason {
    /// The directory does not exist, or cannot be entered.
    Unusable,
    /// The hook belongs to a project and the directory lies outside of it, where its words would name other files.
    OutsideProject,
}

impl RunEnd {
    /// An end without output.
    #[must_use]
    pub fn new(how: How, duration: Duration) -> Self {
        let report = RunnerReport::for_end(&how);
        let (stdout, stderr) = (Output::default(), Output::default());
        Self { how, stdout, stderr, duration, report, relocated: None, unenforced: Vec::new() }
    }

    /// The end with what its runner reports.
    #[must_use]
    pub fn reported(mut self, report: RunnerReport) -> Self {
        self.report = report;
        self
    }

    /// What a module's handlers reported, if the hook is one.
    #[must_use]
    pub fn module(&self) -> Option<&ModuleReport> {
        match &self.report {
            RunnerReport::Module(report) => Some(report),
            RunnerReport::NotRun | RunnerReport::Process(_) | RunnerReport::Native => None,
        }
    }

    /// What a process reported, if the hook is one.
    #[must_use]
    pub fn process(&self) -> Option<&ProcessReport> {
        match &self.report {
            RunnerReport::Process(report) => Some(report),
            RunnerReport::NotRun | RunnerReport::Module(_) | RunnerReport::Native => None,
        }
    }

    /// The kind of an end without an answer; nothing if there is an answer, or silence, for the dialect to read. This is the
    /// only place where a raw end becomes a kind.
    pub(crate) fn failure(&self) -> Option<EndKind> {
        match &self.how {
            How::Exited(0) if self.stdout.is_truncated() => Some(EndKind::OutputLimit),
            How::Exited(0) | How::Returned(_) | How::Decided(_) => None,
            How::Exited(_) | How::StatusUnknown => Some(EndKind::Exited),
            How::Signalled(_) => Some(EndKind::Signalled),
            How::TimedOut(_) => Some(EndKind::TimedOut),
            How::Cancelled => Some(EndKind::Cancelled),
            How::OutputLimit => Some(EndKind::OutputLimit),
            How::SpawnFailed(_) => Some(EndKind::SpawnFailed),
            How::Threw(_) => Some(EndKind::Threw),
            How::OverLimit(_) => Some(EndKind::Limit),
            How::BrokeProtocol(_) => Some(EndKind::BadOutput),
            How::Unusable(_) | How::ContentChanged => Some(EndKind::Unusable),
        }
    }

    /// The end with standard output.
    #[must_use]
    pub fn stdout(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdout = Output::whole(bytes);
        self
    }

    /// The end with standard error.
    #[must_use]
    pub fn stderr(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stderr = Output::whole(bytes);
        self
    }
}

/// The ways a run can end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// The process exited.
    Exited(i32),
    /// A signal ended the process.
    Signalled(i32),
    /// The process ended, and the host's settings made its status unknowable.
    StatusUnknown,
    /// The time was up.
    TimedOut(Duration),
    /// The host did not want it any more.
    Cancelled,
    /// Standard output went over its limit.
    OutputLimit,
    /// The process could not be started.
    SpawnFailed(SpawnFailure),
    /// A module's handlers returned; none when nothing was returned.
    Returned(Option<Json>),
    /// A closure of the embedding program answered.
    Decided(Box<Effects>),
    /// A module's handler threw.
    Threw(String),
    /// A module went over its memory or stack limit.
    OverLimit(String),
    /// A process that stays said something that is no answer, or left without one.
    BrokeProtocol(String),
    /// The entry is broken and was never started.
    Unusable(Arc<str>),
    /// What would have run is not what was trusted.
    ContentChanged,
}

impl How {
    /// Whether the hook was never asked: it could not be started, not even by the shell, or was given up before.
    pub(crate) fn was_never_asked(&self) -> bool {
        match self {
            Self::SpawnFailed(_) | Self::Unusable(_) | Self::Cancelled => true,
            Self::Exited(status) => matches!(*status, NOT_RUNNABLE | NOT_FOUND),
            Self::Signalled(_)
            | Self::StatusUnknown
            | Self::TimedOut(_)
            | Self::OutputLimit
            | Self::Returned(_)
            | Self::Decided(_)
            | Self::Threw(_)
            | Self::OverLimit(_)
            | Self::BrokeProtocol(_)
            | Self::ContentChanged => false,
        }
    }
}

/// The exit status of a shell that found a command and could not execute it.
const NOT_RUNNABLE: i32 = 126;

/// The exit status of a shell that did not find a command.
const NOT_FOUND: i32 = 127;

/// Why a process could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnFailure {
    /// The working directory is not there.
    #[error("the working directory `{}` does not exist", .0.display())]
    MissingDirectory(PathBuf),
    /// The working directory cannot be entered.
    #[error("the working directory `{}` cannot be entered", .0.display())]
    UnusableDirectory(PathBuf),
    /// The program is not there.
    #[error("`{0}` was not found")]
    NotFound(String),
    /// The program cannot be executed.
    #[error("`{0}` cannot be executed")]
    NotExecutable(String),
    /// No runner knows this kind of hook.
    #[error("no runner for this kind of hook is registered")]
    NoRunner,
    /// Its sandbox could not be started.
    #[error("its sandbox cannot be started: {0}")]
    Sandbox(String),
    /// It requires a sandbox that this system cannot enforce.
    #[error("this system cannot enforce its sandbox, which it requires (missing: {})", joined(.0))]
    SandboxIncomplete(Vec<Protection>),
    /// Anything else, as the operating system says it.
    #[error("{0}")]
    Other(String),
}

/// The names of protections, for messages.
pub(crate) fn joined(protections: &[Protection]) -> String {
    protections.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What was written to one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The bytes that were kept.
    pub bytes: Vec<u8>,
    /// How many bytes there were.
    pub total: u64,
}

impl Output {
    /// Output of which everything was kept.
    #[must_use]
    pub fn whole(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let total = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self { bytes, total }
    }

    /// Output of which only a part may have been kept.
    #[must_use]
    pub fn partial(bytes: Vec<u8>, total: u64) -> Self {
        Self { bytes, total }
    }

    /// Whether something was cut off.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        u64::try_from(self.bytes.len()).is_ok_and(|kept| kept < self.total)
    }

    /// The text, with bytes that are not UTF-8 replaced.
    #[must_use]
    pub fn lossy(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The text, when all of it is UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

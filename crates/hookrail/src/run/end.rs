//! How a run ended, before any dialect has looked at it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::{OutputHolder, Protection};

use crate::event::effects::Effects;
use crate::hook::remote::RemoteFailure;
use crate::json::Json;
use crate::outcome::EndKind;
use crate::run::ModuleReturn;
use crate::trust::MissingGuard;

/// How a run ended and what it left behind, as the runner of the hook reports it.
#[derive(Clone, Debug)]
pub enum RunEnd {
    /// The runner of processes had the hook.
    Process(ProcessEnd),
    /// The runner of modules had the hook.
    Module(ModuleEnd),
    /// A closure of the embedding program was called.
    Native(NativeEnd),
    /// Workers elsewhere were asked.
    Remote(RemoteEnd),
    /// No runner had the hook, for this reason.
    NotRun(RawEnd),
}

/// The end of a process, or of the attempt to start it.
#[derive(Clone, Debug)]
pub struct ProcessEnd {
    /// The end itself.
    pub how: RawEnd,
    /// From before the start to the end.
    pub duration: Duration,
    /// What it wrote to standard output.
    pub stdout: Output,
    /// What it wrote to standard error.
    pub stderr: Output,
    /// How many processes it left running in the background.
    pub survivors: u32,
    /// The answer that was not complete because another process held the output, if that was so.
    pub held: Option<HeldAnswer>,
    /// How its surroundings differed from what was asked for.
    pub surroundings: Surroundings,
}

/// An answer that was not complete when the wait for it was over, because another process held the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldAnswer {
    /// How long it was awaited after the process had exited.
    pub waited: Duration,
    /// The processes that held the output, as far as they were found.
    pub holders: Vec<OutputHolder>,
}

/// The end of a module's handlers, or of the attempt to call them.
#[derive(Clone, Debug)]
pub struct ModuleEnd {
    /// What the call returned.
    pub returned: ModuleReturn,
    /// From before the call to the end.
    pub duration: Duration,
    /// How its surroundings differed from what was asked for.
    pub surroundings: Surroundings,
}

/// The end of a closure.
#[derive(Clone, Debug)]
pub struct NativeEnd {
    /// The end itself.
    pub how: RawEnd,
    /// From before the call to the end.
    pub duration: Duration,
}

/// The end of a question to workers elsewhere.
#[derive(Clone, Debug)]
pub struct RemoteEnd {
    /// The end itself.
    pub how: RawEnd,
    /// From before the first attempt to the end of the last one.
    pub duration: Duration,
    /// The outcome document of the worker that answered.
    pub answer: Output,
}

/// How the surroundings of a run differed from what its event and its entry ask for.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Where it ran in place of the event's working directory.
    pub relocated: Option<Relocation>,
    /// The protections of its sandbox that this system could not enforce.
    pub unenforced: Vec<Protection>,
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
    /// The hook belongs to a project and the directory is outside it, where the paths of its command would mean other
    /// files.
    OutsideProject,
    /// The hook belongs to a project, and in the directory its command names other files than those that were granted, or
    /// none.
    NamesOtherFiles,
}

impl ProcessEnd {
    /// An end without output.
    #[must_use]
    pub fn new(how: RawEnd, duration: Duration) -> Self {
        let (stdout, stderr) = (Output::default(), Output::default());
        Self { how, duration, stdout, stderr, survivors: 0, held: None, surroundings: Surroundings::default() }
    }
}

/// The output of a hook that has none.
static NO_OUTPUT: Output = Output { bytes: Vec::new(), total: 0 };

impl RunEnd {
    /// The end itself.
    #[must_use]
    pub fn how(&self) -> &RawEnd {
        match self {
            Self::Process(end) => &end.how,
            Self::Module(end) => &end.returned.how,
            Self::Native(end) => &end.how,
            Self::Remote(end) => &end.how,
            Self::NotRun(how) => how,
        }
    }

    /// How long it took; nothing for a hook that was not run.
    #[must_use]
    pub fn duration(&self) -> Duration {
        match self {
            Self::Process(end) => end.duration,
            Self::Module(end) => end.duration,
            Self::Native(end) => end.duration,
            Self::Remote(end) => end.duration,
            Self::NotRun(_) => Duration::ZERO,
        }
    }

    /// What was written to standard output, printed by a module, or answered by a worker elsewhere.
    #[must_use]
    pub fn stdout(&self) -> &Output {
        match self {
            Self::Process(end) => &end.stdout,
            Self::Module(end) => &end.returned.stdout,
            Self::Remote(end) => &end.answer,
            Self::Native(_) | Self::NotRun(_) => &NO_OUTPUT,
        }
    }

    /// What was written to standard error, or printed as errors by a module.
    #[must_use]
    pub fn stderr(&self) -> &Output {
        match self {
            Self::Process(end) => &end.stderr,
            Self::Module(end) => &end.returned.stderr,
            Self::Native(_) | Self::Remote(_) | Self::NotRun(_) => &NO_OUTPUT,
        }
    }

    /// What the call of a module returned, if the hook is one.
    #[must_use]
    pub fn module(&self) -> Option<&ModuleReturn> {
        match self {
            Self::Module(end) => Some(&end.returned),
            Self::Process(_) | Self::Native(_) | Self::Remote(_) | Self::NotRun(_) => None,
        }
    }

    /// The answer that another process held back, if that was so.
    pub(crate) fn held(&self) -> Option<&HeldAnswer> {
        match self {
            Self::Process(end) => end.held.as_ref(),
            Self::Module(_) | Self::Native(_) | Self::Remote(_) | Self::NotRun(_) => None,
        }
    }

    /// The same run with another end, for an answer that the engine cannot use.
    pub(crate) fn failed_as(&self, how: RawEnd) -> Self {
        match self {
            Self::Process(end) => Self::Process(ProcessEnd { how, ..end.clone() }),
            Self::Module(end) => {
                let returned = ModuleReturn { how, ..end.returned.clone() };
                Self::Module(ModuleEnd { returned, ..end.clone() })
            }
            Self::Native(end) => Self::Native(NativeEnd { how, ..end.clone() }),
            Self::Remote(end) => Self::Remote(RemoteEnd { how, ..end.clone() }),
            Self::NotRun(_) => Self::NotRun(how),
        }
    }

    /// The kind of an end without an answer; nothing if there is an answer or silence for the dialect to read. Raw ends
    /// become kinds only here.
    pub(crate) fn failure(&self) -> Option<EndKind> {
        match self.how() {
            RawEnd::Exited(0) if self.stdout().is_truncated() => Some(EndKind::OutputLimit),
            RawEnd::Exited(0) | RawEnd::Returned(_) | RawEnd::Decided(_) => None,
            RawEnd::Exited(_) | RawEnd::StatusUnknown => Some(EndKind::Exited),
            RawEnd::Signalled(_) => Some(EndKind::Signalled),
            RawEnd::TimedOut(_) | RawEnd::NotStarted(_) => Some(EndKind::TimedOut),
            RawEnd::Cancelled => Some(EndKind::Cancelled),
            RawEnd::OutputLimit => Some(EndKind::OutputLimit),
            RawEnd::SpawnFailed(_) => Some(EndKind::SpawnFailed),
            RawEnd::Threw(_) => Some(EndKind::Threw),
            RawEnd::OverLimit(_) => Some(EndKind::Limit),
            RawEnd::HeldBack | RawEnd::BrokeProtocol(_) | RawEnd::Contradicted(_) => Some(EndKind::BadOutput),
            RawEnd::Unanswered(why) => Some(match why {
                RemoteFailure::NotConnected(_) => EndKind::NotConnected,
                RemoteFailure::NoResponders => EndKind::NoResponders,
                RemoteFailure::TimedOut(_) => EndKind::TimedOut,
                RemoteFailure::Overloaded(_) => EndKind::Overloaded,
                RemoteFailure::Refused(_) => EndKind::Refused,
                RemoteFailure::NotUnderstood(_) => EndKind::BadOutput,
            }),
            RawEnd::Unusable(_) | RawEnd::ValueRefused(_) | RawEnd::ContentChanged | RawEnd::Missing(_) => {
                Some(EndKind::Unusable)
            }
        }
    }
}

/// The ways a run can end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawEnd {
    /// The process exited.
    Exited(i32),
    /// A signal ended the process.
    Signalled(i32),
    /// The process of a guard exited with zero and has said nothing, and another process can still say it.
    HeldBack,
    /// The process ended, and the host's settings made its status unknowable.
    StatusUnknown,
    /// The time was up.
    TimedOut(Duration),
    /// The time was up before the program of the process ran.
    NotStarted(Duration),
    /// The host did not want it any more.
    Cancelled,
    /// Standard output went over its limit.
    OutputLimit,
    /// The process could not be started.
    SpawnFailed(SpawnFailure),
    /// A module's handlers returned; none when nothing was returned.
    Returned(Option<Json>),
    /// A closure of the embedding program, or a worker elsewhere, answered.
    Decided(Box<Effects>),
    /// A module's handler threw.
    Threw(String),
    /// A module went over its memory or stack limit.
    OverLimit(String),
    /// A worker wrote something that is not an answer, or exited without one.
    BrokeProtocol(String),
    /// The answer says two things that exclude each other.
    Contradicted(String),
    /// Workers elsewhere gave no answer.
    Unanswered(RemoteFailure),
    /// The entry is broken and was never started.
    Unusable(Arc<str>),
    /// A value of the event could have run as code in the command, so it was not started.
    ValueRefused(Arc<str>),
    /// The content is not what was trusted.
    ContentChanged,
    /// The guard was granted and is missing.
    Missing(Arc<MissingGuard>),
}

impl RawEnd {
    /// The exit status, if the process exited.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(*code),
            Self::HeldBack => Some(0),
            _ => None,
        }
    }

    /// The signal, if one ended the process.
    pub(crate) fn signal(&self) -> Option<i32> {
        if let Self::Signalled(signal) = self { Some(*signal) } else { None }
    }

    /// Whether the hook was never asked: it could not be started, not even by the shell, or was cancelled before.
    pub(crate) fn was_never_asked(&self) -> bool {
        match self {
            Self::SpawnFailed(_)
            | Self::NotStarted(_)
            | Self::Unusable(_)
            | Self::ValueRefused(_)
            | Self::Missing(_)
            | Self::Cancelled => true,
            Self::Exited(status) => matches!(*status, NOT_RUNNABLE | NOT_FOUND),
            Self::Signalled(_)
            | Self::HeldBack
            | Self::StatusUnknown
            | Self::TimedOut(_)
            | Self::OutputLimit
            | Self::Returned(_)
            | Self::Decided(_)
            | Self::Threw(_)
            | Self::OverLimit(_)
            | Self::BrokeProtocol(_)
            | Self::Contradicted(_)
            // A network that is down is no accident that its author did not think of: `onFailure` is about it.
            | Self::Unanswered(_)
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
    /// The embedding program has no client for remote hooks.
    #[error("this program cannot ask remote hooks: no server is configured for it, or it was built without that")]
    NoRemoteClient,
    /// Remote hooks are not asked when an event is fired only to find out what would be decided.
    #[error("remote hooks are not asked in a rehearsal")]
    RemoteHeldBack,
    /// Its sandbox could not be started.
    #[error("its sandbox cannot be started: {0}")]
    Sandbox(String),
    /// It requires a sandbox that this system cannot enforce.
    #[error("this system cannot enforce its sandbox, which it requires (missing: {})", joined_protections(.0))]
    SandboxIncomplete(Vec<Protection>),
    /// Anything else, as the operating system says it.
    #[error("{0}")]
    Other(String),
}

/// The names of protections, for messages.
pub(crate) fn joined_protections(protections: &[Protection]) -> String {
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

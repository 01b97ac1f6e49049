//! Children on Unix.
//!
//! A child is started with `posix_spawn`, never with `fork`: the cost does not grow with the host's memory, and no code of
//! this crate runs in the child. Each child leads its own session, so it has no controlling terminal to block on, and it has
//! a process group to signal.
//!
//! `windows.rs` has the same names, so that no other module needs a `cfg`.
//!
//! Limits, by system:
//!
//! * Linux with glibc 2.34 or newer: none known, save that orphans which have
//!   left the session *and* whose environment is cleared or cannot be read are
//!   not found.
//! * Linux with musl: no `posix_spawn_file_actions_addclosefrom_np`, so
//!   descriptors the host opened without close-on-exec reach the child.
//! * macOS: no pidfd (a thread waits instead) and no `/proc`, so survivors are
//!   not counted and processes that leave the group are not swept.

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
compile_error!("hookrail-spawn supports Linux, macOS and Windows");

mod child;
mod exec_arguments;
mod pipe;
mod pipe_holders;
mod posix;
mod session_leader;
mod sigpipe;
mod stalled;
mod start_error;
mod starting;
mod wait;

use std::io;
use std::sync::Arc;

use crate::command::ChildCommand;
use crate::error::SpawnError;

pub(crate) use child::Child;
pub(crate) use pipe::{AfterInput, OutputPipe, StdinPipe};
pub(crate) use start_error::resource_error;
pub(crate) use starting::{Starting, prepare};

use exec_arguments::ExecArguments;
use pipe::ChildPipeEnds;
use starting::Attempt;

/// Whether a child can be kept before it gets its input and between two inputs.
pub(crate) const CAN_PARK: bool = true;

/// A child that has been started, with the host's ends of its pipes.
///
/// As long as its descriptors are registered with no runtime, it can be kept anywhere and used from every thread.
///
/// The fields are dropped in this order: the child is killed before its stdin is closed, so that it never reads the end of
/// the pipe as an empty input.
#[derive(Debug)]
pub(crate) struct StartedChild {
    pub(crate) child: Child,
    pub(crate) stdin: StdinPipe,
    pub(crate) stdout: OutputPipe,
    pub(crate) stderr: OutputPipe,
}

impl StartedChild {
    /// Registers stdout and stderr with the current runtime. Unlike in `poll_read`, a failure is an error and not the end of
    /// the stream.
    pub(crate) fn watch(&mut self) -> io::Result<()> {
        self.stdout.watch()?;
        self.stderr.watch()
    }

    /// Whether stdout is open and has no unread bytes.
    pub(crate) fn is_quiet(&self) -> bool {
        self.stdout.is_quiet()
    }

    /// Removes the child from its runtime if it can take more input: all its pipes are open, and all its input is written.
    pub(crate) fn park(&mut self) -> bool {
        if !self.stdin.is_idle() || self.stdout.has_ended() || self.stderr.has_ended() {
            return false;
        }
        self.child.unwatch();
        self.stdout.unwatch();
        self.stderr.unwatch();
        true
    }
}

/// Begins to start the command once. Nothing is registered with a runtime yet, and nothing was written to its stdin.
pub(crate) fn start(command: &ChildCommand) -> Starting {
    Starting::begin(command, |command, attempt| start_with(command, attempt, |_| Ok(())))
}

/// Begins to start the command once, with its input in its stdin. An input that fits into the pipe is all there, with its end,
/// before the program runs, so the program never waits for it: that saves a switch between two processes.
pub(crate) fn start_with_input(command: &ChildCommand) -> Starting {
    let feed = |command: &ChildCommand, stdin: &mut StdinPipe| stdin.feed(&command.stdin, AfterInput::End);
    Starting::begin(command, move |command, attempt| start_with(command, attempt, |stdin| feed(command, stdin)))
}

fn start_with(
    command: &ChildCommand,
    attempt: &Arc<Attempt>,
    feed: impl FnOnce(&mut StdinPipe) -> io::Result<()>,
) -> Result<StartedChild, SpawnError> {
    let arguments = ExecArguments::new(command, command.full_environment())?;
    let open = || {
        let (mut stdin, child_stdin) = StdinPipe::open()?;
        feed(&mut stdin)?;
        let (stdout, child_stdout) = OutputPipe::open()?;
        let (stderr, child_stderr) = OutputPipe::open()?;
        let child_ends = ChildPipeEnds { stdin: child_stdin, stdout: child_stdout, stderr: child_stderr };
        io::Result::Ok((stdin, stdout, stderr, child_ends))
    };
    let (stdin, stdout, stderr, child_ends) = open().map_err(|error| resource_error(command, error))?;
    Ok(StartedChild { child: start_in_sandbox(command, attempt, arguments, child_ends)?, stdin, stdout, stderr })
}

/// Starts the program on the thread of its sandbox, or on this thread if it has none.
#[cfg(target_os = "linux")]
fn start_in_sandbox(
    command: &ChildCommand,
    attempt: &Arc<Attempt>,
    arguments: ExecArguments,
    child_ends: ChildPipeEnds,
) -> Result<Child, SpawnError> {
    let Some(sandbox) = &command.sandbox else {
        return start_recorded_child(command, attempt, &arguments, &child_ends);
    };
    let (copy, attempt) = (command.clone(), Arc::clone(attempt));
    let started = sandbox.threads().run(move || start_recorded_child(&copy, &attempt, &arguments, &child_ends));
    started.unwrap_or_else(|| Err(SpawnError::SandboxEnded { program: command.program.clone() }))
}

/// Starts the program; this system has no sandbox.
#[cfg(not(target_os = "linux"))]
fn start_in_sandbox(
    command: &ChildCommand,
    attempt: &Arc<Attempt>,
    arguments: ExecArguments,
    child_ends: ChildPipeEnds,
) -> Result<Child, SpawnError> {
    start_recorded_child(command, attempt, &arguments, &child_ends)
}

/// Starts the program, and records it if the command has a ledger.
fn start_recorded_child(
    command: &ChildCommand,
    attempt: &Attempt,
    arguments: &ExecArguments,
    child_ends: &ChildPipeEnds,
) -> Result<Child, SpawnError> {
    let entry = command.ledger.as_ref().map(|ledger| ledger.begin_entry(arguments.marker()));
    let Some(spawned) = attempt.execute(|| posix::spawn(arguments, child_ends)) else {
        return Err(SpawnError::NotInTime { program: command.program.clone() });
    };
    let pid = spawned.map_err(|errno| start_error::from_errno(command, arguments, errno))?;
    Ok(Child::adopt(pid, arguments.marker(), entry))
}

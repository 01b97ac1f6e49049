//! Children on Unix.
//!
//! Starting is `posix_spawn`, never `fork`: the cost does not grow with the
//! host's memory, and no code of ours runs in the child. Each child leads a session of its own, so it has no
//! terminal to hang on and a group to signal.
//!
//! `windows.rs` has the same names, so that nothing outside needs a `cfg`.
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
compile_error!("hookrail-spawn knows Linux, macOS and Windows");

#[cfg(all(target_os = "linux", feature = "bare-spawn"))]
pub(crate) mod bare_spawn;
mod blame;
mod child;
mod image;
mod leader;
mod memory;
mod pidfd;
mod pipe;
mod posix;
mod proc;
pub(crate) mod recorded;
#[cfg(target_os = "linux")]
pub(crate) mod sandbox;
mod sigpipe;
mod wait;

use std::io;
use std::time::Duration;

use crate::command::Command;
use crate::error::SpawnError;

pub(crate) use blame::{may_execute, on_host};
pub(crate) use child::Child;
pub(crate) use memory::Sealed;
pub(crate) use pipe::{After, Input, Output};

/// Whether children can wait for their input.
pub(crate) const CAN_WAIT: bool = true;

/// A child that has been started, with our ends of its pipes.
///
/// As long as no runtime knows of them it can be kept anywhere and used from every thread.
///
/// The order of the fields is the order of the drop: the child is killed before its stdin ends, so that it never takes
/// the end of a pipe for an empty input.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) stdin: Input,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
}

impl Started {
    /// Holds the thread until the child has exited, for at most that time, and says whether it has.
    ///
    /// Nobody reads meanwhile, so a child that fills a pipe waits too. That is why this is asked for a short time only, and
    /// not at all while there is input to be written.
    pub(crate) fn exits_within(&mut self, time: Duration) -> bool {
        self.stdin.is_written() && self.child.exits_within(time)
    }

    /// Hands its outputs to the runtime this is called in, where a failure is not taken for their end.
    pub(crate) fn watch(&mut self) -> io::Result<()> {
        self.stdout.watch()?;
        self.stderr.watch()
    }

    /// Whether nothing was written to stdout and nobody has closed it.
    pub(crate) fn is_quiet(&self) -> bool {
        self.stdout.is_quiet()
    }

    /// Takes the child from its runtime if it can be asked again: all its pipes are open, and all its input is written.
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

/// Starts the command once. No runtime knows of the child yet, and nothing was written to its stdin.
pub(crate) fn start(command: &Command) -> Result<Started, SpawnError> {
    let image = image::Image::new(command, command.full_environment())?;
    let open = || {
        let (mut stdin, mut their_stdin) = Input::open()?;
        if let Some(sealed) = &command.sealed {
            their_stdin = sealed.0.reader()?;
            stdin.close();
        }
        let (stdout, their_stdout) = Output::open()?;
        let (stderr, their_stderr) = Output::open()?;
        let theirs = pipe::Theirs { stdin: their_stdin, stdout: their_stdout, stderr: their_stderr };
        io::Result::Ok((stdin, stdout, stderr, theirs))
    };
    let (stdin, stdout, stderr, theirs) = open().map_err(|error| on_host(command, error))?;
    Ok(Started { child: restricted_child(command, image, theirs)?, stdin, stdout, stderr })
}

/// Starts the program where its sandbox wants it started.
#[cfg(target_os = "linux")]
fn restricted_child(command: &Command, image: image::Image, theirs: pipe::Theirs) -> Result<Child, SpawnError> {
    let Some(sandbox) = &command.sandbox else { return child(command, &image, &theirs) };
    let copy = command.clone();
    let started = sandbox.thread().run(move || child(&copy, &image, &theirs));
    started.unwrap_or_else(|| Err(SpawnError::SandboxEnded { program: command.program.clone() }))
}

/// Starts the program; there is no sandbox here.
#[cfg(not(target_os = "linux"))]
fn restricted_child(command: &Command, image: image::Image, theirs: pipe::Theirs) -> Result<Child, SpawnError> {
    child(command, &image, &theirs)
}

/// Starts the program and records it if the command says where.
fn child(command: &Command, image: &image::Image, theirs: &pipe::Theirs) -> Result<Child, SpawnError> {
    let entry = command.ledger.as_ref().map(|ledger| ledger.begin(image.marker()));
    let pid = posix::spawn(image, theirs).map_err(|errno| blame::on_start(command, image, errno))?;
    Ok(Child::adopt(pid, image.marker(), entry))
}

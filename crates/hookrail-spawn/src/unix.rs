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

mod blame;
mod child;
mod dumpable;
#[cfg(all(target_os = "linux", feature = "floor"))]
pub(crate) mod floor;
mod image;
mod leader;
mod memory;
mod parked;
#[cfg(target_os = "linux")]
mod pidinfo;
mod pipe;
mod posix;
mod proc;
pub(crate) mod recorded;
#[cfg(target_os = "linux")]
pub(crate) mod sandbox;
mod sigpipe;
mod wait;

use std::time::Duration;

use crate::command::Command;
use crate::error::SpawnError;

pub(crate) use child::Child;
pub(crate) use dumpable::close_to_others;
pub(crate) use memory::Sealed;
pub(crate) use parked::Parked;
pub(crate) use pipe::{After, Input, Output};

/// A child that has been started, with our ends of its pipes.
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

    /// Hands everything to the runtime this is called in.
    pub(crate) fn watch(&mut self, command: &Command) -> Result<(), SpawnError> {
        let watched = self.stdout.watch().and_then(|()| self.stderr.watch());
        watched.map_err(|error| blame::on_host(command, error))
    }
}

/// Starts the command once. No runtime knows of the child yet, save for input that did not fit its pipe.
pub(crate) fn start(command: &Command) -> Result<Started, SpawnError> {
    let environment = command.full_environment();
    let image = image::Image::new(command, environment)?;
    let pipes = pipe::Pipes::open(command).map_err(|error| blame::on_host(command, error))?;
    let child = restricted_child(command, image, pipes.theirs)?.watched_later();
    let pipe::Ours { stdin, stdout, stderr } = pipes.ours;
    Ok(Started { child, stdin, stdout, stderr })
}

/// Starts the program where its sandbox wants it started.
#[cfg(target_os = "linux")]
fn restricted_child(command: &Command, image: image::Image, theirs: pipe::Theirs) -> Result<child::Owned, SpawnError> {
    let Some(sandbox) = &command.sandbox else { return child(command, &image, &theirs) };
    let copy = command.clone();
    let started = sandbox.thread().run(move || child(&copy, &image, &theirs));
    started.unwrap_or_else(|| Err(SpawnError::SandboxEnded { program: command.program.clone() }))
}

/// Starts the program; there is no sandbox here.
#[cfg(not(target_os = "linux"))]
fn restricted_child(command: &Command, image: image::Image, theirs: pipe::Theirs) -> Result<child::Owned, SpawnError> {
    child(command, &image, &theirs)
}

/// Starts the program and records it if the command says where.
fn child(command: &Command, image: &image::Image, theirs: &pipe::Theirs) -> Result<child::Owned, SpawnError> {
    let entry = command.ledger.as_ref().map(|ledger| ledger.begin(image.marker()));
    let pid = posix::spawn(image, theirs).map_err(|errno| blame::on_start(command, image, errno))?;
    Ok(child::Owned::adopt(pid, image.marker()).recorded(entry))
}

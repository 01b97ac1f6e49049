//! Children on Unix.
//!
//! Starting is `posix_spawn`, never `fork`: the cost does not grow with the
//! host's memory, and no code of ours runs in the child. Each child leads a
//! session of its own, so it has no terminal to hang on and a group to signal.
//!
//! `windows.rs` has the same names, so that nothing outside needs a `cfg`.
//!
//! Limits, by system:
//!
//! * Linux with glibc 2.34 or newer: none known, save that processes which
//!   have left the session *and* cleared their environment are not found.
//! * Linux with musl: no `posix_spawn_file_actions_addclosefrom_np`, so
//!   descriptors the host opened without close-on-exec reach the child.
//! * macOS: no pidfd (a thread waits instead) and no `/proc`, so survivors are
//!   not counted and processes that leave the group are not swept.

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
compile_error!("hookrail-spawn knows Linux, macOS and Windows");

mod blame;
mod child;
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
mod sigpipe;
mod wait;

use crate::command::Command;
use crate::error::SpawnError;

pub(crate) use child::Child;
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

/// Starts the command once.
pub(crate) fn start(command: &Command) -> Result<Started, SpawnError> {
    let environment = command.full_environment();
    let image = image::Image::new(command, environment)?;
    let pipes = pipe::Pipes::open(command).map_err(|error| blame::on_host(command, error))?;
    let pid = posix::spawn(&image, &pipes.theirs).map_err(|errno| blame::on_start(command, &image, errno))?;
    let child = child::Owned::adopt(pid, image.marker()).watched();
    let pipe::Ours { stdin, stdout, stderr } = pipes.ours;
    Ok(Started { child, stdin, stdout, stderr })
}

//! A child that waits for its input, outside of every runtime.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use super::child::Owned;
use super::pipe::{self, After, Idle, Input, Output};
use super::{Started, blame, image};
use crate::command::Command;
use crate::error::SpawnError;

/// A child with pipes that no runtime knows of, so that it can be kept anywhere and used from every thread.
///
/// The order of the fields is the order of the drop: the child is killed before its stdin ends, so that it never takes
/// the end of a pipe for an empty input.
#[derive(Debug)]
pub(crate) struct Parked {
    child: Owned,
    pipes: Idle,
}

impl Parked {
    /// Starts the command once, without any input.
    pub(crate) fn start(command: &Command) -> Result<Self, SpawnError> {
        let environment = command.full_environment();
        let image = image::Image::new(command, environment)?;
        let (pipes, theirs) = Idle::open().map_err(|error| blame::on_host(command, error))?;
        Ok(Self { child: super::restricted_child(command, image, theirs)?, pipes })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    pub(crate) fn has_exited(&self) -> bool {
        self.child.has_exited()
    }

    /// Whether nothing was written to stdout and nobody has closed it.
    pub(crate) fn is_quiet(&self) -> bool {
        pipe::is_quiet(self.pipes.stdout.as_fd())
    }

    /// Gives the child its input, in the runtime this is called in.
    pub(crate) fn deliver(self, payload: &Arc<[u8]>, after: After) -> io::Result<Started> {
        let Self { child, pipes } = self;
        let stdin = Input::deliver(pipes.stdin, Arc::clone(payload), after)?;
        // Each of these enters the runtime when somebody waits for it, and for a quick answer nobody waits for most.
        let (stdout, stderr) = (Output::watch_later(pipes.stdout), Output::watch_later(pipes.stderr));
        Ok(Started { child: child.watched_later(), stdin, stdout, stderr })
    }

    /// Whether all pipes of a child are open and all its input is written.
    pub(crate) fn can_park(started: &Started) -> bool {
        started.stdin.is_idle() && !started.stdout.has_ended() && !started.stderr.has_ended()
    }

    /// Takes a child back from its runtime, if that [can be](Self::can_park).
    pub(crate) fn park(started: Started) -> Option<Self> {
        let Started { child, stdin, stdout, stderr } = started;
        let pipes = Idle { stdin: stdin.into_idle()?, stdout: stdout.into_idle()?, stderr: stderr.into_idle()? };
        Some(Self { child: child.unwatched(), pipes })
    }
}

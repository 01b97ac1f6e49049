//! Waits for the exit of a child without reaping it.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep};

use super::pipe::register;
use super::session_leader::SessionLeader;

/// The pause between two checks of a child, if neither a pidfd nor a thread is available.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// The wait for the exit of a child. Once ready, it stays ready.
#[derive(Debug)]
pub(super) enum ExitWaiter {
    /// The reactor waits for the pidfd.
    Descriptor(AsyncFd<Arc<OwnedFd>>),
    /// A thread waits, if there is no pidfd (macOS, old kernels, some sandboxes).
    Thread(oneshot::Receiver<()>),
    /// The child is checked at intervals, if the host has neither a descriptor nor a thread left. Otherwise the run would
    /// end with an unknown status.
    Checks(Arc<SessionLeader>, Pin<Box<Sleep>>),
    /// The exit was not polled yet. The wait begins in the runtime of the first poll.
    NotBegun(Arc<SessionLeader>),
    /// The child has exited.
    Over,
}

impl ExitWaiter {
    /// Begins to wait in the cheapest way that the system offers.
    pub(super) fn begin(leader: &Arc<SessionLeader>) -> Self {
        let watched = leader.pidfd().and_then(|pidfd| register(Arc::clone(pidfd), Interest::READABLE).ok());
        watched.map_or_else(|| Self::in_thread(leader), Self::Descriptor)
    }

    /// Waits in a new thread, which ends when the child exits.
    pub(super) fn in_thread(leader: &Arc<SessionLeader>) -> Self {
        let (sender, receiver) = oneshot::channel();
        let watched = Arc::clone(leader);
        let thread = std::thread::Builder::new().name("hookrail-wait".into()).spawn(move || {
            watched.wait_for_exit();
            // This fails if the run was dropped meanwhile.
            let _ = sender.send(());
        });
        match thread {
            Ok(_) => Self::Thread(receiver),
            Err(_) => Self::with_checks(leader),
        }
    }

    /// Checks the child at intervals.
    pub(super) fn with_checks(leader: &Arc<SessionLeader>) -> Self {
        Self::Checks(Arc::clone(leader), Box::pin(sleep(CHECK_INTERVAL)))
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Self::NotBegun(leader) = self {
            *self = Self::begin(leader);
        }
        let over = match self {
            // An error means that the runtime shuts down.
            Self::Descriptor(fd) => fd.poll_read_ready(cx).is_ready(),
            Self::Thread(receiver) => Pin::new(receiver).poll(cx).is_ready(),
            Self::Checks(leader, pause) => poll_checks(leader, pause, cx).is_ready(),
            Self::NotBegun(_) => false,
            Self::Over => true,
        };
        if over {
            *self = Self::Over;
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

fn poll_checks(leader: &SessionLeader, pause: &mut Pin<Box<Sleep>>, cx: &mut Context<'_>) -> Poll<()> {
    loop {
        if leader.has_exited() {
            return Poll::Ready(());
        }
        ready!(pause.as_mut().poll(cx));
        pause.as_mut().reset(Instant::now() + CHECK_INTERVAL);
    }
}

/// Blocks this thread until the descriptor is readable, at most for this time, and returns whether it is.
///
/// A signal or an error ends the wait early. The caller then waits in another way.
pub(super) fn becomes_readable(fd: BorrowedFd<'_>, time: Duration) -> bool {
    let time = Timespec::try_from(time).ok();
    poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], time.as_ref()) == Ok(1)
}

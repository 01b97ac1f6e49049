//! Waiting for the exit of a child without reaping it.

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

use super::leader::Leader;
use super::pipe::register;

/// The pause between looks at a child that nothing else can wait for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Becomes ready once, when the child has exited, and stays so.
#[derive(Debug)]
pub(super) enum Waiter {
    /// The kernel tells the reactor.
    Descriptor(AsyncFd<Arc<OwnedFd>>),
    /// A thread waits; where there is no pidfd (macOS, old kernels, some sandboxes).
    Thread(oneshot::Receiver<()>),
    /// Neither: the child is looked at again and again. This is for a host that has no descriptor and no thread left.
    Looks(Arc<Leader>, Pin<Box<Sleep>>),
    /// Nobody has waited yet; the runtime in which somebody does will be told.
    Later(Arc<Leader>),
    /// It has exited.
    Over,
}

impl Waiter {
    /// The best way to wait for this child.
    pub(super) fn new(leader: &Arc<Leader>) -> Self {
        let watched = leader.pidfd().and_then(|pidfd| register(Arc::clone(pidfd), Interest::READABLE).ok());
        watched.map_or_else(|| Self::by_thread(leader), Self::Descriptor)
    }

    /// Waits in a thread of its own, which ends with the child.
    pub(super) fn by_thread(leader: &Arc<Leader>) -> Self {
        let (sender, receiver) = oneshot::channel();
        let watched = Arc::clone(leader);
        let thread = std::thread::Builder::new().name("hookrail-wait".into()).spawn(move || {
            watched.wait_for_exit();
            // The run may have been dropped meanwhile.
            let _ = sender.send(());
        });
        match thread {
            Ok(_) => Self::Thread(receiver),
            Err(_) => Self::by_looking(leader),
        }
    }

    pub(super) fn by_looking(leader: &Arc<Leader>) -> Self {
        Self::Looks(Arc::clone(leader), Box::pin(sleep(BETWEEN_LOOKS)))
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Self::Later(leader) = self {
            *self = Self::new(leader);
        }
        let over = match self {
            // An error means that the runtime is shutting down.
            Self::Descriptor(fd) => fd.poll_read_ready(cx).is_ready(),
            Self::Thread(receiver) => Pin::new(receiver).poll(cx).is_ready(),
            Self::Looks(leader, pause) => poll_looks(leader, pause, cx).is_ready(),
            Self::Later(_) => false,
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

fn poll_looks(leader: &Leader, pause: &mut Pin<Box<Sleep>>, cx: &mut Context<'_>) -> Poll<()> {
    loop {
        if leader.has_exited() {
            return Poll::Ready(());
        }
        ready!(pause.as_mut().poll(cx));
        pause.as_mut().reset(Instant::now() + BETWEEN_LOOKS);
    }
}

/// Waits on this thread until there is something to read, for at most that time, and says whether there is.
///
/// A signal or an error ends the wait early, which only means that the caller goes on waiting in another way.
pub(super) fn becomes_readable(fd: BorrowedFd<'_>, time: Duration) -> bool {
    let time = Timespec::try_from(time).ok();
    poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], time.as_ref()) == Ok(1)
}

//! Ends a child in four steps: SIGTERM to its group, the grace, SIGKILL to its group, and SIGKILL to every process that has
//! left the group.
//!
//! This happens after the result has been returned, so no caller waits for it.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{sleep, sleep_until};

use crate::end::{ChildExit, TerminationForce, TerminationReport};
use crate::sys;

/// The time after SIGKILL in which a child must exit before the termination gives up. A process in an uninterruptible
/// system call does not die until the call returns.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// The longest grace. A year is as good as for ever, and the end of the grace is a valid instant on every system.
const LONGEST_GRACE: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// The first and the longest pause between two searches for members of a group whose leader has exited. Each pause is twice
/// the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The rest of the work to end a child.
///
/// Making it has already sent SIGTERM and SIGCONT to the child's group (or
/// SIGKILL, if the grace is zero); [`finish`](Self::finish) does the rest. A
/// termination that is dropped, before or during that, sends SIGKILL at once.
///
/// Until the end the child's output is read and discarded: a SIGTERM handler
/// that prints a line must not block on a full pipe, nor be killed by SIGPIPE
/// before it has removed its lock file. Stdin is closed.
#[derive(Debug)]
#[must_use = "dropping a termination kills the child without its grace"]
pub struct Termination {
    child: sys::Child,
    outputs: [sys::OutputPipe; 2],
    grace_ends: Option<Instant>,
}

impl Termination {
    pub(crate) fn start(child: sys::Child, outputs: [sys::OutputPipe; 2], grace: Duration) -> Self {
        // Before the first signal: a parent that exits on it takes the proof of its children's descent with it.
        child.note_descendants();
        let grace_ends = if grace.is_zero() {
            child.kill();
            None
        } else {
            child.terminate();
            Instant::now().checked_add(grace.min(LONGEST_GRACE))
        };
        Self { child, outputs, grace_ends }
    }

    /// Waits for the grace, kills the group, then every process that has left it.
    ///
    /// The grace ends early when the whole group is gone. In every case SIGKILL is then sent to the group, and to every
    /// process that has the marker, is in the child's session or was seen as a descendant of the child, until no more are
    /// found.
    pub async fn finish(mut self) -> TerminationReport {
        let force = match self.grace_ends {
            Some(end) => self.wait_for_group(end).await,
            None => TerminationForce::Killed,
        };
        // Again, because processes may have been started during the grace.
        self.child.note_descendants_off_thread().await;
        self.child.kill();
        let exit = self.wait_for_leader(Instant::now() + KILL_WAIT).await;
        let swept = self.child.sweep().await;
        if exit.is_some() && swept.is_some() {
            self.child.release();
        }
        // Otherwise dropping the child starts a thread that ends and reaps the rest.
        let (escaped, left) = swept.unwrap_or((0, 0));
        TerminationReport { exit, force, escaped, left }
    }

    /// Waits until the group is empty or the grace is over.
    async fn wait_for_group(&mut self, end: Instant) -> TerminationForce {
        if self.wait_for_leader(end).await.is_none() {
            return TerminationForce::Killed;
        }
        // The leader is often a shell that exits at once, while the program it started cleans up. The grace is for the
        // whole group.
        let mut pause = FIRST_PAUSE;
        loop {
            match self.child.count_group().await {
                Some(0) => return TerminationForce::Asked,
                Some(_) if Instant::now() < end => {}
                _ => return TerminationForce::Killed,
            }
            self.discard_for(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits for the exit of the direct child, and discards its output meanwhile.
    async fn wait_for_leader(&mut self, end: Instant) -> Option<ChildExit> {
        let mut timer = pin!(sleep_until(end.into()));
        poll_fn(|cx| {
            self.poll_discard(cx);
            if self.child.poll_exit(cx).is_ready() {
                return Poll::Ready(Some(self.child.exit()));
            }
            timer.as_mut().poll(cx).map(|()| None)
        })
        .await
    }

    async fn discard_for(&mut self, pause: Duration) {
        let mut timer = pin!(sleep(pause));
        poll_fn(|cx| {
            self.poll_discard(cx);
            timer.as_mut().poll(cx)
        })
        .await;
    }

    fn poll_discard(&mut self, cx: &mut Context<'_>) {
        for output in &mut self.outputs {
            // The end of the output does not end the wait.
            let _ = output.poll_read(cx, &mut |_| {});
        }
    }
}

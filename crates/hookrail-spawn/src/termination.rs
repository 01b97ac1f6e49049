//! The way to end a child: ask, wait, force, sweep.
//!
//! It runs after the result has been returned, so its time is nobody's wait.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{sleep, sleep_until};

use crate::outcome::{Exit, Force, TerminationReport};
use crate::sys;

/// How long a child may take to vanish after SIGKILL before the termination gives up on it.
const AFTER_KILL: Duration = Duration::from_secs(5);

/// A longer grace than this is as good as none that ends.
const LONGEST_GRACE: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// The pauses between looks at a group whose leader is gone: from here, doubling, to there.
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LAST_LOOK: Duration = Duration::from_millis(50);

/// What remains to be done to end a child.
///
/// Making it has already sent SIGTERM and SIGCONT to the child's group (or
/// SIGKILL, if the grace is zero); [`finish`](Self::finish) does the rest. A
/// termination that is dropped, before or during that, sends SIGKILL at once.
///
/// Until the end the child's output is still read, and thrown away: a handler
/// of SIGTERM that prints a line must not block on a full pipe, nor die of
/// SIGPIPE before it has removed its lock file. Stdin is closed.
#[derive(Debug)]
#[must_use = "dropping a termination kills the child without its grace"]
pub struct Termination {
    child: sys::Child,
    outputs: [sys::Output; 2],
    grace_ends: Option<Instant>,
}

impl Termination {
    pub(crate) fn start(child: sys::Child, outputs: [sys::Output; 2], grace: Duration) -> Self {
        child.note_descendants();
        let grace_ends = if grace.is_zero() {
            child.kill();
            None
        } else {
            child.terminate();
            // A year stands for ever, and is still a valid instant everywhere.
            Instant::now().checked_add(grace.min(LONGEST_GRACE))
        };
        Self { child, outputs, grace_ends }
    }

    /// Waits out the grace, kills the group, then everything that has left it.
    ///
    /// The grace ends early when the whole group is gone. Then, whatever
    /// happened, SIGKILL goes to the group, and to every process that carries
    /// the marker, is in the child's session or was seen as a descendant of the child, until no more are found.
    pub async fn finish(mut self) -> TerminationReport {
        let force = match self.grace_ends {
            Some(end) => self.wait_for_group(end).await,
            None => Force::Killed,
        };
        self.child.note_descendants_off_thread().await;
        self.child.kill();
        let exit = self.wait_for_leader(Instant::now() + AFTER_KILL).await;
        let swept = self.child.sweep().await;
        if exit.is_some() && swept.is_some() {
            self.child.release();
        }
        // Otherwise the drop of the child hands what is left to a thread.
        let (escaped, left) = swept.unwrap_or((0, 0));
        TerminationReport { exit, force, escaped, left }
    }

    /// Waits until the group is empty or the grace is over.
    async fn wait_for_group(&mut self, end: Instant) -> Force {
        if self.wait_for_leader(end).await.is_none() {
            return Force::Killed;
        }
        // The leader is often a shell that dies at once, while the program it
        // started tidies up: the grace is for all of them.
        let mut pause = FIRST_LOOK;
        loop {
            match self.child.count_group().await {
                Some(0) => return Force::Asked,
                Some(_) if Instant::now() < end => {}
                _ => return Force::Killed,
            }
            self.discard_for(pause).await;
            pause = (pause * 2).min(LAST_LOOK);
        }
    }

    /// Waits for the exit of the direct child, and throws output away meanwhile.
    async fn wait_for_leader(&mut self, end: Instant) -> Option<Exit> {
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
            // The end of the output changes nothing here.
            let _ = output.poll_read(cx, &mut |_| {});
        }
    }
}

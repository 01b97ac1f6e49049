//! Notifications: what happens to hooks, as it happens, for hosts that show or record it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::broadcast;

use crate::config::diagnostic::Diagnostic;
use crate::event::EventKind;
use crate::hook::Hook;
use crate::outcome::Decision;
use crate::run::{RawEnd, RunId, RunInput};

/// The number of a fired event inside one hook system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FireId(u64);

impl fmt::Display for FireId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One thing that happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notification {
    /// An event was planned; these hooks will run.
    Planned {
        /// Which fired event.
        fire: FireId,
        /// What happened.
        event: EventKind,
        /// The hooks, in plan order.
        hooks: Vec<Arc<Hook>>,
    },
    /// A hook was started.
    Started {
        /// Which fired event.
        fire: FireId,
        /// Its number in the plan.
        run: RunId,
        /// The hook.
        hook: Arc<Hook>,
        /// What it receives on standard input, or as its argument.
        input: RunInput,
        /// When it was started.
        at: Instant,
    },
    /// A hook has ended.
    Ended {
        /// Which fired event.
        fire: FireId,
        /// Its number in the plan.
        run: RunId,
        /// The hook.
        hook: Arc<Hook>,
        /// How.
        how: RawEnd,
        /// How long it took.
        duration: Duration,
        /// What is said about it, if it failed and no event waits for it. The outcome of its event says it of any other.
        findings: Vec<Diagnostic>,
    },
    /// The event is over.
    Folded {
        /// Which fired event.
        fire: FireId,
        /// What happened.
        event: EventKind,
        /// What was decided.
        decision: Option<Decision>,
    },
}

/// How many notifications wait for a slow listener before the oldest are lost.
const CAPACITY: usize = 1024;

/// Where notifications come from.
#[derive(Debug, Default)]
pub(super) struct Sender {
    /// Created when a host first subscribes: the buffer takes memory, and most hosts never subscribe.
    channel: OnceLock<broadcast::Sender<Notification>>,
    next: AtomicU64,
}

impl Sender {
    pub(super) fn subscribe(&self) -> Notifications {
        let channel = self.channel.get_or_init(|| broadcast::Sender::new(CAPACITY));
        Notifications { channel: channel.subscribe(), lost: 0 }
    }

    pub(super) fn next_id(&self) -> FireId {
        FireId(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Sends a notification to every listener. Without a listener it is not even created.
    pub(super) fn tell(&self, notification: impl FnOnce() -> Notification) {
        if let Some(channel) = self.channel.get()
            && channel.receiver_count() > 0
        {
            let _ = channel.send(notification());
        }
    }
}

/// A stream of notifications. If it is not read in time, the oldest are lost and counted.
#[derive(Debug)]
pub struct Notifications {
    channel: broadcast::Receiver<Notification>,
    lost: u64,
}

impl Notifications {
    /// The next notification; none when the hook system is gone.
    pub async fn next(&mut self) -> Option<Notification> {
        loop {
            match self.channel.recv().await {
                Ok(notification) => return Some(notification),
                Err(broadcast::error::RecvError::Lagged(count)) => self.lost += count,
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// The next notification, when there is one already.
    pub fn try_next(&mut self) -> Option<Notification> {
        loop {
            match self.channel.try_recv() {
                Ok(notification) => return Some(notification),
                Err(broadcast::error::TryRecvError::Lagged(count)) => self.lost += count,
                Err(_) => return None,
            }
        }
    }

    /// How many notifications were lost because they were not read in time.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

//! The two limits on a module's time: uninterrupted work (CPU time of one turn) and the wall-clock time of a call.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::limits::{RuntimeLimits, StopReason};

/// How long a module may still work before it has to return to the event loop. The JavaScript engine asks every few
/// thousand steps.
#[derive(Default)]
pub(crate) struct Budget {
    length: Duration,
    /// How long operations of the host may take in one turn.
    host: Duration,
    /// Set from another thread when the instance is retired.
    retired: Arc<AtomicBool>,
    began: Option<Instant>,
    deadline: Option<Instant>,
    /// The CPU time of the thread when it was first read.
    seen: Option<Duration>,
    /// The wall clock of a call that runs on its caller's thread, which cannot look at that clock while the module
    /// runs.
    wall: Option<Arc<WallClock>>,
    /// The time that is left for operations of the host in this turn.
    host_left: Duration,
    stopped: Option<StopReason>,
}

impl Budget {
    pub(crate) fn new(limits: &RuntimeLimits, retired: Arc<AtomicBool>) -> Self {
        Self { length: limits.cpu, host: limits.host, retired, ..Self::default() }
    }

    /// Starts a turn: the module's code is entered.
    pub(crate) fn begin(&mut self) {
        let now = Instant::now();
        (self.began, self.deadline, self.seen) = (Some(now), now.checked_add(self.length), None);
        self.host_left = self.host;
    }

    /// Makes the next turn end as well when this clock's time is up.
    pub(crate) fn watch(&mut self, wall: Arc<WallClock>) {
        self.wall = Some(wall);
    }

    /// How long the module may block this thread, and why it is stopped after that.
    pub(crate) fn waiting_left(&self) -> (Duration, StopReason) {
        let host = (self.host_left, StopReason::Host);
        let wall = self.wall.as_ref().map(|wall| (wall.remaining(), StopReason::Wall(wall.length)));
        wall.filter(|wall| wall.0 < host.0).unwrap_or(host)
    }

    /// Ends a turn: the module has returned to the event loop.
    pub(crate) fn end(&mut self) {
        (self.deadline, self.wall) = (None, None);
    }

    /// Extends the turn by time that the host spent. The module is stopped if the host's own limit for the turn is used up.
    pub(crate) fn exclude_host_time(&mut self, spent: Duration) {
        self.deadline = self.deadline.and_then(|deadline| deadline.checked_add(spent));
        self.host_left = self.host_left.saturating_sub(spent);
        if self.host_left.is_zero() {
            self.stop(StopReason::Host);
        }
    }

    /// Whether the module has to stop now. If so, the reason is recorded.
    pub(crate) fn is_over(&mut self) -> bool {
        if self.stopped.is_none() {
            self.stopped = if self.retired.load(Ordering::Relaxed) || self.is_used_up() {
                Some(StopReason::Work)
            } else {
                self.wall.as_ref().and_then(|wall| wall.is_up().then(|| StopReason::Wall(wall.length)))
            };
        }
        self.stopped.is_some()
    }

    /// Stops the module for a reason that this budget does not measure.
    pub(crate) fn stop(&mut self, why: StopReason) {
        self.stopped.get_or_insert(why);
    }

    /// Why the module had to be stopped. The reason is never cleared: code that was interrupted may have left its data
    /// half changed, so the instance cannot be used again.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        self.stopped
    }

    /// Counts CPU time and not wall-clock time, because on a busy machine a thread waits for its turn, which is not the
    /// module's work. CPU time is read only after a part of the budget is gone: reading it is a system call, and most
    /// turns are over before then.
    fn is_used_up(&mut self) -> bool {
        let (Some(began), Some(deadline)) = (self.began, self.deadline) else { return false };
        let now = Instant::now();
        if self.seen.is_none() && now.saturating_duration_since(began) > self.length / 16 {
            self.seen = thread_time();
            // If the system cannot report CPU time, wall-clock time is used.
            return self.seen.is_none() && now > deadline;
        }
        if now <= deadline {
            return false;
        }
        let worked = thread_time().zip(self.seen).map(|(time, seen)| time.saturating_sub(seen));
        let Some(worked) = worked else { return true };
        let left = self.length.saturating_sub(worked);
        self.deadline = now.checked_add(left);
        left.is_zero()
    }
}

/// The CPU time of this thread, or `None` if the system cannot report it.
#[cfg(unix)]
fn thread_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn thread_time() -> Option<Duration> {
    None
}

/// The wall clock of one call. It is paused while a dialog waits for the user, but not without a limit.
///
/// The caller waits for it on one thread while dialogs open and close on the module's thread. It is therefore not
/// protected by the module's lock but by a channel.
#[derive(Debug)]
pub(crate) struct WallClock {
    /// The length of the call's time.
    pub(crate) length: Duration,
    time: watch::Sender<Time>,
}

#[derive(Debug)]
struct Time {
    left: Duration,
    /// How long the clock may still be paused.
    still_left: Duration,
    /// When the clock was last paused or resumed.
    since: Instant,
    dialogs: usize,
}

impl Time {
    /// The time that is left, and the pause that is left. A clock whose pause is used up runs although a dialog is
    /// open.
    fn now(&self) -> (Duration, Duration) {
        let spent = self.since.elapsed();
        if self.dialogs == 0 {
            return (self.left.saturating_sub(spent), self.still_left);
        }
        let late = spent.saturating_sub(self.still_left);
        (self.left.saturating_sub(late), self.still_left.saturating_sub(spent))
    }

    /// Records how many dialogs are open now.
    fn change(&mut self, dialogs: usize) {
        (self.left, self.still_left) = self.now();
        (self.since, self.dialogs) = (Instant::now(), dialogs);
    }
}

impl WallClock {
    /// A clock with this much time that can be paused for `dialogs` in total.
    pub(crate) fn new(length: Duration, dialogs: Duration) -> Arc<Self> {
        let time = Time { left: length, still_left: dialogs, since: Instant::now(), dialogs: 0 };
        Arc::new(Self { length, time: watch::Sender::new(time) })
    }

    /// Pauses the clock until the guard is dropped.
    pub(crate) fn pause(self: &Arc<Self>) -> ClockPause {
        self.time.send_modify(|time| time.change(time.dialogs + 1));
        ClockPause(Arc::clone(self))
    }

    /// How long it takes until the time is used up, if no dialog opens or closes meanwhile.
    pub(crate) fn remaining(&self) -> Duration {
        let time = self.time.borrow();
        let (left, still_left) = time.now();
        if time.dialogs == 0 { left } else { left.saturating_add(still_left) }
    }

    /// Whether the time is used up.
    pub(crate) fn is_up(&self) -> bool {
        self.remaining().is_zero()
    }

    /// Waits for the work until the time is used up.
    pub(crate) async fn limit<F: Future>(&self, work: F) -> Option<F::Output> {
        let mut work = pin!(work);
        // Work that was done on this thread is ready at the first poll, so no timer is set for it.
        if let Poll::Ready(output) = std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
            return Some(output);
        }
        // The subscription comes first: a change between reading the time and subscribing would be missed.
        let mut changes = self.time.subscribe();
        loop {
            tokio::select! {
                biased;
                output = &mut work => return Some(output),
                // The sender belongs to this clock, so the channel is never closed.
                _ = changes.changed() => {}
                () = tokio::time::sleep(self.remaining()) => return None,
            }
        }
    }
}

/// Pauses the clock while it exists.
#[derive(Debug)]
pub(crate) struct ClockPause(Arc<WallClock>);

impl Drop for ClockPause {
    fn drop(&mut self) {
        self.0.time.send_modify(|time| time.change(time.dialogs.saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_clock_is_paused_while_a_dialog_is_open() {
        let clock = WallClock::new(Duration::from_millis(60), Duration::from_secs(60));
        let pause = clock.pause();
        let waited = clock.limit(tokio::time::sleep(Duration::from_millis(150))).await;
        assert!(waited.is_some(), "the dialog took longer than the limit, and that does not count");
        drop(pause);
        assert!(clock.limit(std::future::pending::<()>()).await.is_none());
    }

    #[tokio::test]
    async fn a_dialog_that_is_open_too_long_stops_no_clock() {
        let clock = WallClock::new(Duration::from_millis(20), Duration::from_millis(50));
        let first = clock.pause();
        let _second = clock.pause();
        drop(first);
        let began = Instant::now();
        assert!(clock.limit(std::future::pending::<()>()).await.is_none());
        assert!(began.elapsed() >= Duration::from_millis(60), "both times were used up");
        assert!(clock.is_up());
        let _third = clock.pause();
        assert!(clock.is_up(), "there is no pause left");
    }

    #[test]
    fn the_time_of_the_host_has_a_limit_in_every_turn() {
        let limits = RuntimeLimits { host: Duration::from_secs(3), ..RuntimeLimits::default() };
        let mut budget = Budget::new(&limits, Arc::default());
        for _ in 0..3 {
            budget.begin();
            budget.exclude_host_time(Duration::from_secs(2));
            assert_eq!(budget.waiting_left(), (Duration::from_secs(1), StopReason::Host));
            budget.end();
        }
        budget.begin();
        budget.exclude_host_time(Duration::from_secs(2));
        budget.exclude_host_time(Duration::from_secs(2));
        assert_eq!(budget.stopped(), Some(StopReason::Host));
    }
}

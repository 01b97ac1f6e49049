//! The two clocks a module is measured by: uninterrupted work, and time on the wall.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::limits::RuntimeLimits;

/// How long a module may still work without giving way. The engine asks it every few thousand steps.
#[derive(Default)]
pub(crate) struct Budget {
    length: Duration,
    /// How long the host's functions may take in one turn.
    host: Duration,
    /// Set from outside when the instance is not wanted any more.
    retired: Arc<AtomicBool>,
    began: Option<Instant>,
    deadline: Option<Instant>,
    /// The thread's own time when it was first asked for.
    seen: Option<Duration>,
    /// The clock of a call that runs on its caller's thread, which cannot look at the clock meanwhile.
    wall: Option<Arc<WallClock>>,
    /// What is left of the time of the host's functions in this turn.
    host_left: Duration,
    stopped: Option<StopReason>,
}

/// Why a module had to be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// It worked too long without giving way, or is not wanted any more.
    Work,
    /// The time of its call was up, which was this long.
    Wall(Duration),
    /// The host's functions took too long in one turn.
    Host,
    /// It went over its memory.
    Memory,
    /// It is made of more source than it may be.
    Source,
    /// A function of the host panicked.
    Panic,
}

impl Budget {
    pub(crate) fn new(limits: &RuntimeLimits, retired: Arc<AtomicBool>) -> Self {
        Self { length: limits.cpu, host: limits.host, retired, ..Self::default() }
    }

    /// The module begins to work.
    pub(crate) fn begin(&mut self) {
        let now = Instant::now();
        (self.began, self.deadline, self.seen) = (Some(now), now.checked_add(self.length), None);
        self.host_left = self.host;
    }

    /// The next turn also ends when this clock's time is up.
    pub(crate) fn watch(&mut self, wall: Arc<WallClock>) {
        self.wall = Some(wall);
    }

    /// How long the module may keep the thread waiting, and why it is stopped after that.
    pub(crate) fn waiting_left(&self) -> (Duration, StopReason) {
        let host = (self.host_left, StopReason::Host);
        let wall = self.wall.as_ref().map(|wall| (wall.remaining(), StopReason::Wall(wall.length)));
        wall.filter(|wall| wall.0 < host.0).unwrap_or(host)
    }

    /// The module has given way.
    pub(crate) fn end(&mut self) {
        (self.deadline, self.wall) = (None, None);
    }

    /// Time that the host spent is not the module's, as long as it is not too much.
    pub(crate) fn forgive(&mut self, spent: Duration) {
        self.deadline = self.deadline.and_then(|deadline| deadline.checked_add(spent));
        self.host_left = self.host_left.saturating_sub(spent);
        if self.host_left.is_zero() {
            self.stop(StopReason::Host);
        }
    }

    /// Whether the module has to stop now.
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

    /// The module has to stop for a reason that is not found here.
    pub(crate) fn stop(&mut self, why: StopReason) {
        self.stopped.get_or_insert(why);
    }

    /// Why the module had to be stopped. It stays so: what was interrupted cannot be relied on.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        self.stopped
    }

    /// On a busy machine a thread is kept waiting, which is not its own work: what counts is the time it had. That is
    /// asked for only when a part of the budget is gone, because asking is dear and most turns are over before then.
    fn is_used_up(&mut self) -> bool {
        let (Some(began), Some(deadline)) = (self.began, self.deadline) else { return false };
        let now = Instant::now();
        if self.seen.is_none() && now.saturating_duration_since(began) > self.length / 16 {
            self.seen = thread_time();
            // Where the system cannot say, the time on the wall counts.
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

/// How long this thread has been at work since it began, where the system can say.
#[cfg(unix)]
fn thread_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn thread_time() -> Option<Duration> {
    None
}

/// Time on the wall, which stands still while a person is asked, though not for ever.
///
/// The caller waits for it on a thread of its own while dialogs open and close on the module's, so it is not behind the
/// module's lock but a channel of its own.
#[derive(Debug)]
pub(crate) struct WallClock {
    /// All the time there was.
    pub(crate) length: Duration,
    time: watch::Sender<Time>,
}

#[derive(Debug)]
struct Time {
    left: Duration,
    /// How long it may still stand still.
    still_left: Duration,
    /// Since when it runs or stands still.
    since: Instant,
    dialogs: usize,
}

impl Time {
    /// What is left of both at this moment. A clock that has stood still for too long goes on.
    fn now(&self) -> (Duration, Duration) {
        let spent = self.since.elapsed();
        if self.dialogs == 0 {
            return (self.left.saturating_sub(spent), self.still_left);
        }
        let late = spent.saturating_sub(self.still_left);
        (self.left.saturating_sub(late), self.still_left.saturating_sub(spent))
    }

    /// Another dialog is open, or one less.
    fn change(&mut self, dialogs: usize) {
        (self.left, self.still_left) = self.now();
        (self.since, self.dialogs) = (Instant::now(), dialogs);
    }
}

impl WallClock {
    /// A clock with so much time, which stands still for `dialogs` at most.
    pub(crate) fn new(length: Duration, dialogs: Duration) -> Arc<Self> {
        let time = Time { left: length, still_left: dialogs, since: Instant::now(), dialogs: 0 };
        Arc::new(Self { length, time: watch::Sender::new(time) })
    }

    /// A dialog is open until the guard is gone.
    pub(crate) fn stand_still(self: &Arc<Self>) -> ClockPause {
        self.time.send_modify(|time| time.change(time.dialogs + 1));
        ClockPause(Arc::clone(self))
    }

    /// How long it takes until the time is up, if nothing changes.
    pub(crate) fn remaining(&self) -> Duration {
        let time = self.time.borrow();
        let (left, still_left) = time.now();
        if time.dialogs == 0 { left } else { left.saturating_add(still_left) }
    }

    /// Whether the time is up.
    pub(crate) fn is_up(&self) -> bool {
        self.remaining().is_zero()
    }

    /// Waits for the work, or until the time is up.
    pub(crate) async fn limit<F: Future>(&self, work: F) -> Option<F::Output> {
        let mut work = pin!(work);
        // Work that was done on this thread is ready by now, and needs no timer.
        if let Poll::Ready(output) = std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
            return Some(output);
        }
        // Every change after this is seen, so the time is read after it.
        let mut changes = self.time.subscribe();
        loop {
            tokio::select! {
                biased;
                output = &mut work => return Some(output),
                // The sender is part of this clock.
                _ = changes.changed() => {}
                () = tokio::time::sleep(self.remaining()) => return None,
            }
        }
    }
}

/// While this exists the clock stands still.
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
    async fn time_stands_still_while_a_dialog_is_open() {
        let clock = WallClock::new(Duration::from_millis(60), Duration::from_secs(60));
        let standstill = clock.stand_still();
        let waited = clock.limit(tokio::time::sleep(Duration::from_millis(150))).await;
        assert!(waited.is_some(), "the dialog took longer than the limit, and that does not count");
        drop(standstill);
        assert!(clock.limit(std::future::pending::<()>()).await.is_none());
    }

    #[tokio::test]
    async fn a_dialog_that_is_open_too_long_stops_no_clock() {
        let clock = WallClock::new(Duration::from_millis(20), Duration::from_millis(50));
        let first = clock.stand_still();
        let _second = clock.stand_still();
        drop(first);
        let began = Instant::now();
        assert!(clock.limit(std::future::pending::<()>()).await.is_none());
        assert!(began.elapsed() >= Duration::from_millis(60), "both times were used up");
        assert!(clock.is_up());
        let _third = clock.stand_still();
        assert!(clock.is_up(), "there is no time left to stand still");
    }

    #[test]
    fn the_time_of_the_host_has_a_limit_in_every_turn() {
        let limits = RuntimeLimits { host: Duration::from_secs(3), ..RuntimeLimits::default() };
        let mut budget = Budget::new(&limits, Arc::default());
        for _ in 0..3 {
            budget.begin();
            budget.forgive(Duration::from_secs(2));
            assert_eq!(budget.waiting_left(), (Duration::from_secs(1), StopReason::Host));
            budget.end();
        }
        budget.begin();
        budget.forgive(Duration::from_secs(2));
        budget.forgive(Duration::from_secs(2));
        assert_eq!(budget.stopped(), Some(StopReason::Host));
    }
}

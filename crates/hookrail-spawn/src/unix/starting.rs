//! Children are started on threads that do nothing else.
//!
//! `posix_spawn` returns after the child's `execve`, and that can take as long as a disk or a server of files takes to answer. The
//! caller waits for it as for everything else: until its deadline, and without holding up others.
//!
//! One thread starts children one after the other, which takes as long as on the thread of the caller: it is the waiting that
//! costs, not the hand-over. If a child has to wait for the one before it, another thread is added.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep};

use super::StartedChild;
use super::stalled::ThreadId;
use crate::command::ChildCommand;
use crate::error::SpawnError;
use crate::lock_mutex;
use crate::start_queue::{Job, PATIENCE, StartQueue};

/// The queue of a thread. Its threads are started by this one, so that children inherit what this thread has restricted
/// itself to. They end with it.
struct OwnQueue(Arc<StartQueue>);

impl Drop for OwnQueue {
    fn drop(&mut self) {
        self.0.close();
    }
}

thread_local! {
    static QUEUE: OwnQueue = OwnQueue(StartQueue::new(|queue| {
        let own = Arc::clone(queue);
        let builder = std::thread::Builder::new().name("hookrail-start".into());
        if builder.spawn(move || own.serve()).is_err() {
            queue.do_last();
        }
        Ok(())
    }));
}

/// Starts a thread for the children of this one before it is needed.
pub(crate) fn prepare() {
    // If it cannot be started, the first child asks for one again.
    let _ = QUEUE.try_with(|queue| queue.0.add_thread());
}

/// A child that is being started. Dropping it gives it up: the child is killed, whether it runs already or not.
#[derive(Debug)]
pub(crate) struct Starting {
    attempt: Arc<Attempt>,
    queue: Option<Arc<StartQueue>>,
    patience: Patience,
}

/// How long a start still waits for the ones before it.
#[derive(Debug)]
enum Patience {
    NotBegun,
    /// Until this timer fires.
    Until(Pin<Box<Sleep>>),
    /// A thread was added for it.
    Over,
}

impl Starting {
    /// Begins to start a command.
    pub(super) fn begin(
        command: &ChildCommand,
        start: impl FnOnce(&ChildCommand, &Arc<Attempt>) -> Result<StartedChild, SpawnError> + Send + 'static,
    ) -> Self {
        let attempt = Arc::new(Attempt::default());
        let (finishing, command) = (Finishing(Arc::clone(&attempt)), command.clone());
        // An input that does not fit into the pipe is registered with the runtime of the caller.
        let runtime = Handle::try_current().ok();
        let job: Job = Box::new(move || {
            let _inside = runtime.as_ref().map(Handle::enter);
            finishing.finish_with(|attempt| start(&command, attempt));
        });
        // A thread that is ending has no queue any more.
        let queue = QUEUE.try_with(|queue| Arc::clone(&queue.0)).ok();
        match &queue {
            // This queue adds a thread or does the job.
            Some(queue) => drop(queue.submit(job)),
            None => job(),
        }
        Self { attempt, queue, patience: Patience::NotBegun }
    }

    /// Ready when the child was started, or could not be.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<StartedChild, SpawnError>> {
        let mut progress = lock_mutex(&self.attempt.progress);
        if let Some(result) = progress.take_result() {
            return Poll::Ready(result);
        }
        progress.waker = Some(cx.waker().clone());
        let is_queued = matches!(progress.stage, Stage::Queued);
        drop(progress);
        if is_queued && self.poll_patience(cx).is_ready() {
            self.add_thread();
        }
        Poll::Pending
    }

    /// Whether the child runs its program already, so that its thread will hand it over in a moment.
    pub(crate) fn is_handed_over_soon(&self) -> bool {
        match &lock_mutex(&self.attempt.progress).stage {
            Stage::Executing(thread) => !thread.has_stalled_child(),
            Stage::Executed | Stage::Done(_) => true,
            Stage::Queued | Stage::Begun | Stage::Over => false,
        }
    }

    /// Ready once, when the patience is over.
    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if matches!(self.patience, Patience::NotBegun) {
            self.patience = Patience::Until(Box::pin(sleep(PATIENCE)));
        }
        let Patience::Until(timer) = &mut self.patience else { return Poll::Pending };
        let fired = timer.as_mut().poll(cx);
        if fired.is_ready() {
            self.patience = Patience::Over;
        }
        fired
    }

    /// Waits on this thread; returns nothing if the time is over first.
    pub(crate) fn wait_until(mut self, deadline: Instant) -> Option<Result<StartedChild, SpawnError>> {
        loop {
            let mut progress = lock_mutex(&self.attempt.progress);
            if let Some(result) = progress.take_result() {
                return Some(result);
            }
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            let waits = matches!((&progress.stage, &self.patience), (Stage::Queued, Patience::NotBegun));
            let longest = if waits { left.min(PATIENCE) } else { left };
            let waited = self.attempt.changed.wait_timeout(progress, longest);
            let (progress, passed) = waited.unwrap_or_else(PoisonError::into_inner);
            drop(progress);
            if waits && passed.timed_out() {
                self.patience = Patience::Over;
                self.add_thread();
            }
        }
    }

    /// Adds a thread, because those that there are do not come to this child. Without one it waits longer.
    fn add_thread(&self) {
        if let Some(queue) = &self.queue {
            let _ = queue.add_thread();
        }
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.attempt.give_up();
    }
}

/// One start, which its caller and the thread that does it look at.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    stage: Stage,
    waker: Option<Waker>,
}

#[derive(Debug, Default)]
enum Stage {
    /// No thread has begun with it.
    #[default]
    Queued,
    /// A thread prepares it.
    Begun,
    /// This thread waits for the child's `execve`.
    Executing(ThreadId),
    /// The child runs its program, or cannot.
    Executed,
    Done(Result<StartedChild, SpawnError>),
    /// The caller has its result, or does not want it any more.
    Over,
}

impl Progress {
    fn take_result(&mut self) -> Option<Result<StartedChild, SpawnError>> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Done(result) => Some(result),
            other => {
                self.stage = other;
                None
            }
        }
    }
}

/// Whether a caller still waits for a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    Waits,
    HasGivenUp,
}

impl Attempt {
    /// Goes on to the next stage, unless the caller has given up.
    fn enter(&self, stage: Stage) -> Caller {
        let mut progress = lock_mutex(&self.progress);
        if matches!(progress.stage, Stage::Over) {
            return Caller::HasGivenUp;
        }
        progress.stage = stage;
        Caller::Waits
    }

    /// Calls `spawn`, which waits for the child's `execve` on this thread; nothing if the caller has given up.
    pub(super) fn execute<T>(&self, spawn: impl FnOnce() -> T) -> Option<T> {
        match self.enter(Stage::Executing(ThreadId::current())) {
            Caller::HasGivenUp => None,
            Caller::Waits => {
                let spawned = spawn();
                self.enter(Stage::Executed);
                Some(spawned)
            }
        }
    }

    /// Hands over the result. If the caller has given up, the child is killed.
    fn finish(&self, result: Result<StartedChild, SpawnError>) {
        let mut progress = lock_mutex(&self.progress);
        if matches!(progress.stage, Stage::Over) {
            drop(progress);
            return drop(result);
        }
        progress.stage = Stage::Done(result);
        let waker = progress.waker.take();
        drop(progress);
        self.changed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends the interest of the caller, and the child with it.
    fn give_up(&self) {
        let mut progress = lock_mutex(&self.progress);
        if let Stage::Executing(thread) = &progress.stage {
            // While the stage is locked, the thread starts nothing else.
            thread.kill_stalled_child();
        }
        let stage = std::mem::replace(&mut progress.stage, Stage::Over);
        drop(progress);
        drop(stage);
    }
}

/// The thread's side of a start. If it is dropped early, because the thread panicked, the caller is told.
struct Finishing(Arc<Attempt>);

impl Finishing {
    fn finish_with(self, start: impl FnOnce(&Arc<Attempt>) -> Result<StartedChild, SpawnError>) {
        if self.0.enter(Stage::Begun) == Caller::Waits {
            self.0.finish(start(&self.0));
        }
    }
}

impl Drop for Finishing {
    fn drop(&mut self) {
        let unfinished = !matches!(lock_mutex(&self.0.progress).stage, Stage::Done(_) | Stage::Over);
        if unfinished {
            self.0.finish(Err(SpawnError::Resources { source: io::Error::other("the thread that starts it ended") }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Instant;

    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn not_in_time() -> Result<StartedChild, SpawnError> {
        Err(SpawnError::NotInTime { program: "x".into() })
    }

    /// A start that waits until the sender is dropped, and tells when it has begun.
    fn stalling() -> (Starting, mpsc::Sender<()>) {
        let (release, released) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let starting = Starting::begin(&ChildCommand::new("x"), move |_, attempt| {
            attempt.execute(|| {
                let _ = begin.send(());
                let _ = released.recv();
            });
            not_in_time()
        });
        begun.recv().unwrap();
        (starting, release)
    }

    #[test]
    fn a_start_that_does_not_end_delays_no_other_and_ends_with_the_time_of_its_caller() {
        let (first, release) = stalling();
        let second = Starting::begin(&ChildCommand::new("y"), |_, _| not_in_time());
        assert!(second.wait_until(later()).is_some());
        assert!(first.wait_until(Instant::now() + Duration::from_millis(1)).is_none());
        drop(release);
        let third = Starting::begin(&ChildCommand::new("z"), |_, _| not_in_time());
        assert!(third.wait_until(later()).is_some());
    }

    #[tokio::test]
    async fn a_task_is_woken_when_its_start_ends() {
        let (_first, _release) = stalling();
        let mut second = Starting::begin(&ChildCommand::new("y"), |_, _| not_in_time());
        let ended = poll_fn(|cx| second.poll(cx)).await;
        assert!(matches!(ended, Err(SpawnError::NotInTime { .. })));
    }

    #[test]
    fn what_is_given_up_before_a_thread_has_it_is_never_started() {
        let queue = QUEUE.with(|queue| Arc::clone(&queue.0));
        let (_first, release) = stalling();
        let (started, was_started) = mpsc::channel();
        drop(Starting::begin(&ChildCommand::new("y"), move |_, _| {
            let _ = started.send(());
            not_in_time()
        }));
        drop(release);
        // Done after the one that was given up.
        assert_eq!(queue.run(|| 1), Some(1));
        assert!(was_started.try_recv().is_err());
    }
}

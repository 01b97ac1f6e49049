//! A queue of jobs for threads that start children, to which another thread is added if a job has to wait.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::lock_mutex;

/// The time that a start waits for the one before it until another thread is added.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);

/// Work for a thread that starts children.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Adds a thread to a queue.
type AddThread = dyn Fn(&Arc<StartQueue>) -> io::Result<()> + Send + Sync;

/// The jobs of some threads, and the means to add one.
pub(crate) struct StartQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
    /// Adds a thread that calls [`StartQueue::serve`], or calls [`StartQueue::do_last`]. Fails if no job will be done any more.
    add: Box<AddThread>,
}

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl std::fmt::Debug for StartQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartQueue").finish_non_exhaustive()
    }
}

impl StartQueue {
    pub(crate) fn new(add: impl Fn(&Arc<Self>) -> io::Result<()> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), changed: Condvar::new(), add: Box::new(add) })
    }

    /// Adds a job, and a thread for it if there is none.
    pub(crate) fn submit(self: &Arc<Self>, job: Job) -> io::Result<()> {
        let mut state = lock_mutex(&self.state);
        state.jobs.push_back(job);
        let has_threads = state.threads > 0;
        drop(state);
        if has_threads {
            self.changed.notify_one();
            return Ok(());
        }
        self.add_thread()
    }

    /// Runs a function on one of the threads and waits for its result; returns `None` if there are none any more.
    pub(crate) fn run<T: Send + 'static>(self: &Arc<Self>, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (begin, begun) = mpsc::channel();
        let (done, result) = mpsc::channel();
        let job = move || {
            let _ = begin.send(());
            // If the caller no longer waits, the result is dropped, which kills a child that was started.
            drop(done.send(work()));
        };
        self.submit(Box::new(job)).ok()?;
        if begun.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            self.add_thread().ok()?;
        }
        result.recv().ok()
    }

    pub(crate) fn add_thread(self: &Arc<Self>) -> io::Result<()> {
        lock_mutex(&self.state).threads += 1;
        (self.add)(self)
    }

    /// Does one job in the place of a thread that could not be added.
    pub(crate) fn do_last(&self) {
        let mut state = lock_mutex(&self.state);
        state.threads -= 1;
        let job = state.jobs.pop_front();
        drop(state);
        if let Some(job) = job {
            job();
        }
    }

    /// Does jobs until the queue is closed, or until another thread is idle.
    pub(crate) fn serve(&self) {
        let mut state = lock_mutex(&self.state);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job();
                state = lock_mutex(&self.state);
            } else if state.closed || state.idle > 0 {
                state.threads -= 1;
                return;
            } else {
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }

    /// Ends the threads when they have done what is queued.
    pub(crate) fn close(&self) {
        lock_mutex(&self.state).closed = true;
        self.changed.notify_all();
    }
}

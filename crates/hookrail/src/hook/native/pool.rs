//! Threads on which closures of the embedding program run, so that one that blocks holds up nothing else.
//!
//! A closure has a thread only while its code runs: one that waits in a future gives the thread back and gets one again
//! when the future is woken. What a closure decides is not known here.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use std::{io, thread};

use hookrail_spawn::lock_mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::{Answering, NativeCall, NativeHook};
use crate::event::effects::Effects;

/// The number of closures whose code runs at the same time. More wait for a thread, and their time runs meanwhile.
const MOST_THREADS: usize = 64;

/// The time after which a thread that is not needed ends.
const IDLE: Duration = Duration::from_secs(5);

/// Why a closure has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// The threads. They are started when they are needed, and end when they are not.
#[derive(Default)]
pub(crate) struct ClosureThreads(Arc<ThreadPool>);

#[derive(Default)]
struct ThreadPool {
    state: Mutex<ThreadsState>,
    work: Condvar,
}

#[derive(Default)]
struct ThreadsState {
    queue: VecDeque<Arc<ClosureCall>>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

/// One call of a closure.
struct ClosureCall {
    progress: Mutex<Progress>,
    reply: Mutex<Option<oneshot::Sender<Result<Effects, Panicked>>>>,
    /// The runtime in which the event is driven, for futures that need one.
    runtime: Option<Handle>,
    threads: Arc<ThreadPool>,
}

struct Progress {
    work: Option<CallWork>,
    phase: CallPhase,
}

enum CallWork {
    NotBegun(NativeHook, NativeCall),
    Waiting(Answering),
}

/// Where a call is between its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallPhase {
    /// Its future waits to be woken.
    Waiting,
    Queued,
    Running,
    /// Its future was woken while it ran.
    RunningAndWoken,
    /// It has answered, or the answer is not wanted any more.
    Over,
}

/// The answer of a closure, some time. Dropping it gives the call up.
pub(crate) struct PendingAnswer {
    call: Arc<ClosureCall>,
    reply: oneshot::Receiver<Result<Effects, Panicked>>,
}

impl ClosureThreads {
    /// Begins to call a closure on a thread of the pool.
    ///
    /// # Errors
    /// If there is no thread, and none can be started.
    pub(crate) fn call(&self, hook: NativeHook, call: NativeCall) -> io::Result<PendingAnswer> {
        let (sender, reply) = oneshot::channel();
        let call = Arc::new(ClosureCall {
            progress: Mutex::new(Progress { work: Some(CallWork::NotBegun(hook, call)), phase: CallPhase::Queued }),
            reply: Mutex::new(Some(sender)),
            runtime: Handle::try_current().ok(),
            threads: Arc::clone(&self.0),
        });
        ThreadPool::submit(&self.0, Arc::clone(&call))?;
        Ok(PendingAnswer { call, reply })
    }

    /// Lets every thread end as soon as it has nothing to do.
    pub(crate) fn close(&self) {
        lock_mutex(&self.0.state).is_closed = true;
        self.0.work.notify_all();
    }
}

impl Drop for ClosureThreads {
    fn drop(&mut self) {
        self.close();
    }
}

impl ThreadPool {
    fn submit(shared: &Arc<Self>, call: Arc<ClosureCall>) -> io::Result<()> {
        let mut state = lock_mutex(&shared.state);
        state.queue.push_back(call);
        if state.queue.len() > state.idle && state.threads < MOST_THREADS {
            let own = Arc::clone(shared);
            match thread::Builder::new().name("hookrail-closure".to_owned()).spawn(move || own.work()) {
                Ok(_) => state.threads += 1,
                // Those that are there come round to it.
                Err(_) if state.threads > 0 => {}
                Err(error) => {
                    state.queue.pop_back();
                    return Err(error);
                }
            }
        }
        drop(state);
        shared.work.notify_one();
        Ok(())
    }

    /// The life of a thread.
    fn work(&self) {
        while let Some(call) = self.next() {
            call.run();
        }
    }

    /// The next call; none when the thread is not needed any more.
    fn next(&self) -> Option<Arc<ClosureCall>> {
        let mut state = lock_mutex(&self.state);
        loop {
            if let Some(call) = state.queue.pop_front() {
                return Some(call);
            }
            if state.is_closed {
                break;
            }
            state.idle += 1;
            let (after, waited) = self.work.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = after;
            state.idle -= 1;
            if waited.timed_out() && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        None
    }
}

impl ClosureCall {
    /// Runs the closure's code until it is done or waits.
    fn run(self: Arc<Self>) {
        let work = {
            let mut progress = lock_mutex(&self.progress);
            if progress.phase == CallPhase::Queued {
                progress.phase = CallPhase::Running;
            }
            let is_over = progress.phase == CallPhase::Over;
            progress.work.take().map(|work| (work, is_over))
        };
        let Some((work, is_over)) = work else { return };
        if is_over {
            return forget_safely(work);
        }
        let _entered = self.runtime.as_ref().map(Handle::enter);
        let waker = Waker::from(Arc::clone(&self));
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let mut answering = match work {
                CallWork::NotBegun(hook, call) => hook.call(call),
                CallWork::Waiting(answering) => answering,
            };
            match answering.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(effects) => Ok(effects),
                Poll::Pending => Err(answering),
            }
        }));
        match polled {
            Ok(Ok(effects)) => self.finish(Ok(effects)),
            Ok(Err(answering)) => self.wait(answering),
            Err(payload) => {
                forget_safely(payload);
                self.finish(Err(Panicked));
            }
        }
    }

    /// Keeps a future until it is woken.
    fn wait(self: Arc<Self>, answering: Answering) {
        let mut progress = lock_mutex(&self.progress);
        let again = match progress.phase {
            CallPhase::Over => {
                drop(progress);
                return forget_safely(answering);
            }
            CallPhase::RunningAndWoken => true,
            CallPhase::Running | CallPhase::Waiting | CallPhase::Queued => false,
        };
        progress.work = Some(CallWork::Waiting(answering));
        progress.phase = if again { CallPhase::Queued } else { CallPhase::Waiting };
        drop(progress);
        if again {
            self.queue();
        }
    }

    fn finish(&self, answer: Result<Effects, Panicked>) {
        lock_mutex(&self.progress).phase = CallPhase::Over;
        if let Some(reply) = lock_mutex(&self.reply).take() {
            // The answer may not be wanted any more.
            let _ = reply.send(answer);
        }
    }

    /// Gives the call up. Its future is dropped on a thread of the pool, because that runs code of the closure's too.
    fn give_up(self: &Arc<Self>) {
        let was = std::mem::replace(&mut lock_mutex(&self.progress).phase, CallPhase::Over);
        if was == CallPhase::Waiting {
            Arc::clone(self).queue();
        }
    }

    fn queue(self: Arc<Self>) {
        let threads = Arc::clone(&self.threads);
        if ThreadPool::submit(&threads, Arc::clone(&self)).is_err() {
            // No thread can be had, so nothing can wake this any more.
            let work = lock_mutex(&self.progress).work.take();
            forget_safely(work);
            self.finish(Err(Panicked));
        }
    }
}

impl Wake for ClosureCall {
    fn wake(self: Arc<Self>) {
        let mut progress = lock_mutex(&self.progress);
        match progress.phase {
            CallPhase::Waiting => progress.phase = CallPhase::Queued,
            CallPhase::Running => {
                progress.phase = CallPhase::RunningAndWoken;
                return;
            }
            CallPhase::Queued | CallPhase::RunningAndWoken | CallPhase::Over => return,
        }
        drop(progress);
        self.queue();
    }
}

impl Future for PendingAnswer {
    type Output = Result<Effects, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The sender is dropped unused only if a thread of the pool died, and then there is no answer either.
        Pin::new(&mut self.reply).poll(context).map(|answer| answer.unwrap_or(Err(Panicked)))
    }
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        self.call.give_up();
    }
}

/// Drops what belongs to a closure; a panic meanwhile stays here.
fn forget_safely<T>(theirs: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(theirs))) {
        std::mem::forget(payload);
    }
}

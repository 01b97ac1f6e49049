//! The engine's one thread: events fired with the asynchronous twin are driven here, and so is everything that outlives
//! the event it began in. A host can lend its runtime instead. How an event is driven is none of its business.

use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use hookrail_spawn::CancelToken;
use tokio::runtime::{self, Handle};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::drive::{Detached, Driver, Parts};
use super::fire::Fire;
use super::host::Host;
use super::notify::{FireId, Sender};
use crate::diagnostic::Diagnostic;
use crate::firing::{Firing, Step};
use crate::outcome::Outcome;
use crate::run::{How, RunEnd, RunRequest, SpawnFailure};

/// Where the engine works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Workplace {
    /// On a thread of its own.
    #[default]
    OwnThread,
    /// On the runtime it is started in, where there is one.
    CallersRuntime,
}

/// Where it has come to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Thread(ThreadId),
    Runtime(runtime::Id),
}

/// The thread, seen from outside. It ends when the last handle is gone and everything has ended.
pub(super) struct Engine {
    jobs: Result<mpsc::UnboundedSender<Job>, String>,
    notify: Sender,
    home: Option<Home>,
}

enum Job {
    Fire {
        id: FireId,
        firing: Box<Firing>,
        host: Arc<dyn Host>,
        detached: Detached,
        cancel: CancelToken,
        reply: oneshot::Sender<Outcome>,
        /// What the caller's log lines are about. The handle keeps the span open: a closed one cannot be a parent.
        caller: tracing::Span,
    },
    /// A run that an event elsewhere does not wait for.
    Detached {
        fire: FireId,
        request: Box<RunRequest>,
        host: Arc<dyn Host>,
    },
    Drain(oneshot::Sender<Vec<Diagnostic>>),
}

impl Engine {
    pub(super) fn start(parts: Parts, workplace: Workplace) -> Self {
        let (jobs, inbox) = mpsc::unbounded_channel();
        let notify = parts.notify.clone();
        if workplace == Workplace::CallersRuntime
            && let Ok(lent) = Handle::try_current()
        {
            lent.spawn(main_loop(parts, inbox));
            return Self { jobs: Ok(jobs), notify, home: Some(Home::Runtime(lent.id())) };
        }
        let started = runtime().and_then(|runtime| {
            let body = move || runtime.block_on(main_loop(parts, inbox));
            thread::Builder::new().name("hookrail".to_owned()).spawn(body)
        });
        match started {
            Ok(handle) => Self { jobs: Ok(jobs), notify, home: Some(Home::Thread(handle.thread().id())) },
            Err(error) => Self { jobs: Err(error.to_string()), notify, home: None },
        }
    }

    /// Whether the engine may need this very thread to go on.
    pub(super) fn is_at_home_here(&self) -> bool {
        match self.home {
            Some(Home::Thread(thread)) => thread == thread::current().id(),
            Some(Home::Runtime(lent)) => Handle::try_current().is_ok_and(|here| here.id() == lent),
            None => false,
        }
    }

    pub(super) fn fire(&self, firing: Firing, host: Arc<dyn Host>, detached: Detached) -> Fire {
        let kind = firing.plan().event;
        match &self.jobs {
            Ok(jobs) => {
                let (reply, outcome) = oneshot::channel();
                let cancel = CancelToken::new();
                let id = self.notify.next_id();
                let (firing, caller) = (Box::new(firing), tracing::Span::current());
                let job = Job::Fire { id, firing, host, detached, cancel: cancel.clone(), reply, caller };
                // A send can fail only when the thread is gone; the dropped reply then says so.
                let _ = jobs.send(job);
                Fire::running(id, kind, outcome, cancel)
            }
            Err(why) => Fire::ready(without_engine(firing, why)),
        }
    }

    /// Takes a run over from an event that is driven elsewhere and does not wait for it.
    pub(super) fn take_over(&self, fire: FireId, request: RunRequest, host: Arc<dyn Host>) {
        match &self.jobs {
            Ok(jobs) => {
                let _ = jobs.send(Job::Detached { fire, request: Box::new(request), host });
            }
            Err(why) => {
                tracing::warn!(target: "hookrail::runner", hook = %request.hook, %why, "a hook that nobody waits for cannot be started");
            }
        }
    }

    /// Waits until everything that was started has ended, and says what had to be cut off for that.
    pub(super) async fn drain(&self) -> Vec<Diagnostic> {
        let (done, drained) = oneshot::channel();
        if let Ok(jobs) = &self.jobs
            && jobs.send(Job::Drain(done)).is_ok()
        {
            return drained.await.unwrap_or_default();
        }
        Vec::new()
    }
}

/// A runtime for one thread, which is all that driving events takes.
pub(super) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    // Searching for what a killed hook has left happens on helper threads. Their number is not bounded here: with eight, a
    // storm of cancelled hooks left a queue of hundreds of searches, each with an open descriptor, that took minutes.
    tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()
}

/// When there is no thread to be had, every hook fails to start, and its failure policy decides.
fn without_engine(mut firing: Firing, why: &str) -> Outcome {
    loop {
        match firing.step() {
            Step::Run(batch) => {
                for request in batch.requests {
                    let failure = SpawnFailure::Other(format!("the engine could not be started: {why}"));
                    firing.ended(request.id, &RunEnd::new(How::SpawnFailed(failure), Duration::ZERO));
                }
            }
            Step::Done(outcome) => return *outcome,
            Step::Wait => return Outcome::abandoned(firing.plan().event),
        }
    }
}

async fn main_loop(parts: Parts, mut inbox: mpsc::UnboundedReceiver<Job>) {
    let driver = Arc::new(Driver::on_engine(parts));
    let mut fires = JoinSet::new();
    while let Some(job) = inbox.recv().await {
        while fires.try_join_next().is_some() {}
        match job {
            Job::Fire { id, firing, host, detached, cancel, reply, caller } => {
                let driver = Arc::clone(&driver);
                let event = firing.plan().event;
                let span = tracing::debug_span!(target: "hookrail::eventHandler", parent: &caller, "fire", %event);
                let fire = async move {
                    let outcome = driver.drive(id, *firing, host, detached, cancel).await;
                    let _ = reply.send(outcome);
                };
                fires.spawn(fire.instrument(span));
            }
            Job::Detached { fire, request, host } => driver.in_background(fire, *request, &host),
            Job::Drain(done) => {
                while fires.join_next().await.is_some() {}
                let _ = done.send(driver.close().await);
            }
        }
    }
    while fires.join_next().await.is_some() {}
    driver.close().await;
}

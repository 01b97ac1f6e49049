//! The engine's one thread: it drives the events that are fired outside of a multi-thread runtime and not with
//! `fire_blocking`, and everything that outlives the event it began in. A host can lend its runtime instead. How an
//! event is driven is not known here.

use std::io;
use std::sync::Arc;
use std::thread::{self, ThreadId};

use tokio::runtime::{self, Handle};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::drive::{Driver, EngineShared, FireJob};
use super::fire::Fire;
use super::notify::FireId;
use super::shadow::ShadowJob;
use crate::config::diagnostic::Diagnostic;
use crate::firing::{Firing, Step};
use crate::hook::host::Host;
use crate::outcome::Outcome;
use crate::run::{PlannedRun, RawEnd, RunEnd, SpawnFailure};

/// The runtime on which the engine is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EngineRuntime {
    /// A new runtime, on the engine's own thread.
    #[default]
    Own,
    /// The host's runtime, if the engine is started inside one.
    Lent,
}

/// Where the engine was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StartedOn {
    Thread(ThreadId),
    Runtime(runtime::Id),
}

/// The handle of the engine's thread. The thread ends when the last handle is dropped and all work has ended.
pub(super) struct Engine {
    jobs: mpsc::UnboundedSender<Job>,
    started_on: StartedOn,
}

enum Job {
    Fire {
        fired: FireJob,
        reply: oneshot::Sender<Outcome>,
    },
    /// A detached run of an event that another thread drives.
    Detached {
        fire: FireId,
        request: Box<PlannedRun>,
        host: Arc<dyn Host>,
    },
    /// A shadow hook, of an event elsewhere.
    Shadow(Box<ShadowJob>),
    /// A request for the diagnostics about detached runs that failed.
    Report(oneshot::Sender<Vec<Diagnostic>>),
    Drain(oneshot::Sender<Vec<Diagnostic>>),
}

impl Engine {
    /// Starts the engine.
    ///
    /// # Errors
    /// If the system has no thread or no descriptors for it at the moment.
    pub(super) fn start(parts: Arc<EngineShared>, kind: EngineRuntime) -> io::Result<Self> {
        let (jobs, inbox) = mpsc::unbounded_channel();
        if kind == EngineRuntime::Lent
            && let Ok(lent) = Handle::try_current()
        {
            lent.spawn(main_loop(parts, inbox));
            return Ok(Self { jobs, started_on: StartedOn::Runtime(lent.id()) });
        }
        let runtime = runtime()?;
        let body = move || runtime.block_on(main_loop(parts, inbox));
        let handle = thread::Builder::new().name("hookrail".to_owned()).spawn(body)?;
        Ok(Self { jobs, started_on: StartedOn::Thread(handle.thread().id()) })
    }

    /// Whether the engine may need this very thread to make progress.
    pub(super) fn needs_this_thread(&self) -> bool {
        match self.started_on {
            StartedOn::Thread(thread) => thread == thread::current().id(),
            StartedOn::Runtime(lent) => Handle::try_current().is_ok_and(|here| here.id() == lent),
        }
    }

    pub(super) fn fire(&self, fired: FireJob) -> Fire {
        let (id, kind, cancel) = (fired.id, fired.firing.plan().event, fired.cancel.clone());
        let (reply, outcome) = oneshot::channel();
        // Sending fails only if the thread is gone; the dropped reply reports that.
        let _ = self.jobs.send(Job::Fire { fired, reply });
        Fire::running(id, kind, outcome, cancel)
    }

    /// Takes a detached run over from an event that another thread drives.
    pub(super) fn take_over(&self, fire: FireId, request: PlannedRun, host: Arc<dyn Host>) {
        let _ = self.jobs.send(Job::Detached { fire, request: Box::new(request), host });
    }

    /// Takes a shadow hook over from an event that is driven elsewhere.
    pub(super) fn take_over_shadow(&self, job: ShadowJob) {
        let _ = self.jobs.send(Job::Shadow(Box::new(job)));
    }

    /// Takes the diagnostics about detached runs that failed.
    pub(super) async fn take_detached_report(&self) -> Vec<Diagnostic> {
        let (done, report) = oneshot::channel();
        match self.jobs.send(Job::Report(done)) {
            Ok(()) => report.await.unwrap_or_default(),
            Err(_) => Vec::new(),
        }
    }

    /// Waits until all work has ended, and returns what had to be cut off.
    pub(super) async fn drain(&self) -> Vec<Diagnostic> {
        let (done, drained) = oneshot::channel();
        match self.jobs.send(Job::Drain(done)) {
            Ok(()) => drained.await.unwrap_or_default(),
            Err(_) => Vec::new(),
        }
    }
}

/// A current-thread runtime, which is enough to drive events.
pub(super) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    // Searching for what a killed hook has left happens on helper threads. Their number is not bounded here: with
    // eight, a storm of cancelled hooks left a queue of hundreds of searches, each with an open descriptor, that took
    // minutes.
    hookrail_spawn::start_runtime(tokio::runtime::Builder::new_current_thread().enable_io().enable_time())
}

/// Answers events while no thread can be started: every hook fails to start, and its failure policy decides.
pub(super) fn without_engine(mut firing: Box<Firing>, why: &str) -> Outcome {
    loop {
        match firing.step() {
            Step::Run(batch) => {
                for request in batch.requests {
                    let failure = SpawnFailure::Other(format!("the engine could not be started: {why}"));
                    firing.ended(request.id, &RunEnd::NotRun(RawEnd::SpawnFailed(failure)));
                }
            }
            Step::Done(outcome) => return *outcome,
            Step::Wait => return Outcome::abandoned(firing.plan().event),
        }
    }
}

async fn main_loop(parts: Arc<EngineShared>, mut inbox: mpsc::UnboundedReceiver<Job>) {
    let driver = Arc::new(Driver::on_engine(parts));
    let mut fires = JoinSet::new();
    while let Some(job) = inbox.recv().await {
        while fires.try_join_next().is_some() {}
        match job {
            Job::Fire { fired, reply } => {
                let driver = Arc::clone(&driver);
                // No tracing span: entering one at every poll would let a subscriber that panics end the event.
                fires.spawn(async move {
                    let outcome = driver.drive(fired).await;
                    let _ = reply.send(outcome);
                });
            }
            Job::Detached { fire, request, host } => driver.in_background(fire, *request, &host),
            Job::Shadow(job) => driver.shadow_in_background(*job),
            Job::Report(done) => {
                let _ = done.send(driver.take_detached_report());
            }
            Job::Drain(done) => {
                while fires.join_next().await.is_some() {}
                let _ = done.send(driver.close().await);
            }
        }
    }
    while fires.join_next().await.is_some() {}
    driver.close().await;
}

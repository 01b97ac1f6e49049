//! The engine's one thread: it drives fired events, runs what they hand out, and ends what has to end.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use hookrail_spawn::{CancelToken, Ladder};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::background::Background;
use super::fire::Fire;
use super::host::Host;
use super::notify::{FireId, Notification, Sender};
use crate::breadcrumb::Trail;
use crate::diagnostic::Diagnostic;
use crate::dialect;
use crate::event::Stage;
use crate::firing::{Firing, Step};
use crate::hook::{Action, Trust};
use crate::native::{NativeCall, NativeHook};
use crate::outcome::Outcome;
use crate::run::{
    How, ModuleCall, ModuleReturn, ModuleRunner, ModuleWorld, ProcessWorld, RunEnd, RunRequest, SpawnFailure,
    run_command,
};

/// What an engine works with.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) world: Arc<ProcessWorld>,
    pub(super) modules: Option<Arc<dyn ModuleRunner>>,
    pub(super) notify: Sender,
    /// Places for processes, shared by everything that runs them.
    pub(super) processes: Arc<Semaphore>,
    pub(super) trail: Trail,
}

/// What happens to hooks the host does not have to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detached {
    LeftAlone,
    Awaited,
}

/// The thread, seen from outside. It ends when the last handle is gone and everything has ended.
pub(super) struct Engine {
    jobs: Result<mpsc::UnboundedSender<Job>, String>,
    notify: Sender,
    thread: Option<ThreadId>,
}

enum Job {
    Fire {
        id: FireId,
        firing: Box<Firing>,
        host: Arc<dyn Host>,
        detached: Detached,
        cancel: CancelToken,
        reply: oneshot::Sender<Outcome>,
    },
    Drain(oneshot::Sender<Vec<Diagnostic>>),
}

impl Engine {
    pub(super) fn start(parts: Parts) -> Self {
        let (jobs, inbox) = mpsc::unbounded_channel();
        let notify = parts.notify.clone();
        let started = runtime().and_then(|runtime| {
            let body = move || runtime.block_on(main_loop(parts, inbox));
            thread::Builder::new().name("hookrail".to_owned()).spawn(body)
        });
        match started {
            Ok(handle) => Self { jobs: Ok(jobs), notify, thread: Some(handle.thread().id()) },
            Err(error) => Self { jobs: Err(error.to_string()), notify, thread: None },
        }
    }

    pub(super) fn is_current_thread(&self) -> bool {
        self.thread == Some(thread::current().id())
    }

    pub(super) fn fire(&self, firing: Firing, host: Arc<dyn Host>, detached: Detached) -> Fire {
        let kind = firing.plan().event;
        match &self.jobs {
            Ok(jobs) => {
                let (reply, outcome) = oneshot::channel();
                let cancel = CancelToken::new();
                let id = self.notify.next_id();
                let job = Job::Fire { id, firing: Box::new(firing), host, detached, cancel: cancel.clone(), reply };
                // A send can fail only when the thread is gone; the dropped reply then says so.
                let _ = jobs.send(job);
                Fire::running(id, kind, outcome, cancel)
            }
            Err(why) => Fire::ready(without_engine(firing, why)),
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

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
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

/// Drives an event on a thread of its own, for a caller that stands on the engine's thread.
pub(super) fn drive_elsewhere(parts: Parts, firing: Firing, host: Arc<dyn Host>) -> Outcome {
    let kind = firing.plan().event;
    let body = move || {
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(error) => return without_engine(firing, &error.to_string()),
        };
        runtime.block_on(async {
            let shared = Arc::new(Shared::new(parts));
            let id = shared.parts.notify.next_id();
            let outcome = shared.clone().drive(id, firing, host, Detached::Awaited, CancelToken::new()).await;
            shared.finish_ladders().await;
            outcome
        })
    };
    let spawned = thread::Builder::new().name("hookrail-nested".to_owned()).spawn(body);
    spawned.ok().and_then(|handle| handle.join().ok()).unwrap_or_else(|| Outcome::abandoned(kind))
}

async fn main_loop(parts: Parts, mut inbox: mpsc::UnboundedReceiver<Job>) {
    let shared = Arc::new(Shared::new(parts));
    let mut fires = JoinSet::new();
    while let Some(job) = inbox.recv().await {
        while fires.try_join_next().is_some() {}
        match job {
            Job::Fire { id, firing, host, detached, cancel, reply } => {
                let shared = Arc::clone(&shared);
                let span = tracing::debug_span!(target: "hookrail::eventHandler", "fire", event = %firing.plan().event);
                let fire = async move {
                    let outcome = shared.drive(id, *firing, host, detached, cancel).await;
                    let _ = reply.send(outcome);
                };
                fires.spawn(fire.instrument(span));
            }
            Job::Drain(done) => {
                while fires.join_next().await.is_some() {}
                let cut_off = shared.background.close().await;
                shared.finish_ladders().await;
                let _ = done.send(cut_off);
            }
        }
    }
    while fires.join_next().await.is_some() {}
    shared.background.close().await;
    shared.finish_ladders().await;
}

/// What all runs share.
struct Shared {
    parts: Parts,
    /// Processes that were told to end and have not yet.
    ladders: Mutex<JoinSet<()>>,
    /// Runs nobody waits for.
    background: Background,
    next_run: AtomicU64,
}

impl Shared {
    fn new(parts: Parts) -> Self {
        Self { parts, ladders: Mutex::default(), background: Background::default(), next_run: AtomicU64::new(0) }
    }

    /// Takes an event from its plan to its outcome.
    async fn drive(
        self: Arc<Self>,
        fire: FireId,
        mut firing: Firing,
        host: Arc<dyn Host>,
        detached: Detached,
        cancel: CancelToken,
    ) -> Outcome {
        let event = firing.plan().event;
        let hooks = || firing.plan().hooks().map(|(_, planned)| Arc::clone(&planned.hook)).collect::<Vec<_>>();
        tracing::debug!(target: "hookrail::planner", %event, hooks = ?hooks().iter().map(|hook| hook.label.clone()).collect::<Vec<_>>(), skipped = firing.plan().skipped.len(), "planned");
        self.parts.notify.tell(|| Notification::Planned { fire, event, hooks: hooks() });
        loop {
            match firing.step() {
                Step::Run(batch) if batch.stage == Stage::Detached && detached == Detached::LeftAlone => {
                    for request in batch.requests {
                        firing.detach(request.id);
                        self.in_background(fire, request, &host);
                    }
                }
                Step::Run(batch) => {
                    let mut runs = JoinSet::new();
                    for request in batch.requests {
                        let id = request.id;
                        let run = Arc::clone(&self).run_one(fire, request, Arc::clone(&host), cancel.clone());
                        runs.spawn(async move { (id, run.await) });
                    }
                    while let Some(ended) = runs.join_next().await {
                        if let Ok((id, end)) = ended {
                            firing.ended(id, &end);
                        }
                    }
                }
                Step::Done(outcome) => {
                    let decision = outcome.effects.decision;
                    tracing::debug!(target: "hookrail::aggregator", %event, ?decision, runs = outcome.runs.len(), "folded");
                    self.parts.notify.tell(|| Notification::Folded { fire, event, decision });
                    return *outcome;
                }
                Step::Wait => {
                    let why = "a run was lost before it had ended";
                    self.parts.trail.leave(&[dialect::engine_breadcrumb(event, why)]);
                    return Outcome::abandoned(event);
                }
            }
        }
    }

    fn in_background(self: &Arc<Self>, fire: FireId, request: RunRequest, host: &Arc<dyn Host>) {
        let (hook, bound, cancel) = (Arc::clone(&request.hook), request.drain, CancelToken::new());
        let run = Arc::clone(self).run_one(fire, request, Arc::clone(host), cancel.clone());
        self.background.add(hook, bound, cancel, async move {
            run.await;
        });
    }

    async fn run_one(
        self: Arc<Self>,
        fire: FireId,
        request: RunRequest,
        host: Arc<dyn Host>,
        cancel: CancelToken,
    ) -> RunEnd {
        let (run, hook) = (request.id, Arc::clone(&request.hook));
        tracing::debug!(target: "hookrail::runner", %hook, input_bytes = request.input.len(), "started");
        tracing::trace!(target: "hookrail::runner", %hook, input = %String::from_utf8_lossy(&request.input), "input");
        self.parts.notify.tell(|| Notification::Started { fire, run, hook: Arc::clone(&hook) });
        let end = self.run_action(&request, host, &cancel).await;
        tracing::debug!(target: "hookrail::runner", %hook, how = ?end.how, duration = ?end.duration, "ended");
        tracing::trace!(target: "hookrail::runner", %hook, stdout = %end.stdout.lossy(), stderr = %end.stderr.lossy(), "output");
        self.parts.trail.leave(&dialect::breadcrumbs(&hook, request.event.kind(), &end));
        let (how, duration) = (end.how.clone(), end.duration);
        self.parts.notify.tell(|| Notification::Ended { fire, run, hook, how, duration });
        end
    }

    async fn run_action(&self, request: &RunRequest, host: Arc<dyn Host>, cancel: &CancelToken) -> RunEnd {
        let began = Instant::now();
        if let Trust::Granted(fingerprint) = &request.hook.trust
            && !fingerprint.still_holds(&request.cwd)
        {
            return RunEnd::new(How::ContentChanged, began.elapsed());
        }
        match &request.hook.action {
            Action::Native(native) => {
                let how = call_native(native, request, host, cancel).await;
                RunEnd::new(how, began.elapsed())
            }
            Action::Module(path) => {
                let Some(runner) = &self.parts.modules else {
                    return RunEnd::new(How::SpawnFailed(SpawnFailure::NoRunner), began.elapsed());
                };
                let payload = String::from_utf8_lossy(&request.input);
                let event = request.event.kind().spec().column(request.hook.dialect).map_or("", |column| column.name);
                let world = ModuleWorld::new(&*request.cwd, Arc::clone(&self.parts.world.environment));
                let world = world
                    .with_capabilities(self.parts.world.terms.of(&request.hook.trust).capabilities)
                    .covering(&request.hook.trust);
                let call = ModuleCall::new(path, event, &payload, request.timeout, world, host);
                // The runner keeps the time, because it stands still while a person is asked.
                let calling = guarded(runner.call(call), None, cancel);
                module_end(calling.await.unwrap_or_else(ModuleReturn::new), began)
            }
            _ => self.run_process(request, cancel).await,
        }
    }

    async fn run_process(&self, request: &RunRequest, cancel: &CancelToken) -> RunEnd {
        // Waiting for a place does not count against the hook's time, which starts inside.
        let place = guarded(self.parts.processes.acquire(), None, cancel);
        let Ok(Ok(_place)) = place.await else {
            return RunEnd::new(How::Cancelled, Duration::ZERO);
        };
        for folder in &request.folders {
            if let Err(error) = std::fs::create_dir_all(folder) {
                tracing::warn!(target: "hookrail::runner", hook = %request.hook, folder = %folder.display(), %error, "a folder the hook needs cannot be made");
            }
        }
        let run_id = self.run_id();
        let (end, ladder) = run_command(&self.parts.world, request, &run_id, cancel).await;
        if let Some(ladder) = ladder {
            self.finish_later(ladder);
        }
        end
    }

    /// Unique on this machine, because processes are found by it when they have to end.
    fn run_id(&self) -> String {
        let count = self.next_run.fetch_add(1, Ordering::Relaxed);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{:x}-{:p}-{count}", std::process::id(), now.as_nanos(), self)
    }

    fn finish_later(&self, ladder: Ladder) {
        let mut ladders = self.ladders.lock().unwrap_or_else(PoisonError::into_inner);
        while ladders.try_join_next().is_some() {}
        ladders.spawn(async move {
            ladder.finish().await;
        });
    }

    async fn finish_ladders(&self) {
        join_all(&self.ladders).await;
    }
}

/// Waits for every task of a set that others may still add to.
pub(super) async fn join_all(tasks: &Mutex<JoinSet<()>>) {
    loop {
        let mut taken = std::mem::take(&mut *tasks.lock().unwrap_or_else(PoisonError::into_inner));
        if taken.is_empty() {
            return;
        }
        while taken.join_next().await.is_some() {}
    }
}

async fn call_native(native: &NativeHook, request: &RunRequest, host: Arc<dyn Host>, cancel: &CancelToken) -> How {
    let call = NativeCall { event: Arc::clone(&request.event), host };
    // A closure that panics is a hook that failed; it must not take the engine down.
    let answering = match std::panic::catch_unwind(AssertUnwindSafe(|| native.call(call))) {
        Ok(answering) => answering,
        Err(_) => return How::Threw("the closure panicked".to_owned()),
    };
    guarded(answering, Some(request.timeout), cancel)
        .await
        .map_or_else(|how| how, |effects| How::Decided(Box::new(effects)))
}

/// Runs code of others: until it is done, or its time is up, or nobody wants it any more, or it panics.
async fn guarded<F: Future>(work: F, timeout: Option<Duration>, cancel: &CancelToken) -> Result<F::Output, How> {
    let mut work = pin!(work);
    let mut cancelled = pin!(cancel.cancelled());
    let mut time_up = pin!(async {
        match timeout {
            Some(timeout) => {
                tokio::time::sleep(timeout).await;
                How::TimedOut(timeout)
            }
            None => std::future::pending().await,
        }
    });
    std::future::poll_fn(move |context| {
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(How::Cancelled));
        }
        match std::panic::catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Ready(output)) => return Poll::Ready(Ok(output)),
            Ok(Poll::Pending) => {}
            Err(_) => return Poll::Ready(Err(How::Threw("the closure panicked".to_owned()))),
        }
        time_up.as_mut().poll(context).map(Err)
    })
    .await
}

fn module_end(returned: ModuleReturn, began: Instant) -> RunEnd {
    let mut end = RunEnd::new(returned.how, began.elapsed());
    (end.partial, end.failures) = (returned.partial, returned.failures);
    (end.messages, end.entries) = (returned.messages, returned.entries);
    (end.stdout, end.stderr) = (returned.stdout, returned.stderr);
    end
}

//! Driving one event from its plan to its outcome: running what the firing hands out, and giving back the ends.
//!
//! A driver does not care which thread it is on. It only has to know what becomes of that which outlives the event.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use hookrail_spawn::{CancelToken, Ladder};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::HookSystem;
use super::background::Background;
use super::host::Host;
use super::notify::{FireId, Notification, Sender};
use crate::breadcrumb::Trail;
use crate::diagnostic::Diagnostic;
use crate::dialect;
use crate::event::Stage;
use crate::firing::{Firing, Step};
use crate::hook::Action;
use crate::log::log;
use crate::native::{ClosureThreads, NativeCall, NativeHook, Panicked};
use crate::outcome::Outcome;
use crate::run::{
    How, Kept, ModuleCall, ModuleReturn, ModuleRunner, ProcessWorld, Relocation, RelocationReason, RunEnd, RunRequest,
    SpawnFailure, Wait, run_process,
};

/// What hooks are run with.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) world: Arc<ProcessWorld>,
    pub(super) modules: Option<Arc<dyn ModuleRunner>>,
    pub(super) notify: Sender,
    /// Places for processes, shared by everything that runs them.
    pub(super) processes: Arc<Semaphore>,
    pub(super) trail: Trail,
    /// Numbers the runs.
    pub(super) runs: Arc<AtomicU64>,
    /// Processes that are kept from one event to the next.
    pub(super) kept: Arc<Kept>,
    /// Threads for closures of the embedding program.
    pub(super) closures: Arc<ClosureThreads>,
}

/// What happens to hooks the host does not have to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detached {
    LeftAlone,
    Awaited,
}

/// Drives events.
pub(super) struct Driver {
    parts: Parts,
    place: Place,
}

/// The thread an event is driven on, which decides who ends what outlives it.
enum Place {
    /// The engine's own thread: it stays, and ends everything itself.
    Engine {
        /// Processes that were told to end and have not yet.
        ladders: Mutex<JoinSet<()>>,
        /// Runs nobody waits for.
        background: Background,
    },
    /// A thread of the host's that waits for this one event and then has other things to do.
    Caller { system: HookSystem, ladders: Mutex<Vec<Ladder>> },
}

impl Driver {
    /// A driver for the engine's thread.
    pub(super) fn on_engine(parts: Parts) -> Self {
        Self { parts, place: Place::Engine { ladders: Mutex::default(), background: Background::default() } }
    }

    /// A driver for one event on the thread that waits for it.
    pub(super) fn on_caller(system: &HookSystem) -> Self {
        let place = Place::Caller { system: system.clone(), ladders: Mutex::default() };
        Self { parts: system.parts(), place }
    }

    /// Lets everything end that outlived its event, and says what had to be cut off for that.
    pub(super) async fn close(&self) -> Vec<Diagnostic> {
        let Place::Engine { ladders, background } = &self.place else { return Vec::new() };
        let cut_off = background.close().await;
        self.parts.kept.close().await;
        join_all(ladders).await;
        cut_off
    }

    /// What a host's thread has to hand on when its event is over.
    pub(super) fn take_ladders(&self) -> Vec<Ladder> {
        match &self.place {
            Place::Caller { ladders, .. } => std::mem::take(&mut *lock(ladders)),
            Place::Engine { .. } => Vec::new(),
        }
    }

    /// Takes an event from its plan to its outcome.
    pub(super) async fn drive(
        self: Arc<Self>,
        fire: FireId,
        mut firing: Firing,
        host: Arc<dyn Host>,
        detached: Detached,
        cancel: CancelToken,
    ) -> Outcome {
        let event = firing.plan().event;
        let hooks = || firing.plan().hooks().map(|(_, planned)| Arc::clone(&planned.hook)).collect::<Vec<_>>();
        log!(debug, target: "hookrail::planner", %event, hooks = ?hooks().iter().map(|hook| hook.label.clone()).collect::<Vec<_>>(), skipped = firing.plan().skipped.len(), "planned");
        self.parts.notify.tell(|| Notification::Planned { fire, event, hooks: hooks() });
        loop {
            match firing.step() {
                Step::Run(batch) if batch.stage == Stage::Detached && detached == Detached::LeftAlone => {
                    for request in batch.requests {
                        firing.detach(request.id);
                        self.in_background(fire, request, &host);
                    }
                }
                Step::Run(batch) => match <[RunRequest; 1]>::try_from(batch.requests) {
                    Ok([request]) => {
                        let id = request.id;
                        let end = self.run_one(fire, request, Arc::clone(&host), (self.wait(), &cancel)).await;
                        firing.ended(id, &end);
                    }
                    Err(requests) => self.run_all(fire, requests, &host, &cancel, &mut firing).await,
                },
                Step::Done(outcome) => {
                    let decision = outcome.effects.decision;
                    log!(debug, target: "hookrail::aggregator", %event, ?decision, runs = outcome.runs.len(), "folded");
                    self.parts.notify.tell(|| Notification::Folded { fire, event, decision });
                    return *outcome;
                }
                Step::Wait => {
                    let why = "a run was lost before it had ended";
                    self.parts.trail.leave(&dialect::engine_log(event, why));
                    return Outcome::abandoned(event);
                }
            }
        }
    }

    /// Runs hooks side by side.
    async fn run_all(
        self: &Arc<Self>,
        fire: FireId,
        requests: Vec<RunRequest>,
        host: &Arc<dyn Host>,
        cancel: &CancelToken,
        firing: &mut Firing,
    ) {
        let mut runs = JoinSet::new();
        for request in requests {
            let (id, driver) = (request.id, Arc::clone(self));
            let (host, cancel) = (Arc::clone(host), cancel.clone());
            runs.spawn(async move { (id, driver.run_one(fire, request, host, (Wait::WithOthers, &cancel)).await) });
        }
        while let Some(ended) = runs.join_next().await {
            if let Ok((id, end)) = ended {
                firing.ended(id, &end);
            }
        }
    }

    pub(super) fn in_background(self: &Arc<Self>, fire: FireId, request: RunRequest, host: &Arc<dyn Host>) {
        let background = match &self.place {
            Place::Engine { background, .. } => background,
            Place::Caller { system, .. } => {
                match system.engine() {
                    Ok(engine) => engine.take_over(fire, request, Arc::clone(host)),
                    Err(why) => {
                        log!(warn, target: "hookrail::runner", hook = %request.hook, %why, "a detached hook cannot be started");
                    }
                }
                return;
            }
        };
        let (hook, bound, cancel) = (Arc::clone(&request.hook), request.drain, CancelToken::new());
        let (driver, host, token) = (Arc::clone(self), Arc::clone(host), cancel.clone());
        background.add(hook, bound, cancel, async move {
            driver.run_one(fire, request, host, (Wait::WithOthers, &token)).await;
        });
    }

    /// How the only hook of a batch is waited for.
    fn wait(&self) -> Wait {
        match self.place {
            Place::Engine { .. } => Wait::WithOthers,
            Place::Caller { .. } => Wait::Alone,
        }
    }

    async fn run_one(
        &self,
        fire: FireId,
        request: RunRequest,
        host: Arc<dyn Host>,
        (wait, cancel): (Wait, &CancelToken),
    ) -> RunEnd {
        let (run, hook) = (request.id, Arc::clone(&request.hook));
        log!(debug, target: "hookrail::runner", %hook, input_bytes = request.input.len(), "started");
        log!(trace, target: "hookrail::runner", %hook, input = %String::from_utf8_lossy(&request.input), "input");
        self.parts.notify.tell(|| Notification::Started { fire, run, hook: Arc::clone(&hook) });
        let end = self.run_action(&request, host, (wait, cancel)).await;
        log!(debug, target: "hookrail::runner", %hook, how = ?end.how, duration = ?end.duration, "ended");
        log!(trace, target: "hookrail::runner", %hook, stdout = %end.stdout.lossy(), stderr = %end.stderr.lossy(), "output");
        self.parts.trail.leave(&hook.dialect.contract().run_log(&hook, request.event.kind(), &end));
        let (how, duration) = (end.how.clone(), end.duration);
        self.parts.notify.tell(|| Notification::Ended { fire, run, hook, how, duration });
        end
    }

    async fn run_action(
        &self,
        request: &RunRequest,
        host: Arc<dyn Host>,
        (wait, cancel): (Wait, &CancelToken),
    ) -> RunEnd {
        let began = Instant::now();
        match &request.hook.action {
            Action::Native(native) => {
                let how = call_native(&self.parts.closures, native, request, host, cancel).await;
                RunEnd::new(how, began.elapsed())
            }
            Action::Module(_) if request.directory_in_project(&self.parts.world.project).is_some() => {
                // A module finds the project in its working directory, as a command does.
                let inside = RunRequest { cwd: self.parts.world.project.clone(), ..request.clone() };
                let mut end = Box::pin(self.run_action(&inside, host, (wait, cancel))).await;
                let (why, unusable) = (RelocationReason::OutsideProject, request.cwd.clone());
                end.relocated = Some(Relocation { why, unusable, used: inside.cwd });
                end
            }
            Action::Module(_) if request.has_changed() => RunEnd::new(How::ContentChanged, began.elapsed()),
            Action::Module(path) => {
                let shared = &self.parts.world;
                let sandbox = match shared.sandboxes.of(&request.hook, shared.sandbox_place()) {
                    Ok(sandbox) => sandbox,
                    Err(why) => return RunEnd::new(How::SpawnFailed(why), began.elapsed()),
                };
                let unenforced = sandbox.as_ref().map(|sandbox| sandbox.missing().to_vec()).unwrap_or_default();
                let Some(runner) = &self.parts.modules else {
                    return RunEnd::new(How::SpawnFailed(SpawnFailure::NoRunner), began.elapsed());
                };
                let payload = String::from_utf8_lossy(&request.input);
                let event = request.event.kind().spec().column(request.hook.dialect).map_or("", |column| column.name);
                let world = self.parts.world.module_ground.world(&request.cwd, &self.parts.world.project);
                let world = world
                    .with_capabilities(self.parts.world.terms.of(&request.hook.trust).capabilities)
                    .covering(&request.hook.trust)
                    .in_sandbox(sandbox);
                let call = ModuleCall::new(path, event, &payload, request.timeout, world, host);
                // The runner keeps the time, because it stands still while a person is asked.
                let calling = match self.place {
                    Place::Engine { .. } => runner.call(call),
                    Place::Caller { .. } => runner.call_here(call),
                };
                let calling = guarded(calling, None, cancel);
                let mut end = module_end(calling.await.unwrap_or_else(ModuleReturn::new), began);
                end.unenforced = unenforced;
                end
            }
            _ => self.run_process(request, (wait, cancel)).await,
        }
    }

    async fn run_process(&self, request: &RunRequest, (wait, cancel): (Wait, &CancelToken)) -> RunEnd {
        // Waiting for a place does not count against the hook's time, which starts inside.
        let place = guarded(self.parts.processes.acquire(), None, cancel);
        let Ok(Ok(_place)) = place.await else {
            return RunEnd::new(How::Cancelled, Duration::ZERO);
        };
        // Whether the hook is still what was granted is looked at inside, because a file can change while its hook waits.
        let Parts { world, kept, .. } = &self.parts;
        let (end, ladders) = run_process(world, kept, request, || self.run_id(), (wait, cancel)).await;
        ladders.into_iter().for_each(|ladder| self.finish_later(ladder));
        end
    }

    /// Unique on this machine, because processes are found by it when they have to end.
    fn run_id(&self) -> String {
        let runs = &self.parts.runs;
        let count = runs.fetch_add(1, Ordering::Relaxed);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{:x}-{:p}-{count}", std::process::id(), now.as_nanos(), Arc::as_ptr(runs))
    }

    fn finish_later(&self, ladder: Ladder) {
        match &self.place {
            Place::Engine { ladders, .. } => {
                let mut ladders = lock(ladders);
                while ladders.try_join_next().is_some() {}
                ladders.spawn(async move {
                    ladder.finish().await;
                });
            }
            Place::Caller { ladders, .. } => lock(ladders).push(ladder),
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for every task of a set that others may still add to.
pub(super) async fn join_all(tasks: &Mutex<JoinSet<()>>) {
    loop {
        let mut taken = std::mem::take(&mut *lock(tasks));
        if taken.is_empty() {
            return;
        }
        while taken.join_next().await.is_some() {}
    }
}

/// Calls a closure on a thread of its own, so that its deadline is kept whatever it does with the thread.
async fn call_native(
    closures: &ClosureThreads,
    native: &NativeHook,
    request: &RunRequest,
    host: Arc<dyn Host>,
    cancel: &CancelToken,
) -> How {
    let call = NativeCall { event: Arc::clone(&request.event), host };
    let answer = match closures.call(native.clone(), call) {
        Ok(answer) => answer,
        Err(error) => return How::SpawnFailed(SpawnFailure::Other(format!("there is no thread for it: {error}"))),
    };
    match guarded(answer, Some(request.timeout), cancel).await {
        Ok(Ok(effects)) => How::Decided(Box::new(effects)),
        Ok(Err(Panicked)) => How::Threw("the closure panicked".to_owned()),
        Err(how) => how,
    }
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

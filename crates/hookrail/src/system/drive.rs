//! Driving one event from its plan to its outcome: running what the firing hands out, and giving back the ends.
//!
//! A driver can run on any thread. It only has to know what happens to work that outlives the event.

mod one_run;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use hookrail_spawn::{CancelToken, Termination, lock_mutex};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::HookSystem;
use super::detached::{Background, DetachedRun, SessionStarts};
use super::late_words::LateWords;
use super::notify::{FireId, Notification, Sender};
use super::options::{Detached, cancelled_with};
use super::recording::{PendingRecord, Recording};
use super::remote::RemoteAccess;
use super::run_starts::RunStarts;
use super::runtime_pool::EventInFlight;
use super::shadow::{CloseOnDrop, ShadowJob, ShadowParts, ShadowRunner, ShadowVerdicts, in_plan_order};
use crate::config::diagnostic::Diagnostic;
use crate::dialect;
use crate::event::{EventKind, Stage};
use crate::firing::{Firing, ShadowFiring, Step};
use crate::hook::host::{Host, NoHost};
use crate::hook::native::ClosureThreads;
use crate::outcome::{Outcome, ShadowRun};
use crate::record::breadcrumb::DebugLog;
use crate::run::{ModuleRunner, PlannedRun, ProcessContext, ProcessPool};
use crate::text::log::log;

pub(super) use one_run::guarded;

/// What all runs of an engine share.
pub(super) struct EngineShared {
    pub(super) world: ProcessContext,
    pub(super) modules: Option<Arc<dyn ModuleRunner>>,
    pub(super) remote: RemoteAccess,
    pub(super) notify: Sender,
    /// The limit on processes, shared by everything that starts them.
    pub(super) processes: Semaphore,
    pub(super) debug_log: DebugLog,
    /// Processes that are kept from one event to the next.
    pub(super) pool: ProcessPool,
    /// Threads for closures of the embedding program.
    pub(super) closures: ClosureThreads,
    /// What shadow hooks run with.
    pub(super) shadow: ShadowParts,
    /// Hooks that prepare the session and have not ended.
    pub(super) session_starts: SessionStarts,
    /// What detached hooks said and no model has heard yet.
    pub(super) late_words: LateWords,
    /// The recorder of everything that is fired.
    pub(super) recording: Option<Arc<Recording>>,
}

/// An event that is ready to be driven.
pub(super) struct FireJob {
    pub(super) id: FireId,
    pub(super) firing: Box<Firing>,
    pub(super) host: Arc<dyn Host>,
    pub(super) detached: Detached,
    /// The event's own token. It is cancelled when the future of the event is dropped.
    pub(super) cancel: CancelToken,
    /// The host's token, which may concern other events too, so it is never cancelled here.
    pub(super) cancelled_by: Option<CancelToken>,
    /// What has to be given back with the outcome, if events are recorded.
    pub(super) pending: Option<PendingRecord>,
}

/// What the runs of one event have in common.
#[derive(Clone)]
struct FireContext {
    id: FireId,
    host: Arc<dyn Host>,
    cancel: CancelToken,
}

/// Drives events.
pub(super) struct Driver {
    parts: Arc<EngineShared>,
    leftovers: Leftovers,
}

/// The kind of thread that drives an event, which decides what happens to work that outlives the event.
enum Leftovers {
    /// The engine's own thread or the runtime that was lent. It outlives events and finishes such work itself.
    Engine {
        /// Terminations of processes that are not complete.
        terminations: Mutex<JoinSet<()>>,
        /// Runs that no event waits for.
        background: Background,
    },
    /// The thread of the caller, which drives this one event and then returns to the host.
    CallingThread { system: HookSystem, terminations: Mutex<Vec<Termination>> },
    /// A task of the caller's multi-thread runtime. Processes end in further tasks; detached hooks go to the engine,
    /// because the caller has not promised that its runtime lives as long as they do.
    Task { system: HookSystem, in_flight: Arc<EventInFlight> },
}

impl Driver {
    /// A driver for the engine's thread.
    pub(super) fn on_engine(parts: Arc<EngineShared>) -> Self {
        Self {
            parts,
            leftovers: Leftovers::Engine { terminations: Mutex::default(), background: Background::default() },
        }
    }

    /// A driver for one event on the thread that waits for it.
    pub(super) fn on_calling_thread(system: &HookSystem) -> Self {
        let leftovers = Leftovers::CallingThread { system: system.clone(), terminations: Mutex::default() };
        Self { parts: Arc::clone(system.parts()), leftovers }
    }

    /// A driver for one event in a task of the caller's multi-thread runtime.
    pub(super) fn in_task(system: &HookSystem, in_flight: EventInFlight) -> Self {
        let leftovers = Leftovers::Task { system: system.clone(), in_flight: Arc::new(in_flight) };
        Self { parts: Arc::clone(system.parts()), leftovers }
    }

    /// Finishes all work that outlived its event, and returns what had to be cut off.
    pub(super) async fn close(&self) -> Vec<Diagnostic> {
        let Leftovers::Engine { terminations, background } = &self.leftovers else { return Vec::new() };
        let cut_off = background.close().await;
        self.parts.pool.close().await;
        join_all(terminations).await;
        cut_off
    }

    /// The work that a host's thread has to hand over when its event is over.
    pub(super) fn take_terminations(&self) -> Vec<Termination> {
        match &self.leftovers {
            Leftovers::CallingThread { terminations, .. } => std::mem::take(&mut *lock_mutex(terminations)),
            Leftovers::Engine { .. } | Leftovers::Task { .. } => Vec::new(),
        }
    }

    /// Takes an event from its plan to its outcome.
    pub(super) async fn drive(self: Arc<Self>, fired: FireJob) -> Outcome {
        let FireJob { id, firing, host, detached, cancel, cancelled_by, pending } = fired;
        let context = FireContext { id, host, cancel: cancel.clone() };
        match cancelled_by {
            None => self.drive_all(firing, detached, context, pending).await,
            Some(token) => {
                let driving = Box::pin(self.drive_all(firing, detached, context, pending));
                cancelled_with(&token, &cancel, driving).await
            }
        }
    }

    async fn drive_all(
        self: Arc<Self>,
        firing: Box<Firing>,
        detached: Detached,
        context: FireContext,
        pending: Option<PendingRecord>,
    ) -> Outcome {
        let began = pending.as_ref().map_or_else(Instant::now, PendingRecord::began);
        let mut starts = RunStarts::since(began);
        // This driver is held until the event is recorded, because a shutdown waits for it.
        let mut outcome = Arc::clone(&self).run_event(firing, detached, context, &mut starts).await;
        starts.note_in(&mut outcome);
        match pending {
            Some(pending) => pending.record_outcome_and_sync(outcome).await,
            None => outcome,
        }
    }

    /// Runs the hooks of an event, and beside them those that have no effect on it.
    async fn run_event(
        self: Arc<Self>,
        firing: Box<Firing>,
        detached: Detached,
        context: FireContext,
        starts: &mut RunStarts,
    ) -> Outcome {
        if !firing.has_shadows() {
            return self.run_hooks(firing, detached, context, starts).await;
        }
        // Boxed, because most events have no such hooks.
        match detached {
            Detached::LeftAlone => Box::pin(self.run_with_shadows_apart(firing, context, starts)).await,
            Detached::Awaited => Box::pin(self.run_with_shadows(firing, context, starts)).await,
            Detached::LeftOut => self.run_hooks(firing, detached, context, starts).await,
        }
    }

    /// Runs the hooks of an event, and takes the verdicts of the others that are there when the outcome is.
    async fn run_with_shadows_apart(
        self: Arc<Self>,
        firing: Box<Firing>,
        context: FireContext,
        starts: &mut RunStarts,
    ) -> Outcome {
        let recording = self.parts.recording.as_deref();
        if self.parts.shadow.leave(context.id, firing.original(), recording) == ShadowRunner::Another {
            return self.run_hooks(firing, Detached::LeftAlone, context, starts).await;
        }
        let verdicts = CloseOnDrop(Arc::new(ShadowVerdicts::new(firing.original().clone())));
        for job in verdicts.0.jobs(context.id, firing.shadows(), &self.parts) {
            match &self.leftovers {
                Leftovers::Engine { .. } => self.shadow_in_background(job),
                Leftovers::CallingThread { system, .. } | Leftovers::Task { system, .. } => system.start_shadow(job),
            }
        }
        let mut outcome = self.run_hooks(firing, Detached::LeftAlone, context, starts).await;
        outcome.shadow = verdicts.0.close();
        outcome
    }

    /// Runs the hooks of an event, and waits for the others too.
    async fn run_with_shadows(
        self: Arc<Self>,
        firing: Box<Firing>,
        context: FireContext,
        starts: &mut RunStarts,
    ) -> Outcome {
        let mut beside = JoinSet::new();
        for (place, shadow) in firing.shadows().into_iter().enumerate() {
            let (driver, id, cancel) = (Arc::clone(&self), context.id, context.cancel.clone());
            beside.spawn(async move { (place, driver.run_shadow(id, shadow, cancel).await) });
        }
        let mut outcome = self.run_hooks(firing, Detached::Awaited, context, starts).await;
        let mut verdicts = Vec::new();
        while let Some(ended) = beside.join_next().await {
            verdicts.extend(ended.ok());
        }
        outcome.shadow = in_plan_order(verdicts);
        outcome
    }

    /// Runs a shadow hook that no event waits for.
    pub(super) fn shadow_in_background(self: &Arc<Self>, job: ShadowJob) {
        let Leftovers::Engine { background, .. } = &self.leftovers else { return };
        let (bound, cancel) = (job.time_at_shutdown(), CancelToken::new());
        let ShadowJob { fire, place, firing, verdicts, held } = job;
        let driver = Arc::clone(self);
        background.add_shadow(bound, cancel.clone(), async move {
            let verdict = driver.run_shadow(fire, firing, cancel).await;
            verdicts.add(fire, place, verdict, driver.parts.recording.as_deref());
            drop(held);
        });
    }

    /// Runs a shadow hook. It has no way back to the host, and leaves nothing in a dialect's log.
    async fn run_shadow(&self, id: FireId, shadow: ShadowFiring, cancel: CancelToken) -> ShadowRun {
        let ShadowFiring { hook, mut firing, .. } = shadow;
        let context = FireContext { id, host: Arc::new(NoHost), cancel };
        loop {
            match firing.step() {
                Step::Run(batch) => {
                    for request in batch.requests {
                        let end = self.run_action(&request, &context).await;
                        log!(debug, target: "hookrail::runner", %hook, how = ?end.how(), duration = ?end.duration(), "ended without an effect");
                        firing.ended(request.id, &end);
                    }
                }
                Step::Done(outcome) => return ShadowFiring::verdict(&hook, *outcome),
                Step::Wait => return ShadowFiring::verdict(&hook, Outcome::untouched(firing.plan().event)),
            }
        }
    }

    async fn run_hooks(
        self: Arc<Self>,
        mut firing: Box<Firing>,
        detached: Detached,
        context: FireContext,
        starts: &mut RunStarts,
    ) -> Outcome {
        let (fire, event) = (context.id, firing.plan().event);
        let hooks = || firing.plan().hooks().map(|(_, planned)| Arc::clone(&planned.hook)).collect::<Vec<_>>();
        log!(debug, target: "hookrail::planner", %event, hooks = ?hooks().iter().map(|hook| hook.label.clone()).collect::<Vec<_>>(), skipped = firing.plan().skipped.len(), "planned");
        self.parts.notify.tell(|| Notification::Planned { fire, event, hooks: hooks() });
        if event == EventKind::Prompt {
            self.wait_for_session_start(&context).await;
        }
        loop {
            match firing.step() {
                Step::Run(batch) if batch.stage == Stage::Detached && detached == Detached::LeftAlone => {
                    for request in batch.requests {
                        firing.detach(request.id);
                        self.in_background(fire, request, &context.host);
                    }
                }
                Step::Run(batch) if batch.stage == Stage::Detached && detached == Detached::LeftOut => {
                    batch.requests.iter().for_each(|request| firing.detach(request.id));
                }
                Step::Run(batch) => match <[PlannedRun; 1]>::try_from(batch.requests) {
                    Ok([request]) => {
                        let id = request.id;
                        let end = self.run_one(&context, request).await;
                        starts.note(id, &end);
                        firing.ended(id, &end);
                    }
                    Err(requests) => self.run_all(&context, requests, &mut firing, starts).await,
                },
                Step::Done(mut outcome) => {
                    if detached != Detached::LeftOut {
                        self.parts.late_words.deliver(&firing.snapshot(), firing.original(), &mut outcome);
                    }
                    let decision = outcome.effects.decision;
                    log!(debug, target: "hookrail::aggregator", %event, ?decision, runs = outcome.runs.len(), "folded");
                    self.parts.notify.tell(|| Notification::Folded { fire, event, decision });
                    return *outcome;
                }
                Step::Wait => {
                    let why = "a run was lost before it had ended";
                    self.parts.debug_log.append(&dialect::engine_log(event, why));
                    return Outcome::abandoned(event);
                }
            }
        }
    }

    /// Runs hooks side by side.
    async fn run_all(
        self: &Arc<Self>,
        context: &FireContext,
        requests: Vec<PlannedRun>,
        firing: &mut Firing,
        starts: &mut RunStarts,
    ) {
        let mut runs = JoinSet::new();
        for request in requests {
            let (id, driver, context) = (request.id, Arc::clone(self), context.clone());
            runs.spawn(async move { (id, driver.run_one(&context, request).await) });
        }
        while let Some(ended) = runs.join_next().await {
            if let Ok((id, end)) = ended {
                starts.note(id, &end);
                firing.ended(id, &end);
            }
        }
    }

    pub(super) fn in_background(self: &Arc<Self>, fire: FireId, request: PlannedRun, host: &Arc<dyn Host>) {
        if request.event.kind() == EventKind::SessionStart {
            self.parts.session_starts.add(fire, request.id);
        }
        let background = match &self.leftovers {
            Leftovers::Engine { background, .. } => background,
            Leftovers::CallingThread { system, .. } | Leftovers::Task { system, .. } => {
                match system.engine() {
                    Ok(engine) => engine.take_over(fire, request, Arc::clone(host)),
                    Err(why) => {
                        log!(warn, target: "hookrail::runner", hook = %request.hook, %why, "a detached hook cannot be started");
                    }
                }
                return;
            }
        };
        let (hook, cancel) = (Arc::clone(&request.hook), CancelToken::new());
        let bound = request.drain.unwrap_or(request.timeout);
        let context = FireContext { id: fire, host: Arc::clone(host), cancel: cancel.clone() };
        let driver = Arc::clone(self);
        background.add(DetachedRun { fire, hook, bound, cancel }, async move {
            let run = request.id;
            // The request is used up by the run, and cheap to copy.
            let recorded = driver.parts.recording.as_ref().map(|recording| (recording, request.clone()));
            let end = driver.run_one(&context, request).await;
            driver.parts.session_starts.ended(fire, run);
            if let Some((recording, request)) = recorded {
                recording.record_detached(fire, &request, &end);
            }
            end
        });
    }

    /// Takes the diagnostics about detached runs that failed; nothing for a driver that has none.
    pub(super) fn take_detached_report(&self) -> Vec<Diagnostic> {
        match &self.leftovers {
            Leftovers::Engine { background, .. } => background.take_report(),
            Leftovers::CallingThread { .. } | Leftovers::Task { .. } => Vec::new(),
        }
    }

    /// Waits for the hooks that prepare a session, before its first prompt is handled.
    async fn wait_for_session_start(&self, context: &FireContext) {
        let starts = self.parts.session_starts.take_runs();
        if starts.is_empty() {
            return;
        }
        let all = async {
            for start in starts {
                start.cancelled().await;
            }
        };
        // The result does not matter: the prompt is handled next, because these hooks decide nothing.
        let _ = guarded(all, Some(SessionStarts::LONGEST_WAIT), &context.cancel).await;
    }

    fn finish_later(&self, termination: Termination) {
        match &self.leftovers {
            Leftovers::Engine { terminations, .. } => {
                let mut terminations = lock_mutex(terminations);
                while terminations.try_join_next().is_some() {}
                terminations.spawn(async move {
                    termination.finish().await;
                });
            }
            Leftovers::CallingThread { terminations, .. } => lock_mutex(terminations).push(termination),
            Leftovers::Task { in_flight, .. } => {
                let in_flight = Arc::clone(in_flight);
                tokio::spawn(async move {
                    termination.finish().await;
                    drop(in_flight);
                });
            }
        }
    }
}

/// Waits for every task of a set to which others may still add.
pub(super) async fn join_all(tasks: &Mutex<JoinSet<()>>) {
    loop {
        let mut taken = std::mem::take(&mut *lock_mutex(tasks));
        if taken.is_empty() {
            return;
        }
        while taken.join_next().await.is_some() {}
    }
}

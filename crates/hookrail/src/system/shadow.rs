//! Shadow hooks: where they are driven, and how their verdicts are added to the outcome or, if they are late, recorded on their own.
//!
//! No event waits for a shadow hook. Shadow hooks have processes and threads of their own, so that no enforced hook waits for one either.
//! A program that ends with its event can leave them to another process, which runs them with
//! [`HookSystem::run_shadow_hooks`].

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hookrail_spawn::lock_mutex;
use tokio::sync::Semaphore;

use super::drive::EngineShared;
use super::engine::without_engine;
use super::notify::FireId;
use super::recording::Recording;
use super::{DEEPEST, HookSystem};
use crate::event::Event;
use crate::firing::ShadowFiring;
use crate::hook::native::ClosureThreads;
use crate::outcome::{Effects, EndKind, Health, HookRun, Outcome, ShadowRun};
use crate::rules::Purpose;
use crate::text::log::log;

/// How long a shutdown waits for shadow hooks, in all, if they are not all that the program is for.
const DRAIN: Duration = Duration::from_millis(750);

/// The number of processes that shadow hooks have at the same time.
const MOST_PROCESSES: usize = 8;

/// The number of shadow hooks that may run at once. A further one is not started: a slow hook must not fill the memory of a host.
const MOST_RUNNING: usize = 256;

/// Starts the shadow hooks of an event somewhere else. The text is the name of the event among the records.
pub(super) type StartElsewhere = dyn Fn(Option<&str>, &Event) -> io::Result<()> + Send + Sync;

/// What shadow hooks run with, apart from all others.
pub(super) struct ShadowParts {
    /// Places for their processes.
    pub(super) processes: Semaphore,
    /// Threads for closures of the embedding program.
    pub(super) closures: ClosureThreads,
    /// How many shadow hooks run.
    running: Arc<AtomicUsize>,
    elsewhere: Option<Arc<StartElsewhere>>,
}

impl ShadowParts {
    pub(super) fn new(elsewhere: Option<Arc<StartElsewhere>>) -> Self {
        let processes = Semaphore::new(MOST_PROCESSES);
        Self { processes, closures: ClosureThreads::default(), running: Arc::default(), elsewhere }
    }

    /// Leaves the shadow hooks of an event to another process, if the host has one for them.
    pub(super) fn leave(&self, fire: FireId, event: &Event, recording: Option<&Recording>) -> ShadowRunner {
        let Some(elsewhere) = &self.elsewhere else { return ShadowRunner::ThisProcess };
        let name = recording.map(|recording| recording.fire_name(event, fire));
        // Whatever goes wrong with these hooks, the event is not to notice it.
        match catch_unwind(AssertUnwindSafe(|| elsewhere(name.as_deref(), event))) {
            Ok(Ok(())) => ShadowRunner::Another,
            Ok(Err(error)) => {
                log!(warn, target: "hookrail::runner", %error, "shadow hooks could not be started elsewhere");
                ShadowRunner::ThisProcess
            }
            Err(_) => {
                log!(warn, target: "hookrail::runner", "starting shadow hooks elsewhere panicked");
                ShadowRunner::ThisProcess
            }
        }
    }

    /// Counts one more shadow hook that runs; nothing if there are too many.
    fn enter(&self) -> Option<ShadowPlace> {
        let count = |running: usize| (running < MOST_RUNNING).then_some(running + 1);
        self.running.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).ok()?;
        Some(ShadowPlace(Arc::clone(&self.running)))
    }
}

/// Which process runs the shadow hooks of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShadowRunner {
    ThisProcess,
    Another,
}

/// Held while a shadow hook runs.
pub(super) struct ShadowPlace(Arc<AtomicUsize>);

impl Drop for ShadowPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A shadow hook that is driven apart from its event.
pub(super) struct ShadowJob {
    pub(super) fire: FireId,
    /// Where it stands among those of its event.
    pub(super) place: usize,
    pub(super) firing: ShadowFiring,
    pub(super) verdicts: Arc<ShadowVerdicts>,
    pub(super) held: ShadowPlace,
}

impl ShadowJob {
    /// How long the hook may go on while the system shuts down.
    pub(super) fn time_at_shutdown(&self) -> Duration {
        match self.verdicts.event_of {
            EventOf::ThisSystem => self.firing.timeout.min(DRAIN),
            EventOf::AnotherProcess { .. } => self.firing.timeout,
        }
    }
}

/// The verdicts of one event, until its outcome is made.
pub(super) struct ShadowVerdicts {
    event: Event,
    event_of: EventOf,
    began: Instant,
    collected: Mutex<Collected>,
}

/// Who fired the event.
enum EventOf {
    ThisSystem,
    /// Another process, which recorded it under that name if it records events.
    AnotherProcess {
        fire: Option<String>,
    },
}

enum Collected {
    /// The outcome is not made yet.
    Open(Vec<(usize, ShadowRun)>),
    /// What comes now is late.
    Closed,
}

impl ShadowVerdicts {
    pub(super) fn new(event: Event) -> Self {
        let collected = Mutex::new(Collected::Open(Vec::new()));
        Self { event, event_of: EventOf::ThisSystem, began: Instant::now(), collected }
    }

    /// The verdicts of an event whose outcome is somewhere else: all of them are late.
    fn of_another_process(event: Event, fire: Option<String>) -> Self {
        let event_of = EventOf::AnotherProcess { fire };
        Self { event, event_of, began: Instant::now(), collected: Mutex::new(Collected::Closed) }
    }

    /// Takes a verdict. It goes to the outcome, or to the records if the outcome has been made.
    pub(super) fn add(&self, fire: FireId, place: usize, verdict: ShadowRun, recording: Option<&Recording>) {
        let mut collected = lock_mutex(&self.collected);
        match &mut *collected {
            Collected::Open(verdicts) => verdicts.push((place, verdict)),
            Collected::Closed => {
                drop(collected);
                let start = self.began.elapsed().saturating_sub(verdict.run.duration);
                if let Some(recording) = recording {
                    let fire = match &self.event_of {
                        EventOf::AnotherProcess { fire: Some(name) } => name.clone(),
                        EventOf::AnotherProcess { fire: None } | EventOf::ThisSystem => {
                            recording.fire_name(&self.event, fire)
                        }
                    };
                    recording.record_shadow(&fire, &self.event, start, &verdict);
                }
            }
        }
    }

    /// The hooks that are to be driven for the event. One that comes on top of too many is not started.
    pub(super) fn jobs(
        self: &Arc<Self>,
        fire: FireId,
        shadows: Vec<ShadowFiring>,
        parts: &EngineShared,
    ) -> Vec<ShadowJob> {
        let mut jobs = Vec::with_capacity(shadows.len());
        for (place, firing) in shadows.into_iter().enumerate() {
            match parts.shadow.enter() {
                Some(held) => jobs.push(ShadowJob { fire, place, firing, verdicts: Arc::clone(self), held }),
                None => {
                    let run = HookRun::not_asked(0, &firing.hook, EndKind::Cancelled, Health::Failed);
                    let verdict = ShadowRun { run, effects: Effects::none() };
                    self.add(fire, place, verdict, parts.recording.as_deref());
                }
            }
        }
        jobs
    }

    /// Takes what is there, in plan order, for the outcome.
    pub(super) fn close(&self) -> Vec<ShadowRun> {
        match std::mem::replace(&mut *lock_mutex(&self.collected), Collected::Closed) {
            Collected::Open(verdicts) => in_plan_order(verdicts),
            Collected::Closed => Vec::new(),
        }
    }
}

pub(super) fn in_plan_order(mut verdicts: Vec<(usize, ShadowRun)>) -> Vec<ShadowRun> {
    verdicts.sort_by_key(|(place, _)| *place);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

/// Closes the verdicts of an event whose outcome is never made, so that those to come are recorded.
pub(super) struct CloseOnDrop(pub(super) Arc<ShadowVerdicts>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// How the shadow hooks of an event start if no other hook takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShadowStart {
    /// They are started, and the outcome is there.
    Started,
    /// They are waited for.
    Awaited,
    /// They do not run.
    LeftOut,
}

/// An event whose outcome is known without asking a hook.
pub(super) struct ImmediateOutcome {
    pub(super) outcome: Outcome,
    /// The shadow hooks that run all the same.
    pub(super) shadows: Vec<ShadowFiring>,
}

impl From<Outcome> for ImmediateOutcome {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, shadows: Vec::new() }
    }
}

impl HookSystem {
    /// Starts the shadow hooks of an event whose outcome is known, so that their verdicts are late.
    pub(super) fn start_shadows(&self, fire: FireId, shadows: Vec<ShadowFiring>) {
        let Some(first) = shadows.first() else { return };
        let event = first.firing.original();
        if self.parts().shadow.leave(fire, event, self.parts().recording.as_deref()) == ShadowRunner::Another {
            return;
        }
        let verdicts = Arc::new(ShadowVerdicts::new(event.clone()));
        verdicts.close();
        self.start_jobs(fire, &verdicts, shadows);
    }

    /// Starts the hooks of an event that are not enforced, and no others: the event was fired by another process, which
    /// left them to this one with [`Builder::shadow_hooks_elsewhere`]. `fire` is the name that it gave. Each verdict
    /// is recorded. [`HookSystem::shutdown`] waits for all of them, each for as long as its own timeout says.
    ///
    /// [`Builder::shadow_hooks_elsewhere`]: crate::Builder::shadow_hooks_elsewhere
    pub fn run_shadow_hooks(&self, event: Event, fire: Option<&str>) {
        if self.inner.shut_down.load(Ordering::Relaxed) || self.parts().world.depth >= DEEPEST {
            return;
        }
        let in_force = self.inner.in_force.load();
        let shadows = ShadowFiring::of_event(&in_force.snapshot, &in_force.plan(&event, Purpose::Explanation), &event);
        let verdicts = Arc::new(ShadowVerdicts::of_another_process(event, fire.map(str::to_owned)));
        self.start_jobs(self.parts().notify.next_id(), &verdicts, shadows);
    }

    fn start_jobs(&self, fire: FireId, verdicts: &Arc<ShadowVerdicts>, shadows: Vec<ShadowFiring>) {
        verdicts.jobs(fire, shadows, self.parts()).into_iter().for_each(|job| self.start_shadow(job));
    }

    /// Lets the engine drive a shadow hook.
    pub(super) fn start_shadow(&self, job: ShadowJob) {
        match self.engine() {
            Ok(engine) => engine.take_over_shadow(job),
            Err(why) => {
                let ShadowJob { fire, place, firing: ShadowFiring { hook, firing, .. }, verdicts, held: _ } = job;
                let verdict = ShadowFiring::verdict(&hook, without_engine(firing, &why));
                verdicts.add(fire, place, verdict, self.parts().recording.as_deref());
            }
        }
    }
}

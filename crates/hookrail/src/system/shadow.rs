//! Hooks that run beside an event without an effect on it: where they are driven, and how their verdicts come to the outcome
//! or, if they are late, to a record of their own.
//!
//! No event waits for them. They have places and threads of their own, so that no enforced hook waits for one of them either.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hookrail_spawn::lock;
use tokio::sync::Semaphore;

use super::HookSystem;
use super::drive::EngineParts;
use super::engine::without_engine;
use super::notify::FireId;
use super::recording::Recording;
use crate::event::Event;
use crate::firing::ShadowFiring;
use crate::native::ClosureThreads;
use crate::outcome::{Effects, EndKind, Health, HookRun, Outcome, ShadowRun};

/// How long a shutdown waits for hooks without an effect, in all.
/// Less than a bridge takes before it ends, so that their ends are recorded.
pub(super) const DRAIN: Duration = Duration::from_millis(750);

/// The number of processes that they have at the same time.
const MOST_PROCESSES: usize = 8;

/// The number of them that may be out. One that comes on top is not started: a slow hook must not fill the memory of a host.
const MOST_OUT: usize = 256;

/// What hooks without an effect run with, apart from all others.
pub(super) struct ShadowParts {
    /// Places for their processes.
    pub(super) processes: Semaphore,
    /// Threads for closures of the embedding program.
    pub(super) closures: ClosureThreads,
    /// How many are out.
    out: Arc<AtomicUsize>,
}

impl Default for ShadowParts {
    fn default() -> Self {
        Self { processes: Semaphore::new(MOST_PROCESSES), closures: ClosureThreads::default(), out: Arc::default() }
    }
}

impl ShadowParts {
    /// Counts one more that is out; nothing if there are too many.
    fn enter(&self) -> Option<ShadowPlace> {
        let count = |out: usize| (out < MOST_OUT).then_some(out + 1);
        self.out.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).ok()?;
        Some(ShadowPlace(Arc::clone(&self.out)))
    }
}

/// Held while a hook without an effect is out.
pub(super) struct ShadowPlace(Arc<AtomicUsize>);

impl Drop for ShadowPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A hook without an effect that is driven apart from its event.
pub(super) struct ShadowJob {
    pub(super) fire: FireId,
    /// Where it stands among those of its event.
    pub(super) place: usize,
    pub(super) firing: ShadowFiring,
    pub(super) verdicts: Arc<ShadowVerdicts>,
    pub(super) held: ShadowPlace,
}

/// The verdicts of one event, until its outcome is made.
pub(super) struct ShadowVerdicts {
    event: Event,
    began: Instant,
    collected: Mutex<Collected>,
}

enum Collected {
    /// The outcome is not made yet.
    Open(Vec<(usize, ShadowRun)>),
    /// What comes now is late.
    Closed,
}

impl ShadowVerdicts {
    pub(super) fn new(event: Event) -> Self {
        Self { event, began: Instant::now(), collected: Mutex::new(Collected::Open(Vec::new())) }
    }

    /// Takes a verdict. It goes to the outcome, or to the records if the outcome has been made.
    pub(super) fn add(&self, fire: FireId, place: usize, verdict: ShadowRun, recording: Option<&Recording>) {
        let mut collected = lock(&self.collected);
        match &mut *collected {
            Collected::Open(verdicts) => verdicts.push((place, verdict)),
            Collected::Closed => {
                drop(collected);
                let start = self.began.elapsed().saturating_sub(verdict.run.duration);
                if let Some(recording) = recording {
                    recording.record_shadow(fire, &self.event, start, &verdict);
                }
            }
        }
    }

    /// The hooks that are to be driven for the event. One that comes on top of too many is not started.
    pub(super) fn jobs(
        self: &Arc<Self>,
        fire: FireId,
        shadows: Vec<ShadowFiring>,
        parts: &EngineParts,
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
        match std::mem::replace(&mut *lock(&self.collected), Collected::Closed) {
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

/// What happens to the hooks without an effect of an event in which no other hook takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// They are started, and the outcome is there.
    Started,
    /// They are waited for.
    Awaited,
    /// They do not run.
    LeftOut,
}

/// An event whose outcome is known without asking a hook.
pub(super) struct NotDriven {
    pub(super) outcome: Outcome,
    /// The hooks without an effect that run all the same.
    pub(super) shadows: Vec<ShadowFiring>,
}

impl From<Outcome> for NotDriven {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, shadows: Vec::new() }
    }
}

impl HookSystem {
    /// Starts the hooks without an effect of an event whose outcome is known, so that their verdicts are late.
    pub(super) fn start_shadows(&self, fire: FireId, shadows: Vec<ShadowFiring>) {
        let Some(first) = shadows.first() else { return };
        let verdicts = Arc::new(ShadowVerdicts::new(first.firing.original().clone()));
        verdicts.close();
        verdicts.jobs(fire, shadows, self.parts()).into_iter().for_each(|job| self.start_shadow(job));
    }

    /// Lets the engine drive a hook without an effect.
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

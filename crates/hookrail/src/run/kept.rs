//! Processes that are kept from one event to the next.
//!
//! They stand in pools, one for everything that is started in the same way: the same command, in the same directory, with
//! the same environment. A pool is given up when one of that changes for its hook, when a file that the command names
//! changes, and when the hook itself is gone. What is given up is ended; nothing is left after [`Kept::close`].
//!
//! No pool belongs to a runtime. Nothing is locked while a process works.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hookrail_spawn::{Command, Ladder, Parked, SpawnError, lock, run_id};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::command::{ProcessWorld, RUN_ID, commands};
use super::recipe::{Content, Recipe};
use super::request::RunRequest;
use crate::hook::Hook;
use crate::lane::Life;

/// How many processes of one pool work at once; more events wait for them.
const MOST_AT_ONCE: usize = 4;

/// How long a process that is not needed any more may tidy up.
const GRACE: Duration = Duration::from_secs(2);

/// The pause before a process is started again: none after the first crash, then from here, doubling, to there.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// All pools of a hook system, and the thread that fills them.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(super) pools: Arc<Pools>,
    keeper: Mutex<Option<Keeper>>,
}

/// A thread that starts processes before they are needed, because starting one takes time that nobody should wait for.
#[derive(Debug)]
struct Keeper {
    orders: mpsc::Sender<Arc<Pool>>,
    thread: JoinHandle<()>,
}

/// All pools.
#[derive(Debug, Default)]
pub(super) struct Pools {
    pools: Mutex<Vec<Arc<Pool>>>,
    /// Processes that are to be ended by whoever has a runtime.
    given_up: Mutex<Vec<Resident>>,
    closed: AtomicBool,
}

/// Processes that were started in the same way.
#[derive(Debug)]
pub(super) struct Pool {
    hook: Arc<Hook>,
    recipe: Recipe,
    content: Content,
    /// What is started: the first that can be.
    commands: Vec<Command>,
    pub(super) places: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Resident>,
    /// Whether the pool was given up, so that nothing comes back to it.
    given_up: bool,
    crashes: u32,
    not_before: Option<Instant>,
    /// Whether its processes do not wait for their input, so that none is started before it is needed.
    does_not_wait: bool,
}

/// A process of a pool that nobody uses at the moment.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) parked: Parked,
    /// How often it was asked.
    pub(super) asked: u32,
}

impl Resident {
    /// Begins to end it. One that was never asked has nothing to tidy up, and must not see the end of its input.
    fn retire(self) -> Option<Ladder> {
        let grace = if self.asked == 0 { Duration::ZERO } else { GRACE };
        self.parked.retire(grace).ok()
    }
}

impl Kept {
    /// Lets a pool be filled again, some time.
    pub(super) fn refill(&self, pool: Arc<Pool>) {
        if !pool.lacks_any(&lock(&pool.state)) || self.pools.closed.load(Ordering::Acquire) {
            return;
        }
        let mut keeper = lock(&self.keeper);
        if keeper.is_none() {
            *keeper = Keeper::start(&self.pools);
        }
        // Without a thread there are no processes before they are needed, and that is all.
        if let Some(keeper) = &*keeper {
            let _ = keeper.orders.send(pool);
        }
    }

    /// Gives up every process of a hook, at once.
    pub(crate) fn forget(&self, hook: &Hook) {
        self.pools.keep_only(|pool| !pool.is_for(hook));
    }

    /// Gives up every process of a hook that is not among these any more, or may not run, at once.
    pub(crate) fn keep_only_for(&self, hooks: &[Arc<Hook>]) {
        let may_run = |hook: &Hook| hook.is_enabled() && hook.trust.allows();
        self.pools.keep_only(|pool| hooks.iter().any(|hook| pool.is_for(hook) && pool.is_still(hook) && may_run(hook)));
    }

    /// Whether there is nothing to end.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.pools.pools).is_empty() && lock(&self.pools.given_up).is_empty()
    }

    /// Ends everything, and takes nothing back from now on.
    pub(crate) async fn close(&self) {
        self.pools.closed.store(true, Ordering::Release);
        let keeper = lock(&self.keeper).take();
        if let Some(Keeper { orders, thread }) = keeper {
            drop(orders);
            // It starts one process at most before it sees that everything is closed.
            let _ = thread.join();
        }
        let old = std::mem::take(&mut *lock(&self.pools.pools));
        lock(&self.pools.given_up).extend(residents(old));
        let mut ending = JoinSet::new();
        for ladder in self.pools.ladders() {
            ending.spawn(ladder.finish());
        }
        while ending.join_next().await.is_some() {}
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // The thread may be at work; what it brings then is not taken.
        self.pools.closed.store(true, Ordering::Release);
    }
}

impl Keeper {
    fn start(pools: &Arc<Pools>) -> Option<Self> {
        let (orders, inbox) = mpsc::channel::<Arc<Pool>>();
        let pools = Arc::clone(pools);
        let body = move || inbox.iter().for_each(|pool| pools.fill(&pool));
        let thread = thread::Builder::new().name("hookrail-spares".to_owned()).spawn(body).ok()?;
        Some(Self { orders, thread })
    }
}

impl Pools {
    /// The pool for a request. A pool that is not right any more is given up.
    pub(super) fn pool(&self, world: &ProcessWorld, request: &RunRequest) -> Arc<Pool> {
        let found = lock(&self.pools).iter().find(|pool| pool.recipe.fits(world, request)).cloned();
        if let Some(pool) = found.filter(|pool| pool.content.is_unchanged()) {
            return pool;
        }
        // The files are looked at before anything is started, so a change in between is not missed.
        let content = Content::named_by(&request.hook, world, &request.cwd);
        let mut pools = lock(&self.pools);
        let same = |pool: &&Arc<Pool>| pool.recipe.fits(world, request) && pool.content == content;
        if let Some(pool) = pools.iter().find(same) {
            return Arc::clone(pool);
        }
        let (old, other) = pools.drain(..).partition(|pool| pool.is_for(&request.hook));
        *pools = other;
        let pool = Arc::new(Pool {
            hook: Arc::clone(&request.hook),
            recipe: Recipe::of(world, request),
            content,
            commands: commands(world, request),
            places: Semaphore::new(MOST_AT_ONCE),
            state: Mutex::default(),
        });
        pools.push(Arc::clone(&pool));
        drop(pools);
        lock(&self.given_up).extend(residents(old));
        pool
    }

    /// Starts a process of a pool. Its run number is its own, because it is found by it when it has to end.
    pub(super) fn start(&self, pool: &Pool) -> Result<Resident, SpawnError> {
        let run_id = run_id();
        let mut refused = None;
        for command in &pool.commands {
            match Parked::start(&command.clone().marker(RUN_ID, &run_id)) {
                Ok(parked) => return Ok(Resident { parked, asked: 0 }),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or(SpawnError::ProgramNotFound { program: "".into() }))
    }

    /// Takes a process back for the next event, unless nobody may use it any more.
    pub(super) fn put_back(&self, pool: &Pool, resident: Resident) {
        let mut state = lock(&pool.state);
        if state.given_up || self.closed.load(Ordering::Acquire) {
            drop(state);
            self.give_up(resident);
        } else {
            state.idle.push(resident);
        }
    }

    /// Marks a process to be ended.
    pub(super) fn give_up(&self, resident: Resident) {
        lock(&self.given_up).push(resident);
    }

    /// Starts what a pool lacks, as long as that is what would be started for the next event.
    fn fill(&self, pool: &Pool) {
        while pool.may_be_started() && self.start_one(pool).is_continue() {}
    }

    fn start_one(&self, pool: &Pool) -> ControlFlow<()> {
        // An event that comes now waits for this process, which is there sooner than one that it would start itself.
        let mut state = lock(&pool.state);
        if !pool.lacks_any(&state) || self.closed.load(Ordering::Acquire) {
            return ControlFlow::Break(());
        }
        match self.start(pool) {
            Ok(resident) => state.idle.push(resident),
            Err(_) => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn keep_only(&self, wanted: impl Fn(&Pool) -> bool) {
        let mut pools = lock(&self.pools);
        let (kept, old): (Vec<_>, Vec<_>) = pools.drain(..).partition(|pool| wanted(pool));
        *pools = kept;
        drop(pools);
        // Whoever changes a configuration may have no runtime, so these do not get any time to tidy up.
        drop(residents(old));
    }

    /// What is still to be done to end the processes that were given up.
    pub(super) fn ladders(&self) -> Vec<Ladder> {
        let given_up = std::mem::take(&mut *lock(&self.given_up));
        given_up.into_iter().filter_map(Resident::retire).collect()
    }
}

impl Pool {
    /// Whether its processes are those of that hook, however they were started.
    fn is_for(&self, hook: &Hook) -> bool {
        is_same(&self.hook, hook)
    }

    /// Whether the hook still asks for such processes.
    fn is_still(&self, hook: &Hook) -> bool {
        let sandbox = |hook: &Hook| (hook.sandbox.clone(), hook.sandbox_requirement, Arc::clone(&hook.sandbox_floors));
        self.recipe.is_of(hook) && sandbox(&self.hook) == sandbox(hook)
    }

    /// A process that nobody uses.
    pub(super) fn take(&self) -> Option<Resident> {
        lock(&self.state).idle.pop()
    }

    /// A process that still waits for its first input. One that did not wait shows that the others will not either.
    pub(super) fn take_waiting(&self, pools: &Pools) -> Option<Resident> {
        let resident = self.take()?;
        if !resident.parked.has_exited() {
            return Some(resident);
        }
        let mut state = lock(&self.state);
        state.does_not_wait = true;
        let useless = std::mem::take(&mut state.idle);
        drop(state);
        useless.into_iter().chain([resident]).for_each(|resident| pools.give_up(resident));
        None
    }

    /// Whether there are fewer processes than the hook wants to have waiting.
    fn lacks_any(&self, state: &State) -> bool {
        let Life::Prewarmed(wanted) = self.hook.lane.life else { return false };
        !state.given_up && !state.does_not_wait && state.idle.len() < usize::from(wanted.get())
    }

    /// Whether what would be started now is what was looked at, and what was trusted.
    fn may_be_started(&self) -> bool {
        self.hook.trust.still_holds(self.recipe.cwd()) && self.content.is_unchanged()
    }

    /// When a process may be started again after crashes.
    pub(super) fn not_before(&self) -> Option<Instant> {
        lock(&self.state).not_before
    }

    /// Notes that a process did its work.
    pub(super) fn worked(&self) {
        let mut state = lock(&self.state);
        (state.crashes, state.not_before) = (0, None);
    }

    /// Notes that a process crashed.
    pub(super) fn crashed(&self) {
        let mut state = lock(&self.state);
        state.crashes = state.crashes.saturating_add(1);
        let pause = match state.crashes {
            0 | 1 => Duration::ZERO,
            more => FIRST_PAUSE.saturating_mul(1 << (more - 2).min(10)).min(LONGEST_PAUSE),
        };
        state.not_before = Some(Instant::now() + pause);
    }
}

/// The processes of pools that are given up.
fn residents(pools: Vec<Arc<Pool>>) -> Vec<Resident> {
    let emptied = |pool: Arc<Pool>| {
        let mut state = lock(&pool.state);
        state.given_up = true;
        std::mem::take(&mut state.idle)
    };
    pools.into_iter().flat_map(emptied).collect()
}

/// Whether two are the same entry of a configuration.
fn is_same(one: &Hook, other: &Hook) -> bool {
    (one.event, one.dialect, &one.label, &one.origin.location)
        == (other.event, other.dialect, &other.label, &other.origin.location)
}

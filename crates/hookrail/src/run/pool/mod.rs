//! Idle workers, which are kept from one event to the next.
//!
//! They are kept in one pool for everything that is started in the same way: the same command, in the same directory,
//! with the same environment. A pool is closed when one of these changes for its hook, when a file that the command
//! names changes, and when the hook is removed. Its processes are then ended; none is left after
//! [`ProcessPool::close`].
//!
//! No pool belongs to a runtime. Nothing is locked while a process works.

mod command_pool;
mod recipe;
pub(super) mod worker;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookrail_spawn::{CancelToken, ParkedChild, SpawnError, StartEnd, Termination, lock_mutex, run_id};
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(super) use recipe::FileStamps;

use super::command::{ProcessContext, RUN_ID};
use super::request::PlannedRun;
use crate::hook::Hook;
use command_pool::CommandPool;

/// How long a process that is not needed any more may take to exit.
const GRACE: Duration = Duration::from_secs(2);

/// All idle processes of a hook system.
#[derive(Debug, Default)]
pub(crate) struct ProcessPool {
    commands: Arc<CommandPools>,
}

/// The pools of all commands.
#[derive(Debug, Default)]
pub(super) struct CommandPools {
    pools: Mutex<Vec<Arc<CommandPool>>>,
    /// Processes that the next run has to end, because ending them needs a runtime.
    discarded: Mutex<Vec<IdleProcess>>,
    closed: AtomicBool,
}

/// A process of a pool that no event uses.
#[derive(Debug)]
pub(super) struct IdleProcess {
    pub(super) parked: ParkedChild,
    /// How many questions it was asked.
    pub(super) asked: u32,
}

impl IdleProcess {
    /// Starts to end it. A process that was never asked has nothing to clean up, and must not see the end of its input.
    fn retire(self) -> Termination {
        let grace = if self.asked == 0 { Duration::ZERO } else { GRACE };
        self.parked.retire(grace)
    }
}

impl ProcessPool {
    /// Ends every idle process of a hook at once.
    pub(super) fn remove_hook(&self, hook: &Hook) {
        self.commands.retain(|pool| !pool.is_for(hook));
    }

    /// Ends every idle process of a hook that is not among these any more, or may not run, at once.
    pub(crate) fn retain_hooks(&self, hooks: &[Arc<Hook>]) {
        let may_run = |hook: &Hook| hook.is_enabled() && hook.trust.allows();
        self.commands.retain(|pool| {
            hooks.iter().any(|hook| pool.is_for(hook) && pool.is_still_wanted_by(hook) && may_run(hook))
        });
    }

    /// Whether there is nothing to end.
    pub(crate) fn is_empty(&self) -> bool {
        lock_mutex(&self.commands.pools).is_empty() && lock_mutex(&self.commands.discarded).is_empty()
    }

    /// Ends everything, and takes nothing back from now on.
    pub(crate) async fn close(&self) {
        self.commands.closed.store(true, Ordering::Release);
        let old = std::mem::take(&mut *lock_mutex(&self.commands.pools));
        lock_mutex(&self.commands.discarded).extend(give_up_all(old));
        let mut ending = JoinSet::new();
        for termination in self.end_discarded() {
            ending.spawn(termination.finish());
        }
        while ending.join_next().await.is_some() {}
    }

    /// Starts to end the processes that were discarded. Returns the terminations that are not complete.
    pub(super) fn end_discarded(&self) -> Vec<Termination> {
        let discarded = std::mem::take(&mut *lock_mutex(&self.commands.discarded));
        discarded.into_iter().map(IdleProcess::retire).collect()
    }
}

impl CommandPools {
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The pool for a request. A pool that does not fit any more is closed.
    fn pool_for(&self, world: &ProcessContext, request: &PlannedRun) -> Arc<CommandPool> {
        let found = lock_mutex(&self.pools).iter().find(|pool| pool.recipe.fits(world, request)).cloned();
        if let Some(pool) = found.filter(|pool| pool.files.is_unchanged()) {
            return pool;
        }
        // The files are inspected before anything is started, so that a change in between is noticed.
        let files = FileStamps::named_by(&request.hook, world, &request.cwd);
        let mut pools = lock_mutex(&self.pools);
        if let Some(pool) = pools.iter().find(|pool| pool.recipe.fits(world, request) && pool.files == files) {
            return Arc::clone(pool);
        }
        let (old, other) = pools.drain(..).partition(|pool| pool.is_for(&request.hook));
        *pools = other;
        let pool = Arc::new(CommandPool::new(world, request, files));
        pools.push(Arc::clone(&pool));
        drop(pools);
        lock_mutex(&self.discarded).extend(give_up_all(old));
        pool
    }

    /// Starts a process of a pool for an event that waits for it until an instant. It has its own run number, by which it is
    /// found when it has to be ended.
    async fn start_process_until(
        &self,
        pool: &CommandPool,
        until: Instant,
        cancel: &CancelToken,
    ) -> Result<ControlFlow<StartEnd, IdleProcess>, SpawnError> {
        let Some(command) = &pool.command else {
            return Err(SpawnError::ProgramNotFound { program: "".into() });
        };
        let started = ParkedChild::start_until(&command.clone().marker(RUN_ID, run_id()), until, cancel).await?;
        Ok(started.map_continue(|parked| IdleProcess { parked, asked: 0 }))
    }

    /// Returns a process to its pool for the next event, unless the pool was closed.
    fn put_back(&self, pool: &CommandPool, process: IdleProcess) {
        let refused = if self.is_closed() { Some(process) } else { pool.put_back(process) };
        if let Some(process) = refused {
            self.discard(process);
        }
    }

    /// Marks a process to be ended.
    fn discard(&self, process: IdleProcess) {
        lock_mutex(&self.discarded).push(process);
    }

    fn retain(&self, wanted: impl Fn(&CommandPool) -> bool) {
        let mut pools = lock_mutex(&self.pools);
        let (kept, old): (Vec<_>, Vec<_>) = pools.drain(..).partition(|pool| wanted(pool));
        *pools = kept;
        drop(pools);
        // A thread that changes a configuration may have no runtime, so these processes are killed without a grace
        // period.
        drop(give_up_all(old));
    }
}

/// Closes pools, and returns their idle processes.
fn give_up_all(pools: Vec<Arc<CommandPool>>) -> Vec<IdleProcess> {
    pools.into_iter().flat_map(|pool| pool.give_up()).collect()
}

//! The idle processes of one command.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookrail_spawn::{ChildCommand, SpawnError, lock};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::recipe::{FileStamps, LaunchSettings};
use super::{CommandPools, IdleProcess};
use crate::hook::Hook;
use crate::hook::exec_options::ProcessLifetime;
use crate::run::command::{ProcessContext, commands};
use crate::run::request::PlannedRun;

/// How many processes of one pool may work at once; further events wait for one.
const MOST_AT_ONCE: usize = 4;

/// The pause before a process is started again: none after the first crash, then doubling between these two.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Processes that were started in the same way.
#[derive(Debug)]
pub(in crate::run) struct CommandPool {
    hook: Arc<Hook>,
    pub(super) recipe: LaunchSettings,
    pub(super) files: FileStamps,
    /// The commands to start: the first one that works is used.
    pub(super) commands: Vec<ChildCommand>,
    pub(super) places: Semaphore,
    state: Mutex<PoolState>,
}

#[derive(Debug, Default)]
struct PoolState {
    idle: Vec<IdleProcess>,
    /// Whether the pool was closed, so that no process is returned to it.
    given_up: bool,
    crashes: u32,
    not_before: Option<Instant>,
    /// Whether its processes do not wait for their input, so that starting them early is useless.
    does_not_wait: bool,
}

impl CommandPool {
    pub(super) fn new(world: &ProcessContext, request: &PlannedRun, files: FileStamps) -> Self {
        Self {
            hook: Arc::clone(&request.hook),
            recipe: LaunchSettings::new(world, request),
            files,
            commands: commands(world, request),
            places: Semaphore::new(MOST_AT_ONCE),
            state: Mutex::default(),
        }
    }

    /// Whether its processes belong to that entry of a configuration, however they were started.
    pub(super) fn is_for(&self, hook: &Hook) -> bool {
        let Hook { event, dialect, label, origin, .. } = &*self.hook;
        (event, dialect, label, &origin.location) == (&hook.event, &hook.dialect, &hook.label, &hook.origin.location)
    }

    /// Whether the hook still asks for such processes.
    pub(super) fn is_still_wanted_by(&self, hook: &Hook) -> bool {
        let sandbox = |hook: &Hook| (hook.sandbox.clone(), hook.sandbox_requirement, Arc::clone(&hook.sandbox_floors));
        self.recipe.is_of(hook) && sandbox(&self.hook) == sandbox(hook)
    }

    /// Takes an idle process.
    pub(super) fn take_idle(&self) -> Option<IdleProcess> {
        lock(&self.state).idle.pop()
    }

    /// Takes a process that still waits for its first input. If one did not wait, the others will not either.
    pub(super) fn take_waiting(&self, pools: &CommandPools) -> Option<IdleProcess> {
        let process = self.take_idle()?;
        if !process.parked.has_exited() {
            return Some(process);
        }
        let mut state = lock(&self.state);
        state.does_not_wait = true;
        let useless = std::mem::take(&mut state.idle);
        drop(state);
        useless.into_iter().chain([process]).for_each(|process| pools.discard(process));
        None
    }

    /// Returns a process to the pool; gives it back if the pool was closed.
    pub(super) fn put_back(&self, process: IdleProcess) -> Option<IdleProcess> {
        let mut state = lock(&self.state);
        if state.given_up {
            return Some(process);
        }
        state.idle.push(process);
        None
    }

    /// Closes the pool, and returns its idle processes.
    pub(super) fn give_up(&self) -> Vec<IdleProcess> {
        let mut state = lock(&self.state);
        state.given_up = true;
        std::mem::take(&mut state.idle)
    }

    /// Whether there are fewer idle processes than the hook asked for.
    pub(super) fn lacks_processes(&self) -> bool {
        self.lacks_any(&lock(&self.state))
    }

    fn lacks_any(&self, state: &PoolState) -> bool {
        let ProcessLifetime::Prewarmed(wanted) = self.hook.exec.lifetime else { return false };
        !state.given_up && !state.does_not_wait && state.idle.len() < usize::from(wanted.get())
    }

    /// Starts one of the missing processes. An event that comes meanwhile starts its own: it must not wait for a start that
    /// may never end.
    pub(super) fn add_with(&self, start: impl FnOnce() -> Result<IdleProcess, SpawnError>) -> ControlFlow<()> {
        if !self.lacks_processes() {
            return ControlFlow::Break(());
        }
        // What a pool that was closed meanwhile gives back is killed here.
        match start().map(|process| self.put_back(process)) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(_)) | Err(_) => ControlFlow::Break(()),
        }
    }

    /// Whether a process that is started now would run what was inspected and trusted.
    pub(super) fn may_be_started(&self) -> bool {
        self.hook.trust.still_holds(&self.recipe.cwd) && self.files.is_unchanged()
    }

    /// When a process may be started again after crashes.
    pub(super) fn not_before(&self) -> Option<Instant> {
        lock(&self.state).not_before
    }

    /// Records that a process worked.
    pub(super) fn note_success(&self) {
        let mut state = lock(&self.state);
        (state.crashes, state.not_before) = (0, None);
    }

    /// Records that a process crashed.
    pub(super) fn note_crash(&self) {
        let mut state = lock(&self.state);
        state.crashes = state.crashes.saturating_add(1);
        let pause = match state.crashes {
            0 | 1 => Duration::ZERO,
            more => FIRST_PAUSE.saturating_mul(1 << (more - 2).min(10)).min(LONGEST_PAUSE),
        };
        state.not_before = Some(Instant::now() + pause);
    }
}

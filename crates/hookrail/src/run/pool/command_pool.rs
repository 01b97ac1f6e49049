//! The idle processes of one command.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookrail_spawn::{ChildCommand, lock_mutex};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::IdleProcess;
use super::recipe::{FileStamps, LaunchSettings};
use crate::hook::Hook;
use crate::run::command::{ProcessContext, worker_command};
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
    /// The command to start; none if the entry has none.
    pub(super) command: Option<ChildCommand>,
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
}

impl CommandPool {
    pub(super) fn new(world: &ProcessContext, request: &PlannedRun, files: FileStamps) -> Self {
        Self {
            hook: Arc::clone(&request.hook),
            recipe: LaunchSettings::new(world, request),
            files,
            command: worker_command(world, request),
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
        lock_mutex(&self.state).idle.pop()
    }

    /// Returns a process to the pool; gives it back if the pool was closed.
    pub(super) fn put_back(&self, process: IdleProcess) -> Option<IdleProcess> {
        let mut state = lock_mutex(&self.state);
        if state.given_up {
            return Some(process);
        }
        state.idle.push(process);
        None
    }

    /// Closes the pool, and returns its idle processes.
    pub(super) fn give_up(&self) -> Vec<IdleProcess> {
        let mut state = lock_mutex(&self.state);
        state.given_up = true;
        std::mem::take(&mut state.idle)
    }

    /// When a process may be started again after crashes.
    pub(super) fn not_before(&self) -> Option<Instant> {
        lock_mutex(&self.state).not_before
    }

    /// Records that a process worked.
    pub(super) fn note_success(&self) {
        let mut state = lock_mutex(&self.state);
        (state.crashes, state.not_before) = (0, None);
    }

    /// Records that a process crashed.
    pub(super) fn note_crash(&self) {
        let mut state = lock_mutex(&self.state);
        state.crashes = state.crashes.saturating_add(1);
        let pause = match state.crashes {
            0 | 1 => Duration::ZERO,
            more => FIRST_PAUSE.saturating_mul(1 << (more - 2).min(10)).min(LONGEST_PAUSE),
        };
        state.not_before = Some(Instant::now() + pause);
    }
}

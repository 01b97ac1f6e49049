//! The blocking twin: an event is driven on the thread that waits for it, so that no other thread has to be woken to
//! begin it and none to hand back its outcome.
//!
//! A runtime is borrowed for that from a small stock. What outlives the event must not stay on a thread of the host's:
//! processes that have to be ended are handed, runtime and all, to a thread that ends with them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use hookrail_spawn::{CancelToken, Ladder, lock};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio::task::JoinSet;

use super::HookSystem;
use super::drive::{Detached, Driver};
use super::engine::runtime;
use super::host::Host;
use crate::firing::Firing;
use crate::outcome::Outcome;

/// How many runtimes are kept for later. More are made when more threads wait at once.
const KEPT: usize = 4;

/// Where callers' threads get what they need to drive an event themselves.
#[derive(Debug, Default)]
pub(super) struct Here {
    idle: Mutex<Vec<Runtime>>,
    /// Read by everybody who is at work, written by whoever waits for them to be done.
    at_work: Arc<RwLock<()>>,
}

/// Leave to drive an event on this thread.
pub(super) struct Seat {
    runtime: Runtime,
    at_work: OwnedRwLockReadGuard<()>,
}

impl Here {
    /// A seat, unless this thread belongs to a runtime already, everything is about to end, or the system has no
    /// more runtimes to give.
    pub(super) fn take_seat(&self) -> Option<Seat> {
        if Handle::try_current().is_ok() {
            return None;
        }
        let at_work = Arc::clone(&self.at_work).try_read_owned().ok()?;
        let kept = self.idle().pop();
        let runtime = kept.or_else(|| runtime().ok())?;
        Some(Seat { runtime, at_work })
    }

    /// Waits until nobody is at work.
    pub(super) async fn close(&self) {
        let _everybody_is_done = self.at_work.write().await;
        self.let_go();
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Runtime>> {
        lock(&self.idle)
    }

    /// Ends the runtimes without waiting, which is the only way that is allowed everywhere.
    fn let_go(&self) {
        self.idle().drain(..).for_each(Runtime::shutdown_background);
    }

    fn keep(&self, runtime: Runtime) {
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(runtime);
        } else {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl Seat {
    /// Drives an event to its outcome.
    pub(super) fn drive(self, system: &HookSystem, firing: Firing, host: Arc<dyn Host>) -> Outcome {
        let (id, kind) = (system.inner.notify.next_id(), firing.plan().event);
        let driver = Arc::new(Driver::on_caller(system));
        let driving = Arc::clone(&driver).drive(id, firing, host, Detached::LeftAlone, CancelToken::new());
        // What went wrong in the engine must not end the host, and must not pass for a yes.
        let driven = catch_unwind(AssertUnwindSafe(|| self.runtime.block_on(driving)));
        let outcome = driven.unwrap_or_else(|_| Outcome::abandoned(kind));
        let ladders = driver.take_ladders();
        if ladders.is_empty() {
            system.inner.here.keep(self.runtime);
        } else {
            self.finish(ladders);
        }
        outcome
    }

    /// Ends processes on a thread of its own. The ladders can only be climbed with the runtime they were begun with.
    fn finish(self, ladders: Vec<Ladder>) {
        let body = move || {
            self.runtime.block_on(async {
                let mut climbing: JoinSet<_> = ladders.into_iter().map(Ladder::finish).collect();
                while climbing.join_next().await.is_some() {}
            });
            drop(self.at_work);
        };
        // Without a thread the ladders are dropped, which kills what they were to end at once.
        let _ = thread::Builder::new().name("hookrail-ladder".to_owned()).spawn(body);
    }
}

/// Drives an event on a thread of its own, for a caller that stands on the engine's thread.
pub(super) fn drive_elsewhere(system: HookSystem, firing: Firing, host: Arc<dyn Host>) -> Outcome {
    let kind = firing.plan().event;
    let body = move || system.inner.here.take_seat().map(|seat| seat.drive(&system, firing, host));
    let spawned = thread::Builder::new().name("hookrail-nested".to_owned()).spawn(body);
    spawned.ok().and_then(|handle| handle.join().ok()).flatten().unwrap_or_else(|| Outcome::abandoned(kind))
}

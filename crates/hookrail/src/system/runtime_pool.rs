//! Runtimes for `fire_blocking`, which drives an event on the thread that waits for it, so that no other thread has to
//! be woken to begin the event or to return its outcome.
//!
//! Work that outlives the event must not stay on a thread of the host: processes that have to be ended are moved, with
//! their runtime, to a thread that ends with them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use hookrail_spawn::{Termination, lock_mutex};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio::task::JoinSet;

use super::HookSystem;
use super::drive::{Driver, FireJob};
use super::engine::runtime;
use crate::outcome::Outcome;

/// The number of idle runtimes that are kept. More are made when more threads wait at once.
const MOST_IDLE: usize = 4;

/// The idle runtimes, and a count of the events that are driven outside the engine's thread.
#[derive(Debug, Default)]
pub(super) struct RuntimePool {
    idle: Mutex<Vec<Runtime>>,
    /// Locked for reading while an event is driven, and for writing by the shutdown, which thereby waits for all of
    /// them.
    in_flight: Arc<RwLock<()>>,
}

/// Held while an event is driven outside the engine's thread, and until its leftover processes have ended.
pub(super) type EventInFlight = OwnedRwLockReadGuard<()>;

/// A runtime of the pool, borrowed for one event on this thread.
pub(super) struct BorrowedRuntime {
    runtime: Runtime,
    in_flight: EventInFlight,
}

impl RuntimePool {
    /// Registers an event that is driven outside the engine's thread; nothing if the shutdown has started.
    pub(super) fn enter(&self) -> Option<EventInFlight> {
        Arc::clone(&self.in_flight).try_read_owned().ok()
    }

    /// A runtime for this thread; nothing if the thread belongs to a runtime already, the shutdown has begun, or the
    /// system has no descriptors for another runtime.
    pub(super) fn borrow(&self) -> Option<BorrowedRuntime> {
        if Handle::try_current().is_ok() {
            return None;
        }
        let in_flight = self.enter()?;
        let idle = lock_mutex(&self.idle).pop();
        let runtime = idle.or_else(|| runtime().ok())?;
        Some(BorrowedRuntime { runtime, in_flight })
    }

    /// Waits until every event that was entered is over.
    pub(super) async fn close(&self) {
        let _all_are_over = self.in_flight.write().await;
        self.end_idle();
    }

    /// Ends the runtimes without waiting, because tokio does not allow to wait inside another runtime.
    fn end_idle(&self) {
        lock_mutex(&self.idle).drain(..).for_each(Runtime::shutdown_background);
    }

    fn put_back(&self, runtime: Runtime) {
        let mut idle = lock_mutex(&self.idle);
        if idle.len() < MOST_IDLE {
            idle.push(runtime);
        } else {
            runtime.shutdown_background();
        }
    }
}

impl Drop for RuntimePool {
    fn drop(&mut self) {
        self.end_idle();
    }
}

impl BorrowedRuntime {
    /// Drives an event to its outcome.
    pub(super) fn drive(self, system: &HookSystem, fired: FireJob) -> Outcome {
        let kind = fired.firing.plan().event;
        let driver = Arc::new(Driver::on_calling_thread(system));
        let driving = Arc::clone(&driver).drive(fired);
        // A bug of the engine must neither end the host nor count as an allow.
        let driven = catch_unwind(AssertUnwindSafe(|| self.runtime.block_on(driving)));
        let outcome = driven.unwrap_or_else(|_| Outcome::abandoned(kind));
        let terminations = driver.take_terminations();
        if terminations.is_empty() {
            system.inner.runtimes.put_back(self.runtime);
        } else {
            self.finish(terminations);
        }
        outcome
    }

    /// Ends processes on a new thread. A termination can only be finished with the runtime in which it was started.
    fn finish(self, terminations: Vec<Termination>) {
        let body = move || {
            self.runtime.block_on(async {
                let mut ending: JoinSet<_> = terminations.into_iter().map(Termination::finish).collect();
                while ending.join_next().await.is_some() {}
            });
            drop(self.in_flight);
        };
        // Without a thread the terminations are dropped, which kills the processes at once.
        let _ = thread::Builder::new().name("hookrail-end".to_owned()).spawn(body);
    }
}

/// Drives an event on a new thread, for a caller on a thread that the engine needs.
pub(super) fn drive_on_new_thread(system: HookSystem, fired: FireJob) -> Outcome {
    let kind = fired.firing.plan().event;
    let body = move || system.inner.runtimes.borrow().map(|runtime| runtime.drive(&system, fired));
    let spawned = thread::Builder::new().name("hookrail-nested".to_owned()).spawn(body);
    spawned.ok().and_then(|handle| handle.join().ok()).flatten().unwrap_or_else(|| Outcome::abandoned(kind))
}

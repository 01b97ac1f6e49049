//! Events that are fired inside a multi-thread tokio runtime of the host: each is driven by that runtime, so that no
//! other thread has to be woken.
//!
//! A multi-thread runtime is assumed to have a free worker, because the hooks' deadlines depend on it. A current-thread
//! runtime is used only if it is lent (`Builder::lend_runtime`): while its thread is busy, hooks lose time.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hookrail_spawn::lock_mutex;
use tokio::runtime::{self, Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use super::HookSystem;
use super::drive::{Driver, FireJob};
use super::fire::Fire;
use super::runtime_pool::EventInFlight;
use crate::event::EventKind;
use crate::hook::{Action, Hook};
use crate::outcome::Outcome;

/// Knows whether the runtime of the host can drive events.
#[derive(Debug, Default)]
pub(super) struct HostRuntimes {
    /// The multi-thread runtime that was checked last, and whether it has timers and I/O.
    last: Mutex<Option<(runtime::Id, bool)>>,
}

impl HostRuntimes {
    /// The runtime of the calling thread, if its tasks can drive events.
    pub(super) fn current(&self) -> Option<Handle> {
        let handle = Handle::try_current().ok()?;
        (handle.runtime_flavor() == RuntimeFlavor::MultiThread && self.is_complete(&handle)).then_some(handle)
    }

    fn is_complete(&self, handle: &Handle) -> bool {
        let mut last = lock_mutex(&self.last);
        match *last {
            Some((id, complete)) if id == handle.id() => complete,
            Some(_) | None => {
                let complete = has_drivers();
                *last = Some((handle.id(), complete));
                complete
            }
        }
    }
}

/// Whether the current runtime was built with timers and I/O. Tokio shows that only by a panic. A runtime without them
/// cannot run hooks, so the engine's own thread does.
fn has_drivers() -> bool {
    catch_unwind(|| {
        drop(tokio::time::sleep(Duration::ZERO));
        // A failure for lack of descriptors says nothing about the runtime.
        #[cfg(unix)]
        drop(tokio::net::UnixDatagram::unbound());
    })
    .is_ok()
}

thread_local! {
    /// The runtime for which this thread has run a task of the engine, which only workers of that runtime do.
    static WORKER_OF: Cell<Option<runtime::Id>> = const { Cell::new(None) };
}

/// Drives an event in a runtime of the host. If the runtime ends before the event, the future of the event says that it
/// was abandoned.
pub(super) fn drive(system: &HookSystem, runtime: Handle, fired: FireJob, in_flight: EventInFlight) -> Fire {
    let (id, kind, cancel) = (fired.id, fired.firing.plan().event, fired.cancel.clone());
    let is_module = |hook: &Hook| matches!(hook.action, Action::Module(_));
    let plan = fired.firing.plan();
    let only_modules = !plan.carries_calls() && plan.hooks().all(|(_, planned)| is_module(&planned.hook));
    let driving: Driving = Box::pin(Arc::new(Driver::in_task(system, in_flight)).drive(fired));
    if only_modules {
        return Fire::not_begun(id, kind, DeferredEvent { kind, runtime, driving: Mutex::new(driving) }, cancel);
    }
    Fire::running(id, kind, spawn(&runtime, driving), cancel)
}

/// Drives an event in a new task.
fn spawn(runtime: &Handle, driving: Driving) -> oneshot::Receiver<Outcome> {
    let (reply, outcome) = oneshot::channel();
    let id = runtime.id();
    // No tracing span: entering one at every poll would let a subscriber that panics end the event.
    runtime.spawn(async move {
        WORKER_OF.set(Some(id));
        let outcome = driving.await;
        // The task may have moved to another worker.
        WORKER_OF.set(Some(id));
        // The future of the event may have been dropped.
        let _ = reply.send(outcome);
    });
    outcome
}

type Driving = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// An event whose hooks are all modules. Most modules answer without waiting, so the event is started on the thread of
/// the task that awaits it: a new task would cost two thread switches, because a worker that blocks hands everything
/// else over to another one. If the event has to wait, it continues in a new task, so that its deadlines do not depend
/// on when the host polls.
pub(super) struct DeferredEvent {
    kind: EventKind,
    runtime: Handle,
    /// Never locked; it makes the future of the event shareable between threads.
    driving: Mutex<Driving>,
}

/// The state of an event after it was started.
pub(super) enum BeginResult {
    Over(Box<Outcome>),
    Running(oneshot::Receiver<Outcome>),
}

impl DeferredEvent {
    /// Begins the event.
    pub(super) fn begin(self, context: &mut Context<'_>) -> BeginResult {
        let mut driving = self.driving.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_here = Handle::try_current().is_ok_and(|here| here.id() == self.runtime.id());
        // `block_in_place` panics inside a `LocalSet`, which is never polled by a worker.
        if is_here && WORKER_OF.get() == Some(self.runtime.id()) {
            // A bug of the engine must neither end the host's task nor count as an allow.
            match catch_unwind(AssertUnwindSafe(|| driving.as_mut().poll(context))) {
                Ok(Poll::Ready(outcome)) => return BeginResult::Over(Box::new(outcome)),
                Ok(Poll::Pending) => {}
                Err(_) => return BeginResult::Over(Box::new(Outcome::abandoned(self.kind))),
            }
        }
        BeginResult::Running(spawn(&self.runtime, driving))
    }
}

impl std::fmt::Debug for DeferredEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeferredEvent").field("kind", &self.kind).finish_non_exhaustive()
    }
}

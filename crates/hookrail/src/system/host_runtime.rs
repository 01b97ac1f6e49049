//! Events that are fired inside a multi-thread tokio runtime of the host: each is driven by a task of that runtime, so that
//! no other thread has to be woken.
//!
//! A multi-thread runtime is taken to have a free worker, because the hooks' deadlines depend on that. A current-thread
//! runtime is used only when it is lent (`Builder::lend_runtime`): while its thread is busy, hooks lose time.

use std::panic::catch_unwind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookrail_spawn::lock;
use tokio::runtime::{self, Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use super::HookSystem;
use super::drive::{Driver, Fired};
use super::fire::Fire;
use super::runtime_pool::InUse;

/// Knows whether the runtime of the host can drive events.
#[derive(Debug, Default)]
pub(super) struct HostRuntimes {
    /// The multi-thread runtime that was looked at last, and whether it has timers and input and output.
    last: Mutex<Option<(runtime::Id, bool)>>,
}

impl HostRuntimes {
    /// The runtime of the calling thread, if its tasks can drive events.
    pub(super) fn current(&self) -> Option<Handle> {
        let handle = Handle::try_current().ok()?;
        (handle.runtime_flavor() == RuntimeFlavor::MultiThread && self.is_complete(&handle)).then_some(handle)
    }

    fn is_complete(&self, handle: &Handle) -> bool {
        let mut last = lock(&self.last);
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

/// Whether the current runtime was built with timers and input and output, which tokio tells only by a panic. A runtime
/// without them cannot run hooks, and the engine's own thread does that in its place.
fn has_drivers() -> bool {
    catch_unwind(|| {
        drop(tokio::time::sleep(Duration::ZERO));
        // A failure for want of descriptors says nothing about the runtime.
        #[cfg(unix)]
        drop(tokio::net::UnixDatagram::unbound());
    })
    .is_ok()
}

/// Drives an event by a task of a runtime. If the runtime ends before the event, the future of the event says that it was
/// abandoned.
pub(super) fn drive(system: &HookSystem, handle: &Handle, fired: Fired, in_use: InUse) -> Fire {
    let (id, kind, cancel) = (fired.id, fired.firing.plan().event, fired.cancellation.own.clone());
    let (reply, outcome) = oneshot::channel();
    let driver = Arc::new(Driver::in_task(system, in_use));
    // No span: entering one at every poll would let a subscriber that panics end the event.
    handle.spawn(async move {
        let outcome = driver.drive(fired).await;
        // The future of the event may have been dropped.
        let _ = reply.send(outcome);
    });
    Fire::running(id, kind, outcome, cancel)
}

//! The future of a fired event.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use hookrail_spawn::CancelToken;
use tokio::sync::oneshot;

use super::host_runtime::{BeginResult, DeferredEvent};
use super::notify::FireId;
use super::recording::RecordedOutcome;
use crate::event::EventKind;
use crate::hook::host::HostFuture;
use crate::outcome::Outcome;

/// The future of a fired event. Dropping it cancels the hooks that still run.
///
/// ```
/// use hookrail::{Decision, Effects, Environment, EventKind, Hook, HookSystem, NativeHook};
///
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
/// let hooks = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).hook(guard).build();
/// let fire = hooks.fire(hooks.event(EventKind::BeforeTool));
/// let outcome = fire.await;
/// assert_eq!(outcome.effects.decision, Some(Decision::Deny));
/// # });
/// ```
#[must_use = "a guard whose outcome is not read was not asked"]
#[derive(Debug)]
pub struct Fire(FireState);

#[derive(Debug)]
enum FireState {
    /// No hook takes part, so nothing was allocated.
    Untouched(EventKind),
    /// The outcome is known already; `None` after it was returned.
    Ready(Option<Box<Outcome>>),
    /// The outcome is known, and its record is not safe yet.
    Syncing(SyncingOutcome),
    /// The event starts when this is first polled.
    NotBegun {
        id: FireId,
        event: Box<DeferredEvent>,
        kind: EventKind,
        cancel: CancelOnDrop,
    },
    Running {
        id: FireId,
        kind: EventKind,
        outcome: oneshot::Receiver<Outcome>,
        cancel: CancelOnDrop,
    },
}

/// Never locked; the lock makes the future of the event shareable between threads.
struct SyncingOutcome(Mutex<HostFuture<'static, Outcome>>);

impl std::fmt::Debug for SyncingOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SyncingOutcome")
    }
}

#[derive(Debug)]
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Fire {
    pub(super) fn untouched(kind: EventKind) -> Self {
        Self(FireState::Untouched(kind))
    }

    pub(super) fn with_outcome(outcome: RecordedOutcome) -> Self {
        Self(match outcome {
            RecordedOutcome::Safe(outcome) => FireState::Ready(Some(Box::new(outcome))),
            RecordedOutcome::Syncing(outcome) => FireState::Syncing(SyncingOutcome(Mutex::new(outcome))),
        })
    }

    pub(super) fn not_begun(id: FireId, kind: EventKind, event: DeferredEvent, cancel: CancelToken) -> Self {
        Self(FireState::NotBegun { id, event: Box::new(event), kind, cancel: CancelOnDrop(cancel) })
    }

    pub(super) fn running(
        id: FireId,
        kind: EventKind,
        outcome: oneshot::Receiver<Outcome>,
        cancel: CancelToken,
    ) -> Self {
        Self(FireState::Running { id, kind, outcome, cancel: CancelOnDrop(cancel) })
    }

    /// The number that notifications give this event; none if no hook takes part in it.
    #[must_use]
    pub fn id(&self) -> Option<FireId> {
        match &self.0 {
            FireState::NotBegun { id, .. } | FireState::Running { id, .. } => Some(*id),
            FireState::Untouched(_) | FireState::Ready(_) | FireState::Syncing(_) => None,
        }
    }

    /// Cancels the hooks that still run; the outcome then says so.
    pub fn cancel(&self) {
        if let FireState::NotBegun { cancel, .. } | FireState::Running { cancel, .. } = &self.0 {
            cancel.0.cancel();
        }
    }
}

impl Future for Fire {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        self.0 = match std::mem::replace(&mut self.0, FireState::Ready(None)) {
            FireState::NotBegun { id, event, kind, cancel } => match event.begin(context) {
                BeginResult::Over(outcome) => FireState::Ready(Some(outcome)),
                BeginResult::Running(outcome) => FireState::Running { id, kind, outcome, cancel },
            },
            begun => begun,
        };
        match &mut self.0 {
            // Set above.
            FireState::NotBegun { .. } => Poll::Pending,
            FireState::Untouched(kind) => Poll::Ready(Outcome::untouched(*kind)),
            FireState::Ready(outcome) => match outcome.take() {
                Some(outcome) => Poll::Ready(*outcome),
                None => Poll::Pending,
            },
            FireState::Syncing(SyncingOutcome(outcome)) => {
                let outcome = outcome.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut().poll(context);
                if outcome.is_ready() {
                    self.0 = FireState::Ready(None);
                }
                outcome
            }
            FireState::Running { kind, outcome, .. } => {
                let kind = *kind;
                // The engine answers every event, unless its thread has ended.
                Pin::new(outcome).poll(context).map(|got| got.unwrap_or_else(|_| Outcome::abandoned(kind)))
            }
        }
    }
}

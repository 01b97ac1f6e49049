//! Interrupting the hooks that a session waits for.

use std::sync::{Arc, Mutex};

use hookrail_spawn::{CancelToken, lock_mutex};

use crate::outcome::{Decision, Effects, Outcome};

/// The token that cancels the events that are under way. Each of them holds it, so that they can be counted.
#[derive(Debug, Default)]
pub(super) struct RunningEvents(Mutex<Arc<CancelToken>>);

impl RunningEvents {
    /// The token for an event that begins now.
    pub(super) fn token(&self) -> Arc<CancelToken> {
        Arc::clone(&lock_mutex(&self.0))
    }

    /// Cancels every event that is under way, and returns how many there were. Events that begin later have another token.
    pub(super) fn cancel(&self) -> usize {
        let token = std::mem::take(&mut *lock_mutex(&self.0));
        token.cancel();
        Arc::strong_count(&token) - 1
    }
}

/// The outcome of an event whose hooks were interrupted. An event that can be denied is denied, because no guard has
/// answered.
pub(super) fn deny_if_gating(mut outcome: Outcome) -> Outcome {
    if outcome.event.spec().is_gating() && outcome.effects.decision != Some(Decision::Deny) {
        outcome.effects = Effects::deny("interrupted before the hooks of this event had answered");
    }
    outcome
}

//! Interrupting hooks that somebody waits for.

use std::sync::Mutex;

use hookrail_spawn::{CancelToken, lock};

use crate::outcome::{Decision, Effects, Outcome};

/// What cancels the events that are under way.
#[derive(Debug, Default)]
pub(super) struct Running {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tokens: Vec<(u64, CancelToken)>,
    next: u64,
}

/// One event that is under way; it leaves the list with this value.
pub(super) struct Entered<'a> {
    running: &'a Running,
    number: u64,
}

impl Running {
    pub(super) fn enter(&self, token: CancelToken) -> Entered<'_> {
        let mut state = lock(&self.state);
        let number = state.next;
        state.next += 1;
        state.tokens.push((number, token));
        Entered { running: self, number }
    }

    /// Cancels them all, and says how many there were.
    pub(super) fn cancel(&self) -> usize {
        let tokens = std::mem::take(&mut lock(&self.state).tokens);
        tokens.iter().for_each(|(_, token)| token.cancel());
        tokens.len()
    }
}

impl Entered<'_> {
    /// Whether it was cancelled from here. The token itself also says so of an event that is simply over.
    pub(super) fn was_cancelled(&self) -> bool {
        let state = lock(&self.running.state);
        !state.tokens.iter().any(|(number, _)| *number == self.number)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.running.state);
        state.tokens.retain(|(number, _)| *number != self.number);
    }
}

/// The outcome of an event whose hooks were interrupted. A gate that was not guarded stays shut.
pub(super) fn shut(mut outcome: Outcome) -> Outcome {
    if outcome.event.spec().is_gating() && outcome.effects.decision != Some(Decision::Deny) {
        outcome.effects = Effects::deny("interrupted before the hooks of this event had answered");
    }
    outcome
}

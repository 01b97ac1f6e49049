//! The detached hooks of the session's start, which prepare what the first prompt needs.

use std::time::Duration;

use hookrail::host::{Notification, Notifications};
use hookrail::{EventKind, HookSystem};
use hookrail_spawn::lock_mutex;
use tokio::time::Instant;

use super::ReferenceAgent;
use super::call::cancelled;

/// The time that the first prompt waits for them, counted from the start of the session. The rest run on.
const MOST_WAIT: Duration = Duration::from_millis(1500);

/// Detached hooks of a session's start that have not ended yet.
pub(super) struct SessionStartHooks {
    notifications: Notifications,
    running: usize,
    deadline: Instant,
}

impl SessionStartHooks {
    /// Subscribes to the ends of hooks, before the event is fired.
    pub(super) fn subscribe(hooks: &HookSystem) -> Self {
        Self { notifications: hooks.subscribe(), running: 0, deadline: Instant::now() + MOST_WAIT }
    }

    /// Returns the hooks to wait for after the event was fired; none if no hook runs detached.
    pub(super) fn with_detached(self, count: usize) -> Option<Self> {
        (count > 0).then_some(Self { running: count, ..self })
    }

    async fn ended(&mut self) {
        while self.running > 0 {
            match self.notifications.next().await {
                Some(Notification::Ended { hook, .. }) => {
                    if hook.event == EventKind::SessionStart && hook.is_detached() {
                        self.running -= 1;
                    }
                }
                Some(_) => {}
                None => return,
            }
        }
    }
}

impl ReferenceAgent {
    /// Waits for the detached hooks of the session's start, before the first prompt and for a limited time.
    pub(super) async fn wait_for_session_start(&self) {
        let Some(mut hooks) = lock_mutex(&self.session_start).take() else { return };
        let deadline = hooks.deadline;
        tokio::select! {
            () = hooks.ended() => {}
            () = tokio::time::sleep_until(deadline) => {}
            () = cancelled(self.token()) => {}
        }
    }
}

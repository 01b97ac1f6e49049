//! The options of one fired event.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use hookrail_spawn::CancelToken;

use crate::hook::host::Host;

/// How one event is fired, for [`HookSystem::fire_with`](super::HookSystem::fire_with) and its blocking form.
///
/// Without any option hooks have no way back to the host, and the event is over when every hook has answered that the
/// host has to wait for.
///
/// ```
/// use hookrail::{CancelToken, Environment, EventKind, FireOptions, HookSystem};
///
/// let hooks = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).build();
/// let token = CancelToken::new();
/// let options = FireOptions::new().cancelled_by(&token).wait_for_all();
/// let outcome = hooks.fire_blocking_with(hooks.event(EventKind::SessionEnd), options);
/// assert!(outcome.runs.is_empty());
/// ```
#[derive(Clone, Default)]
pub struct FireOptions {
    pub(super) host: Option<Arc<dyn Host>>,
    pub(super) detached: Detached,
    pub(super) cancelled_by: Option<CancelToken>,
}

/// What happens to hooks that the host does not have to wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detached {
    /// They go on after the event.
    #[default]
    LeftAlone,
    /// The event ends after them.
    Awaited,
    /// They do not run.
    LeftOut,
}

impl FireOptions {
    /// The default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives hooks a way back to the host, for those that ask the user or change the session.
    #[must_use]
    pub fn host(mut self, host: Arc<dyn Host>) -> Self {
        self.host = Some(host);
        self
    }

    /// Waits for every hook, also for those that a host does not have to wait for and those that are not enforced, and
    /// reports every hook that is configured and does not run, also if no hook takes part in the event.
    #[must_use]
    pub fn wait_for_all(mut self) -> Self {
        self.detached = Detached::Awaited;
        self
    }

    /// Runs only hooks that the outcome depends on: none that the host does not have to wait for, and none that is not
    /// enforced. For events that are fired to find out what would be decided.
    #[must_use]
    pub fn decisive_only(mut self) -> Self {
        self.detached = Detached::LeftOut;
        self
    }

    /// Cancels the hooks of the event when the token is cancelled; the outcome then says so. One token can be given to
    /// several events.
    #[must_use]
    pub fn cancelled_by(mut self, token: &CancelToken) -> Self {
        self.cancelled_by = Some(token.clone());
        self
    }
}

impl fmt::Debug for FireOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FireOptions").field("detached", &self.detached).finish_non_exhaustive()
    }
}

/// Drives an event, and cancels it when the token of the host is cancelled.
pub(super) async fn cancelled_with<F>(host: &CancelToken, own: &CancelToken, mut driving: F) -> F::Output
where
    F: Future + Unpin,
{
    let mut cancelled = Some(Box::pin(host.cancelled()));
    std::future::poll_fn(|context| {
        if let Some(waiting) = &mut cancelled
            && waiting.as_mut().poll(context).is_ready()
        {
            own.cancel();
            cancelled = None;
        }
        Pin::new(&mut driving).poll(context)
    })
    .await
}

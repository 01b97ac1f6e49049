//! The options of one fired event.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use hookrail_spawn::CancelToken;

use super::host::{Host, NoHost};

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
    host: Option<Arc<dyn Host>>,
    detached: Detached,
    cancellation: Option<CancelToken>,
}

/// What happens to hooks that the host does not have to wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detached {
    /// They go on after the event.
    #[default]
    LeftAlone,
    /// The event ends after them.
    Awaited,
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

    /// Waits for every hook, also for those that a host does not have to wait for, and reports every hook that is
    /// configured and does not run, also if no hook takes part in the event.
    #[must_use]
    pub fn wait_for_all(mut self) -> Self {
        self.detached = Detached::Awaited;
        self
    }

    /// Cancels the hooks of the event when the token is cancelled; the outcome then says so. One token can be given to
    /// several events.
    #[must_use]
    pub fn cancelled_by(mut self, token: &CancelToken) -> Self {
        self.cancellation = Some(token.clone());
        self
    }

    pub(super) fn detached(&self) -> Detached {
        self.detached
    }

    pub(super) fn into_parts(self) -> (Arc<dyn Host>, Detached, Cancellation) {
        let host = self.host.unwrap_or_else(|| Arc::new(NoHost));
        (host, self.detached, Cancellation { own: CancelToken::new(), host: self.cancellation })
    }
}

impl fmt::Debug for FireOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, detached, cancellation } = self;
        f.debug_struct("FireOptions")
            .field("host", &host.is_some())
            .field("detached", detached)
            .field("cancellation", cancellation)
            .finish()
    }
}

/// What cancels one event.
#[derive(Clone, Debug)]
pub(super) struct Cancellation {
    /// The event's own token. It is cancelled when the future of the event is dropped.
    pub(super) own: CancelToken,
    /// The host's token, which may concern other events too, so it is never cancelled here.
    pub(super) host: Option<CancelToken>,
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

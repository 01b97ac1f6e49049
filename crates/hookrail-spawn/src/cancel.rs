//! A flag that ends runs from outside.
//!
//! It is a type of its own so that no other library's token is part of the
//! public interface.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// A flag that ends every run that was given it or a clone of it.
///
/// Clones are cheap and share one state. A token cannot be reset.
///
/// ```
/// use hookrail_spawn::CancelToken;
///
/// let token = CancelToken::new();
/// token.clone().cancel();
/// assert!(token.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    shared: Arc<CancelState>,
}

#[derive(Debug, Default)]
struct CancelState {
    cancelled: AtomicBool,
    changed: Notify,
}

impl CancelToken {
    /// Makes a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels every run with this token; later calls do nothing. May be called from any thread.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Release);
        self.shared.changed.notify_waiters();
    }

    /// Whether [`cancel`](Self::cancel) has been called on this token or a clone.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Acquire)
    }

    /// Waits until the token is cancelled.
    pub async fn cancelled(&self) {
        loop {
            // The order matters: a `Notified` receives every `notify_waiters` after its creation. Created after the flag
            // was read, it would miss a cancellation in between and wait for ever.
            let changed = self.shared.changed.notified();
            if self.is_cancelled() {
                return;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CancelToken;

    #[test]
    fn a_clone_shares_the_state() {
        let token = CancelToken::new();
        let clone = token.clone();
        assert!(!clone.is_cancelled());
        token.cancel();
        assert!(clone.is_cancelled());
    }

    #[tokio::test]
    async fn waiting_on_a_cancelled_token_returns() {
        let token = CancelToken::new();
        token.cancel();
        token.cancelled().await;
    }
}

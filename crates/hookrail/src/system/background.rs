//! Runs that no event waits for, until the system is shut down: then every one of them has its own time to end in, or a
//! common one where its event must not hold up the host.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use hookrail_spawn::{CancelToken, lock};
use tokio::task::JoinSet;

use crate::diagnostic::{Code, Diagnostic};
use crate::hook::Hook;

/// The runs that are out.
#[derive(Debug, Default)]
pub(super) struct Background {
    tasks: Mutex<JoinSet<()>>,
    /// Set when the system is being shut down.
    closing: CancelToken,
    /// What was cut off.
    report: Arc<Mutex<Vec<Diagnostic>>>,
}

impl Background {
    /// Adds a run. After shutdown has begun it is cancelled when `bound` is over; without one it has its own time.
    pub(super) fn add<R>(&self, hook: Arc<Hook>, bound: Option<Duration>, cancel: CancelToken, run: R)
    where
        R: Future<Output = ()> + Send + 'static,
    {
        let closing = self.closing.clone();
        let report = Arc::clone(&self.report);
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let mut run = pin!(run);
            if let Some(bound) = bound {
                let mut over = pin!(async {
                    closing.cancelled().await;
                    tokio::time::sleep(bound).await;
                });
                let ended = poll_fn(|context| match run.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(true),
                    Poll::Pending => over.as_mut().poll(context).map(|()| false),
                });
                if ended.await {
                    return;
                }
                cancel.cancel();
                let waited = bound.as_millis();
                let message =
                    format!("hook `{hook}` was still running {waited} ms after the shutdown began; it was ended");
                let finding = Diagnostic::new(Code::HookCancelled, message).at(hook.origin.location.clone());
                lock(&report).push(finding);
            }
            run.await;
        });
    }

    /// Lets every run end within its bounds, and says which ones were cut off.
    pub(super) async fn close(&self) -> Vec<Diagnostic> {
        self.closing.cancel();
        super::drive::join_all(&self.tasks).await;
        std::mem::take(&mut *lock(&self.report))
    }
}

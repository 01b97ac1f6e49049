//! The processes that one module has started, which end with it.
//!
//! They are driven on a thread of their own and not on the module's: a module that stands still, or is thrown away in
//! the middle of something, must not keep its processes from being ended properly. This does not know what a module
//! wants of a process.

use std::io;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::thread;

use hookrail_spawn::{CancelToken, Command, Finished, SpawnError};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::machine::EventLoop;

/// How a process ended. Whatever had to be done to end it has been done by then.
pub(crate) type Ended = Result<Finished, SpawnError>;

/// The processes of one module. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Whether the module is gone.
    over: CancelToken,
    under_way: watch::Sender<usize>,
}

impl Processes {
    /// Starts a process, and tells how it ended. Cancelling the token ends it, and so does the end of the module.
    pub(crate) fn start(
        &self,
        command: Command,
        cancel: CancelToken,
        tell: impl FnOnce(Ended) + Send + 'static,
    ) -> io::Result<()> {
        let counted = Counted::new(&self.inner);
        thread_of_processes()?.spawn(async move {
            let mut finished = run(&command, &cancel, &counted.0.over).await;
            if let Ok(finished) = &mut finished
                && let Some(ladder) = finished.ladder.take()
            {
                ladder.finish().await;
            }
            tell(finished);
            drop(counted);
        });
        Ok(())
    }

    /// Ends all of them, and every one that is still to come.
    pub(crate) fn end(&self) {
        self.inner.over.cancel();
    }

    /// Whether none is left.
    pub(crate) fn are_gone(&self) -> bool {
        *self.inner.under_way.borrow() == 0
    }

    /// Waits until none is left.
    pub(crate) async fn all_gone(&self) {
        // The sender is kept here, so this ends only when the count is zero.
        let _ = self.inner.under_way.subscribe().wait_for(|count| *count == 0).await;
    }
}

/// One process that is under way.
struct Counted(Arc<Inner>);

impl Counted {
    fn new(inner: &Arc<Inner>) -> Self {
        inner.under_way.send_modify(|count| *count += 1);
        Self(Arc::clone(inner))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.under_way.send_modify(|count| *count -= 1);
    }
}

async fn run(command: &Command, cancel: &CancelToken, over: &CancelToken) -> Ended {
    let mut running = pin!(hookrail_spawn::run(command, cancel));
    tokio::select! {
        biased;
        () = over.cancelled() => {
            cancel.cancel();
            running.await
        }
        finished = &mut running => finished,
    }
}

/// The thread on which the processes of all modules are driven; it is started with the first of them.
fn thread_of_processes() -> io::Result<Handle> {
    static THREAD: OnceLock<Handle> = OnceLock::new();
    if let Some(handle) = THREAD.get() {
        return Ok(handle.clone());
    }
    let events = EventLoop::new()?;
    let handle = events.handle()?;
    // Of two threads that are started at once, one is not used; it costs nothing but its stack.
    thread::Builder::new().name("hookrail-exec".to_owned()).spawn(move || events.run(std::future::pending()))?;
    Ok(THREAD.get_or_init(|| handle).clone())
}

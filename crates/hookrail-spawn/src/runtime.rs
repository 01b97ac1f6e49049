//! Runtimes and threads on a machine that lacks descriptors or processes: errors where the libraries would panic.

use std::io;
#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::{Arc, Mutex};
use std::thread;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::lock_mutex;

/// The descriptors that a runtime opens when it is the first one of the process: for events, for waking it up, and for signals.
#[cfg(unix)]
const DESCRIPTORS: usize = 6;

/// Set once this process has a runtime: those that follow share its descriptors for signals.
#[cfg(unix)]
static HAS_SIGNALS: OnceLock<()> = OnceLock::new();

/// Builds a runtime that watches descriptors: with `enable_io` or `enable_all`.
///
/// # Errors
/// If the process has no descriptors for it, or the system refuses.
pub fn start_runtime(builder: &mut Builder) -> io::Result<Runtime> {
    // The first runtime expects that the descriptors for signals can be opened, and panics if not.
    #[cfg(unix)]
    if HAS_SIGNALS.get().is_none() {
        let (one, _other) = std::os::unix::net::UnixStream::pair()?;
        // A copy takes a number as any other descriptor does, and is made faster.
        let copies = (2..DESCRIPTORS).map(|_| one.try_clone());
        drop(copies.collect::<io::Result<Vec<_>>>()?);
    }
    let runtime = builder.build()?;
    #[cfg(unix)]
    HAS_SIGNALS.get_or_init(|| ());
    Ok(runtime)
}

/// Does work that blocks on a thread of its own, inside the runtime of the caller. The runtime's own threads for it panic if the
/// first one cannot be started.
///
/// # Errors
/// If no thread can be started, or the work panicked.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let runtime = Handle::try_current().ok();
    let body = move || {
        let _inside = runtime.as_ref().map(Handle::enter);
        // The caller may have given up.
        let _ = sender.send(work());
    };
    thread::Builder::new().name("hookrail-blocking".to_owned()).spawn(body)?;
    receiver.await.map_err(|_| io::Error::other("the work panicked"))
}

/// Checks that this many more threads can be started at the same time: libraries that a program needs panic without one.
///
/// # Errors
/// If the system refuses one of them.
pub fn require_threads(count: usize) -> io::Result<()> {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let receiver = Arc::new(Mutex::new(receiver));
    let wait = || {
        let receiver = Arc::clone(&receiver);
        // The first one waits until the sender is gone, and the others wait for it.
        thread::Builder::new().spawn(move || lock_mutex(&receiver).recv().is_err())
    };
    let started = (0..count).map(|_| wait()).collect::<io::Result<Vec<_>>>();
    drop(sender);
    for thread in started? {
        // It does nothing that panics.
        let _ = thread.join();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_inside_the_runtime_and_a_panic_is_an_error() {
        let runtime = start_runtime(Builder::new_current_thread().enable_all()).unwrap();
        let inside = runtime.block_on(run_blocking(|| Handle::try_current().is_ok()));
        assert!(inside.unwrap());
        let panicked = runtime.block_on(run_blocking(|| std::panic::resume_unwind(Box::new(()))));
        let panicked: io::Result<()> = panicked;
        assert_eq!(panicked.unwrap_err().to_string(), "the work panicked");
        require_threads(3).unwrap();
    }
}

//! Shortages of the machine: threads, descriptors, memory. They are never the module's fault, and they are temporary.

use std::future::Future;
use std::io;

use tokio::runtime::{Builder, Handle, Runtime};

/// Whether the error says that the machine was short of a resource.
#[cfg(unix)]
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let lacking = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::AGAIN, Errno::NOSPC];
    Errno::from_io_error(error).is_some_and(|errno| lacking.contains(&errno))
        || error.kind() == io::ErrorKind::OutOfMemory
}

#[cfg(not(unix))]
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::WouldBlock)
}

/// An event loop for one thread. It can be dropped on any thread: tokio panics if a runtime is dropped inside another
/// one, and that is where this is dropped if its own thread cannot be started.
pub(crate) struct EventLoop(Option<Runtime>);

impl EventLoop {
    pub(crate) fn new() -> io::Result<Self> {
        let runtime = hookrail_spawn::start_runtime(Builder::new_current_thread().enable_io().enable_time())?;
        Ok(Self(Some(runtime)))
    }

    pub(crate) fn handle(&self) -> io::Result<Handle> {
        let gone = || io::Error::other("the event loop is gone");
        self.0.as_ref().map(|runtime| runtime.handle().clone()).ok_or_else(gone)
    }

    /// Drives a future to its end on this thread.
    pub(crate) fn run(mut self, work: impl Future<Output = ()>) {
        if let Some(runtime) = self.0.take() {
            runtime.block_on(work);
        }
    }
}

impl Drop for EventLoop {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

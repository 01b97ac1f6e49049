//! Returns memory that a burst of requests needed to the operating system, without environment variables for the C
//! library.
//!
//! This is for the server's own process. The library never does this in the process of a host.

use std::time::Duration;

use hookrail_bus::Bus;

/// The time without requests after which memory is returned. Not at once, because bursts follow each other.
const IDLE_TIME: Duration = Duration::from_secs(1);

/// Makes the allocator return large blocks when they are freed. Must be called before the first thread is started.
pub(super) fn return_large_blocks() {
    #[cfg(unix)]
    hookrail_spawn::give_back_large_blocks();
}

/// Returns free memory whenever no request is left.
pub(super) async fn return_memory_when_idle(bus: Bus) {
    loop {
        bus.quiet().await;
        tokio::time::sleep(IDLE_TIME).await;
        #[cfg(unix)]
        let _ = hookrail_spawn::run_blocking(hookrail_spawn::give_back_free_memory).await;
    }
}

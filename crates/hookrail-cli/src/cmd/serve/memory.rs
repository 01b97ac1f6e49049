//! Memory that a burst of requests needed goes back to the system, without any setting of the C library from outside.
//!
//! This is for the server's own process. The library does nothing of the kind in the process of a host.

use std::time::Duration;

use hookrail_bus::Bus;

/// How long the server may rest before memory is given back: bursts follow each other.
const REST: Duration = Duration::from_secs(1);

/// Has large blocks given back at once. To be called before the first thread is started.
pub(super) fn prepare() {
    #[cfg(unix)]
    hookrail_spawn::give_back_large_blocks();
}

/// Gives back what is free whenever no request is left.
pub(super) async fn give_back(bus: Bus) {
    loop {
        bus.quiet().await;
        tokio::time::sleep(REST).await;
        #[cfg(unix)]
        let _ = tokio::task::spawn_blocking(hookrail_spawn::give_back_free_memory).await;
    }
}

//! The runtime on which a command waits for hooks.

use crate::failure::{Failure, Result};

/// Starts the runtime on which a command waits for hooks.
///
/// # Errors
///
/// The system has no descriptors or threads for it.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    hookrail_spawn::start_runtime(builder.enable_all()).map_err(|error| {
        Failure::new(format!("the asynchronous runtime cannot be started: {error}"))
            .hint("the system may be out of file descriptors or threads")
    })
}

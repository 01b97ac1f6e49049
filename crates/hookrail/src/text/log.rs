//! Lines for the log of the embedding program. No line of a log decides anything, so what goes wrong while one is
//! written stays here.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Gives a line to the log of the embedding program: `log!(debug, target: …, …)`, as `tracing` takes it.
macro_rules! log {
    ($level:ident, $($line:tt)*) => {
        $crate::text::log::shielded(|| tracing::$level!($($line)*))
    };
}

pub(crate) use log;

/// Runs code that writes to a log. A subscriber that panics, for example because its terminal is gone, loses the line and nothing else.
pub(crate) fn shielded(write: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(write)) {
        // Dropping what was thrown is code of others too.
        std::mem::forget(payload);
    }
}

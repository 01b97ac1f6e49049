//! Identifiers of runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns a text that no other run on this machine has, for [`ChildCommand::marker`](crate::ChildCommand::marker).
///
/// It consists of the host's pid, the time and a count: the time because pids are reused, and the count because a clock may
/// return the same time twice.
#[must_use]
pub fn run_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{:x}-{}", std::process::id(), now.as_nanos(), COUNT.fetch_add(1, Ordering::Relaxed))
}

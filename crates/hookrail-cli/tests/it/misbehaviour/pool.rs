//! Runs cases side by side and reports all that failed, not only the first.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many cases run at once. Most of them wait, so there are more than processors.
const AT_ONCE: usize = 12;

/// Checks every case and fails with the problems of all of them.
///
/// # Panics
///
/// If any case has a problem.
pub(crate) fn check_all<C: Sync>(cases: &[C], check: impl Fn(&C) -> Result<(), String> + Sync) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = check(case) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// Returns whether a row is selected.
pub(crate) fn is_wanted(name: &str) -> bool {
    std::env::var("HOOKRAIL_ROWS").map_or(true, |wanted| name.contains(&wanted))
}

//! The helper that locks a mutex, for this crate and for the crates that depend on it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also if a thread has panicked while it held the lock.
///
/// The values behind the locks of these crates are consistent between any two statements, so a panic in another thread is
/// no reason to panic here, or to leave a process running.
pub fn lock_mutex<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! One way to take a lock, for this crate and for those that stand on it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also after a thread has panicked while it held the lock.
///
/// The values behind the locks of these crates are whole between any two statements, so a panic elsewhere is no reason to
/// panic here, or to leave a process behind.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

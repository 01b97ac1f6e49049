//! A value that belongs to a runtime.

use std::sync::{Mutex, MutexGuard};

use hookrail_spawn::lock;

/// A value that is used only by whoever has the module's turn, on whichever thread that is. The lock is therefore free
/// whenever it is asked for, as long as nobody keeps it while they call something that may ask for it again.
#[derive(Debug, Default)]
pub(crate) struct Slot<T>(Mutex<T>);

impl<T> Slot<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        lock(&self.0)
    }

    /// Puts another value in its place.
    pub(crate) fn set(&self, value: T) {
        *self.lock() = value;
    }

    /// Takes the value and leaves an empty one.
    pub(crate) fn take(&self) -> T
    where
        T: Default,
    {
        std::mem::take(&mut *self.lock())
    }
}

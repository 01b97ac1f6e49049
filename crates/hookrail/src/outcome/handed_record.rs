//! A record that a recorder leaves to the caller that asked for an event.

use std::fmt;
use std::sync::{Arc, Mutex};

use hookrail_spawn::lock_mutex;

use crate::json::Json;

/// A record that is written by the one who takes it. If it was not taken when the last clone is dropped, the recorder writes
/// it: an event is recorded once, also if no caller waits for its outcome any more.
#[derive(Clone)]
pub struct HandedRecord(Arc<Untaken>);

struct Untaken {
    record: Mutex<Option<Json>>,
    write: Box<dyn Fn(Json) + Send + Sync>,
}

impl HandedRecord {
    /// A record, and what writes it if it is not taken.
    #[must_use]
    pub fn new(record: Json, write: impl Fn(Json) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Untaken { record: Mutex::new(Some(record)), write: Box::new(write) }))
    }

    /// Returns the record without taking it; none if it was taken.
    #[must_use]
    pub fn record(&self) -> Option<Json> {
        lock_mutex(&self.0.record).clone()
    }

    /// Takes the record, which the caller then has to write.
    #[must_use]
    pub fn take(&self) -> Option<Json> {
        lock_mutex(&self.0.record).take()
    }
}

impl fmt::Debug for HandedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandedRecord").finish_non_exhaustive()
    }
}

impl Drop for Untaken {
    fn drop(&mut self) {
        if let Some(record) = lock_mutex(&self.record).take() {
            (self.write)(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_written_once_by_the_one_who_takes_it_or_else_by_the_recorder() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let hand = || {
            let written = Arc::clone(&written);
            HandedRecord::new(Json::empty_object(), move |record| lock_mutex(&written).push(record))
        };
        let (taken, left) = (hand(), hand());
        let clone = taken.clone();
        assert!(taken.record().is_some() && taken.take().is_some());
        assert!(clone.take().is_none() && clone.record().is_none(), "it is taken once");
        drop((taken, clone));
        assert_eq!(lock_mutex(&written).len(), 0);
        let clone = left.clone();
        drop(left);
        assert_eq!(lock_mutex(&written).len(), 0, "it can still be taken");
        drop(clone);
        assert_eq!(lock_mutex(&written).len(), 1);
    }
}

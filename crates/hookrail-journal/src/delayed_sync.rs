//! Waiting for the disk once a second, beside the records: each record is on the disk a second after it was written, whether
//! another one follows or not.

use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hookrail::lock_mutex;

/// A thread that waits for the disk some time after the first record that is not on it. Dropping it waits for what is left.
#[derive(Debug)]
pub(crate) struct DelayedSync {
    shared: Arc<(Mutex<Unsynced>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

/// What is written and not on the disk.
#[derive(Debug, Default)]
struct Unsynced {
    /// The files, each with the number of its segment: after a change of segments both have to be waited for.
    files: Vec<(u64, File)>,
    /// Why the disk could not be waited for, until a record reports it.
    failure: Option<io::Error>,
    is_ending: bool,
}

impl DelayedSync {
    /// Starts the thread, which collects records for that long and then waits for the disk with `sync`.
    pub(crate) fn start(
        interval: Duration,
        sync: impl Fn(&File) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new((Mutex::new(Unsynced::default()), Condvar::new()));
        let of_thread = Arc::clone(&shared);
        let body = move || sync_from_time_to_time(&of_thread, interval, sync);
        let thread = thread::Builder::new().name("hookrail-journal".to_owned()).spawn(body)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Says that a record was written to the file of that segment.
    ///
    /// # Errors
    /// If earlier records could not be waited for, which is reported once.
    pub(crate) fn add(&self, segment: u64, file: File) -> io::Result<()> {
        let (unsynced, changed) = &*self.shared;
        let mut unsynced = lock_mutex(unsynced);
        if unsynced.files.iter().all(|(known, _)| *known != segment) {
            unsynced.files.push((segment, file));
            changed.notify_one();
        }
        unsynced.failure.take().map_or(Ok(()), Err)
    }

    /// Waits for everything that was written.
    ///
    /// # Errors
    /// If that failed, now or for earlier records, and no record has reported it.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.end();
        lock_mutex(&self.shared.0).failure.take().map_or(Ok(()), Err)
    }

    fn end(&mut self) {
        let (unsynced, changed) = &*self.shared;
        lock_mutex(unsynced).is_ending = true;
        changed.notify_one();
        // A panic there was reported by the thread.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for DelayedSync {
    fn drop(&mut self) {
        self.end();
    }
}

fn sync_from_time_to_time(
    (unsynced, changed): &(Mutex<Unsynced>, Condvar),
    interval: Duration,
    sync: impl Fn(&File) -> io::Result<()>,
) {
    let mut state = lock_mutex(unsynced);
    loop {
        while state.files.is_empty() {
            if state.is_ending {
                return;
            }
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let begin = Instant::now();
        while let Some(left) = interval.checked_sub(begin.elapsed())
            && !state.is_ending
        {
            state = changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let files = std::mem::take(&mut state.files);
        drop(state);
        let results: Vec<io::Result<()>> = files.iter().map(|(_, file)| sync(file)).collect();
        state = lock_mutex(unsynced);
        state.failure = state.failure.take().or_else(|| results.into_iter().find_map(Result::err));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

    use std::sync::mpsc::{self, Receiver};

    use super::*;

    /// A thread whose disk says how long each file was when it was waited for.
    fn started(interval: Duration) -> (DelayedSync, Receiver<u64>) {
        let (said, heard) = mpsc::channel();
        let sync = move |file: &File| {
            said.send(file.metadata()?.len()).unwrap();
            Ok(())
        };
        (DelayedSync::start(interval, sync).unwrap(), heard)
    }

    fn file_of(length: u64) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(length).unwrap();
        file
    }

    const NEVER: Duration = Duration::from_secs(24 * 60 * 60);

    #[test]
    fn the_last_records_of_every_segment_are_waited_for_at_the_end() {
        let (delayed, heard) = started(NEVER);
        for segment in [1, 1, 1, 2, 2] {
            delayed.add(segment, file_of(segment)).unwrap();
        }
        delayed.finish().unwrap();
        assert_eq!(heard.iter().collect::<Vec<u64>>(), [1, 2]);
        let (delayed, heard) = started(NEVER);
        delayed.add(7, file_of(7)).unwrap();
        drop(delayed);
        assert_eq!(heard.iter().collect::<Vec<u64>>(), [7], "also if it is dropped");
    }

    #[test]
    fn a_record_that_none_follows_is_waited_for() {
        let (delayed, heard) = started(Duration::from_millis(1));
        for segment in [1, 2] {
            delayed.add(segment, file_of(segment)).unwrap();
            assert_eq!(heard.recv().unwrap(), segment);
        }
        delayed.finish().unwrap();
        assert_eq!(heard.iter().count(), 0, "what is on the disk is not waited for again");
    }

    #[test]
    fn a_disk_that_fails_is_reported_once() {
        let (said, heard) = mpsc::channel();
        let sync = move |_: &File| {
            // The test hears the first one only.
            let _ = said.send(());
            Err(io::Error::other("broken"))
        };
        let delayed = DelayedSync::start(Duration::from_millis(1), sync).unwrap();
        delayed.add(1, file_of(1)).unwrap();
        heard.recv().unwrap();
        // The failure is noted a moment after the disk was waited for.
        let error = std::iter::repeat_with(|| delayed.add(1, file_of(1))).find_map(Result::err);
        assert_eq!(error.unwrap().to_string(), "broken");
        delayed.add(1, file_of(1)).unwrap();
        assert_eq!(delayed.finish().unwrap_err().to_string(), "broken", "of the records after that");
    }
}

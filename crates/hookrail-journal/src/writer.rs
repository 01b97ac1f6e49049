//! Appending records: one `write` for each, under a lock that all processes share.
//!
//! The file `lock` is locked while a record is appended, and holds the name of the segment that is written. A process that
//! was killed in the middle of a record leaves a line without an end, which was never acknowledged; the next writer cuts it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hookrail::event::timestamp;

use crate::config::{JournalOptions, SyncPolicy};
use crate::error::JournalError;
use crate::index;
use crate::lock_file::{LONGEST_WAIT, LockFile, SHORT_WAIT, read_exact_at};
use crate::machines;
use crate::segment::{
    self, Hex, LastRecord, NO_HASH, SegmentEnd, SegmentFile, SegmentName, end_of, has_name, hash_of, last_record,
    open_file,
};

/// A record that was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Appended {
    /// Its number in the chain.
    pub(crate) seq: u64,
    /// Its hash, in hexadecimal.
    pub(crate) hash: Hex,
    /// The number of its segment.
    pub(crate) segment: u64,
    /// Whether a new segment was begun, so that the one before it can be sealed.
    pub(crate) began_segment: bool,
}

/// The most bytes of other writers that are read to continue after them.
const MOST_CAUGHT_UP: u64 = 64 * 1024;

/// The writer of one journal in one process.
#[derive(Debug)]
pub(crate) struct Writer {
    directory: PathBuf,
    segment_bytes: u64,
    sync: SyncPolicy,
    machine: String,
    lock: Option<LockFile>,
    /// How long the lock is waited for; see [`SHORT_WAIT`].
    longest_wait: Duration,
    /// Whether other machines may use the file system of a file.
    pub(crate) is_on_network: fn(&File) -> bool,
    head: Option<Head>,
}

/// The segment that was written last, as this process left it.
#[derive(Debug)]
struct Head {
    name: SegmentName,
    path: PathBuf,
    file: File,
    length: u64,
    last: Option<LastRecord>,
    /// Whether other machines may write it too.
    is_shared: bool,
}

impl Writer {
    pub(crate) fn new(options: &JournalOptions, machine: String) -> Self {
        Self {
            directory: options.directory.clone(),
            segment_bytes: options.segment_bytes,
            sync: options.sync,
            machine,
            lock: None,
            longest_wait: LONGEST_WAIT,
            is_on_network: machines::is_on_network,
            head: None,
        }
    }

    /// Appends a record with these members, which begin without a brace or a comma.
    pub(crate) fn append(&mut self, members: &[u8], at: SystemTime) -> Result<Appended, JournalError> {
        let today = day_of(at);
        let lock = self.locked()?;
        let appended = self.append_locked(&lock, members, &today);
        if appended.is_err() {
            // What is true of the files now is looked at again before the next record.
            self.head = None;
        }
        let released = lock.release();
        self.lock = Some(lock);
        released.and(appended)
    }

    /// The file that was written last, for a caller that waits for the disk.
    pub(crate) fn file_to_sync(&self) -> Result<Option<File>, JournalError> {
        let clone = |head: &Head| head.file.try_clone().map_err(|error| JournalError::io(&head.path, error));
        self.head.as_ref().map(clone).transpose()
    }

    /// The locked lock. It is taken out of the writer, so that its segment can be changed meanwhile.
    fn locked(&mut self) -> Result<LockFile, JournalError> {
        let lock = match self.lock.take() {
            Some(lock) if lock.is_there() => lock,
            _ => {
                self.head = None;
                LockFile::open(&self.directory)?
            }
        };
        match lock.wait(self.longest_wait) {
            Ok(()) => {
                self.longest_wait = LONGEST_WAIT;
                Ok(lock)
            }
            Err(error) => {
                if matches!(error, JournalError::Locked { .. }) {
                    self.longest_wait = SHORT_WAIT;
                }
                self.lock = Some(lock);
                Err(error)
            }
        }
    }

    fn append_locked(&mut self, lock: &LockFile, members: &[u8], today: &str) -> Result<Appended, JournalError> {
        let room = members.len() as u64 + 256;
        let mut head = match self.load_head(lock, today)? {
            Some(head) => head,
            None => self.begin(lock, 1, today, None)?,
        };
        let is_full = head.length > 0 && head.length + room > self.segment_bytes;
        let mut began_segment = false;
        if head.name.day != today || is_full {
            head = self.begin(lock, head.name.number + 1, today, head.last)?;
            began_segment = true;
        }
        let seq = head.last.map_or(1, |last| last.seq + 1);
        let prev = head.last.map_or(NO_HASH, |last| last.hash);
        let (line, hash) = compose(seq, &prev, members);
        write_line(&mut head, &line)?;
        head.last = Some(LastRecord { seq, hash });
        let segment = head.name.number;
        self.head = Some(head);
        Ok(Appended { seq, hash, segment, began_segment })
    }

    /// The segment that is to be written, as it is now. A record that was cut short is removed; if the last whole line is
    /// damaged, a new segment is begun, so that the damage stays where it is.
    fn load_head(&mut self, lock: &LockFile, today: &str) -> Result<Option<Head>, JournalError> {
        let named = lock.segment()?;
        if let Some(head) = self.head.take().filter(|head| named.as_ref() == Some(&head.name)) {
            match length_of(&head.file) {
                Some(length) if length == head.length => return Ok(Some(head)),
                Some(length) => {
                    if let Some(head) = self.catch_up(head, length)? {
                        return Ok(Some(head));
                    }
                }
                None => {}
            }
        }
        let segments = segment::list(&self.directory)?;
        let is_shared = lock.is_such(self.is_on_network);
        if is_shared {
            self.check_machines(&segments)?;
        }
        // The lock says which segment is written. If it is empty or names what is gone, the newest one is.
        let newest = segments.last().map(|segment| segment.name.clone());
        let Some(name) = named.clone().into_iter().chain(newest).max() else { return Ok(None) };
        let path = self.directory.join(name.open_file());
        let Some(mut file) = open_segment(&path)? else {
            // The newest one is sealed, or was removed by hand.
            let last = index::last_before(&self.directory, name.number + 1, &segments)?;
            return self.begin(lock, name.number + 1, today, last).map(Some);
        };
        let end = end_of(&mut file).map_err(|error| JournalError::io(&path, error))?;
        let SegmentEnd { last, whole, length, is_sound, .. } = end;
        let last = match last {
            Some(last) => Some(last),
            None => index::last_before(&self.directory, name.number, &segments)?,
        };
        if !is_sound {
            return self.begin(lock, name.number + 1, today, last).map(Some);
        }
        if whole < length {
            file.set_len(whole).map_err(|error| JournalError::io(&path, error))?;
        }
        if named.as_ref() != Some(&name) {
            // Its writer was killed before it named it. A process that knows the old one would go on with that.
            lock.name_segment(&name)?;
        }
        Ok(Some(Head { name, path, file, length: whole, last, is_shared }))
    }

    /// The segment that other processes have written meanwhile, if what they appended ends with a whole record: then
    /// nothing else has to be looked at. They had the lock, and one that was killed left a line without an end. With four
    /// writers, listing and opening the files again took most of the time of a record.
    fn catch_up(&self, mut head: Head, length: u64) -> Result<Option<Head>, JournalError> {
        let appended = length.checked_sub(head.length).filter(|appended| *appended <= MOST_CAUGHT_UP);
        let Some(appended) = appended.and_then(|appended| usize::try_from(appended).ok()) else { return Ok(None) };
        let mut text = vec![0; appended];
        if head.is_shared || read_exact_at(&head.file, &mut text, head.length).is_err() {
            return Ok(None);
        }
        let last = last_record(&text);
        Ok(last.map(|last| {
            (head.length, head.last) = (length, Some(last));
            head
        }))
    }

    /// Begins a segment. Its name is in the lock before its first record is written, so that no other process continues
    /// the old one.
    fn begin(
        &mut self,
        lock: &LockFile,
        number: u64,
        today: &str,
        last: Option<LastRecord>,
    ) -> Result<Head, JournalError> {
        let name = SegmentName { number, day: today.to_owned() };
        let path = self.directory.join(name.open_file());
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let file = open_file(&path, &options)?;
        // Left by a process that was killed between making the file and naming it: it holds no record.
        file.set_len(0).map_err(|error| JournalError::io(&path, error))?;
        lock.name_segment(&name)?;
        if self.sync != SyncPolicy::Write {
            // The records of a segment are on the disk, and found there, only if its name is too.
            hookrail_spawn::sync_folder(&self.directory).map_err(|error| JournalError::io(&self.directory, error))?;
        }
        let is_shared = lock.is_such(self.is_on_network);
        Ok(Head { name, path, file, length: 0, last, is_shared })
    }

    fn check_machines(&self, segments: &[SegmentFile]) -> Result<(), JournalError> {
        match machines::last_machine(segments)? {
            Some(other) if other != self.machine => {
                Err(JournalError::SharedByMachines { path: self.directory.clone(), other })
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The day of a time, in UTC.
fn day_of(at: SystemTime) -> String {
    let mut text = timestamp(at);
    text.truncate(10);
    text
}

/// A line with its hash.
fn compose(seq: u64, prev: &Hex, members: &[u8]) -> (Vec<u8>, Hex) {
    let mut line = Vec::with_capacity(members.len() + 256);
    line.extend_from_slice(br#"{"seq":"#);
    line.extend_from_slice(seq.to_string().as_bytes());
    line.extend_from_slice(br#","prev":""#);
    line.extend_from_slice(prev);
    line.extend_from_slice(b"\",");
    line.extend_from_slice(members);
    let hash = hash_of(&line);
    line.extend_from_slice(br#","hash":""#);
    line.extend_from_slice(&hash);
    line.extend_from_slice(b"\"}\n");
    (line, hash)
}

/// Writes a line with one call. What was written of a line that did not fit is taken back.
fn write_line(head: &mut Head, line: &[u8]) -> Result<(), JournalError> {
    let written = loop {
        match head.file.write(line) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            written => break written,
        }
    };
    let failure = match written {
        Ok(count) if count == line.len() => {
            head.length += line.len() as u64;
            return Ok(());
        }
        Ok(_) => io::Error::new(io::ErrorKind::StorageFull, "the record did not fit"),
        Err(error) => error,
    };
    // If this fails too, the next writer cuts the line.
    let _ = head.file.set_len(head.length);
    Err(JournalError::io(&head.path, failure))
}

fn open_segment(path: &Path) -> Result<Option<File>, JournalError> {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    match open_file(path, &options) {
        Ok(file) => Ok(Some(file)),
        Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The length of a file that still has a name.
fn length_of(file: &File) -> Option<u64> {
    let about = file.metadata().ok()?;
    has_name(&about).then_some(about.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

    use super::*;

    /// Each day has its segment, and a clock that jumps back begins a new one: the order is that of the chain.
    #[test]
    fn a_clock_that_jumps_breaks_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("journal");
        let options = JournalOptions::new(&folder);
        let mut writer = Writer::new(&options, "m".to_owned());
        let day = |days: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400);
        let days = [20_000, 20_000, 90_000, 20_001, 0, 20_001];
        for (number, at) in days.into_iter().enumerate() {
            let appended = writer.append(br#""v":1,"kind":"trust""#, day(at)).unwrap();
            assert_eq!(appended.seq, number as u64 + 1);
        }
        let found = crate::verify::verify(&folder, None).unwrap();
        assert!(found.is_sound(), "{found:?}");
        assert_eq!((found.segments, found.records), (5, 6));
    }
}

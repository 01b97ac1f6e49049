//! A record of the running children, so that the next program can end those that a killed program left.
//!
//! A record is used only if it cannot refer to other processes than those it was written for. Its writer holds a lock on
//! the file for as long as it lives, so a file that can be locked has no writer. A pid may be reused, so each entry has
//! the start time of its process, and the file names the boot and the pid namespace in which both are valid.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::end::OrphanCleanup;
use crate::files::{create_private_folder, is_ours_alone, open_regular, private_file_options};
use crate::lock::lock_mutex;
use crate::processes::recorded;

/// The size of an entry in bytes. A marker that does not fit is not recorded.
const ENTRY_SIZE: usize = 192;

/// The file name extension of records.
const EXTENSION: &str = "running";

/// The file that is locked while records are searched and created. Without it, another program could take a record for
/// abandoned between its creation and its own lock.
const LOCK_FILE: &str = "lock";

/// The size in bytes from which a file is not read as a record.
const RECORD_SIZE_LIMIT: u64 = 16 << 20;

/// The record of the running children of this program. Clones share it.
///
/// It is written with the children's numbers and the times of their starts, and an entry is removed when its child has
/// ended. If the program is killed its entries stay, and [`open`](Self::open) of the next program in the same directory
/// ends those children. Linux only.
#[derive(Clone, Debug)]
pub struct RunLedger(Arc<LedgerFile>);

#[derive(Debug)]
struct LedgerFile {
    path: PathBuf,
    /// The open file. The lock on it is released when this is closed, also if the program is killed.
    file: File,
    places: Mutex<LedgerSlots>,
}

/// The slots for entries. Slot 0 holds the boot and the namespace.
#[derive(Debug)]
struct LedgerSlots {
    free: Vec<u64>,
    next: u64,
}

/// The entry of one child. Dropping it removes it from the file.
#[derive(Debug)]
pub(crate) struct LedgerEntry {
    record: Arc<LedgerFile>,
    place: u64,
    marker: Option<Vec<u8>>,
}

impl RunLedger {
    /// Creates the record of this program in a directory, after it has ended the children that programs which are gone
    /// left there.
    ///
    /// The directory is created if it is missing, and must be writable by this user only. Records of programs that still
    /// run are not touched, nor are those of another container or another machine.
    ///
    /// # Errors
    ///
    /// If the record cannot be created, or the system has no `/proc`. Running children cannot be recorded then.
    pub fn open(directory: &Path) -> io::Result<(Self, OrphanCleanup)> {
        let world = recorded::system_identity()?;
        let options = || {
            let mut options = private_file_options();
            options.read(true).write(true);
            options
        };
        create_checked_folder(directory)?;
        let lock = options().create(true).open(directory.join(LOCK_FILE))?;
        lock.lock()?;
        let left = end_all_left_in(directory, &world)?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name = format!("{}-{:x}.{EXTENSION}", std::process::id(), since.as_nanos());
        let path = directory.join(name);
        let file = options().create_new(true).open(&path)?;
        file.lock()?;
        let record = LedgerFile { path, file, places: Mutex::new(LedgerSlots { free: Vec::new(), next: 1 }) };
        record.write(0, world.as_bytes())?;
        Ok((Self(Arc::new(record)), left))
    }

    /// Adds an entry for a child that is about to be started.
    ///
    /// It is written before the start, because the program may be killed between the start and the next write. Until the
    /// pid is known, the child is found by its marker.
    pub(crate) fn begin_entry(&self, marker: Option<Vec<u8>>) -> LedgerEntry {
        let place = {
            let mut places = lock_mutex(&self.0.places);
            places.free.pop().unwrap_or_else(|| {
                places.next += 1;
                places.next - 1
            })
        };
        let entry = LedgerEntry { record: Arc::clone(&self.0), place, marker };
        entry.write("- -");
        entry
    }
}

impl LedgerEntry {
    /// Adds the pid and the start time of the child.
    pub(crate) fn add_process(&self, pid: u32) {
        if let Some(start) = recorded::start_time(pid) {
            self.write(&format!("{pid} {start}"));
        }
    }

    /// Writes the entry. An error, such as a full disk, is ignored: it must not prevent a child from running.
    fn write(&self, numbers: &str) {
        let mut line = format!("{numbers} ").into_bytes();
        if let Some(marker) = self.marker.as_deref().filter(|marker| line.len() + marker.len() < ENTRY_SIZE) {
            line.extend_from_slice(marker);
        }
        let _ = self.record.write(self.place, &line);
    }
}

impl Drop for LedgerEntry {
    fn drop(&mut self) {
        let _ = self.record.write(self.place, b"");
        lock_mutex(&self.record.places).free.push(self.place);
    }
}

impl LedgerFile {
    /// Writes one line, padded with blanks so that every slot has a fixed position.
    fn write(&self, place: u64, text: &[u8]) -> io::Result<()> {
        let mut line = [b' '; ENTRY_SIZE];
        for (to, from) in line.iter_mut().zip(text) {
            *to = *from;
        }
        if let Some(last) = line.last_mut() {
            *last = b'\n';
        }
        self.file.write_all_at(&line, place * ENTRY_SIZE as u64)
    }
}

impl Drop for LedgerFile {
    fn drop(&mut self) {
        // If this fails, the next program finds a file without entries and removes it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Ends the children in all records that no living program holds, and removes those records.
fn end_all_left_in(directory: &Path, world: &str) -> io::Result<OrphanCleanup> {
    let mut left = OrphanCleanup::default();
    for found in fs::read_dir(directory)?.flatten() {
        let path = found.path();
        if path.extension().is_none_or(|extension| extension != EXTENSION) {
            continue;
        }
        let Ok(mut file) = open_regular(&path) else { continue };
        let is_ours = file.metadata().is_ok_and(|about| is_ours_alone(&about) && about.len() < RECORD_SIZE_LIMIT);
        // A program that holds the lock is alive.
        if !is_ours || file.try_lock().is_err() {
            continue;
        }
        let mut text = Vec::new();
        if file.read_to_end(&mut text).is_err() {
            continue;
        }
        let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        // After a reboot no recorded process is left, and in another pid namespace the pids belong to other processes.
        if lines.next().is_some_and(|meaning| meaning == world.as_bytes()) {
            left.records += 1;
            left.ended +=
                lines.filter_map(parse_entry).map(|(child, marker)| recorded::end_recorded(child, marker)).sum::<u32>();
        } else if recorded::is_of_another_container(text.trim_ascii(), world) {
            continue;
        }
        let _ = fs::remove_file(&path);
    }
    Ok(left)
}

/// The pid and the start time of a child, if they were written, and its marker.
type RecordedChild = (Option<(u32, u64)>, Option<Vec<u8>>);

fn parse_entry(line: &[u8]) -> Option<RecordedChild> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let number = |word: Option<&[u8]>| str::from_utf8(word?).ok()?.parse::<u64>().ok();
    let (pid, start) = (number(Some(words.next()?)), number(Some(words.next()?)));
    let child = pid.and_then(|pid| u32::try_from(pid).ok()).zip(start);
    let marker = words.next().filter(|marker| !marker.is_empty()).map(<[u8]>::to_vec);
    (child.is_some() || marker.is_some()).then_some((child, marker))
}

fn create_checked_folder(directory: &Path) -> io::Result<()> {
    create_private_folder(directory)?;
    if is_ours_alone(&fs::metadata(directory)?) {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "the directory is writable by other users"))
    }
}

#[cfg(test)]
mod tests {
    use super::parse_entry;

    #[test]
    fn an_entry_has_a_process_or_a_marker_or_is_none() {
        let marker = || Some(b"A=b c".to_vec());
        assert_eq!(parse_entry(b"7 99 A=b c"), Some((Some((7, 99)), marker())));
        assert_eq!(parse_entry(b"- - A=b c"), Some((None, marker())));
        assert_eq!(parse_entry(b"7 99"), Some((Some((7, 99)), None)));
        for nothing in [&b""[..], b"- -", b"7", b"x y"] {
            assert_eq!(parse_entry(nothing), None, "{nothing:?}");
        }
    }
}

//! A record of the children that run, so that the next program can end those that a killed one left.
//!
//! The hard idea: a record is believed only while it cannot be about somebody else. Its writer holds a lock on its file
//! for as long as it lives, so a record that can be locked has no writer. A process number stands beside the time at
//! which the process was started, and beside the boot and the namespace in which both mean something.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::files::{create_private_folder, is_ours_alone, open_regular, private_file_options};
use crate::lock::lock;
use crate::sys::recorded;

/// The size of an entry. A longer marker is left out.
const ENTRY: usize = 192;

/// The end of the names of records.
const EXTENSION: &str = "running";

/// The file that is locked while records are looked for and made.
const LOCK: &str = "lock";

/// A larger record is nobody's.
const LARGEST: u64 = 16 << 20;

/// The record of the running children of this program. Clones share it.
///
/// It is written with the children's numbers and the times of their starts, and an entry is removed when its child has
/// ended. If the program is killed its entries stay, and [`open`](Self::open) of the next program in the same directory
/// ends those children. Linux only.
#[derive(Clone, Debug)]
pub struct RunLedger(Arc<Record>);

#[derive(Debug)]
struct Record {
    path: PathBuf,
    /// The lock lives as long as this.
    file: File,
    places: Mutex<Places>,
}

/// The places for entries. The first one holds what the numbers mean.
#[derive(Debug)]
struct Places {
    free: Vec<u64>,
    next: u64,
}

/// What programs that are gone had left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// The number of records of such programs.
    pub records: u32,
    /// The number of processes that were ended.
    pub ended: u32,
}

/// The entry of one child. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Entry {
    record: Arc<Record>,
    place: u64,
    marker: Option<Vec<u8>>,
}

impl RunLedger {
    /// Makes the record of this program in a directory, after it has ended what programs that are gone have left there.
    ///
    /// The directory is made if it is not there, and must be this user's alone. Records of programs that live are left
    /// alone, and so are those of another container or another machine.
    ///
    /// # Errors
    ///
    /// If the record cannot be made, or the system has no `/proc`. Running children cannot be recorded then.
    pub fn open(directory: &Path) -> io::Result<(Self, LeftBehind)> {
        let world = recorded::world()?;
        let options = || {
            let mut options = private_file_options();
            options.read(true).write(true);
            options
        };
        make_private(directory)?;
        let lock = options().create(true).open(directory.join(LOCK))?;
        lock.lock()?;
        let left = end_all_left_in(directory, &world)?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name = format!("{}-{:x}.{EXTENSION}", std::process::id(), since.as_nanos());
        let path = directory.join(name);
        let file = options().create_new(true).open(&path)?;
        file.lock()?;
        let record = Record { path, file, places: Mutex::new(Places { free: Vec::new(), next: 1 }) };
        record.write(0, world.as_bytes())?;
        Ok((Self(Arc::new(record)), left))
    }

    /// Makes an entry for a child that is about to be started. It is found by its marker until it has a number.
    pub(crate) fn begin(&self, marker: Option<Vec<u8>>) -> Entry {
        let place = {
            let mut places = lock(&self.0.places);
            places.free.pop().unwrap_or_else(|| {
                places.next += 1;
                places.next - 1
            })
        };
        let entry = Entry { record: Arc::clone(&self.0), place, marker };
        entry.write("- -");
        entry
    }
}

impl Entry {
    /// Adds the number of the child.
    pub(crate) fn started(&self, pid: u32) {
        if let Some(start) = recorded::start_time(pid) {
            self.write(&format!("{pid} {start}"));
        }
    }

    /// A record that cannot be written, on a full disk, must not keep a child from running.
    fn write(&self, numbers: &str) {
        let mut line = format!("{numbers} ").into_bytes();
        if let Some(marker) = self.marker.as_deref().filter(|marker| line.len() + marker.len() < ENTRY) {
            line.extend_from_slice(marker);
        }
        let _ = self.record.write(self.place, &line);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let _ = self.record.write(self.place, b"");
        lock(&self.record.places).free.push(self.place);
    }
}

impl Record {
    /// Writes one line, filled up with blanks so that every line has its place.
    fn write(&self, place: u64, text: &[u8]) -> io::Result<()> {
        let mut line = [b' '; ENTRY];
        for (to, from) in line.iter_mut().zip(text) {
            *to = *from;
        }
        if let Some(last) = line.last_mut() {
            *last = b'\n';
        }
        self.file.write_all_at(&line, place * ENTRY as u64)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // What remains is found to be empty by the next program.
        let _ = fs::remove_file(&self.path);
    }
}

/// Ends what the programs have left whose records nobody holds, and removes those records.
fn end_all_left_in(directory: &Path, world: &str) -> io::Result<LeftBehind> {
    let mut left = LeftBehind::default();
    for found in fs::read_dir(directory)?.flatten() {
        let path = found.path();
        if path.extension().is_none_or(|extension| extension != EXTENSION) {
            continue;
        }
        let Ok(mut file) = open_regular(&path) else { continue };
        let is_ours = file.metadata().is_ok_and(|about| is_ours_alone(&about) && about.len() < LARGEST);
        // Who holds the lock lives.
        if !is_ours || file.try_lock().is_err() {
            continue;
        }
        let mut text = Vec::new();
        if file.read_to_end(&mut text).is_err() {
            continue;
        }
        let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        // After a restart of the machine nothing is left, and in another container the numbers mean other processes.
        if lines.next().is_some_and(|meaning| meaning == world.as_bytes()) {
            left.records += 1;
            left.ended += lines.filter_map(parse).map(|(child, marker)| recorded::end(child, marker)).sum::<u32>();
        } else if recorded::is_of_another_container(text.trim_ascii(), world) {
            continue;
        }
        let _ = fs::remove_file(&path);
    }
    Ok(left)
}

/// Number and start of a child if they were written, and its marker.
type Parsed = (Option<(u32, u64)>, Option<Vec<u8>>);

fn parse(line: &[u8]) -> Option<Parsed> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let number = |word: Option<&[u8]>| str::from_utf8(word?).ok()?.parse::<u64>().ok();
    let (pid, start) = (number(Some(words.next()?)), number(Some(words.next()?)));
    let child = pid.and_then(|pid| u32::try_from(pid).ok()).zip(start);
    let marker = words.next().filter(|marker| !marker.is_empty()).map(<[u8]>::to_vec);
    (child.is_some() || marker.is_some()).then_some((child, marker))
}

fn make_private(directory: &Path) -> io::Result<()> {
    create_private_folder(directory)?;
    if is_ours_alone(&fs::metadata(directory)?) {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "others can write to the directory"))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_entry_has_a_process_or_a_marker_or_is_none() {
        let marker = || Some(b"A=b c".to_vec());
        assert_eq!(parse(b"7 99 A=b c"), Some((Some((7, 99)), marker())));
        assert_eq!(parse(b"- - A=b c"), Some((None, marker())));
        assert_eq!(parse(b"7 99"), Some((Some((7, 99)), None)));
        for nothing in [&b""[..], b"- -", b"7", b"x y"] {
            assert_eq!(parse(nothing), None, "{nothing:?}");
        }
    }
}

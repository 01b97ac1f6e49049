//! The lock that all writers of a journal share. It holds the name of the segment that is written.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::JournalError;
use crate::segment::{self, SegmentName, has_name, open_file};

/// A lock is held for microseconds; after this long something is wrong with its holder.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// How long a lock is waited for whose holder has just kept it too long: enough for ordinary writers, and not for the
/// events of a server to queue behind a process that was stopped.
pub(crate) const SHORT_WAIT: Duration = Duration::from_millis(10);

/// How often a writer tries again at once. The holder needs a few microseconds, less than the system needs to wake a thread.
const SPINS: u32 = 32;

/// How often it then lets other threads run, one of which may be the holder, before it sleeps.
const YIELDS: u32 = 64;

/// The file, which may be locked.
#[derive(Debug)]
pub(crate) struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Opens the lock of a journal, whose folder is made if there is none.
    pub(crate) fn open(directory: &Path) -> Result<Self, JournalError> {
        segment::prepare_directory(directory)?;
        let path = directory.join("lock");
        let mut options = OpenOptions::new();
        let file = open_file(&path, options.read(true).write(true).create(true).truncate(false))?;
        Ok(Self { file, path })
    }

    /// The segment that the lock of a journal names, without making the lock; none if it names none or there is none.
    pub(crate) fn named_segment(directory: &Path) -> Result<Option<SegmentName>, JournalError> {
        let path = directory.join("lock");
        let mut options = OpenOptions::new();
        match open_file(&path, options.read(true)) {
            Ok(file) => Self { file, path }.segment(),
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the file still has a name, so that others would find it.
    pub(crate) fn is_there(&self) -> bool {
        self.file.metadata().is_ok_and(|about| has_name(&about))
    }

    /// Whether the file is such a one.
    pub(crate) fn is_such(&self, question: fn(&File) -> bool) -> bool {
        question(&self.file)
    }

    /// Waits for the lock, but no longer than that: a process that was stopped while it held the lock must not stop all
    /// others.
    pub(crate) fn wait(&self, longest: Duration) -> Result<(), JournalError> {
        let mut tries = 0_u32;
        let mut begin = None;
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(self.failed(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            tries += 1;
            if tries < SPINS {
                pause();
                continue;
            }
            if tries < SPINS + YIELDS {
                std::thread::yield_now();
                continue;
            }
            if begin.get_or_insert_with(Instant::now).elapsed() > longest {
                return Err(JournalError::Locked { path: self.path.clone() });
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    pub(crate) fn release(&self) -> Result<(), JournalError> {
        self.file.unlock().map_err(|error| self.failed(error))
    }

    /// The segment that the lock names; none if it names none.
    pub(crate) fn segment(&self) -> Result<Option<SegmentName>, JournalError> {
        let mut text = [0; 64];
        let read = read_at_start(&self.file, &mut text).map_err(|error| self.failed(error))?;
        let text = text.get(..read).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        Ok(text.strip_suffix('\n').and_then(SegmentName::parse))
    }

    /// Names the segment that is written from now on.
    pub(crate) fn name_segment(&self, name: &SegmentName) -> Result<(), JournalError> {
        let write = |mut file: &File| {
            file.seek(SeekFrom::Start(0))?;
            file.set_len(0)?;
            file.write_all(format!("{}\n", name.stem()).as_bytes())
        };
        write(&self.file).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> JournalError {
        JournalError::io(&self.path, error)
    }
}

/// Waits for about half a microsecond, so that the tries of a waiting writer do not slow the holder down.
fn pause() {
    (0..16).for_each(|_| std::hint::spin_loop());
}

/// Fills the buffer with the bytes from an offset on.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(not(unix))]
pub(crate) fn read_exact_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::Read as _;
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}

#[cfg(unix)]
fn read_at_start(file: &File, text: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, text, 0)
}

#[cfg(not(unix))]
fn read_at_start(mut file: &File, text: &mut [u8]) -> io::Result<usize> {
    use std::io::Read as _;
    file.seek(SeekFrom::Start(0))?;
    file.read(text)
}

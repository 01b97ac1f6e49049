//! A session's file: one JSON value per line.
//!
//! A line is acknowledged when all of it is written. What is left of a line that was not (the disk was full, the machine
//! went down) never runs into the next one: bytes that this process wrote are cut off again, and a cut line that was found
//! when the file was opened is closed off with a line break, reported, and otherwise left alone.
//!
//! One process at a time has the file: it holds a lock on it for as long as it may write.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use hookrail::Json;

use crate::error::AgentError;

/// A file that lines are added to.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    file: File,
    /// The length of the file up to the last line that is known to be whole.
    whole: u64,
    tail: Tail,
    synced: bool,
}

/// What comes after the last whole line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Nothing,
    /// The beginning of a line that this process could not write.
    Own,
    /// A line without its end that was there when the file was opened.
    Found,
}

/// What was found in a file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The whole lines, in order.
    pub(super) lines: Vec<Json>,
    /// What could not be read.
    pub(super) damage: Vec<Damage>,
}

/// A line of a session's file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its number, from one.
    pub line: usize,
    /// How many bytes it has.
    pub bytes: usize,
    /// What is wrong with it.
    pub message: String,
}

/// Why a file cannot be opened for writing.
#[derive(Debug)]
pub(super) enum OpenError {
    /// Another process has it.
    InUse,
    /// Something else is wrong.
    Unusable(AgentError),
}

impl Lines {
    /// Makes a new file with a first line. A file that exists already belongs to another session.
    pub(super) fn create(path: &Path, first: &Json) -> Result<Self, AgentError> {
        let bad = |error: std::io::Error| unusable(path, &error);
        if let Some(folder) = path.parent() {
            hookrail_spawn::create_private_folder(folder).map_err(bad)?;
        }
        let file = private(OpenOptions::new().append(true).create_new(true)).open(path).map_err(bad)?;
        let mut lines = Self { path: path.to_owned(), file, whole: 0, tail: Tail::Nothing, synced: false };
        let begun = lines.lock().map_err(|error| match error {
            OpenError::InUse => AgentError::Session { file: path.to_owned(), message: "it is locked".to_owned() },
            OpenError::Unusable(error) => error,
        });
        let begun = begun.and_then(|()| lines.append(first)).and_then(|()| sync_folder(path).map_err(bad));
        if let Err(error) = begun {
            // A file without a first line is no session. What cannot be removed either is passed over when it is read.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(lines)
    }

    /// Opens a file for this process alone, reads all of it, and gets ready to add to it.
    pub(super) fn open(path: &Path) -> Result<(Self, Found), OpenError> {
        let bad = |error: std::io::Error| OpenError::Unusable(unusable(path, &error));
        regular(path).map_err(bad)?;
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(bad)?;
        let mut lines = Self { path: path.to_owned(), file, whole: 0, tail: Tail::Nothing, synced: true };
        lines.lock()?;
        let mut bytes = Vec::new();
        lines.file.read_to_end(&mut bytes).map_err(bad)?;
        lines.whole = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if bytes.last().is_some_and(|last| *last != b'\n') {
            lines.tail = Tail::Found;
        }
        Ok((lines, Found::of(&bytes)))
    }

    /// Reads a file that another process may be writing to.
    pub(super) fn read(path: &Path) -> Result<Found, AgentError> {
        let read = regular(path).and_then(|()| std::fs::read(path));
        read.map(|bytes| Found::of(&bytes)).map_err(|error| unusable(path, &error))
    }

    fn lock(&self) -> Result<(), OpenError> {
        match self.file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse),
            Err(TryLockError::Error(error)) => Err(OpenError::Unusable(AgentError::Session {
                file: self.path.clone(),
                message: format!(
                    "it cannot be locked: {error}; keep sessions on a local file system (`--session-dir`)"
                ),
            })),
        }
    }

    /// Adds a line. It is written whole, or not at all.
    pub(super) fn append(&mut self, line: &Json) -> Result<(), AgentError> {
        let text = format!("{}\n", line.text());
        let written = self.repair().and_then(|()| {
            self.synced = false;
            self.tail = Tail::Own;
            self.file.write_all(text.as_bytes())
        });
        match written {
            Ok(()) => {
                self.whole = self.whole.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
                self.tail = Tail::Nothing;
                Ok(())
            }
            Err(error) => {
                // What cannot be cut off now is dealt with before the next line.
                let _ = self.repair();
                Err(unwritable(&self.path, &error))
            }
        }
    }

    /// Sees to it that the next line begins on a line of its own.
    fn repair(&mut self) -> std::io::Result<()> {
        match self.tail {
            Tail::Nothing => return Ok(()),
            Tail::Own if self.file.set_len(self.whole).is_ok() => {}
            Tail::Own | Tail::Found => {
                self.file.write_all(b"\n")?;
                self.whole = self.file.metadata()?.len();
            }
        }
        self.tail = Tail::Nothing;
        Ok(())
    }

    /// Waits until everything that was added is on the disk.
    pub(super) fn sync(&mut self) -> Result<(), AgentError> {
        if self.synced {
            return Ok(());
        }
        self.file.sync_data().map_err(|error| unwritable(&self.path, &error))?;
        self.synced = true;
        still_named(&self.file).map_err(|error| unwritable(&self.path, &error))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// A pipe or a device under a session's name would be waited for without end.
fn regular(path: &Path) -> std::io::Result<()> {
    if std::fs::metadata(path)?.is_file() { Ok(()) } else { Err(std::io::Error::other("it is not a regular file")) }
}

/// Lines that are added to a file without a name are lost with the process.
#[cfg(unix)]
fn still_named(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    if file.metadata()?.nlink() > 0 {
        return Ok(());
    }
    Err(std::io::Error::other("it was removed; `/clear` begins a new session"))
}

#[cfg(not(unix))]
fn still_named(_file: &File) -> std::io::Result<()> {
    Ok(())
}

/// Makes the name of a new file outlive a power failure. Some file systems do not offer that.
#[cfg(unix)]
fn sync_folder(path: &Path) -> std::io::Result<()> {
    use std::io::ErrorKind::{InvalidInput, Unsupported};
    let Some(folder) = path.parent() else { return Ok(()) };
    match File::open(folder)?.sync_all() {
        Err(error) if !matches!(error.kind(), InvalidInput | Unsupported) => Err(error),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn sync_folder(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

impl Found {
    fn of(bytes: &[u8]) -> Self {
        let mut found = Self::default();
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            if text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let parsed = std::str::from_utf8(text)
                .map_err(|error| error.to_string())
                .and_then(|text| Json::parse(text).map_err(|error| error.to_string()));
            match parsed {
                Ok(line) => found.lines.push(line),
                Err(message) => found.damage.push(Damage { line: number, bytes: text.len(), message }),
            }
        }
        found
    }
}

/// Sessions hold whatever was said and read: they are nobody else's business.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

fn unusable(path: &Path, error: &std::io::Error) -> AgentError {
    AgentError::Session { file: path.to_owned(), message: error.to_string() }
}

fn unwritable(path: &Path, error: &std::io::Error) -> AgentError {
    AgentError::NotRecorded { file: path.to_owned(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_whole_lines_survive_and_the_rest_is_reported() {
        let found = Found::of(b"{\"a\":1}\n\xff\xfe\n\n{\"b\":2}\n{\"c\":");
        assert_eq!(found.lines.iter().map(Json::text).collect::<Vec<_>>(), [r#"{"a":1}"#, r#"{"b":2}"#]);
        assert_eq!(found.damage.iter().map(|damage| (damage.line, damage.bytes)).collect::<Vec<_>>(), [(2, 2), (5, 5)]);
    }

    #[test]
    fn what_is_added_after_a_cut_line_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, "{\"a\":1}\n{\"cut\":").unwrap();
        let (mut lines, _) = Lines::open(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"cut\":", "reading changes nothing");
        lines.append(&Json::boolean(true)).unwrap();
        drop(lines);
        let (_, found) = Lines::open(&path).unwrap();
        assert_eq!(found.lines.iter().map(Json::text).collect::<Vec<_>>(), [r#"{"a":1}"#, "true"]);
        assert_eq!(found.damage.len(), 1, "the cut line stays where it is");
        assert!(Lines::create(&path, &Json::null()).is_err(), "a file that exists is not taken over");
    }

    #[test]
    fn one_process_has_a_file_and_gives_it_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let first = Lines::create(&path, &Json::boolean(true)).unwrap();
        assert!(matches!(Lines::open(&path), Err(OpenError::InUse)));
        assert_eq!(Lines::read(&path).unwrap().lines.len(), 1, "it can be read all the same");
        drop(first);
        assert!(Lines::open(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_removed_is_not_written_in_silence() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let mut lines = Lines::create(&path, &Json::boolean(true)).unwrap();
        std::fs::remove_file(&path).unwrap();
        lines.append(&Json::boolean(true)).unwrap();
        assert!(lines.sync().unwrap_err().to_string().contains("it was removed"));
    }
}

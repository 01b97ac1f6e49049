//! A session's file: one JSON value per line.
//!
//! A line is recorded when all of it is written. An incomplete line (the disk was full, the machine crashed) never runs
//! into the next one: incomplete bytes of this process are cut off again, and an incomplete line that was found when the
//! file was opened is ended with a line break, reported, and otherwise not changed.
//!
//! One process at a time uses the file: it holds a lock on it for as long as it may write.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use hookrail::Json;

use crate::error::AgentError;

/// A file that lines are added to.
#[derive(Debug)]
pub(super) struct SessionFile {
    path: PathBuf,
    file: File,
    /// The length of the file up to the last line that is known to be whole.
    whole: u64,
    tail: FileTail,
    synced: bool,
}

/// The bytes after the last complete line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileTail {
    Nothing,
    /// The beginning of a line that this process could not write completely.
    Own,
    /// A line without its end that was there when the file was opened.
    SessionFileContent,
}

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct SessionFileContent {
    /// The whole lines, in order.
    pub(super) lines: Vec<Json>,
    /// The lines that could not be read.
    pub(super) damage: Vec<DamagedLine>,
}

/// A line of a session's file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedLine {
    /// The line number, from one.
    pub line: usize,
    /// The length in bytes.
    pub bytes: usize,
    /// The problem.
    pub message: String,
}

/// The reason why a file cannot be opened for writing.
#[derive(Debug)]
pub(super) enum SessionFileError {
    /// Another process uses the file.
    InUse,
    /// Any other error.
    Unusable(AgentError),
}

impl SessionFile {
    /// Creates a file with a first line. Fails if the file exists, because it belongs to another session.
    pub(super) fn create(path: &Path, first: &Json) -> Result<Self, AgentError> {
        let bad = |error: std::io::Error| unusable(path, &error);
        if let Some(folder) = path.parent() {
            hookrail_spawn::create_private_folder(folder).map_err(bad)?;
        }
        let file = private(OpenOptions::new().append(true).create_new(true)).open(path).map_err(bad)?;
        let mut lines = Self { path: path.to_owned(), file, whole: 0, tail: FileTail::Nothing, synced: false };
        let begun = lines.lock().map_err(|error| match error {
            SessionFileError::InUse => {
                AgentError::Session { file: path.to_owned(), message: "it is locked".to_owned() }
            }
            SessionFileError::Unusable(error) => error,
        });
        let begun = begun.and_then(|()| lines.append(first)).and_then(|()| sync_folder_of(path).map_err(bad));
        if let Err(error) = begun {
            // A file without a first line is no session. If it cannot be removed either, it is ignored when it is read.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(lines)
    }

    /// Opens a file for this process alone and reads all of it.
    pub(super) fn open(path: &Path) -> Result<(Self, SessionFileContent), SessionFileError> {
        let bad = |error: std::io::Error| SessionFileError::Unusable(unusable(path, &error));
        regular(path).map_err(bad)?;
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(bad)?;
        let mut lines = Self { path: path.to_owned(), file, whole: 0, tail: FileTail::Nothing, synced: true };
        lines.lock()?;
        let mut bytes = Vec::new();
        lines.file.read_to_end(&mut bytes).map_err(bad)?;
        lines.whole = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if bytes.last().is_some_and(|last| *last != b'\n') {
            lines.tail = FileTail::SessionFileContent;
        }
        Ok((lines, SessionFileContent::parse(&bytes)))
    }

    /// Reads a file that another process may be writing to.
    pub(super) fn read(path: &Path) -> Result<SessionFileContent, AgentError> {
        let read = regular(path).and_then(|()| std::fs::read(path));
        read.map(|bytes| SessionFileContent::parse(&bytes)).map_err(|error| unusable(path, &error))
    }

    fn lock(&self) -> Result<(), SessionFileError> {
        match self.file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(SessionFileError::InUse),
            Err(TryLockError::Error(error)) => Err(SessionFileError::Unusable(AgentError::Session {
                file: self.path.clone(),
                message: format!(
                    "it cannot be locked: {error}; keep sessions on a local file system (`--session-dir`)"
                ),
            })),
        }
    }

    /// Adds a line. It is written completely or not at all.
    pub(super) fn append(&mut self, line: &Json) -> Result<(), AgentError> {
        let text = format!("{}\n", line.text());
        let written = self.repair().and_then(|()| {
            self.synced = false;
            self.tail = FileTail::Own;
            self.file.write_all(text.as_bytes())
        });
        match written {
            Ok(()) => {
                self.whole = self.whole.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
                self.tail = FileTail::Nothing;
                Ok(())
            }
            Err(error) => {
                // If the bytes cannot be cut off now, that is tried again before the next line.
                let _ = self.repair();
                Err(unwritable(&self.path, &error))
            }
        }
    }

    /// Removes or ends an incomplete line, so that the next one begins on a line of its own.
    fn repair(&mut self) -> std::io::Result<()> {
        match self.tail {
            FileTail::Nothing => return Ok(()),
            FileTail::Own if self.file.set_len(self.whole).is_ok() => {}
            FileTail::Own | FileTail::SessionFileContent => {
                self.file.write_all(b"\n")?;
                self.whole = self.file.metadata()?.len();
            }
        }
        self.tail = FileTail::Nothing;
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

/// Fails unless the path is a regular file: reading a pipe or a device could block without end.
fn regular(path: &Path) -> std::io::Result<()> {
    if std::fs::metadata(path)?.is_file() { Ok(()) } else { Err(std::io::Error::other("it is not a regular file")) }
}

/// Fails if the file was removed: lines added to it would be lost with the process.
#[cfg(unix)]
fn still_named(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    if file.metadata()?.nlink() > 0 {
        return Ok(());
    }
    Err(std::io::Error::other("it was removed; `/clear` starts a new session"))
}

#[cfg(not(unix))]
fn still_named(_file: &File) -> std::io::Result<()> {
    Ok(())
}

/// Makes the name of a new file survive a loss of power.
fn sync_folder_of(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), hookrail_spawn::sync_folder)
}

impl SessionFileContent {
    fn parse(bytes: &[u8]) -> Self {
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
                Err(message) => found.damage.push(DamagedLine { line: number, bytes: text.len(), message }),
            }
        }
        found
    }
}

/// Gives new files a mode that only the user can read: a session holds everything that was said and read.
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
        let found = SessionFileContent::parse(b"{\"a\":1}\n\xff\xfe\n\n{\"b\":2}\n{\"c\":");
        assert_eq!(found.lines.iter().map(Json::text).collect::<Vec<_>>(), [r#"{"a":1}"#, r#"{"b":2}"#]);
        assert_eq!(found.damage.iter().map(|damage| (damage.line, damage.bytes)).collect::<Vec<_>>(), [(2, 2), (5, 5)]);
    }

    #[test]
    fn what_is_added_after_a_cut_line_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, "{\"a\":1}\n{\"cut\":").unwrap();
        let (mut lines, _) = SessionFile::open(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"cut\":", "reading changes nothing");
        lines.append(&Json::boolean(true)).unwrap();
        drop(lines);
        let (_, found) = SessionFile::open(&path).unwrap();
        assert_eq!(found.lines.iter().map(Json::text).collect::<Vec<_>>(), [r#"{"a":1}"#, "true"]);
        assert_eq!(found.damage.len(), 1, "the cut line stays where it is");
        assert!(SessionFile::create(&path, &Json::null()).is_err(), "a file that exists is not taken over");
    }

    #[test]
    fn one_process_has_a_file_and_gives_it_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let first = SessionFile::create(&path, &Json::boolean(true)).unwrap();
        assert!(matches!(SessionFile::open(&path), Err(SessionFileError::InUse)));
        assert_eq!(SessionFile::read(&path).unwrap().lines.len(), 1, "it can be read all the same");
        drop(first);
        assert!(SessionFile::open(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_removed_is_not_written_in_silence() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let mut lines = SessionFile::create(&path, &Json::boolean(true)).unwrap();
        std::fs::remove_file(&path).unwrap();
        lines.append(&Json::boolean(true)).unwrap();
        assert!(lines.sync().unwrap_err().to_string().contains("it was removed"));
    }
}

//! A session's file: one JSON value per line, only ever added to.
//!
//! A line that was cut (the machine went down, the disk was full) is never repaired in place: it is left alone, reported,
//! and everything after it begins on a line of its own.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use hookrail::Json;

use crate::error::AgentError;

/// A file that lines are added to.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    file: File,
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
#[non_exhaustive]
pub struct Damage {
    /// Its number, from one.
    pub line: usize,
    /// How many bytes it has.
    pub bytes: usize,
    /// What is wrong with it.
    pub message: String,
}

impl Lines {
    /// Makes a new file. One that exists already is somebody else's.
    pub(super) fn create(path: &Path) -> Result<Self, AgentError> {
        let bad = |error: std::io::Error| unusable(path, &error);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(bad)?;
        }
        let file = private(OpenOptions::new().append(true).create_new(true)).open(path).map_err(bad)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Opens a file, reads all of it, and gets ready to add to it.
    pub(super) fn open(path: &Path) -> Result<(Self, Found), AgentError> {
        let bad = |error: std::io::Error| unusable(path, &error);
        let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(bad)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(bad)?;
        let found = Found::of(&bytes);
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n").map_err(bad)?;
        }
        Ok((Self { path: path.to_owned(), file }, found))
    }

    /// Adds a line, in one write.
    pub(super) fn append(&mut self, line: &Json) -> Result<(), AgentError> {
        let text = format!("{}\n", line.text());
        self.file.write_all(text.as_bytes()).map_err(|error| unusable(&self.path, &error))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
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
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
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
        lines.append(&Json::boolean(true)).unwrap();
        drop(lines);
        let (_, found) = Lines::open(&path).unwrap();
        assert_eq!(found.lines.iter().map(Json::text).collect::<Vec<_>>(), [r#"{"a":1}"#, "true"]);
        assert_eq!(found.damage.len(), 1, "the cut line stays where it is");
        assert!(Lines::create(&path).is_err(), "a file that exists is not taken over");
    }
}

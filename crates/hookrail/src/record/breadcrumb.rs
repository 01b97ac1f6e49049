//! Breadcrumbs: short tagged lines about what happened to hooks, for people who look for them in a log.
//!
//! A dialect decides what a line says. This module keeps it on one line, gives it to the log of the embedding program,
//! and appends it to a file if the environment asks for one.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::dialect_id::DialectId;
use crate::event::timestamp;
use crate::text::log::log;

/// A file that is larger than this is renamed, and a new one is started.
const LARGEST: u64 = 10 * 1024 * 1024;

/// The longest text of a line. A longer one is cut.
const LONGEST: usize = 1024;

/// One tagged line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Breadcrumb {
    /// The dialect whose log it belongs to.
    pub(crate) dialect: DialectId,
    pub(crate) tag: &'static str,
    pub(crate) text: String,
}

impl Breadcrumb {
    pub(crate) fn new(dialect: DialectId, tag: &'static str, text: impl Into<String>) -> Self {
        Self { dialect, tag, text: text.into() }
    }

    /// The breadcrumb on one line, with line breaks and control characters of a hook's text replaced.
    fn line(&self) -> String {
        let mut line = format!("{} ", self.tag);
        for character in self.text.chars().take(LONGEST) {
            if character.is_control() { line.extend(character.escape_default()) } else { line.push(character) }
        }
        line
    }
}

/// Where breadcrumbs go.
#[derive(Clone, Debug, Default)]
pub(crate) struct DebugLog {
    files: Vec<(DialectId, PathBuf)>,
}

impl DebugLog {
    /// A log that is also written to the files of those dialects.
    pub(crate) fn new(files: Vec<(DialectId, PathBuf)>) -> Self {
        Self { files }
    }

    /// Appends breadcrumbs. It never fails: a log that cannot be written must not stop an agent.
    pub(crate) fn append(&self, crumbs: &[Breadcrumb]) {
        for crumb in crumbs {
            let line = crumb.line();
            log!(debug, target: "hookrail::breadcrumb", "{line}");
            let file = self.files.iter().find(|(dialect, _)| *dialect == crumb.dialect);
            if let Some((_, file)) = file
                && let Err(error) = append(file, &line)
            {
                log!(debug, target: "hookrail::runner", file = %file.display(), %error, "the log cannot be written");
            }
        }
    }
}

/// Writes one line with one write, so that several programs can append to the same file.
fn append(file: &Path, line: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    if fs::metadata(file).is_ok_and(|about| about.len() > LARGEST) {
        fs::rename(file, file.with_extension("log.1"))?;
    }
    // The log may quote the output of hooks, so only its owner may read it. A named pipe in its place is not written:
    // every event would wait for a reader.
    let mut log = hookrail_spawn::append_to_regular(file)?;
    log.write_all(format!("[{}] {line}\n", timestamp(SystemTime::now())).as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    const DIALECT: DialectId = DialectId::Native;

    fn debug_log(file: PathBuf) -> DebugLog {
        DebugLog::new(vec![(DIALECT, file)])
    }

    fn crumb(tag: &'static str, text: impl Into<String>) -> Breadcrumb {
        Breadcrumb::new(DIALECT, tag, text)
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_without_a_reader_is_neither_waited_for_nor_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("debug.log");
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        debug_log(file).append(&[crumb("a.b", "c")]);
    }

    #[test]
    fn a_crumb_is_one_line_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("logs/debug.log");
        let debug_log = debug_log(file.clone());
        debug_log.append(&[crumb("a.b", "one\ntwo\u{1b}[31m"), crumb("c.d", "x".repeat(5000))]);
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with("] a.b one\\ntwo\\u{1b}[31m"), "{}", lines[0]);
        assert!(lines[1].len() < 1100);
    }

    #[test]
    fn a_large_file_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("debug.log");
        File::create(&file).unwrap().set_len(LARGEST + 1).unwrap();
        debug_log(file.clone()).append(&[crumb("a.b", "c")]);
        assert!(fs::metadata(&file).unwrap().len() < 100);
        assert_eq!(fs::metadata(dir.path().join("debug.log.1")).unwrap().len(), LARGEST + 1);
    }
}

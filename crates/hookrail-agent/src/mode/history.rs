//! The lines that were typed before, in a file that several agents share.
//!
//! The file begins with `#V2`. In all other lines `\n` is a line break and `\\` is a backslash.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::PathBuf;

/// The highest number of lines that are kept.
const MAX_LINES: usize = 100;
const HEADER: &str = "#V2";

/// The lines, the oldest first.
#[derive(Clone, Default)]
pub(super) struct History {
    lines: Vec<String>,
    file: Option<PathBuf>,
}

impl History {
    /// Reads the lines of a file, if it exists.
    pub(super) fn open(file: Option<PathBuf>) -> Self {
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        Self { lines: last(entries(&text)), file }
    }

    /// Returns the line that was typed `count` lines ago; the last one is 1.
    pub(super) fn ago(&self, count: usize) -> Option<&str> {
        let at = self.lines.len().checked_sub(count)?;
        self.lines.get(at).map(String::as_str)
    }

    /// Searches backwards from `from` for a line that contains a text. Returns how many lines ago it was typed.
    pub(super) fn search(&self, text: &str, from: usize) -> Option<usize> {
        (from.max(1)..=self.lines.len()).find(|count| self.ago(*count).is_some_and(|line| line.contains(text)))
    }

    /// Adds a line, unless it is the last one again.
    pub(super) fn add(&mut self, line: &str) {
        if line.trim().is_empty() || self.ago(1) == Some(line) {
            return;
        }
        self.lines.push(line.to_owned());
        self.lines = last(std::mem::take(&mut self.lines));
        // The agent also works if the file cannot be written; the line is then lost at its end.
        let _ = self.append(line);
    }

    /// Adds the line to the file, to which another agent may have written in the meantime.
    fn append(&self, line: &str) -> io::Result<()> {
        let Some(path) = &self.file else { return Ok(()) };
        if let Some(folder) = path.parent() {
            hookrail_spawn::create_private_folder(folder)?;
        }
        let mut file = open_private(path)?;
        file.lock()?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let mut lines = entries(&text);
        lines.push(line.to_owned());
        let lines: Vec<String> = last(lines).iter().map(|line| escaped(line)).collect();
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(format!("{HEADER}\n{}\n", lines.join("\n")).as_bytes())
    }
}

fn open_private(path: &std::path::Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn entries(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.is_empty() && *line != HEADER).map(unescaped).collect()
}

fn last(mut lines: Vec<String>) -> Vec<String> {
    lines.split_off(lines.len().saturating_sub(MAX_LINES))
}

fn escaped(line: &str) -> String {
    line.replace('\\', "\\\\").replace('\n', "\\n")
}

fn unescaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_shared_and_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = Some(folder.path().join("new/history"));
        let (mut one, mut other) = (History::open(file.clone()), History::open(file.clone()));
        one.add("first");
        other.add("a\nb\\n");
        one.add("  ");
        one.add("last");
        one.add("last");
        let all = History::open(file.clone());
        assert_eq!(all.lines, ["first", "a\nb\\n", "last"]);
        assert_eq!((all.ago(1), all.ago(3), all.ago(4)), (Some("last"), Some("first"), None));
        assert_eq!((all.search("st", 1), all.search("st", 2), all.search("x", 1)), (Some(1), Some(3), None));
        (0..MAX_LINES + 20).for_each(|number| one.add(&number.to_string()));
        let lines = History::open(file).lines;
        assert_eq!((lines.len(), lines.first().map(String::as_str)), (MAX_LINES, Some("20")));
    }
}

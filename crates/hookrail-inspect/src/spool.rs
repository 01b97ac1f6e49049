//! The lines that the page can show, in an unnamed temporary file that only this user can read: 100,000 records are
//! hundreds of megabytes.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

/// Lines in a file without a name, which is made for the first of them.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    file: Option<File>,
    /// Where each line ends.
    ends: Vec<u64>,
}

impl Spool {
    /// Adds a line. If that fails, there is an empty line in its place.
    pub(crate) fn push(&mut self, line: &str) -> io::Result<()> {
        let begin = self.end();
        let written = self.write(begin, line);
        self.ends.push(if written.is_ok() { begin + line.len() as u64 } else { begin });
        written
    }

    fn write(&mut self, begin: u64, line: &str) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            empty => empty.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(begin))?;
        file.write_all(line.as_bytes())
    }

    /// The line with that index; none if there is no such line.
    pub(crate) fn line(&mut self, index: usize) -> io::Result<Option<String>> {
        let (Some(&end), Some(file)) = (self.ends.get(index), &mut self.file) else { return Ok(None) };
        let begin = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        if begin == end {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(begin))?;
        let mut text = String::new();
        file.take(end - begin).read_to_string(&mut text)?;
        Ok(Some(text))
    }

    /// Calls a function with every line and its index.
    pub(crate) fn for_each(&mut self, mut each: impl FnMut(usize, &[u8])) -> io::Result<()> {
        let end = self.end();
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::new();
        file.take(end).read_to_end(&mut bytes)?;
        let mut begin = 0;
        for (index, end) in self.ends.iter().enumerate() {
            let end = usize::try_from(*end).unwrap_or(usize::MAX);
            if let Some(line) = bytes.get(begin..end) {
                each(index, line);
            }
            begin = end;
        }
        Ok(())
    }

    fn end(&self) -> u64 {
        self.ends.last().copied().unwrap_or_default()
    }
}

//! The lines that the page can show, in an unnamed temporary file that only this user can read: 100,000 records are
//! hundreds of megabytes.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

/// Lines in a file without a name.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    /// Where each line begins, and where the last one ends.
    offsets: Vec<u64>,
}

impl Spool {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, offsets: vec![0] })
    }

    pub(crate) fn push(&mut self, line: &str) -> io::Result<()> {
        let end = self.end();
        self.file.seek(SeekFrom::Start(end))?;
        self.file.write_all(line.as_bytes())?;
        self.offsets.push(end + line.len() as u64);
        Ok(())
    }

    /// The line with that index; none if there is no such line.
    pub(crate) fn line(&mut self, index: usize) -> io::Result<Option<String>> {
        let (Some(&begin), Some(&end)) = (self.offsets.get(index), self.offsets.get(index + 1)) else {
            return Ok(None);
        };
        self.file.seek(SeekFrom::Start(begin))?;
        let mut text = String::new();
        (&self.file).take(end - begin).read_to_string(&mut text)?;
        Ok(Some(text))
    }

    /// Calls a function with every line and its index.
    pub(crate) fn for_each(&mut self, mut each: impl FnMut(usize, &[u8])) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::new();
        (&self.file).take(self.end()).read_to_end(&mut bytes)?;
        for (index, pair) in self.offsets.windows(2).enumerate() {
            let place = |at: usize| pair.get(at).and_then(|&offset| usize::try_from(offset).ok()).unwrap_or_default();
            if let Some(line) = bytes.get(place(0)..place(1)) {
                each(index, line);
            }
        }
        Ok(())
    }

    fn end(&self) -> u64 {
        self.offsets.last().copied().unwrap_or_default()
    }
}

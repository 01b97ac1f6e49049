//! The index of a journal: the last records of segments that are sealed or removed, and what it says about where a chain ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::SystemTime;

use hookrail::event::timestamp;
use serde::{Deserialize, Serialize};

use crate::error::JournalError;
use crate::segment::{self, Framed, LastRecord, SegmentFile, SegmentForm, SegmentName, open_file};

/// The name of the file.
pub(crate) const INDEX: &str = "index.jsonl";

/// What became of a segment, in the index.
pub(crate) const SEALED: &str = "sealed";
pub(crate) const REMOVED: &str = "removed";

/// A line of the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexLine {
    /// The segment's name.
    pub(crate) segment: String,
    /// What became of it: `sealed` or `removed`.
    pub(crate) state: String,
    /// When.
    pub(crate) at: String,
    /// The number of its last record.
    pub(crate) seq: u64,
    /// The hash of its last record.
    pub(crate) hash: String,
}

/// What is known of segments that are sealed or gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    lines: Vec<IndexLine>,
    /// The numbers, from one, of lines that are no line of an index or stand in another's place.
    unreadable: Vec<u64>,
}

impl Index {
    /// Reads the index. A line that is no line of an index is counted and not used: the segments themselves are the truth.
    pub(crate) fn read(directory: &Path) -> Result<Self, JournalError> {
        let path = directory.join(INDEX);
        let mut options = OpenOptions::new();
        let file = match open_file(&path, options.read(true)) {
            Ok(file) => file,
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error),
        };
        let mut text = Vec::new();
        io::BufReader::new(file).read_to_end(&mut text).map_err(|error| JournalError::io(&path, error))?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &[u8]) -> Self {
        let mut index = Self::default();
        for (line, number) in text.split(|byte| *byte == b'\n').zip(1..) {
            match serde_json::from_slice(line).ok().filter(|line| index.may_follow(line)) {
                Some(line) => index.lines.push(line),
                None if line.is_empty() => {}
                None => index.unreadable.push(number),
            }
        }
        index
    }

    /// Whether a line is one of an index. Segments are sealed and removed in their order, and one that was interrupted again.
    fn may_follow(&self, line: &IndexLine) -> bool {
        let is_known = line.state == SEALED || line.state == REMOVED;
        let before = self.lines.iter().rev().find(|before| before.state == line.state);
        let is_behind = before.is_none_or(|before| before.seq < line.seq || before.segment == line.segment);
        is_known && is_behind && line.last().is_some() && SegmentName::parse(&line.segment).is_some()
    }

    /// The lines that are no line of an index, in this reading and in one before it: what is being written now is not
    /// unreadable twice.
    pub(crate) fn unreadable_since<'i>(&'i self, before: &'i Self) -> impl Iterator<Item = u64> {
        self.unreadable.iter().copied().filter(|line| before.unreadable.contains(line))
    }

    /// The last records of the segments after the last one that was removed: these have to be there.
    pub(crate) fn sealed(&self) -> impl Iterator<Item = &IndexLine> {
        let removed = self.last_removed().map_or(0, |last| last.seq);
        self.lines.iter().filter(move |line| line.state == SEALED && line.seq > removed)
    }

    /// The last record of a segment.
    pub(crate) fn last_of(&self, name: &SegmentName) -> Option<LastRecord> {
        let stem = name.stem();
        self.lines.iter().rev().find(|line| line.segment == stem)?.last()
    }

    /// The last record of all segments that were sealed or removed.
    fn last_known(&self) -> Option<LastRecord> {
        self.lines.iter().filter_map(IndexLine::last).max_by_key(|last| last.seq)
    }

    /// The last record of all segments that were removed.
    fn last_removed(&self) -> Option<LastRecord> {
        self.removed().filter_map(IndexLine::last).max_by_key(|last| last.seq)
    }

    /// The last record before the one of that number, if it is in a segment that was removed. A segment that was only
    /// sealed has to be there.
    pub(crate) fn removed_before(&self, seq: u64) -> Option<LastRecord> {
        self.removed().filter_map(IndexLine::last).find(|last| Some(last.seq) == seq.checked_sub(1))
    }

    /// The number of the record with that hash, if it was the last one of a segment that was removed.
    pub(crate) fn removed_with(&self, hash: &str) -> Option<u64> {
        self.removed().find(|line| line.hash == hash).map(|line| line.seq)
    }

    /// The last record of a segment that could not be opened, with the index as it is now, if retention has removed the segment
    /// since it was listed.
    pub(crate) fn removed_meanwhile(
        directory: &Path,
        segment: &SegmentFile,
        error: &JournalError,
    ) -> Option<(Self, LastRecord)> {
        match error {
            JournalError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {}
            _ => return None,
        }
        let (index, stem) = (Self::read(directory).ok()?, segment.name.stem());
        let last = index.removed().find(|line| line.segment == stem)?.last()?;
        Some((index, last))
    }

    fn removed(&self) -> impl Iterator<Item = &IndexLine> {
        self.lines.iter().filter(|line| line.state == REMOVED)
    }

    pub(crate) fn append(directory: &Path, line: &IndexLine) -> Result<(), JournalError> {
        let path = directory.join(INDEX);
        let mut options = OpenOptions::new();
        let mut file = open_file(&path, options.read(true).append(true).create(true))?;
        let mut text = serde_json::to_vec(line).map_err(|error| JournalError::io(&path, error.into()))?;
        text.push(b'\n');
        let appended = end_last_line(&mut file).and_then(|length| {
            let written = file.write_all(&text).and_then(|()| file.sync_data());
            // What was written of a line that did not fit is taken back.
            written.inspect_err(|_| drop(file.set_len(length)))
        });
        appended.map_err(|error| JournalError::io(&path, error))
    }
}

/// Makes the file end with a whole line, and returns its length. The beginning of a line, which a power loss may leave, was
/// never acknowledged and is cut; a line that only lost its end keeps a place of its own, so that damage stays visible.
fn end_last_line(file: &mut File) -> io::Result<u64> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut text)?;
    let begin = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let unfinished = text.get(begin..).unwrap_or_default();
    let (begin, length) = (begin as u64, text.len() as u64);
    if unfinished.is_empty() {
        return Ok(length);
    }
    if unfinished.contains(&b'}') {
        file.write_all(b"\n")?;
        return Ok(length + 1);
    }
    file.set_len(begin)?;
    Ok(begin)
}

impl IndexLine {
    pub(crate) fn of(segment: &SegmentFile, state: &str, last: LastRecord) -> Self {
        Self {
            segment: segment.name.stem(),
            state: state.to_owned(),
            at: timestamp(SystemTime::now()),
            seq: last.seq,
            hash: String::from_utf8_lossy(&last.hash).into_owned(),
        }
    }

    pub(crate) fn last(&self) -> Option<LastRecord> {
        Some(LastRecord { seq: self.seq, hash: self.hash.as_bytes().try_into().ok()? })
    }
}

/// The last record of a segment that has to be read from its beginning.
pub(crate) fn read_last_of(segment: &SegmentFile) -> Result<Option<LastRecord>, JournalError> {
    let mut reader = segment::open_for_reading(segment)?;
    let mut line = Vec::new();
    let mut last = None;
    loop {
        line.clear();
        match reader.read_line(&mut line) {
            Ok(0) => return Ok(last),
            Ok(_) => {}
            // What can be read of a damaged file is all there is.
            Err(_) => return Ok(last),
        }
        let Some(text) = line.strip_suffix(b"\n") else { return Ok(last) };
        if let Some(framed) = Framed::of(text).filter(Framed::holds)
            && let Ok(hash) = framed.hash.try_into()
        {
            last = Some(LastRecord { seq: framed.seq, hash });
        }
    }
}

/// The last record before the segment of that number. If the index knows of a later one, whose segment was deleted, that
/// is it: its number is not given again.
pub(crate) fn last_before(
    directory: &Path,
    number: u64,
    segments: &[SegmentFile],
) -> Result<Option<LastRecord>, JournalError> {
    let index = Index::read(directory)?;
    let present = last_of_segments(&index, number, segments)?;
    Ok(present.into_iter().chain(index.last_known()).max_by_key(|last| last.seq))
}

/// The last record that is there; if none is, the last one that retention removed.
pub(crate) fn last_present(directory: &Path, segments: &[SegmentFile]) -> Result<Option<LastRecord>, JournalError> {
    let index = Index::read(directory)?;
    Ok(last_of_segments(&index, u64::MAX, segments)?.or_else(|| index.last_removed()))
}

fn last_of_segments(index: &Index, number: u64, segments: &[SegmentFile]) -> Result<Option<LastRecord>, JournalError> {
    for segment in segments.iter().rev().filter(|segment| segment.name.number < number) {
        let last = match segment.form {
            SegmentForm::Plain => {
                let mut options = OpenOptions::new();
                let mut file = open_file(&segment.path, options.read(true))?;
                segment::end_of(&mut file).map_err(|error| JournalError::io(&segment.path, error))?.last
            }
            SegmentForm::Compressed => match index.last_of(&segment.name) {
                Some(last) => Some(last),
                None => read_last_of(segment)?,
            },
        };
        if last.is_some() {
            return Ok(last);
        }
    }
    Ok(None)
}

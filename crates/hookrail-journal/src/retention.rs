//! Sealing segments that are complete, removing old ones, and the index that keeps their last hashes.
//!
//! Nothing here is on the way of an event. One process at a time does it, under a lock of its own; the segment that is
//! being written is never touched.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use hookrail::event::timestamp;
use serde::{Deserialize, Serialize};

use crate::config::Retention;
use crate::error::JournalError;
use crate::lock_file::LockFile;
use crate::segment::{self, Framed, LastRecord, SegmentFile, SegmentForm, SegmentName, open_file};
use crate::shipping::ShippingPosition;

/// What was sealed and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// The number of segments that were compressed.
    pub sealed: usize,
    /// The number of segments that were removed.
    pub removed: usize,
}

/// What became of a segment, in the index.
const SEALED: &str = "sealed";
const REMOVED: &str = "removed";

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
}

impl Index {
    /// Reads the index. A line that is no line of an index is skipped: the segments themselves are the truth.
    pub(crate) fn read(directory: &Path) -> Result<Self, JournalError> {
        let path = directory.join("index.jsonl");
        let mut options = OpenOptions::new();
        let file = match open_file(&path, options.read(true)) {
            Ok(file) => file,
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error),
        };
        let text = io::read_to_string(file).map_err(|error| JournalError::io(&path, error))?;
        Ok(Self { lines: text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect() })
    }

    /// The last record of a segment.
    pub(crate) fn last_of(&self, name: &SegmentName) -> Option<LastRecord> {
        let stem = name.stem();
        self.lines.iter().rev().find(|line| line.segment == stem)?.last()
    }

    /// The line about the last record of all segments in the index.
    pub(crate) fn last_line(self) -> Option<IndexLine> {
        self.lines.into_iter().max_by_key(|line| line.seq)
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

    fn removed(&self) -> impl Iterator<Item = &IndexLine> {
        self.lines.iter().filter(|line| line.state == REMOVED)
    }

    fn append(directory: &Path, line: &IndexLine) -> Result<(), JournalError> {
        let path = directory.join("index.jsonl");
        let mut options = OpenOptions::new();
        let mut file = open_file(&path, options.append(true).create(true))?;
        let mut text = serde_json::to_vec(line).map_err(|error| JournalError::io(&path, error.into()))?;
        text.push(b'\n');
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        written.map_err(|error| JournalError::io(&path, error))
    }
}

impl IndexLine {
    fn of(segment: &SegmentFile, state: &str, last: LastRecord) -> Self {
        Self {
            segment: segment.name.stem(),
            state: state.to_owned(),
            at: timestamp(SystemTime::now()),
            seq: last.seq,
            hash: String::from_utf8_lossy(&last.hash).into_owned(),
        }
    }

    fn last(&self) -> Option<LastRecord> {
        Some(LastRecord { seq: self.seq, hash: self.hash.as_bytes().try_into().ok()? })
    }
}

/// Compresses segments that are complete and removes old ones. If another process is doing so, nothing is done.
pub(crate) fn maintain(directory: &Path, retention: Retention) -> Result<Maintained, JournalError> {
    let mut done = Maintained::default();
    match std::fs::symlink_metadata(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(done),
        _ => segment::check_directory(directory)?,
    }
    let path = directory.join("maintenance.lock");
    let mut options = OpenOptions::new();
    let lock = open_file(&path, options.read(true).write(true).create(true).truncate(false))?;
    if lock.try_lock().is_err() {
        return Ok(done);
    }
    let mut segments = segment::list(directory)?;
    // The newest one is being written, and so is the one that the lock names until a writer names the newest.
    let newest = segments.pop();
    let written = LockFile::open(directory)?.segment()?;
    let mut kept = Vec::new();
    for segment in segments.into_iter().take_while(|segment| written.as_ref() != Some(&segment.name)) {
        let segment = match segment.form {
            SegmentForm::Compressed => segment,
            SegmentForm::Plain => {
                done.sealed += 1;
                seal(directory, &segment)?
            }
        };
        kept.push(segment);
    }
    done.removed = remove_old(directory, &kept, newest.as_ref(), retention)?;
    Ok(done)
}

/// Compresses a segment under a temporary name and puts it in the place of the plain one.
fn seal(directory: &Path, segment: &SegmentFile) -> Result<SegmentFile, JournalError> {
    let temporary = directory.join(format!("{}.tmp", segment.name.sealed_file()));
    let sealed = directory.join(segment.name.sealed_file());
    let mut reading = OpenOptions::new();
    let mut plain = open_file(&segment.path, reading.read(true))?;
    let mut options = OpenOptions::new();
    let target = open_file(&temporary, options.write(true).create(true).truncate(true))?;
    compress(&mut plain, target).map_err(|error| JournalError::io(&temporary, error))?;
    let end = segment::end_of(&mut plain).map_err(|error| JournalError::io(&segment.path, error))?;
    if let Some(last) = end.last {
        Index::append(directory, &IndexLine::of(segment, SEALED, last))?;
    }
    std::fs::rename(&temporary, &sealed).map_err(|error| JournalError::io(&sealed, error))?;
    std::fs::remove_file(&segment.path).map_err(|error| JournalError::io(&segment.path, error))?;
    Ok(SegmentFile { name: segment.name.clone(), path: sealed, form: SegmentForm::Compressed })
}

fn compress(plain: &mut File, target: File) -> io::Result<()> {
    let mut encoder = GzEncoder::new(io::BufWriter::with_capacity(256 * 1024, target), Compression::fast());
    io::copy(plain, &mut encoder)?;
    let writer = encoder.finish()?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

fn remove_old(
    directory: &Path,
    segments: &[SegmentFile],
    newest: Option<&SegmentFile>,
    retention: Retention,
) -> Result<usize, JournalError> {
    let now = SystemTime::now();
    let oldest_day = now.checked_sub(retention.age).map(timestamp).unwrap_or_default();
    let today = timestamp(now);
    let today = today.get(..10).unwrap_or_default();
    let size = |segment: &SegmentFile| std::fs::metadata(&segment.path).map_or(0, |about| about.len());
    let mut bytes: u64 = segments.iter().chain(newest).map(size).sum();
    let mut removed = 0;
    // A journal that is shipped keeps what is not stored elsewhere yet.
    let shipped = ShippingPosition::read(directory)?.map(|position| position.seq);
    for (at, segment) in segments.iter().enumerate() {
        // A segment holds records of its day and of no later one. A day that is still to come was the mistake of a clock;
        // then the segment is not younger than the next one that was begun under a better clock.
        let mut days = segments.iter().skip(at).chain(newest).map(|segment| segment.name.day.as_str());
        let day = days.find(|day| *day <= today).unwrap_or(today);
        let is_old = oldest_day.get(..10).is_some_and(|oldest| day < oldest);
        if !is_old && bytes <= retention.bytes {
            break;
        }
        let index = Index::read(directory)?;
        let last = match index.last_of(&segment.name) {
            Some(last) => Some(last),
            None => last_of_compressed(segment)?,
        };
        if last.zip(shipped).is_some_and(|(last, shipped)| last.seq > shipped) {
            break;
        }
        // The hash is kept first: without it the rest of the chain would begin with nothing.
        if let Some(last) = last {
            Index::append(directory, &IndexLine::of(segment, REMOVED, last))?;
        }
        bytes = bytes.saturating_sub(size(segment));
        std::fs::remove_file(&segment.path).map_err(|error| JournalError::io(&segment.path, error))?;
        removed += 1;
    }
    Ok(removed)
}

/// The last record of a segment that has to be read from its beginning.
pub(crate) fn last_of_compressed(segment: &SegmentFile) -> Result<Option<LastRecord>, JournalError> {
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
                None => last_of_compressed(segment)?,
            },
        };
        if last.is_some() {
            return Ok(last);
        }
    }
    Ok(None)
}

/// How often a long-lived process looks after its journal.
pub const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(60 * 60);

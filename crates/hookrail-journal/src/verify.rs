//! Verifying the chain: every hash, every link, every number, and where it is damaged.

use std::path::{Path, PathBuf};

use crate::error::JournalError;
use crate::index::{INDEX, Index, IndexLine};
use crate::lock_file::LockFile;
use crate::segment::{self, Framed, Hex, LastRecord, NO_HASH, SegmentFile};

/// What verifying a journal found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The number of segments.
    pub segments: usize,
    /// The number of records that hold.
    pub records: u64,
    /// The number of the first record.
    pub first: Option<u64>,
    /// The last record, with its hash.
    pub head: Option<ChainHead>,
    /// Where a given head was found.
    pub expected: Option<ExpectedHead>,
    /// Everything that is wrong, in order. Of very many only the first are kept.
    pub problems: Vec<ChainProblem>,
    /// The number of problems.
    pub problem_count: u64,
    /// Whether the last line has no end: its writer was killed, or is still writing.
    pub has_unfinished_record: bool,
}

/// The last record of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainHead {
    /// Its number.
    pub seq: u64,
    /// Its hash, in hexadecimal.
    pub hash: String,
}

/// The place of a record in its chain, as its line states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainLink<'l> {
    /// Its number.
    pub seq: u64,
    /// The hash of the record before it, in hexadecimal.
    pub prev: &'l str,
    /// Its own hash, in hexadecimal.
    pub hash: &'l str,
    /// Whether the hash is that of the bytes of the line.
    pub holds: bool,
}

impl<'l> ChainLink<'l> {
    /// The `prev` of the first record of a chain.
    pub const BEGINNING: &'static str = "0000000000000000000000000000000000000000000000000000000000000000";

    /// Takes a line apart, which is given without its end; none if it is no record.
    #[must_use]
    pub fn of(line: &'l str) -> Option<Self> {
        let framed = Framed::of(line.as_bytes())?;
        let text = |bytes: &'l [u8]| std::str::from_utf8(bytes).ok();
        Some(Self { seq: framed.seq, prev: text(framed.prev)?, hash: text(framed.hash)?, holds: framed.holds() })
    }

    /// Whether it is the next one after a record with that number and hash.
    #[must_use]
    pub fn continues(&self, seq: u64, hash: &str) -> bool {
        self.prev == hash && Some(self.seq) == seq.checked_add(1)
    }
}

/// What became of a head that was kept elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedHead {
    /// It is in the chain, at that number.
    Found(u64),
    /// It was the last record, with that number, of a segment that retention has removed.
    Removed(u64),
    /// It is not in the chain: records were cut off or replaced.
    Missing,
}

/// Something that is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{segment}:{line}: {kind}")]
pub struct ChainProblem {
    /// The segment.
    pub segment: String,
    /// The line, from one; 0 for the segment as a whole.
    pub line: u64,
    /// The offset of the line in the segment, without compression.
    pub offset: u64,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The line is no record.
    #[error("the line is no record")]
    NoRecord,
    /// The record was changed: its hash is not that of its bytes.
    #[error("record {seq} was changed: its hash is not that of its bytes")]
    Changed {
        /// The number that the line claims.
        seq: u64,
    },
    /// The record does not continue the one before it: records are missing, or were put in another order.
    #[error("record {seq} does not continue the record before it, which is {before}")]
    NotContinuing {
        /// The number of the record.
        seq: u64,
        /// The number of the record before it; 0 if there is none.
        before: u64,
    },
    /// The records before the first one are gone, and retention did not remove them.
    #[error("record {seq} is the first one, and what was before it is not known")]
    UnknownBeginning {
        /// The number of the record.
        seq: u64,
    },
    /// Records are gone: the index knows of one after the last that is there, or the segment is missing.
    #[error("records up to {seq} were complete in this segment and are gone")]
    Gone {
        /// The number of the last record that was there.
        seq: u64,
    },
    /// The segment that was written last is missing.
    #[error("the segment was begun and is gone")]
    NewestGone,
    /// A line of the index cannot be used: what it knew of a segment is lost.
    #[error("the line is no line of an index, or stands in the place of another")]
    NoIndexLine,
    /// The index has another last record of a segment than the segment, which holds.
    #[error("the segment ends with record {seq}, and the index has another number or hash")]
    OtherThanIndexed {
        /// The number of the last record in the segment; 0 if there is none.
        seq: u64,
    },
    /// The segment, or the rest of it, cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A line in the middle of the journal has no end.
    #[error("the last record has no end")]
    Unfinished,
}

impl ProblemKind {
    /// The name of this kind, for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoRecord => "no-record",
            Self::Changed { .. } => "changed",
            Self::NotContinuing { .. } => "not-continuing",
            Self::UnknownBeginning { .. } => "unknown-beginning",
            Self::Gone { .. } => "gone",
            Self::NewestGone => "newest-gone",
            Self::NoIndexLine => "no-index-line",
            Self::OtherThanIndexed { .. } => "other-than-indexed",
            Self::Unreadable(_) => "unreadable",
            Self::Unfinished => "unfinished",
        }
    }
}

/// So many problems are kept.
const MOST_PROBLEMS: usize = 100;

impl Verification {
    /// Whether the chain holds, and a head that was given is in it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problem_count == 0 && self.expected != Some(ExpectedHead::Missing)
    }

    fn add(&mut self, segment: &str, line: u64, offset: u64, kind: ProblemKind) {
        self.problem_count += 1;
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(ChainProblem { segment: segment.to_owned(), line, offset, kind });
        }
    }
}

struct Verifier<'v> {
    directory: PathBuf,
    found: Verification,
    index: Index,
    expected: Option<&'v str>,
    last: Option<LastRecord>,
    is_first: bool,
}

pub(crate) fn verify(directory: &Path, expected: Option<&str>) -> Result<Verification, JournalError> {
    if directory.symlink_metadata().is_ok() {
        segment::check_directory(directory)?;
    }
    // The index and the lock are read before the segments are listed, because what is sealed or begun meanwhile is not listed;
    // and the index again after that, because what is removed meanwhile is not listed either.
    let known = Index::read(directory)?;
    let written = LockFile::named_segment(directory)?;
    let segments = segment::list(directory)?;
    let index = Index::read(directory)?;
    let mut found = verify_listed(directory, &segments, index, &known, expected);
    let newest = segments.last().map(|segment| &segment.name);
    if let Some(written) = written.filter(|written| newest.is_none_or(|newest| newest < written)) {
        found.add(&written.stem(), 0, 0, ProblemKind::NewestGone);
    }
    Ok(found)
}

/// Verifies segments that were listed a moment ago, and that those which were known before that are among them.
fn verify_listed(
    directory: &Path,
    segments: &[SegmentFile],
    index: Index,
    known: &Index,
    expected: Option<&str>,
) -> Verification {
    let mut found = Verification {
        segments: segments.len(),
        expected: expected.map(|_| ExpectedHead::Missing),
        ..Verification::default()
    };
    index.unreadable_since(known).for_each(|line| found.add(INDEX, line, 0, ProblemKind::NoIndexLine));
    let mut verifier = Verifier { directory: directory.to_owned(), found, index, expected, last: None, is_first: true };
    for (at, segment) in segments.iter().enumerate() {
        verifier.segment(segment, at + 1 == segments.len());
    }
    if let (Some(expected), Some(ExpectedHead::Missing)) = (expected, verifier.found.expected)
        && let Some(seq) = verifier.index.removed_with(expected)
    {
        verifier.found.expected = Some(ExpectedHead::Removed(seq));
    }
    verifier.look_for_missing(segments, known);
    let head = verifier.last.map(|last| ChainHead { seq: last.seq, hash: text(&last.hash) });
    verifier.found.head = head;
    verifier.found
}

fn text(hash: &Hex) -> String {
    String::from_utf8_lossy(hash).into_owned()
}

impl Verifier<'_> {
    fn segment(&mut self, segment: &SegmentFile, is_last: bool) {
        let name = segment.name.stem();
        let mut source = match segment::open_for_reading(segment) {
            Ok(source) => source,
            Err(error) => {
                // Retention may have removed it since the segments were listed.
                match Index::removed_meanwhile(&self.directory, segment, &error) {
                    Some((index, last)) => {
                        (self.index, self.last) = (index, Some(last));
                        self.found.segments -= 1;
                    }
                    None => self.problem(&name, 0, 0, ProblemKind::Unreadable(error.to_string())),
                }
                return;
            }
        };
        let problems = self.found.problem_count;
        let (mut line, mut number, mut offset) = (Vec::new(), 0, 0);
        loop {
            line.clear();
            number += 1;
            match source.read_line(&mut line) {
                Ok(0) if self.found.problem_count == problems => return self.compare_with_index(segment),
                Ok(0) => return,
                Ok(_) => {}
                Err(error) => return self.problem(&name, number, offset, ProblemKind::Unreadable(error.to_string())),
            }
            match line.strip_suffix(b"\n") {
                Some(text) => {
                    if let Some(problem) = self.record(text) {
                        self.problem(&name, number, offset, problem);
                    }
                }
                None if is_last => self.found.has_unfinished_record = true,
                None => self.problem(&name, number, offset, ProblemKind::Unfinished),
            }
            offset += line.len() as u64;
        }
    }

    /// Compares the end of a segment that holds with what the index has of it.
    fn compare_with_index(&mut self, segment: &SegmentFile) {
        let Some(indexed) = self.index.last_of(&segment.name).filter(|indexed| self.last != Some(*indexed)) else {
            return;
        };
        let seq = self.last.map_or(0, |last| last.seq);
        let kind = if seq < indexed.seq {
            ProblemKind::Gone { seq: indexed.seq }
        } else {
            ProblemKind::OtherThanIndexed { seq }
        };
        self.problem(&segment.name.stem(), 0, 0, kind);
    }

    /// Reports segments that were complete before the others were listed, and that retention did not remove.
    fn look_for_missing(&mut self, segments: &[SegmentFile], known: &Index) {
        let is_listed = |line: &IndexLine| segments.iter().any(|segment| segment.name.stem() == line.segment);
        let mut missing: Vec<&IndexLine> = known.sealed().filter(|line| !is_listed(line)).collect();
        if missing.is_empty() {
            return;
        }
        // One that was sealed twice, because the first time was interrupted, has two lines.
        missing.dedup_by(|later, line| later.segment == line.segment);
        // On a full disk retention removes a segment before it has room to say so.
        let index = Index::read(&self.directory).unwrap_or_else(|_| self.index.clone());
        for line in missing.into_iter().filter(|line| index.sealed().any(|sealed| sealed == *line)) {
            self.problem(&line.segment, 0, 0, ProblemKind::Gone { seq: line.seq });
        }
    }

    /// Looks at one line. A record that does not hold is left out of the chain, so that one damage is reported once or, if
    /// the next record cannot continue it, twice.
    fn record(&mut self, line: &[u8]) -> Option<ProblemKind> {
        let Some(framed) = Framed::of(line) else { return Some(ProblemKind::NoRecord) };
        let seq = framed.seq;
        if !framed.holds() {
            return Some(ProblemKind::Changed { seq });
        }
        let Ok(hash) = framed.hash.try_into() else { return Some(ProblemKind::NoRecord) };
        let before = match self.last {
            Some(last) => Some(last),
            None => self.index.removed_before(seq),
        };
        let continues = match before {
            Some(before) => framed.prev == before.hash && Some(seq) == before.seq.checked_add(1),
            None => seq == 1 && framed.prev == NO_HASH,
        };
        let is_first = std::mem::replace(&mut self.is_first, false);
        let problem = match (continues, before) {
            (true, _) => None,
            (false, None) if is_first => Some(ProblemKind::UnknownBeginning { seq }),
            (false, before) => Some(ProblemKind::NotContinuing { seq, before: before.map_or(0, |before| before.seq) }),
        };
        self.last = Some(LastRecord { seq, hash });
        self.found.records += 1;
        self.found.first.get_or_insert(seq);
        if self.expected.is_some_and(|expected| expected.as_bytes() == hash) {
            self.found.expected = Some(ExpectedHead::Found(seq));
        }
        problem
    }

    fn problem(&mut self, segment: &str, line: u64, offset: u64, kind: ProblemKind) {
        self.found.add(segment, line, offset, kind);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failure here is a failed test")]

    use std::time::SystemTime;

    use super::*;
    use crate::{JournalOptions, Retention, retention, writer::Writer};

    /// Retention removes segments after they were listed, before and while they are verified.
    #[test]
    fn segments_that_retention_removes_meanwhile_are_no_problem() {
        let dir = tempfile::tempdir().unwrap();
        let options = JournalOptions { segment_bytes: 1, ..JournalOptions::new(dir.path().join("journal")) };
        let folder = &options.directory;
        let mut writer = Writer::new(&options, "m".to_owned());
        let records: Vec<_> =
            (0..6).map(|_| writer.append(br#""v":1,"kind":"trust""#, SystemTime::now()).unwrap()).collect();
        retention::maintain(folder, Retention::default(), SystemTime::now()).unwrap();
        let (segments, index) = (segment::list(folder).unwrap(), Index::read(folder).unwrap());
        let verify = |removed: &[SegmentFile]| {
            removed.iter().for_each(|segment| std::fs::remove_file(&segment.path).unwrap());
            let head = text(&records[1].hash);
            verify_listed(folder, &segments, index.clone(), &index, Some(&head))
        };
        let found = verify(&[]);
        assert!(found.is_sound() && found.records == 6, "{found:?}");
        let none = Retention { bytes: 0, ..Retention::default() };
        assert_eq!(retention::maintain(folder, none, SystemTime::now()).unwrap().removed, 5);
        let found = verify(&[]);
        assert!(found.is_sound(), "{found:?}");
        assert_eq!((found.records, found.segments, found.expected), (1, 1, Some(ExpectedHead::Removed(2))));
        let found = verify(&segments[5..]);
        assert!(!found.is_sound(), "that one was not removed by retention: {found:?}");
    }
}

//! Reading records: of open and sealed segments, in order, and what is appended meanwhile.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::path::Path;

use memchr::memmem;

use crate::error::JournalError;
use crate::index::Index;
use crate::read_folder::{FolderChange, ReadFolder};
use crate::record::{Record, RecordKind};
use crate::segment::{self, Framed, SegmentFile, SegmentForm, SegmentName, SegmentSource};

/// Which records are wanted. All conditions have to hold; without any, all records are read.
///
/// ```
/// use hookrail_journal::Filter;
///
/// let denied = Filter { decision: Some("deny".to_owned()), ..Filter::default() };
/// assert_ne!(denied, Filter::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Records at or after this time, in the form `2026-11-16T03:00:00.000Z`.
    pub since: Option<String>,
    /// Records before this time.
    pub until: Option<String>,
    /// Records with a greater number.
    pub after: Option<u64>,
    /// Records of this session.
    pub session: Option<String>,
    /// Records with a run of a hook of this name or id, shadow hooks included.
    pub hook: Option<String>,
    /// Records with this decision: `allow`, `ask` or `deny`.
    pub decision: Option<String>,
    /// Records of this event, by its neutral name.
    pub event: Option<String>,
    /// Records of this kind.
    pub kind: Option<RecordKind>,
}

impl Filter {
    /// Whether a record is wanted.
    #[must_use]
    pub fn accepts(&self, record: &Record<'_>) -> bool {
        let is = |wanted: &Option<String>, value: &Option<Cow<'_, str>>| {
            wanted.as_deref().is_none_or(|wanted| value.as_deref().unwrap_or_default() == wanted)
        };
        let has_hook = |wanted: &str| {
            let mut runs = record.runs().chain(&record.shadow);
            runs.any(|run| run.hook == wanted || run.id == wanted) || record.hook.as_deref() == Some(wanted)
        };
        self.since.as_deref().is_none_or(|since| record.at.as_str() >= since)
            && self.until.as_deref().is_none_or(|until| record.at.as_str() < until)
            && self.after.is_none_or(|after| record.seq > after)
            && is(&self.session, &record.session)
            && is(&self.event, &record.event)
            && self.decision.as_deref().is_none_or(|wanted| record.decision.as_deref() == Some(wanted))
            && self.kind.is_none_or(|kind| record.kind == kind)
            && self.hook.as_deref().is_none_or(has_hook)
    }

    /// Texts that a line must contain to be wanted. Looking for them is much faster than parsing every line.
    fn needles(&self) -> Vec<memmem::Finder<'static>> {
        let quoted = |text: &String| serde_json::to_string(text).unwrap_or_default();
        let member =
            |key: &str, value: &Option<String>| value.as_ref().map(|value| format!("\"{key}\":{}", quoted(value)));
        let texts = [
            member("decision", &self.decision),
            member("session", &self.session),
            member("event", &self.event),
            self.hook.as_ref().map(quoted),
            self.kind.map(|kind| format!("\"kind\":\"{}\"", kind.name())),
        ];
        texts.into_iter().flatten().map(|text| memmem::Finder::new(text.as_bytes()).into_owned()).collect()
    }
}

/// Something in the place of a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct Unreadable {
    /// What it is.
    pub cause: UnreadableCause,
}

/// What stands in the place of a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableCause {
    /// A line that is no record, or a segment that cannot be read any further.
    #[error("{segment}:{line}: {problem}")]
    NoRecord {
        /// The segment.
        segment: String,
        /// The line, from one.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The folder was deleted, or emptied, and made anew. The records of the new one follow, from its first.
    #[error("the journal was deleted and made anew; the records from here on are a chain of their own")]
    MadeAnew,
}

impl Unreadable {
    const fn no_record(segment: String, line: u64, problem: String) -> Self {
        Self { cause: UnreadableCause::NoRecord { segment, line, problem } }
    }
}

/// The records of a journal, in order.
///
/// After the last record `next` returns nothing; called again later it returns what was appended since, so a program that
/// follows a journal keeps the iterator. A line that is still being written is not read. A damaged line is an error, and
/// the iteration goes on behind it. So is a folder that was deleted and made anew: its records follow. Whether the chain holds is not looked at: that is what
/// [`Journal::verify`](crate::Journal::verify) does.
pub struct Records {
    folder: ReadFolder,
    filter: Filter,
    needles: Vec<memmem::Finder<'static>>,
    waiting: VecDeque<SegmentFile>,
    open: Option<OpenSegment>,
    /// The last segment that was begun.
    last: Option<SegmentName>,
    has_failed: bool,
}

struct OpenSegment {
    name: SegmentName,
    source: SegmentSource,
    /// The line that is being read.
    partial: Vec<u8>,
    /// Where the line begins.
    offset: u64,
    line: u64,
}

impl Records {
    pub(crate) fn new(directory: &Path, filter: Filter) -> Result<Self, JournalError> {
        let folder = ReadFolder::new(directory)?;
        let mut waiting: VecDeque<SegmentFile> = segment::list(directory)?.into();
        // Segments before the wanted time are not even opened: nothing in them happened after the day they were written on.
        if let Some(day) = filter.since.as_deref().and_then(|since| since.get(..10)) {
            waiting.retain(|segment| segment.name.day.as_str() >= day);
        }
        // Nor are those that end with a record that is not wanted. The last segment is not in the index.
        if let Some(after) = filter.after {
            let index = Index::read(directory)?;
            waiting.retain(|segment| index.last_of(&segment.name).is_none_or(|last| last.seq > after));
        }
        let needles = filter.needles();
        Ok(Self { folder, filter, needles, waiting, open: None, last: None, has_failed: false })
    }

    /// Looks for segments that were begun since the last look, or for all of a folder that was made anew.
    fn look_for_newer(&mut self) -> Result<FolderChange, JournalError> {
        let change = self.folder.look()?;
        let segments = segment::list(&self.folder.path)?;
        if change == FolderChange::None && !self.is_emptied(&segments) {
            let newer = |segment: &SegmentFile| self.last.as_ref().is_none_or(|last| segment.name > *last);
            self.waiting = segments.into_iter().filter(newer).collect();
            return Ok(FolderChange::None);
        }
        (self.waiting, self.open, self.last, self.has_failed) = (segments.into(), None, None, false);
        // Its numbers begin again.
        self.filter.after = None;
        Ok(FolderChange::MadeAnew)
    }

    /// Whether the segment that was read last was deleted and others were begun before or in its place. Retention never removes
    /// the newest one, and one that was compressed has its name still.
    fn is_emptied(&self, segments: &[SegmentFile]) -> bool {
        let (Some(open), Some(newest)) = (&self.open, segments.last()) else { return false };
        open.source.has_lost_name()
            && (newest.name < open.name || newest.name == open.name && newest.form == SegmentForm::Plain)
    }

    fn open_next(&mut self, segment: SegmentFile) -> Result<(), JournalError> {
        self.last = Some(segment.name.clone());
        self.open = None;
        let source = match segment::open_for_reading(&segment) {
            Ok(source) => source,
            // Retention has removed it since the segments were listed.
            Err(error) if Index::removed_meanwhile(&self.folder.path, &segment, &error).is_some() => return Ok(()),
            Err(error) => return Err(error),
        };
        self.open = Some(OpenSegment { name: segment.name, source, partial: Vec::new(), offset: 0, line: 0 });
        Ok(())
    }

    /// The next line of the open segment that is wanted; none at its present end.
    fn next_of_segment(&mut self) -> Option<Result<Record<'static>, Unreadable>> {
        loop {
            let Self { open, needles, filter, .. } = self;
            let segment = open.as_mut()?;
            let failed = |problem: String, segment: &OpenSegment| {
                Some(Err(Unreadable::no_record(segment.name.stem(), segment.line, problem)))
            };
            match segment.read_line() {
                Ok(LineEnd::Whole) => {}
                Ok(LineEnd::Missing) => return None,
                Err(error) => {
                    let unreadable = failed(error.to_string(), segment);
                    // A damaged compressed segment cannot be read any further.
                    self.open = None;
                    return unreadable;
                }
            }
            let line = std::mem::take(&mut segment.partial);
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let is_wanted = needles.iter().all(|needle| needle.find(text).is_some());
            let Some(framed) = Framed::of(text) else {
                return failed("no record".to_owned(), segment);
            };
            if is_wanted && filter.after.is_none_or(|after| framed.seq > after) {
                let parsed = std::str::from_utf8(text).map_err(|error| error.to_string());
                match parsed.and_then(|text| Record::parse(text).map_err(|error| error.to_string())) {
                    Ok(record) if filter.accepts(&record) => return Some(Ok(record)),
                    Ok(_) => {}
                    Err(problem) => return failed(problem, segment),
                }
            }
            // The buffer is used again.
            segment.partial = line;
        }
    }
}

/// How reading a line ended.
enum LineEnd {
    Whole,
    Missing,
}

impl OpenSegment {
    fn read_line(&mut self) -> io::Result<LineEnd> {
        self.partial.clear();
        self.source.read_line(&mut self.partial)?;
        if self.partial.ends_with(b"\n") {
            self.offset += self.partial.len() as u64;
            self.line += 1;
            return Ok(LineEnd::Whole);
        }
        // The line is read again from its beginning: if its writer was killed, the next one cuts it off.
        self.source.go_back(self.offset)?;
        Ok(LineEnd::Missing)
    }
}

impl Iterator for Records {
    type Item = Result<Record<'static>, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(found) = self.next_of_segment() {
                return Some(found);
            }
            if self.waiting.is_empty() {
                match self.look_for_newer() {
                    Ok(FolderChange::None) => {}
                    Ok(FolderChange::MadeAnew) => return Some(Err(Unreadable { cause: UnreadableCause::MadeAnew })),
                    Err(error) => return self.failed_once(&error),
                }
                // Records may have been appended to the open segment before the newer one was begun.
                if !self.waiting.is_empty() && self.open.is_some() {
                    continue;
                }
            }
            let segment = self.waiting.pop_front()?;
            if let Err(error) = self.open_next(segment) {
                return Some(Err(self.unreadable(&error)));
            }
        }
    }
}

impl Records {
    fn unreadable(&self, error: &JournalError) -> Unreadable {
        let segment = self.last.as_ref().map(SegmentName::stem).unwrap_or_default();
        Unreadable::no_record(segment, 0, error.to_string())
    }

    /// Reports that the folder cannot be read, once: a caller that skips errors must come to an end.
    fn failed_once(&mut self, error: &JournalError) -> Option<Result<Record<'static>, Unreadable>> {
        if std::mem::replace(&mut self.has_failed, true) {
            return None;
        }
        Some(Err(self.unreadable(error)))
    }
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").field("filter", &self.filter).finish_non_exhaustive()
    }
}

//! Sealing segments that are complete, and removing old ones.
//!
//! Nothing here is on the way of an event. One process at a time does it, under a lock of its own; the segment that is
//! being written is never touched.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use hookrail::event::timestamp;
use hookrail::recorder::RecordErrorKind;

use crate::config::Retention;
use crate::error::JournalError;
use crate::index::{Index, IndexLine, REMOVED, SEALED, read_last_of};
use crate::lock_file::LockFile;
use crate::segment::{self, LastRecord, SegmentFile, SegmentForm, open_file};
use crate::shipping::ShippingPosition;

/// How often a long-lived process looks after its journal.
pub const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// What was sealed and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// The number of segments that were compressed.
    pub sealed: usize,
    /// The number of segments that were removed.
    pub removed: usize,
}

/// Compresses segments that are complete and removes old ones. If another process is doing so, nothing is done.
pub(crate) fn maintain(directory: &Path, retention: Retention, now: SystemTime) -> Result<Maintained, JournalError> {
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
    let Some(newest) = segments.pop() else { return Ok(done) };
    let written = LockFile::open(directory)?.segment()?;
    let is_complete = |segment: &SegmentFile| written.as_ref() != Some(&segment.name);
    let count = segments.iter().take_while(|segment| is_complete(segment)).count();
    segments.truncate(count);
    let mut sealed = seal_all(directory, &mut segments, &mut done.sealed);
    // Whatever kept them from being compressed: a disk without room stays full if nothing is removed from it.
    done.removed = remove_old(directory, &segments, &newest, retention, now)?;
    if sealed.is_err() && done.removed > 0 {
        segments.drain(..done.removed);
        sealed = seal_all(directory, &mut segments, &mut done.sealed);
    }
    sealed.map(|()| done)
}

/// Compresses all segments that are not, up to the first one that cannot be.
fn seal_all(directory: &Path, segments: &mut [SegmentFile], sealed: &mut usize) -> Result<(), JournalError> {
    for segment in segments.iter_mut().filter(|segment| segment.form == SegmentForm::Plain) {
        *segment = seal(directory, segment)?;
        *sealed += 1;
    }
    Ok(())
}

/// Compresses a segment under a temporary name and puts it in the place of the plain one.
fn seal(directory: &Path, segment: &SegmentFile) -> Result<SegmentFile, JournalError> {
    let temporary = directory.join(segment.name.temporary_file());
    let sealed = directory.join(segment.name.sealed_file());
    let mut reading = OpenOptions::new();
    let mut plain = open_file(&segment.path, reading.read(true))?;
    let mut options = OpenOptions::new();
    let target = open_file(&temporary, options.write(true).create(true).truncate(true))?;
    let end = compress(&mut plain, target)
        .map_err(|error| JournalError::io(&temporary, error))
        .and_then(|()| segment::end_of(&mut plain).map_err(|error| JournalError::io(&segment.path, error)))
        .and_then(|end| match end.last {
            Some(last) => Index::append(directory, &IndexLine::of(segment, SEALED, last)),
            None => Ok(()),
        });
    if let Err(error) = end {
        // On a full disk it would take the room that the next record needs.
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    std::fs::rename(&temporary, &sealed)
        // The plain one is not removed before the name of the other is on the disk.
        .and_then(|()| hookrail_spawn::sync_folder(directory))
        .map_err(|error| JournalError::io(&sealed, error))?;
    std::fs::remove_file(&segment.path).map_err(|error| JournalError::io(&segment.path, error))?;
    Ok(SegmentFile { name: segment.name.clone(), path: sealed, form: SegmentForm::Compressed })
}

fn compress(plain: &mut File, target: File) -> io::Result<()> {
    let mut encoder = GzEncoder::new(io::BufWriter::with_capacity(256 * 1024, target), Compression::fast());
    io::copy(plain, &mut encoder)?;
    let writer = encoder.finish()?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Removes the oldest segments that are over their age or over the size of all.
fn remove_old(
    directory: &Path,
    segments: &[SegmentFile],
    newest: &SegmentFile,
    retention: Retention,
    now: SystemTime,
) -> Result<usize, JournalError> {
    let today = timestamp(now);
    let today = today.get(..10).unwrap_or_default();
    let oldest = oldest_day(segments, newest, retention.age, today);
    let mut bytes: u64 = segments.iter().chain([newest]).map(size_of).sum();
    let mut removed = 0;
    // A journal that is shipped keeps what is not stored elsewhere yet.
    let shipped = ShippingPosition::read(directory)?.map(|position| position.seq);
    for (at, segment) in segments.iter().enumerate() {
        // A segment holds records of its day and of no later one. A day that is still to come was the mistake of a clock;
        // then the segment is not younger than the next one that was begun under a better clock.
        let mut days = segments.iter().skip(at).chain([newest]).map(|segment| segment.name.day.as_str());
        let day = days.find(|day| *day <= today).and_then(day_number);
        let is_old = day.zip(oldest).is_some_and(|(day, oldest)| day < oldest);
        if !is_old && bytes <= retention.bytes {
            break;
        }
        let last = match Index::read(directory)?.last_of(&segment.name) {
            Some(last) => Some(last),
            None => read_last_of(segment)?,
        };
        if last.zip(shipped).is_some_and(|(last, shipped)| last.seq > shipped) {
            break;
        }
        bytes = bytes.saturating_sub(size_of(segment));
        remove(directory, segment, last)?;
        removed += 1;
    }
    Ok(removed)
}

fn size_of(segment: &SegmentFile) -> u64 {
    std::fs::metadata(&segment.path).map_or(0, |about| about.len())
}

/// Removes a segment and keeps its last record in the index.
fn remove(directory: &Path, segment: &SegmentFile, last: Option<LastRecord>) -> Result<(), JournalError> {
    let keep = || last.map_or(Ok(()), |last| Index::append(directory, &IndexLine::of(segment, REMOVED, last)));
    // The hash is kept first: without it the rest of the chain would begin with nothing.
    let kept = keep();
    let has_room = match &kept {
        Ok(()) => true,
        Err(error) if error.kind() == RecordErrorKind::NoSpace => false,
        Err(_) => return kept,
    };
    // Left by a process that was killed while it compressed the segment.
    for other in [segment.name.temporary_file(), segment.name.sealed_file(), segment.name.open_file()] {
        let path = directory.join(other);
        if path != segment.path {
            let _ = std::fs::remove_file(path);
        }
    }
    std::fs::remove_file(&segment.path).map_err(|error| JournalError::io(&segment.path, error))?;
    // There was no room for a line; now there is.
    if has_room { Ok(()) } else { keep() }
}

/// The day before which segments are too old; none if that is not known.
///
/// A clock that is ahead for a moment must not remove everything. So the age is counted from the last day before the present
/// one on which a segment was begun: it takes events on two days, one after the other, to make a new day count.
fn oldest_day(segments: &[SegmentFile], newest: &SegmentFile, age: Duration, today: &str) -> Option<i64> {
    let mut days = segments.iter().chain([newest]).rev().map(|segment| segment.name.day.as_str());
    let confirmed = day_number(days.find(|day| *day < today)?)?;
    confirmed.checked_sub(i64::try_from(age.as_secs().div_ceil(DAY)).ok()?)
}

const DAY: u64 = 24 * 60 * 60;

/// The number of a day such as `2026-11-16`, counted so that later days have greater numbers without gaps; none if it is no
/// day.
fn day_number(day: &str) -> Option<i64> {
    let mut parts = day.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that the day that some of them lack is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leap_days + (month * 153 + 2) / 5 + day)
}

#[cfg(test)]
#[path = "retention_tests.rs"]
mod tests;

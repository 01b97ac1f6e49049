//! The journal as a whole: records, the chain, damage, faults, and writers that are killed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

mod bytes;
mod chain;
mod damage;
mod events;
mod faults;
mod killed;
mod kinds;
mod real_disk;
mod redaction;
mod segments;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hookrail::recorder::{Entry, EntryKind, RecordError, TrustChange, TrustEntry};
use hookrail_journal::{Filter, Journal, JournalOptions, Record};

/// A folder for a journal that does not exist yet.
fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("state/hookrail/journal");
    (dir, journal)
}

fn journal(directory: &Path) -> Journal {
    Journal::new(JournalOptions::new(directory))
}

/// Appends the smallest kind of record, with a text of its own.
fn append(journal: &Journal, text: &str) -> Result<(), RecordError> {
    let entry = TrustEntry { change: TrustChange::Granted, hook: Some(text), event: None, content: None };
    let kind = EntryKind::Trust(entry);
    journal.record_blocking(&Entry { at: SystemTime::now(), host: None, project: Path::new("/p"), kind })
}

fn records(journal: &Journal) -> Vec<Record<'static>> {
    journal.read(Filter::default()).unwrap().map(Result::unwrap).collect()
}

/// The texts of all records, in order.
fn texts(journal: &Journal) -> Vec<String> {
    records(journal).into_iter().map(|record| record.hook.unwrap().into_owned()).collect()
}

/// The files of segments, in order.
fn segment_files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".jsonl") && !path.ends_with("index.jsonl"))
        .collect();
    files.sort();
    files
}

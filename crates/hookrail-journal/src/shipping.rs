//! How far a journal was shipped to a fleet. The position stands beside the segments, so that a writer and the removal of old segments know what
//! is not stored elsewhere yet. Shipping itself is not done here.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use hookrail_spawn::{Durability, Replace};
use serde::{Deserialize, Serialize};

use crate::error::JournalError;
use crate::segment::{self, open_file};

const POSITION: &str = "shipped.json";
const LOCK: &str = "shipping.lock";

/// How often a writer looks whether the backlog is over its limit.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How far a journal was shipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingPosition {
    /// Where it was shipped to, as its subject has it.
    pub subject: String,
    /// The number of the last record that was acknowledged; 0 before the first one.
    pub seq: u64,
    /// The hash of that record.
    pub hash: String,
    /// The number of the message that holds it in the stream.
    pub stream_sequence: u64,
    /// When it was acknowledged, in seconds since the beginning of 1970.
    pub at: u64,
    /// The number of records that may wait before the journal reports a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog_limit: Option<u64>,
}

/// The right to ship a journal. It ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct ShippingLock {
    _file: File,
}

impl ShippingPosition {
    /// Reads the position beside a journal; none if it was never shipped.
    ///
    /// # Errors
    /// If the file cannot be read, is not safe, or is no position.
    pub fn read(directory: &Path) -> Result<Option<Self>, JournalError> {
        let path = directory.join(POSITION);
        let mut options = OpenOptions::new();
        let file = match open_file(&path, options.read(true)) {
            Ok(file) => file,
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let read = serde_json::from_reader(io::BufReader::new(file));
        read.map(Some).map_err(|error| JournalError::io(&path, error.into()))
    }

    /// Replaces the position beside a journal with one rename, and makes that durable.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), JournalError> {
        let path = directory.join(POSITION);
        let failed = |error: io::Error| JournalError::io(&path, error);
        let mut text = serde_json::to_vec(self).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let how = Replace { durable: Durability::FileAndFolder, ..Replace::PRIVATE };
        hookrail_spawn::replace_file(&path, &text, &how).map_err(failed)
    }
}

impl ShippingLock {
    /// Takes the right to ship a journal, whose folder is made if there is none.
    ///
    /// # Errors
    /// With [`JournalError::Locked`] if another process ships it, or if the lock cannot be made.
    pub fn take(directory: &Path) -> Result<Self, JournalError> {
        segment::prepare_directory(directory)?;
        let path = directory.join(LOCK);
        let mut options = OpenOptions::new();
        let file = open_file(&path, options.read(true).write(true).create(true).truncate(false))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(JournalError::Locked { path }),
            Err(TryLockError::Error(error)) => Err(JournalError::io(&path, error)),
        }
    }
}

/// What a writer knows of the backlog. Reading the position for each record would cost as much as writing the record.
#[derive(Debug, Default)]
pub(crate) struct BacklogCheck {
    looked: Option<Instant>,
    limit: Option<(u64, u64)>,
}

impl BacklogCheck {
    /// Fails if more records wait than may, with the one of that number, which is only asked for if there is a limit.
    pub(crate) fn check(
        &mut self,
        directory: &Path,
        seq: impl FnOnce() -> Result<u64, JournalError>,
    ) -> Result<(), JournalError> {
        let now = Instant::now();
        let is_due = self.looked.is_none_or(|looked| now.duration_since(looked) >= LOOK_INTERVAL);
        if is_due {
            self.looked = Some(now);
            // A position that cannot be read is the matter of what ships.
            let position = ShippingPosition::read(directory).ok().flatten();
            self.limit = position.and_then(|position| Some((position.seq, position.backlog_limit?)));
        }
        let Some((shipped, limit)) = self.limit else { return Ok(()) };
        let waiting = seq()?.saturating_sub(shipped);
        if waiting > limit { Err(JournalError::Backlog { waiting, limit }) } else { Ok(()) }
    }
}

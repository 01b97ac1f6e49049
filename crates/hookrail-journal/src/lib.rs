//! The journal of hookrail: what every hook decided, when, about what, and under which configuration.
//!
//! A journal is a folder of segments, which are files of JSON lines. `grep`, `jq` and DuckDB read them as they are. Every
//! record holds the hash of the one before it, so a record that was changed, removed or inserted is found by
//! [`Journal::verify`]. Several processes append to one journal at once.
//!
//! # The form of a record
//!
//! One line, here broken for reading:
//!
//! ```json
//! {"seq":2,"prev":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
//!  "v":1,"at":"2026-11-16T03:00:00.123Z","kind":"fired","machine":"laptop","user":"1000",
//!  "host":{"name":"hookrail serve","version":"0.1.0"},"project":"/home/me/project",
//!  "fire":"5c1f0a9be2d34407-0","session":"s1","event":"before-tool","tool":"write_file","cwd":"/home/me/project",
//!  "config":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","decision":"deny",
//!  "input":{"tool_name":"write_file","tool_input":{"path":".env","token":{"redacted":"0a1b","bytes":42}}},"redacted":1,
//!  "outcome":{"event":"before-tool","decision":"deny"},
//!  "hooks":[{"id":"9a0364b9e99bb480","hook":"guard","dialect":"llxprt","layer":"user","fingerprint":"2c26b4",
//!            "end":"answered","decision":"deny","start":0.214,"ms":11.902}],
//!  "ms":12.410,"hash":"60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"}
//! ```
//!
//! | member | meaning |
//! |---|---|
//! | `seq`, `prev`, `hash` | the number in the chain; the hash of the record before it; the SHA-256 of all bytes of the line before `,"hash"` |
//! | `kind` | `fired`, `late`, `answered`, `corrected`, `lost`, `trust`: see [`RecordKind`] |
//! | `fire` | the name of an event; `late`, `answered` and `corrected` records have that of the event they belong to |
//! | `config` | the digest of all configuration in force |
//! | `input` | the event's own fields; `redacted` counts what was removed from them |
//! | `outcome` | what `hookrail fire --json` prints, without what `config` and `hooks` have |
//! | `hooks` | the runs in plan order; `start` and `ms` are milliseconds, `start` is counted from the moment of firing |
//!
//! # Reading
//!
//! ```no_run
//! use hookrail_journal::{Filter, Journal, JournalOptions};
//!
//! let journal = Journal::new(JournalOptions::new("/home/me/.local/state/hookrail/journal"));
//! let denied = Filter { decision: Some("deny".to_owned()), ..Filter::default() };
//! for record in journal.read(denied)?.flatten() {
//!     println!("{} {} {}", record.at, record.kind.name(), record.runs().count());
//! }
//! # Ok::<(), hookrail_journal::JournalError>(())
//! ```

#![forbid(unsafe_code)]

mod config;
mod delayed_sync;
mod entry;
mod error;
mod index;
mod lock_file;
mod machines;
mod read_folder;
mod reader;
mod record;
mod redact;
mod retention;
mod secret_beginnings;
mod secret_names;
mod secret_places;
mod secret_search;
mod secret_text;
mod secret_values;
mod segment;
mod shipping;
mod sync;
mod verify;
mod writer;

pub use config::{InputPolicy, JournalOptions, Retention, SyncPolicy, default_directory};
pub use error::{JournalError, JournalWarning, UnsafePlace};
pub use reader::{Filter, Records, Unreadable, UnreadableCause};
pub use record::{Record, RecordKind, RecordedHealth, RecordedHost, RecordedRun};
pub use retention::{MAINTENANCE_INTERVAL, Maintained};
pub use shipping::{ShippingLock, ShippingPosition};
pub use verify::{ChainHead, ChainLink, ChainProblem, ExpectedHead, ProblemKind, Verification};

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use hookrail::lock_mutex;
use hookrail::recorder::{Entry, EntryKind, FiredEntry, Interest, RecordError, RecordErrorKind, Recorded, Recorder};
use hookrail::{Code, Json, JsonObject};

use delayed_sync::DelayedSync;
use redact::Redactor;
use segment::FolderAccess;
use shipping::BacklogCheck;
use sync::{SyncThread, Synced};
use writer::{Appended, Writer};

/// A journal. Cloning shares it; one process needs one for each folder.
///
/// Nothing is created before the first record is appended.
#[derive(Clone, Debug)]
pub struct Journal {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: JournalOptions,
    machine: String,
    user: String,
    state: Mutex<WriterState>,
    redactor: OnceLock<Redactor>,
    warnings: Arc<Warnings>,
}

#[derive(Debug)]
struct WriterState {
    writer: Writer,
    sync_thread: Option<SyncThread>,
    delayed_sync: Option<DelayedSync>,
    backlog: BacklogCheck,
    maintenance: Option<JoinHandle<()>>,
    /// When room was last looked for because a record did not fit.
    looked_for_room: Option<Instant>,
    /// The number of the last record that this process appended.
    last_seq: Option<u64>,
}

type FileToSync = Result<Option<std::fs::File>, JournalError>;

/// What no record failed for, until the host asks for it. Of each kind the last one is kept.
#[derive(Debug, Default)]
struct Warnings(Mutex<Vec<JournalWarning>>);

impl Warnings {
    fn add(&self, warning: JournalWarning) {
        let mut all = lock_mutex(&self.0);
        all.retain(|known| std::mem::discriminant(known) != std::mem::discriminant(&warning));
        all.push(warning);
    }
}

/// With [`SyncPolicy::Second`], the time for which records are collected before the disk is waited for.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// How often a process looks for room while records do not fit.
const ROOM_INTERVAL: Duration = Duration::from_secs(60);

impl Journal {
    /// The journal in a folder.
    #[must_use]
    pub fn new(options: JournalOptions) -> Self {
        let machine = machine_name();
        let writer = Writer::new(&options, machine.clone());
        let state = WriterState {
            writer,
            sync_thread: None,
            delayed_sync: None,
            backlog: BacklogCheck::default(),
            maintenance: None,
            looked_for_room: None,
            last_seq: None,
        };
        let shared = Shared {
            options,
            machine,
            user: user_number(),
            state: Mutex::new(state),
            redactor: OnceLock::new(),
            warnings: Arc::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The folder.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.shared.options.directory
    }

    /// How it is written.
    #[must_use]
    pub fn options(&self) -> &JournalOptions {
        &self.shared.options
    }

    /// The records that a filter accepts, in order. The iterator goes on with what is appended later; see [`Records`].
    ///
    /// # Errors
    /// If the folder cannot be read, or is not safe. A folder that does not exist has no records.
    pub fn read(&self, filter: Filter) -> Result<Records, JournalError> {
        Records::new(self.directory(), filter)
    }

    /// Verifies the whole chain. With the hash of a head that was kept elsewhere, also that nothing was cut off since.
    ///
    /// # Errors
    /// If the folder cannot be read, or is not safe. What is wrong with the chain is in the result.
    pub fn verify(&self, expected_head: Option<&str>) -> Result<Verification, JournalError> {
        verify::verify(self.directory(), expected_head)
    }

    /// The last record of the chain, if it has records.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn head(&self) -> Result<Option<ChainHead>, JournalError> {
        if self.directory().symlink_metadata().is_err() {
            return Ok(None);
        }
        segment::check_directory(self.directory())?;
        let segments = segment::list(self.directory())?;
        let last = index::last_present(self.directory(), &segments)?;
        Ok(last.map(|last| ChainHead { seq: last.seq, hash: String::from_utf8_lossy(&last.hash).into_owned() }))
    }

    /// The number of records that no server has acknowledged; none if the journal was never shipped.
    ///
    /// # Errors
    /// If the journal or its position cannot be read.
    pub fn waiting_records(&self) -> Result<Option<u64>, JournalError> {
        let Some(position) = ShippingPosition::read(self.directory())? else { return Ok(None) };
        let last = self.head()?.map_or(0, |head| head.seq);
        Ok(Some(last.saturating_sub(position.seq)))
    }

    /// Compresses segments that are complete and removes old ones. If another process is doing so, nothing is done. What can be
    /// removed is removed also if something cannot be compressed.
    ///
    /// # Errors
    /// If a segment cannot be read, written or removed.
    pub fn maintain(&self) -> Result<Maintained, JournalError> {
        if self.directory().symlink_metadata().is_ok() {
            self.prepare_directory()?;
        }
        retention::maintain(self.directory(), self.shared.options.retention, SystemTime::now())
    }

    /// Records an entry and waits until it is safe.
    ///
    /// # Errors
    /// If it could not be recorded.
    pub fn record_blocking(&self, entry: &Entry<'_>) -> Result<(), RecordError> {
        let (_, file) = self.append(members_of(&self.text(entry)?))?;
        match file? {
            Some(file) => file
                .sync_data()
                .map_err(|error| JournalError::Io { path: self.directory().to_owned(), source: error }.into()),
            None => Ok(()),
        }
    }

    /// Records an entry as [`Recorder::record`] does, and returns the number of its record too.
    ///
    /// # Errors
    /// If it could not be recorded.
    pub fn record_numbered(&self, entry: &Entry<'_>) -> Result<(Recorded, u64), RecordError> {
        self.check_before(entry)?;
        let (recorded, seq) = self.record_members(members_of(&self.text(entry)?))?;
        if !matches!(entry.kind, EntryKind::Fired(_)) {
            lock_mutex(&self.shared.state).backlog.check(self.directory(), || Ok(seq))?;
        }
        Ok((recorded, seq))
    }

    /// Returns the record of an entry, for another process to write with [`Journal::record_prepared`].
    ///
    /// # Errors
    /// If it could not be recorded.
    pub fn prepare(&self, entry: &Entry<'_>) -> Result<Json, RecordError> {
        self.check_before(entry)?;
        let record = Json::parse(&self.text(entry)?);
        record.map_err(|_| RecordError::new(RecordErrorKind::Io, "the record has no form in JSON"))
    }

    /// Writes a record that another process has prepared.
    ///
    /// # Errors
    /// If it could not be recorded, or is no record.
    pub fn record_prepared(&self, record: &JsonObject) -> Result<Recorded, RecordError> {
        if let Some(name) = ["seq", "prev", "hash"].into_iter().find(|name| record.get(name).is_some()) {
            return Err(RecordError::new(RecordErrorKind::Damaged, format!("the record has a `{name}` already")));
        }
        let whole = record.to_json();
        let members = members_of(whole.text());
        if record.is_empty() || members.contains(['\n', '\r']) {
            return Err(RecordError::new(RecordErrorKind::Damaged, "the record is empty or has several lines"));
        }
        self.prepare_directory()?;
        Ok(self.record_members(members)?.0)
    }

    /// The record of an event has the outcome that the host gets, so a backlog is found before it is written.
    fn check_before(&self, entry: &Entry<'_>) -> Result<(), JournalError> {
        if let EntryKind::Fired(fired) = &entry.kind
            && !says_record_failed(fired)
        {
            self.check_backlog()?;
        }
        Ok(())
    }

    fn record_members(&self, members: &str) -> Result<(Recorded, u64), JournalError> {
        let (appended, file) = self.append(members).inspect_err(|error| self.look_for_room(error))?;
        if appended.began_segment {
            self.maintain_later();
        }
        let synced = file.and_then(|file| file.map_or(Ok(Recorded::Done), |file| self.sync(file, appended.segment)));
        // The record is there whatever becomes of the wait, which is what the host is told.
        let recorded =
            synced.unwrap_or_else(|error| Recorded::Syncing(Box::pin(std::future::ready(Err(error.into())))));
        Ok((recorded, appended.seq))
    }

    /// Fails if more records would wait for being shipped than may.
    fn check_backlog(&self) -> Result<(), JournalError> {
        let mut state = lock_mutex(&self.shared.state);
        let last = state.last_seq;
        // What other processes append meanwhile is seen when this one appends.
        let next = || Ok(1 + last.map_or_else(|| self.head().map(|head| head.map_or(0, |head| head.seq)), Ok)?);
        state.backlog.check(self.directory(), next)
    }

    /// Appends a record, and returns the file that has to be synced, if one has to be.
    fn append(&self, members: &str) -> Result<(Appended, FileToSync), JournalError> {
        let mut state = lock_mutex(&self.shared.state);
        let appended = state.writer.append(members.as_bytes(), SystemTime::now())?;
        state.last_seq = Some(appended.seq);
        let file = match self.shared.options.sync {
            SyncPolicy::Write => Ok(None),
            SyncPolicy::Second | SyncPolicy::Each => state.writer.file_to_sync(),
        };
        Ok((appended, file))
    }

    fn prepare_directory(&self) -> Result<(), JournalError> {
        if segment::prepare_directory(self.directory())? == FolderAccess::WasReadable {
            self.shared.warnings.add(JournalWarning::WasReadable(self.directory().to_owned()));
        }
        Ok(())
    }

    /// The text of the record of an entry.
    fn text(&self, entry: &Entry<'_>) -> Result<String, JournalError> {
        let redactor = match self.shared.redactor.get() {
            Some(redactor) => redactor,
            None => {
                self.prepare_directory()?;
                let opened = Redactor::open(self.directory())?;
                self.shared.redactor.get_or_init(|| opened)
            }
        };
        let record = redactor.redact(Record::of(entry), self.shared.options.input);
        let (machine, user) = (Cow::from(&self.shared.machine), Cow::from(&self.shared.user));
        let text = serde_json::to_string(&Record { machine, user, ..record });
        text.map_err(|error| JournalError::io(self.directory(), error.into()))
    }

    /// Waits for the disk as the policy says.
    fn sync(&self, file: std::fs::File, segment: u64) -> Result<Recorded, JournalError> {
        let mut state = lock_mutex(&self.shared.state);
        let io = |error| JournalError::io(self.directory(), error);
        match self.shared.options.sync {
            SyncPolicy::Write => Ok(Recorded::Done),
            SyncPolicy::Second => {
                let started = state
                    .delayed_sync
                    .take()
                    .map_or_else(|| DelayedSync::start(SYNC_INTERVAL, std::fs::File::sync_data), Ok);
                state.delayed_sync.insert(started.map_err(io)?).add(segment, file).map_err(io)?;
                Ok(Recorded::Done)
            }
            SyncPolicy::Each => {
                if state.sync_thread.is_none() {
                    state.sync_thread = Some(SyncThread::start().map_err(io)?);
                }
                let synced: Option<Synced> = state.sync_thread.as_ref().map(|thread| thread.sync(file, segment));
                Ok(synced.map_or(Recorded::Done, |synced| Recorded::Syncing(Box::pin(synced))))
            }
        }
    }

    /// Looks after a journal whose segment before the present one is complete, beside the events. What cannot be done now
    /// is tried again when the next segment is complete.
    fn maintain_later(&self) {
        let (directory, retention) = (self.directory().to_owned(), self.shared.options.retention);
        let warnings = Arc::clone(&self.shared.warnings);
        let body = move || {
            if let Err(error) = retention::maintain(&directory, retention, SystemTime::now()) {
                warnings.add(JournalWarning::NotMaintained(error.to_string()));
            }
        };
        let thread = std::thread::Builder::new().name("hookrail-journal-seal".to_owned()).spawn(body);
        lock_mutex(&self.shared.state).maintenance = thread.ok();
    }

    /// Looks after the journal when a record did not fit: what is too old or too much may be what fills the disk.
    fn look_for_room(&self, error: &JournalError) {
        if error.kind() != RecordErrorKind::NoSpace {
            return;
        }
        let now = Instant::now();
        let looked = lock_mutex(&self.shared.state).looked_for_room.replace(now);
        if looked.is_none_or(|looked| now.duration_since(looked) >= ROOM_INTERVAL) {
            self.maintain_later();
        } else {
            lock_mutex(&self.shared.state).looked_for_room = looked;
        }
    }

    /// Waits until segments that were complete are compressed and old ones removed, as far as this process has begun that.
    /// A process that ends after a few events calls it last: without it the work would be cut off every time.
    pub fn finish_maintenance(&self) {
        let begun = lock_mutex(&self.shared.state).maintenance.take();
        // A panic there was reported by its thread, and the segments are as they were.
        let _ = begun.map(JoinHandle::join);
    }

    /// Waits until all records that this process has written are on the disk, if [`SyncPolicy::Second`] is set. Dropping the
    /// last clone of a journal does the same; a process that ends without that calls it.
    pub fn finish_syncing(&self) {
        let begun = lock_mutex(&self.shared.state).delayed_sync.take();
        if let Some(Err(error)) = begun.map(DelayedSync::finish) {
            self.shared.warnings.add(JournalWarning::NotSynced(error.to_string()));
        }
    }

    /// Takes what went wrong, or was put right, since the last call and concerned no record. A host shows it to the user.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<JournalWarning> {
        std::mem::take(&mut lock_mutex(&self.shared.warnings.0))
    }
}

impl Recorder for Journal {
    fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
        self.record_numbered(entry).map(|(recorded, _)| recorded)
    }

    fn interest(&self) -> Interest {
        self.shared.options.events
    }
}

/// The members of the text of an object, without its braces.
fn members_of(object: &str) -> &str {
    object.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default()
}

/// Whether the outcome of an event has been told that recording it failed.
fn says_record_failed(fired: &FiredEntry<'_>) -> bool {
    fired.outcome.diagnostics.iter().any(|finding| finding.code == Code::RecordFailed)
}

/// The name of this machine.
fn machine_name() -> String {
    #[cfg(unix)]
    {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }
    #[cfg(not(unix))]
    {
        std::env::var("COMPUTERNAME").unwrap_or_default()
    }
}

/// The number of this user.
fn user_number() -> String {
    #[cfg(unix)]
    {
        rustix::process::geteuid().as_raw().to_string()
    }
    #[cfg(not(unix))]
    {
        std::env::var("USERNAME").unwrap_or_default()
    }
}

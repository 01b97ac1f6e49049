//! Recording what a command does in the user's journal.

use std::path::Path;
use std::time::SystemTime;

use hookrail::recorder::{
    Entry, EntryKind, HandedRecord, HostIdentity, Interest, OnRecordFailure, RecordError, Recorded, Recorder,
    TrustChange, TrustEntry,
};
use hookrail::{Builder, Json};
use hookrail_journal::{Journal, JournalWarning, Record};

use crate::config::{HookrailConfiguration, JournalSettings, ProjectFileTrust, RecordWhen};
use crate::failure::{Failure, Result};
use crate::text::short;

/// Whether a command records when the settings do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordDefault {
    On,
    Off,
}

/// What a command records in.
#[derive(Clone, Debug)]
pub enum Recording {
    /// Nothing is recorded.
    Off,
    /// Records have no place, and the settings ask for a warning only.
    NoPlace,
    /// The journal of the user.
    On(Journal),
}

impl Recording {
    /// Returns the journal; none if nothing is recorded.
    pub fn journal(&self) -> Option<&Journal> {
        match self {
            Self::On(journal) => Some(journal),
            Self::Off | Self::NoPlace => None,
        }
    }

    /// Returns what the user has to know before the first event.
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::NoPlace => Some(format!("nothing is recorded: {NO_PLACE}; {NO_PLACE_HINT}")),
            Self::Off | Self::On(_) => None,
        }
    }
}

/// Opens what a command records in.
///
/// # Errors
///
/// The journal has no place, and the settings do not ask for a warning only.
pub fn open(settings: &JournalSettings, default: RecordDefault) -> Result<Recording> {
    let is_on = match settings.record {
        RecordWhen::Always => true,
        RecordWhen::Never => false,
        RecordWhen::Auto => default == RecordDefault::On,
    };
    if !is_on {
        return Ok(Recording::Off);
    }
    match settings.options() {
        Some(options) => Ok(Recording::On(Journal::new(options))),
        None if settings.on_failure == OnRecordFailure::Warn => Ok(Recording::NoPlace),
        None => Err(no_place()),
    }
}

/// Returns the journal that commands read.
pub fn open_for_reading(settings: &JournalSettings) -> Result<Journal> {
    settings.options().map(Journal::new).ok_or_else(no_place)
}

const NO_PLACE: &str = "the journal has no place: neither `HOME` nor `XDG_STATE_HOME` is set";
const NO_PLACE_HINT: &str = "set `HOME` to your home directory, or `directory` in `[journal]`";

fn no_place() -> Failure {
    Failure::new(NO_PLACE).hint(NO_PLACE_HINT)
}

/// Makes a hook system record what it does.
pub fn attach(builder: Builder, journal: Option<&Journal>, settings: &JournalSettings, host: &str) -> Builder {
    match journal {
        Some(journal) => builder
            .recorder(journal.clone())
            .on_record_failure(settings.on_failure)
            .host_identity(host, env!("CARGO_PKG_VERSION")),
        None => builder,
    }
}

/// The journal of a server that runs hooks for a caller which records its events itself: the server hands over the record of
/// each event. What comes after the answer is written here.
#[derive(Clone, Debug)]
pub struct CallerJournal(pub Journal);

impl Recorder for CallerJournal {
    fn record(&self, entry: &Entry<'_>) -> std::result::Result<Recorded, RecordError> {
        if !matches!(entry.kind, EntryKind::Fired(_)) {
            return self.0.record(entry);
        }
        let journal = self.0.clone();
        let write = move |record: Json| {
            let written = record.as_object().map(|record| journal.record_prepared(&record));
            if let Some(Err(error)) = written {
                tracing::warn!(target: "hookrail::journal", %error, "an event whose caller had gone was not recorded");
            }
        };
        Ok(Recorded::Handed(HandedRecord::new(self.0.prepare(entry)?, write)))
    }

    fn interest(&self) -> Interest {
        self.0.interest()
    }
}

/// Records that trust in hooks changed, and returns what the journal has to say to the user.
///
/// # Errors
///
/// A change could not be recorded. It stands all the same.
pub fn record_trust(
    project: &Path,
    changes: &[TrustEntry<'_>],
) -> std::result::Result<Vec<JournalWarning>, RecordError> {
    let settings = HookrailConfiguration::load(project, ProjectFileTrust::Untrusted).journal;
    let Ok(Recording::On(journal)) = open(&settings, RecordDefault::On) else { return Ok(Vec::new()) };
    let host = HostIdentity { name: "hookrail trust".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    for change in changes {
        let TrustEntry { change, hook, event, content } = *change;
        let kind = EntryKind::Trust(TrustEntry { change, hook, event, content });
        journal.record_blocking(&Entry { at: SystemTime::now(), host: Some(&host), project, kind })?;
    }
    Ok(journal.take_warnings())
}

/// Returns the entry of trust in the project as a whole.
pub fn trust_in_project(change: TrustChange) -> TrustEntry<'static> {
    TrustEntry { change, hook: None, event: None, content: None }
}

/// Returns what a recorded event is about: its tool, with the path or the command.
pub fn subject_of(record: &Record<'_>) -> Option<String> {
    let tool = record.tool.as_deref()?;
    Some(match recorded_target(record) {
        Some(target) => format!("{tool} {}", short(&target, 80)),
        None => tool.to_owned(),
    })
}

/// Returns the path or the command of a recorded tool call.
pub fn recorded_target(record: &Record<'_>) -> Option<String> {
    let input = record.input.as_ref()?.as_object()?.get("tool_input")?.as_object()?;
    let keys = ["command", "path", "file_path", "absolute_path", "filePath", "url", "pattern"];
    keys.into_iter().find_map(|key| input.get(key)?.as_str())
}

/// Keeps a limit on the size of files from ending the process: writing then fails, and the policy of the journal decides.
/// A handled signal is not inherited by hooks, an ignored one would be.
pub fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        let signal = rustix::process::Signal::XFSZ.as_raw();
        // Without a handler the limit ends the process, as it did before.
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(signal));
    }
}

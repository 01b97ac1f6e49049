//! The settings of the journal.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail::recorder::{Interest, OnRecordFailure};
use hookrail_journal::{InputPolicy, JournalOptions, Retention, SyncPolicy, default_directory};
use hookrail_spawn::UserFolders;

use super::read::ConfigFile;
use super::table::Setting;

/// Which commands record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordWhen {
    /// Those that serve an agent, and others if they are asked to.
    #[default]
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

/// The settings of the journal.
#[derive(Clone, Debug, Default)]
pub struct JournalSettings {
    pub record: RecordWhen,
    pub on_failure: OnRecordFailure,
    events: Option<Interest>,
    input: InputPolicy,
    sync: SyncPolicy,
    directory: Option<PathBuf>,
    segment_mib: Option<u64>,
    days: Option<u64>,
    size_mib: Option<u64>,
}

impl JournalSettings {
    pub(super) fn new(user: &ConfigFile) -> Self {
        let named = |setting| user.word(setting).unwrap_or_default();
        let strict = |setting| user.word_or_strictest(setting).unwrap_or_default();
        Self {
            record: match named(Setting::JournalRecord) {
                "always" => RecordWhen::Always,
                "never" => RecordWhen::Never,
                _ => RecordWhen::Auto,
            },
            on_failure: match strict(Setting::JournalOnFailure) {
                "block" => OnRecordFailure::Block,
                _ => OnRecordFailure::Warn,
            },
            events: Interest::ALL.into_iter().find(|interest| interest.name() == named(Setting::JournalEvents)),
            input: InputPolicy::from_name(strict(Setting::JournalInput)).unwrap_or_default(),
            sync: SyncPolicy::from_name(strict(Setting::JournalSync)).unwrap_or_default(),
            directory: user.path(Setting::JournalDirectory),
            segment_mib: user.number(Setting::JournalSegment),
            days: user.number(Setting::JournalDays),
            size_mib: user.number(Setting::JournalSize),
        }
    }

    /// The folder of the journal, if the user named one.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Returns the options of the journal; none if there is no place for it.
    pub fn options(&self) -> Option<JournalOptions> {
        let default = || UserFolders::of_process().state.map(|state| default_directory(&state));
        let mut options =
            JournalOptions::new(self.directory.clone().or_else(default)?).sync(self.sync).input(self.input);
        let Retention { age, bytes } = options.retention;
        options.events = self.events.unwrap_or(Interest::Gating);
        options.segment_bytes = self.segment_mib.map_or(options.segment_bytes, mebibytes);
        options.retention = Retention {
            age: self.days.map_or(age, |days| Duration::from_secs(days.saturating_mul(24 * 60 * 60))),
            bytes: self.size_mib.map_or(bytes, mebibytes),
        };
        Some(options)
    }
}

fn mebibytes(number: u64) -> u64 {
    number.saturating_mul(1024 * 1024)
}

//! What a journal is told: where it is, how safe a record has to be, what is kept of an input, and for how long.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail::recorder::Interest;

macro_rules! words {
    ($(#[$about:meta])* $type:ident { $($(#[$detail:meta])* $value:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $type { $($(#[$detail])* $value,)+ }

        impl $type {
            /// Every value, in the order of their declaration.
            pub const ALL: [Self; [$(Self::$value),+].len()] = [$(Self::$value),+];

            /// The name used in configuration.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }

            /// The value of that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}

words! {
    /// When a record is safe.
    SyncPolicy {
        /// When it is written: it survives the end of any process, and not a loss of power.
        #[default]
        Write = "write",
        /// As above, and a second later it is on the disk.
        Second = "second",
        /// When it is on the disk. Records of one process that arrive together share one wait.
        Each = "each",
    }
}

words! {
    /// What is kept of the input and the outcome of an event.
    InputPolicy {
        /// Everything but recognised secrets and prompts; paths and commands stay.
        #[default]
        Redacted = "redacted",
        /// Everything.
        Full = "full",
        /// Neither the input nor the texts of the outcome.
        None = "none",
    }
}

/// Which segments are kept. The newest one is never removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Segments that are older than this are removed. Their age is counted from the last day before the present one on which
    /// a segment was begun, so that a clock that is ahead for a moment removes nothing.
    pub age: Duration,
    /// The oldest segments are removed until no more than so many bytes are left.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { age: Duration::from_secs(90 * 24 * 60 * 60), bytes: 1024 * 1024 * 1024 }
    }
}

/// How a journal is written.
///
/// ```
/// use hookrail_journal::{JournalOptions, SyncPolicy};
///
/// let options = JournalOptions::new("/var/lib/agent/journal").sync(SyncPolicy::Each);
/// assert_eq!(options.segment_bytes, 64 * 1024 * 1024);
/// ```
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The folder of the journal.
    pub directory: PathBuf,
    /// When a record is safe.
    pub sync: SyncPolicy,
    /// What is kept of inputs.
    pub input: InputPolicy,
    /// The events that are recorded although no hook takes part in them.
    pub events: Interest,
    /// The size at which a new segment is begun.
    pub segment_bytes: u64,
    /// Which segments are kept.
    pub retention: Retention,
}

impl JournalOptions {
    /// The defaults, with a folder.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            sync: SyncPolicy::default(),
            input: InputPolicy::default(),
            events: Interest::default(),
            segment_bytes: 64 * 1024 * 1024,
            retention: Retention::default(),
        }
    }

    /// The options with another sync policy.
    #[must_use]
    pub fn sync(mut self, sync: SyncPolicy) -> Self {
        self.sync = sync;
        self
    }

    /// The options with another input policy.
    #[must_use]
    pub fn input(mut self, input: InputPolicy) -> Self {
        self.input = input;
        self
    }
}

/// The folder of the user's journal, below the state directory.
#[must_use]
pub fn default_directory(state: &Path) -> PathBuf {
    state.join("hookrail/journal")
}

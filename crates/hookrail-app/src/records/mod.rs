//! What commands read in the user's journal: records that are selected, and what they add up to.

mod select;
pub mod shadow_verdicts;
pub mod statistics;

use hookrail_journal::{Journal, JournalError, Records, Unreadable};

use crate::config::HookrailConfiguration;
use crate::failure::{Failure, Result};
use crate::journal;
pub use select::RecordSelection;

/// Takes what cannot be read among the records.
pub type ReportUnreadable<'r> = &'r mut dyn FnMut(&Unreadable);

/// Opens the user's journal for reading. No project is looked at: the journal is the user's.
///
/// # Errors
///
/// The journal has no place.
pub fn open() -> Result<Journal> {
    journal::open_for_reading(&HookrailConfiguration::journal_of_user())
}

/// Reads the records that are wanted.
///
/// # Errors
///
/// The selection or the journal cannot be read.
pub fn read(selection: RecordSelection<'_>) -> Result<Records> {
    open()?.read(selection.filter()?).map_err(|error| failure(&error))
}

/// Turns an error of the journal into a failure of the command.
pub fn failure(error: &JournalError) -> Failure {
    Failure::new(format!("the journal cannot be read: {error}"))
        .hint("it is the folder `hookrail/journal` in your state directory, or `directory` in `[journal]`")
}

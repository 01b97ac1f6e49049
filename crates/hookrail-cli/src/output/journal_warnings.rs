//! What a journal has to say to the user, on standard error.

use hookrail_app::journal::Recording;
use hookrail_app::trust::TrustRecording;
use hookrail_journal::{Journal, JournalWarning};

use crate::{logging, output};

/// Returns the journal that a command records in, after the warning that it has none.
pub(crate) fn started(recording: Recording) -> Option<Journal> {
    if let Some(warning) = recording.warning() {
        output::warnings(&format!("warning: {warning}\n"));
    }
    recording.journal().cloned()
}

/// Reports how the record of a change of trust ended. The change stands in any case.
pub(crate) fn report_recording(recorded: TrustRecording) {
    match recorded {
        Ok(warnings) => print(&warnings),
        Err(error) => logging::write_stderr(format!("warning: {error}\n")),
    }
}

/// Ends what a journal does beside the records, before a process that recorded a few events ends.
pub(crate) fn finish(journal: &Journal) {
    journal.finish_maintenance();
    journal.finish_syncing();
    print(&journal.take_warnings());
}

fn print(warnings: &[JournalWarning]) {
    for warning in warnings {
        output::warnings(&format!("warning: {warning}\n"));
    }
}

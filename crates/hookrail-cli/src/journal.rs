//! Recording what a command does in the user's journal.

use std::time::SystemTime;

use hookrail::Builder;
use hookrail::recorder::{Entry, EntryKind, HostIdentity, OnRecordFailure, TrustChange, TrustEntry};
use hookrail_journal::Journal;

use crate::config::{Configuration, JournalSettings, ProjectFileTrust, RecordWhen};
use crate::errors::{Failure, Result};
use crate::project::Project;

/// Whether a command records when the settings do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordDefault {
    On,
    Off,
}

/// Returns the journal that a command records in; none if it records nothing.
pub(crate) fn open(settings: &JournalSettings, default: RecordDefault) -> Result<Option<Journal>> {
    let is_on = match settings.record {
        RecordWhen::Always => true,
        RecordWhen::Never => false,
        RecordWhen::Auto => default == RecordDefault::On,
    };
    if !is_on {
        return Ok(None);
    }
    match settings.options() {
        Some(options) => Ok(Some(Journal::new(options))),
        None if settings.on_failure == OnRecordFailure::Warn => {
            crate::output::warnings(&format!("warning: nothing is recorded: {NO_PLACE}; {NO_PLACE_HINT}\n"));
            Ok(None)
        }
        None => Err(no_place()),
    }
}

/// Returns the journal that commands read.
pub(crate) fn open_for_reading(settings: &JournalSettings) -> Result<Journal> {
    settings.options().map(Journal::new).ok_or_else(no_place)
}

const NO_PLACE: &str = "the journal has no place: neither `HOME` nor `XDG_STATE_HOME` is set";
const NO_PLACE_HINT: &str = "set `HOME` to your home directory, or `directory` in `[journal]`";

fn no_place() -> Failure {
    Failure::new(NO_PLACE).hint(NO_PLACE_HINT)
}

/// Makes a hook system record what it does.
pub(crate) fn attach(builder: Builder, journal: Option<&Journal>, settings: &JournalSettings, host: &str) -> Builder {
    match journal {
        Some(journal) => builder
            .recorder(journal.clone())
            .on_record_failure(settings.on_failure)
            .host_identity(host, env!("CARGO_PKG_VERSION")),
        None => builder,
    }
}

/// Records that trust in hooks changed. If that fails, the change stands, and a warning says so.
pub(crate) fn record_trust(project: &Project, changes: &[TrustEntry<'_>]) {
    let project = project.root();
    let settings = Configuration::load(project, ProjectFileTrust::Untrusted).journal;
    let Ok(Some(journal)) = open(&settings, RecordDefault::On) else { return };
    let host = HostIdentity { name: "hookrail trust".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    for change in changes {
        let TrustEntry { change, hook, event, content } = *change;
        let kind = EntryKind::Trust(TrustEntry { change, hook, event, content });
        let entry = Entry { at: SystemTime::now(), host: Some(&host), project, kind };
        if let Err(error) = journal.record_blocking(&entry) {
            crate::logging::write_stderr(format!("warning: {error}\n"));
            return;
        }
    }
    print_warnings(&journal);
}

/// Ends what a journal does beside the records, before a process that recorded a few events ends.
pub(crate) fn finish(journal: &Journal) {
    journal.finish_maintenance();
    journal.finish_syncing();
    print_warnings(journal);
}

/// Prints what a journal has to say to the user.
pub(crate) fn print_warnings(journal: &Journal) {
    for warning in journal.take_warnings() {
        crate::output::warnings(&format!("warning: {warning}\n"));
    }
}

/// Returns the entry of trust in the project as a whole.
pub(crate) fn trust_in_project(change: TrustChange) -> TrustEntry<'static> {
    TrustEntry { change, hook: None, event: None, content: None }
}

/// Keeps a limit on the size of files from ending the process: writing then fails, and the policy of the journal decides.
/// A handled signal is not inherited by hooks, an ignored one would be.
pub(crate) fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        let signal = rustix::process::Signal::XFSZ.as_raw();
        // Without a handler the limit ends the process, as it did before.
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(signal));
    }
}

//! The settings of the bus, from the command line and the user's configuration.

use std::path::Path;

use hookrail::Builder;
use hookrail::process::RunLedger;
use hookrail_bus::BusOptions;
use hookrail_journal::Journal;

use crate::args::{ProjectArgs, ServeArgs};
use crate::config::{BusSettings, JournalSettings};
use crate::journal;
use crate::project::Project;

/// The journal that the events of all projects are recorded in.
#[derive(Clone, Debug)]
pub(super) struct ServedJournal {
    pub(super) journal: Option<Journal>,
    pub(super) settings: JournalSettings,
}

/// Returns the settings of the bus. The command line overrides the user's configuration, which overrides the defaults of
/// the bus.
pub(super) fn settings(
    project: &Project,
    args: &ServeArgs,
    configured: BusSettings,
    ledger: Option<RunLedger>,
    recording: ServedJournal,
) -> BusOptions {
    let (own, options) = (project.root().to_owned(), args.project.clone());
    let describe = move |directory: &Path| {
        let builder = describe(directory, directory == own, &options)?;
        let builder = journal::attach(builder, recording.journal.as_ref(), &recording.settings, "hookrail serve");
        Ok(match &ledger {
            Some(ledger) => builder.record_running_hooks(ledger),
            None => builder,
        })
    };
    let given = [
        (args.limit.or(configured.requests), BusOptions::limit as fn(BusOptions, usize) -> BusOptions),
        (args.in_flight.or(configured.in_flight), BusOptions::in_flight),
        (args.most_projects.or(configured.projects), BusOptions::most_projects),
        (configured.connections, BusOptions::most_connections),
        (configured.buffered, BusOptions::most_buffered),
        (configured.line, BusOptions::longest_line),
    ];
    let mut settings = BusOptions::fallible(project.root(), describe);
    for (number, set) in given {
        if let Some(number) = number {
            settings = set(settings, number);
        }
    }
    if let Some(patience) = configured.patience {
        settings = settings.patience(patience);
    }
    if let Ok(store) = Project::trust_store() {
        settings = settings.grants_in(store.path());
    }
    if args.no_watch || configured.watch == Some(false) { settings.without_watching() } else { settings }
}

/// Returns the builder for a project that a request names. Trust and modules of the command line apply only to the
/// server's own project.
fn describe(directory: &Path, is_own: bool, options: &ProjectArgs) -> std::result::Result<Builder, String> {
    let options = ProjectArgs {
        project: Some(directory.to_owned()),
        trust_project: options.trust_project && is_own,
        modules: if is_own { options.modules.clone() } else { Vec::new() },
        no_plugins: options.no_plugins,
    };
    let described = Project::open(&options).and_then(|project| project.builder(&options));
    described.map_err(|failure| failure.message().to_owned())
}

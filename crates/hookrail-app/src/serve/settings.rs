//! The settings of the bus, from the command line and the user's configuration.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use hookrail::Builder;
use hookrail::process::{RunLedger, is_code_variable};
use hookrail_bridge::Agent;
use hookrail_bus::{BusOptions, CallerContext, CallerRefusal};
#[cfg(feature = "fleet")]
use hookrail_fleet::ask::AskClient;
use hookrail_journal::Journal;

use super::{Reloading, ServeOptions, ServedProject};
use crate::bridge::with_session_memory;
use crate::config::{BusSettings, JournalSettings};
use crate::journal::{self, CallerJournal};
use crate::project::{Project, ProjectChoice, of_agent};
use crate::telemetry::CommandTelemetry;

/// The journal that the events of all projects are recorded in, and the telemetry that they are exported to.
#[derive(Clone, Debug)]
pub(super) struct ServedRecording {
    pub(super) journal: Option<Journal>,
    pub(super) settings: JournalSettings,
    pub(super) telemetry: CommandTelemetry,
}

impl ServedRecording {
    fn attach(&self, builder: Builder, host: &str) -> Builder {
        let builder = with_session_memory(builder);
        let builder = journal::attach(builder, self.journal.as_ref(), &self.settings, host);
        self.telemetry.attach(builder, self.journal.as_ref(), host)
    }

    /// The same for a caller, which may write the records of its events itself.
    fn attach_for_caller(&self, builder: Builder, caller: &CallerContext) -> Builder {
        let host = caller.program().unwrap_or("hookrail bridge");
        if !caller.records_itself() {
            return self.attach(builder, host);
        }
        let journal = self.journal.clone().map(CallerJournal);
        let builder = with_session_memory(builder);
        let builder = match &journal {
            Some(journal) => builder.recorder(journal.clone()).host_identity(host, env!("CARGO_PKG_VERSION")),
            None => builder,
        };
        self.telemetry.attach_for_caller(builder.on_record_failure(self.settings.on_failure), journal.as_ref(), host)
    }
}

/// Returns the settings of the bus. The command line overrides the user's configuration, which overrides the defaults of
/// the bus.
pub(super) fn settings(
    project: &Project,
    options: &ServeOptions,
    configured: BusSettings,
    ledger: Option<RunLedger>,
    recording: ServedRecording,
) -> BusOptions {
    let (own, served) = (project.root().to_owned(), options.project.clone());
    let (ledger_of_callers, recording_of_callers) = (ledger.clone(), recording.clone());
    let describe_caller = move |directory: &Path, caller: &CallerContext| {
        let builder = describe_caller(directory, caller)?;
        let builder = recording_of_callers.attach_for_caller(builder, caller);
        Ok(match &ledger_of_callers {
            Some(ledger) => builder.record_running_hooks(ledger),
            None => builder,
        })
    };
    let is_worker = options.clients.is_worker();
    let describe = move |directory: &Path| {
        let builder = describe(directory, directory == own, &served)?;
        #[cfg(feature = "fleet")]
        let builder = if is_worker { builder.remote_client(AskClient::of_worker()) } else { builder };
        let builder = recording.attach(builder, "hookrail serve");
        Ok(match &ledger {
            Some(ledger) => builder.record_running_hooks(ledger),
            None => builder,
        })
    };
    let given = [
        (options.limit.or(configured.requests), BusOptions::limit as fn(BusOptions, usize) -> BusOptions),
        (options.in_flight.or(configured.in_flight), BusOptions::in_flight),
        (options.most_projects.or(configured.projects), BusOptions::most_projects),
        (configured.connections.filter(|_| !is_worker), BusOptions::most_connections),
        (configured.buffered, BusOptions::most_buffered),
        (configured.line, BusOptions::longest_line),
    ];
    let mut settings = BusOptions::fallible(project.root(), describe).callers(describe_caller);
    if is_worker {
        settings = settings.most_connections(MOST_QUESTIONS).require_hooks();
    }
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
    match options.reloading {
        Reloading::WhenFilesChange if configured.watch != Some(false) => settings,
        Reloading::WhenFilesChange | Reloading::OnRequest => settings.without_watching(),
    }
}

/// Returns the builder for a project that a request names. Trust and modules of the command line apply only to the
/// server's own project.
fn describe(directory: &Path, is_own: bool, served: &ServedProject) -> std::result::Result<Builder, String> {
    let choice = ProjectChoice {
        project: Some(directory),
        trust_project: served.trust_project && is_own,
        modules: if is_own { &served.modules } else { &[] },
        no_plugins: served.no_plugins,
    };
    let described = Project::open(choice).and_then(|project| project.builder(choice));
    described.map_err(|failure| failure.message().to_owned())
}

/// The connections of a worker. Each question is one; those beyond the limit are refused by the worker before they run, so this
/// only bounds how many are being refused.
const MOST_QUESTIONS: usize = 100_000;

/// The variables that this program itself reads, beside the engine, to find the user's configuration and grants.
const FOLDERS_OF_THE_USER: [&str; 3] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// Returns the builder that a caller would have by itself: nothing that this server was started with counts.
fn describe_caller(directory: &Path, caller: &CallerContext) -> std::result::Result<Builder, CallerRefusal> {
    let differs = |name: &&str| std::env::var_os(name).as_deref() != caller.variable(name).map(OsStr::new);
    if let Some(name) = FOLDERS_OF_THE_USER.into_iter().find(differs) {
        return Err(CallerRefusal::Unsupported(format!("the server has another `{name}` than the caller")));
    }
    // The environment comes from a message. Code that it names would run with the rights of the server, so the caller may run
    // such hooks itself. Variables that the server has, too, are its own.
    let brings_code = |name: &&str| is_code_variable(name) && differs(name);
    if let Some(name) = caller.variable_names().find(brings_code) {
        return Err(CallerRefusal::Unsupported(format!(
            "`{name}` of the caller can make programs run other code, and the server has it not"
        )));
    }
    let described = Project::open(directory).and_then(|project| project.builder(directory));
    let builder = described.map_err(|failure| CallerRefusal::Unusable(failure.message().to_owned()))?;
    let builder = builder.environment(caller.environment());
    let builder = caller.tools().iter().cloned().fold(builder, Builder::tool);
    let Some(name) = caller.agent() else { return Ok(builder) };
    match Agent::from_name(name) {
        Some(agent) => {
            let read = caller.read_by_agent().iter().map(PathBuf::from).collect();
            Ok(of_agent(builder, agent, read).require_user_folders())
        }
        None => Err(CallerRefusal::Unsupported(format!("the server does not know the agent `{name}`"))),
    }
}

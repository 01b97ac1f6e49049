//! A server: the message bus, for one program on standard input and output, for several on a socket, or for other machines as a
//! worker.
//!
//! After the first signal the server finishes running requests and accepts no new ones; the second signal ends them.
//! SIGHUP to a server on a socket reloads.

mod clients;
mod ledger;
mod manager;
mod memory;
mod metrics;
mod reload;
mod settings;
#[cfg(feature = "fleet")]
mod worker;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hookrail::Diagnostic;
#[cfg(feature = "fleet")]
use hookrail::remote::GroupName;
use hookrail_bus::{Bus, BusError, BusOptions};
#[cfg(feature = "fleet")]
use hookrail_fleet::nats::NatsServer;
use hookrail_journal::{Journal, MAINTENANCE_INTERVAL};

use crate::config::BusSettings;
use crate::failure::{Failure, Result};
use crate::journal::{self, RecordDefault, survive_file_size_limit};
use crate::path_display::PathDisplay;
use crate::project::{Project, ProjectChoice};
use crate::signals::{Interrupts, Signal};
use crate::telemetry::CommandTelemetry;
use clients::ServedClients;
use manager::ServiceManager;
pub use reload::reload;
use settings::ServedRecording;

/// What a server is to do. What is not set is as the user configured it.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    pub clients: ClientSource,
    /// The highest number of requests that run at once.
    pub limit: Option<usize>,
    /// The highest number of messages of one client that wait for their answer.
    pub in_flight: Option<usize>,
    /// The highest number of projects that are open.
    pub most_projects: Option<usize>,
    pub reloading: Reloading,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    pub project: ServedProject,
}

/// Where the clients of a server come from.
#[derive(Clone, Debug)]
pub enum ClientSource {
    /// One client, on standard input and output.
    StandardStreams,
    /// The socket at this path.
    Socket(PathBuf),
    /// Other machines, over the servers of a fleet.
    #[cfg(feature = "fleet")]
    Group(WorkerOptions),
}

/// The worker of a group.
#[cfg(feature = "fleet")]
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    pub group: GroupName,
    pub servers: Vec<NatsServer>,
    /// The file with the worker's tenant, name and key, if it is not the configuration that remote hooks are asked with.
    pub member: Option<PathBuf>,
}

/// When the configuration is reloaded. A change of the user's grants always reloads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reloading {
    /// When its files change, unless the user configured otherwise.
    WhenFilesChange,
    /// On request only.
    OnRequest,
}

/// The server's own project, and what is said about it alone.
#[derive(Clone, Debug)]
pub struct ServedProject {
    /// Its directory; without one it is found upwards from the current directory.
    pub directory: Option<PathBuf>,
    pub trust_project: bool,
    pub modules: Vec<PathBuf>,
    /// Whether plugins are loaded, in other projects too.
    pub no_plugins: bool,
}

impl<'a> From<&'a ServedProject> for ProjectChoice<'a> {
    fn from(served: &'a ServedProject) -> Self {
        let ServedProject { directory, trust_project, modules, no_plugins } = served;
        Self { project: directory.as_deref(), trust_project: *trust_project, modules, no_plugins: *no_plugins }
    }
}

/// What the user has to know while a server runs. Nothing that serves may wait until it is shown.
#[derive(Debug)]
pub enum ServeNotice<'n> {
    /// Something is wrong with the configuration.
    Findings { findings: &'n [Diagnostic], places: &'n PathDisplay },
    /// Nothing is recorded, and why.
    NothingRecorded(String),
    /// Processes of hooks that a killed server had left running were ended.
    LeftoversEnded(u32),
    /// Running hooks cannot be recorded, so a server that is killed leaves them behind.
    LedgerUnusable { directory: PathBuf, error: std::io::Error },
    /// Something was not exported, and why.
    TelemetryLost(String),
    /// Metrics are served. Scripts read the port.
    Metrics(SocketAddr),
    /// The worker answers its group. Scripts wait for it.
    #[cfg(feature = "fleet")]
    Answering { group: &'n GroupName, tenant: String },
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServeEnd {
    /// Every request was answered.
    Finished,
    /// A second signal ended the requests that ran.
    Signalled(Signal),
}

impl ClientSource {
    /// Whether the server has many clients that come and go, so that it is reloaded and not ended by a hang-up.
    #[cfg(unix)]
    fn serves_many(&self) -> bool {
        match self {
            Self::StandardStreams => false,
            Self::Socket(_) => true,
            #[cfg(feature = "fleet")]
            Self::Group(_) => true,
        }
    }

    /// Whether the server answers remote hooks of other machines.
    fn is_worker(&self) -> bool {
        match self {
            Self::StandardStreams | Self::Socket(_) => false,
            #[cfg(feature = "fleet")]
            Self::Group(_) => true,
        }
    }
}

/// The threads that a server needs beside its first one: for standard input and output, its journal, its log, the watched files
/// and the configuration of a project.
const THREADS: usize = 6;

/// The time that hooks get to end after a second signal.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until the last client is gone or a signal comes.
///
/// # Errors
///
/// The project, the journal, the threads or the clients are unusable.
pub fn serve(options: &ServeOptions, tell: &dyn Fn(ServeNotice<'_>)) -> Result<ServeEnd> {
    memory::return_large_blocks();
    let project = Project::open(&options.project)?;
    // Invalid options fail now, not at the first request.
    let builder = project.builder(&options.project)?;
    if !options.project.modules.is_empty() {
        Project::require_modules(&builder.build())?;
    }
    let configuration = project.configuration(&options.project);
    let mut findings = configuration.findings();
    let telemetry = CommandTelemetry::start(&configuration.telemetry, &mut findings);
    tell(ServeNotice::Findings { findings: &findings, places: &project.places });
    let configured = configuration.bus;
    let recording = journal::open(&configuration.journal, RecordDefault::On)?;
    if let Some(warning) = recording.warning() {
        tell(ServeNotice::NothingRecorded(warning));
    }
    let journal = recording.journal().cloned();
    let recording =
        ServedRecording { journal: journal.clone(), settings: configuration.journal, telemetry: telemetry.clone() };
    let settings = settings::settings(&project, options, configured, ledger::open_ledger(tell), recording);
    hookrail_spawn::require_threads(THREADS).map_err(|error| {
        Failure::new(format!("the server cannot start its threads: {error}"))
            .hint("raise the limit of processes: `ulimit -u`")
    })?;
    let runtime = crate::runtime::runtime()?;
    let end = runtime.block_on(async {
        if let Some(journal) = &journal {
            survive_file_size_limit();
            tokio::spawn(look_after(journal.clone()));
        }
        serve_clients(options, settings, configured, journal.clone(), tell).await
    });
    if let Some(journal) = &journal {
        journal.finish_syncing();
    }
    // A thread that reads standard input cannot be stopped, and dropping the runtime would wait for it.
    runtime.shutdown_background();
    if let Some(lost) = telemetry.finish() {
        tell(ServeNotice::TelemetryLost(lost));
    }
    end
}

async fn serve_clients(
    options: &ServeOptions,
    settings: BusOptions,
    configured: BusSettings,
    journal: Option<Journal>,
    tell: &dyn Fn(ServeNotice<'_>),
) -> Result<ServeEnd> {
    let mut interrupts = Interrupts::listen().map_err(|error| {
        Failure::new(format!("signals cannot be handled: {error}")).hint("the system may be out of file descriptors")
    })?;
    let manager = Arc::new(ServiceManager::from_environment());
    let bus = Bus::new(settings);
    if let Some(address) = options.metrics.or(configured.metrics) {
        tell(ServeNotice::Metrics(metrics::serve_metrics(&bus, address, journal).await?));
    }
    tokio::spawn(memory::return_memory_when_idle(bus.clone()));
    let ServedClients { mut work, before_drain, after_drain } =
        clients::open_clients(options, bus.clone(), configured, tell).await?;
    // The server's own project is loaded now, so that its problems are logged at once and the first request does not wait.
    let mut opening = std::pin::pin!(bus.open());
    let mut is_open = false;
    #[cfg(unix)]
    let reloads = Reloads::start(bus.clone(), Arc::clone(&manager));
    let served = loop {
        tokio::select! {
            served = &mut work => break Some(served),
            opened = &mut opening, if !is_open => {
                is_open = true;
                report_opened(opened, &manager);
            }
            signal = interrupts.next() => match signal {
                #[cfg(unix)]
                Signal::HangUp if options.clients.serves_many() => reloads.request(),
                _ => break None,
            },
        }
    };
    manager.stopping();
    // After the end of standard input every request is answered; the drain then waits for detached hooks only.
    let drained = async {
        if !is_open {
            // A project that is opened after everything else was closed would never be closed.
            let _ = opening.await;
        }
        match served {
            Some(served) => {
                bus.drain().await;
                served
            }
            None => {
                let drained = async {
                    before_drain.await;
                    bus.drain().await;
                };
                let ((), served) = tokio::join!(drained, work);
                after_drain.await;
                served
            }
        }
    };
    let mut drained = std::pin::pin!(drained);
    loop {
        tokio::select! {
            served = &mut drained => return served.map(|()| ServeEnd::Finished),
            signal = interrupts.next() => match signal {
                // No new request is accepted, so a reload would have no effect.
                #[cfg(unix)]
                Signal::HangUp if options.clients.serves_many() => {}
                signal => {
                    bus.end();
                    // Processes that have not ended by then are left to the operating system.
                    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, drained).await;
                    return Ok(ServeEnd::Signalled(signal));
                }
            }
        }
    }
}

/// Compresses and removes segments of the journal from time to time.
async fn look_after(journal: Journal) {
    loop {
        let of_thread = journal.clone();
        let done = hookrail_spawn::run_blocking(move || of_thread.maintain()).await;
        if let Ok(Err(error)) = done {
            tracing::warn!(target: "hookrail::journal", %error, "the journal cannot be looked after");
        }
        for warning in journal.take_warnings() {
            tracing::warn!(target: "hookrail::journal", "{warning}");
        }
        tokio::time::sleep(MAINTENANCE_INTERVAL).await;
    }
}

fn report_opened(opened: std::result::Result<(), BusError>, manager: &ServiceManager) {
    match opened {
        Ok(()) => manager.ready("serving"),
        Err(error) => {
            tracing::error!(target: "hookrail::bus", reason = error.message, "the server's own project cannot be opened");
            manager.ready("serving; the server's own project cannot be opened");
        }
    }
}

/// The shortest time between the end of a reload and the next one, so that signals in quick succession leave the processors to the requests.
#[cfg(unix)]
const BETWEEN_RELOADS: Duration = Duration::from_millis(100);

/// Reloads on request, one after the other. Requests that come meanwhile are one request.
#[cfg(unix)]
struct Reloads(Arc<tokio::sync::Notify>);

#[cfg(unix)]
impl Reloads {
    /// Starts a task of its own: a module that hangs while it is loaded must not keep the server from ending.
    fn start(bus: Bus, manager: Arc<ServiceManager>) -> Self {
        let requested = Arc::new(tokio::sync::Notify::new());
        let requests = Arc::clone(&requested);
        tokio::spawn(async move {
            loop {
                requests.notified().await;
                manager.reloading();
                let reloaded = bus.reload().await;
                let status =
                    if reloaded.success { "serving" } else { "serving; a part of the configuration cannot be used" };
                manager.ready(status);
                tokio::time::sleep(BETWEEN_RELOADS).await;
            }
        });
        Self(requested)
    }

    /// What was written before this call is in force soon: the reload begins after it.
    fn request(&self) {
        self.0.notify_one();
    }
}

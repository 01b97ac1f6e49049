//! `hookrail serve`: the message bus, for one program on standard input and output, for several on a socket, or for other machines
//! as a worker.
//!
//! After the first signal the server finishes running requests and accepts no new ones; the second signal ends them.
//! SIGHUP to a server on a socket reloads.
//!
//! Nothing here waits for standard error: what is printed there goes through the log's queue.

mod clients;
mod ledger;
mod manager;
mod memory;
mod metrics;
mod settings;
#[cfg(feature = "fleet")]
mod worker;

use std::sync::Arc;
use std::time::Duration;

use hookrail_app::config::BusSettings;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::journal::{self, RecordDefault, survive_file_size_limit};
use hookrail_app::project::Project;
use hookrail_app::telemetry::CommandTelemetry;
use hookrail_bus::{Bus, BusError, BusOptions};
use hookrail_journal::{Journal, MAINTENANCE_INTERVAL};

use crate::args::ServeArgs;
use crate::exit::Exit;
use crate::interrupt::{Interrupts, Signal};
use crate::logging;
use crate::render;

use clients::ServedClients;
use manager::ServiceManager;
use settings::ServedRecording;

/// The threads that a server needs beside its first one: for standard input and output, its journal, its log, the watched files
/// and the configuration of a project.
const THREADS: usize = 6;

/// The time that hooks get to end after a second signal.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &ServeArgs) -> Result<Exit> {
    memory::return_large_blocks();
    let project = Project::open(&args.project)?;
    // Invalid options fail now, not at the first request.
    let builder = project.builder(&args.project)?;
    if !args.project.modules.is_empty() {
        Project::require_modules(&builder.build())?;
    }
    let configuration = project.configuration(&args.project);
    // Standard output belongs to the clients, so findings and panics go to standard error.
    logging::report_panics();
    let mut findings = configuration.findings();
    let telemetry = CommandTelemetry::start(&configuration.telemetry, &mut findings);
    logging::write_stderr(styled(&render::diagnostic::all(&findings, &project.places)));
    let configured = configuration.bus;
    let journal = crate::journal_warnings::started(journal::open(&configuration.journal, RecordDefault::On)?);
    let recording =
        ServedRecording { journal: journal.clone(), settings: configuration.journal, telemetry: telemetry.clone() };
    let settings = settings::settings(&project, args, configured, ledger::open_ledger(), recording);
    hookrail_spawn::require_threads(THREADS).map_err(|error| {
        Failure::new(format!("the server cannot start its threads: {error}"))
            .hint("raise the limit of processes: `ulimit -u`")
    })?;
    let runtime = hookrail_app::runtime::runtime()?;
    let exit = runtime.block_on(async {
        if let Some(journal) = &journal {
            survive_file_size_limit();
            tokio::spawn(look_after(journal.clone()));
        }
        serve(args, settings, configured, journal.clone()).await
    });
    if let Some(journal) = &journal {
        journal.finish_syncing();
    }
    // A thread that reads standard input cannot be stopped, and dropping the runtime would wait for it.
    runtime.shutdown_background();
    telemetry.finish();
    exit
}

/// Returns text for standard error, without styles if it is not a terminal.
fn styled(text: &str) -> String {
    if anstream::AutoStream::choice(&std::io::stderr()) == anstream::ColorChoice::Never {
        anstream::adapter::strip_str(text).to_string()
    } else {
        text.to_owned()
    }
}

async fn serve(
    args: &ServeArgs,
    settings: BusOptions,
    configured: BusSettings,
    journal: Option<Journal>,
) -> Result<Exit> {
    let mut interrupts = Interrupts::listen().map_err(|error| {
        Failure::new(format!("signals cannot be handled: {error}")).hint("the system may be out of file descriptors")
    })?;
    let manager = Arc::new(ServiceManager::from_environment());
    let bus = Bus::new(settings);
    if let Some(address) = args.metrics.or(configured.metrics) {
        metrics::serve_metrics(&bus, address, journal).await?;
    }
    tokio::spawn(memory::return_memory_when_idle(bus.clone()));
    let ServedClients { mut work, before_drain, after_drain } =
        clients::serve_clients(args, bus.clone(), configured).await?;
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
                Signal::HangUp if args.serves_many() => reloads.request(),
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
            served = &mut drained => return served.map(|()| Exit::Fine),
            signal = interrupts.next() => match signal {
                // No new request is accepted, so a reload would have no effect.
                #[cfg(unix)]
                Signal::HangUp if args.serves_many() => {}
                signal => {
                    bus.end();
                    // Processes that have not ended by then are left to the operating system.
                    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, drained).await;
                    return Ok(Exit::Signalled(signal.number()));
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

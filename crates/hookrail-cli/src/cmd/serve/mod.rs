//! `hookrail serve`: the message bus, for one program on standard input and output or for several on a socket.
//!
//! The first signal lets what runs finish and takes nothing new; the second ends it. SIGHUP to a server on a socket reloads.
//!
//! Nothing here waits for standard error: what is said there goes through the log's queue.

mod clients;
mod ledger;
mod manager;
mod memory;
mod metrics;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use hookrail_bus::{Bus, BusError, Settings};

use crate::args::ServeArgs;
use crate::config::BusSettings;
use crate::errors::{Exit, Failure, Result};
use crate::interrupt::{Interrupts, Signal};
use crate::logging;
use crate::project::Project;
use crate::render;

use manager::Manager;
pub(crate) use metrics::metrics_address;

/// How long hooks that were told to end are waited for after a second signal.
const LAST_WAIT: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &ServeArgs) -> Result<Exit> {
    memory::prepare();
    let project = Project::open(&args.project)?;
    // Options that describe no hook system are refused now, not at the first request.
    let builder = project.builder(&args.project)?;
    if !args.project.modules.is_empty() {
        Project::require_modules(&builder.build())?;
    }
    let configuration = project.configuration(&args.project);
    // Standard output belongs to the clients, and this is not theirs to know.
    logging::report_panics();
    logging::say(styled(&render::diagnostic::all(&configuration.findings(), &project.places)));
    let configured = configuration.bus;
    let settings = settings::settings(&project, args, configured, ledger::open_ledger());
    let runtime = super::runtime()?;
    let exit = runtime.block_on(serve(args, settings, configured));
    // Standard input may still be waited for by a thread that cannot be stopped.
    runtime.shutdown_background();
    exit
}

/// Text for standard error, with styles only where they are wanted.
fn styled(text: &str) -> String {
    if anstream::AutoStream::choice(&std::io::stderr()) == anstream::ColorChoice::Never {
        anstream::adapter::strip_str(text).to_string()
    } else {
        text.to_owned()
    }
}

async fn serve(args: &ServeArgs, settings: Settings, configured: BusSettings) -> Result<Exit> {
    let mut interrupts = Interrupts::listen().map_err(|error| {
        Failure::new(format!("signals cannot be handled: {error}")).hint("the system may be out of file descriptors")
    })?;
    let manager = Arc::new(Manager::of_environment());
    let bus = Bus::new(settings);
    if let Some(address) = args.metrics.or(configured.metrics) {
        metrics::offer_metrics(&bus, address).await?;
    }
    tokio::spawn(memory::give_back(bus.clone()));
    let work = clients::serve_clients(args, bus.clone(), configured.line)?;
    let mut work = std::pin::pin!(work);
    // Loaded now, so that what is wrong with it shows at once and the first request does not wait for it.
    let mut opening = std::pin::pin!(bus.open());
    let mut is_open = false;
    let served = loop {
        tokio::select! {
            served = &mut work => break Some(served),
            opened = &mut opening, if !is_open => {
                is_open = true;
                report_opened(opened, &manager);
            }
            signal = interrupts.next() => match signal {
                #[cfg(unix)]
                Signal::HangUp if args.socket.is_some() => {
                    // Beside everything else: a module that hangs while it is loaded must not keep the server from ending.
                    tokio::spawn(reload(bus.clone(), Arc::clone(&manager)));
                }
                _ => break None,
            },
        }
    };
    manager.stopping();
    // After the end of standard input everything is answered already, and the drain is only for what nobody waits for.
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
            None => tokio::join!(bus.drain(), work).1,
        }
    };
    let mut drained = std::pin::pin!(drained);
    loop {
        tokio::select! {
            served = &mut drained => return served.map(|()| Exit::Fine),
            signal = interrupts.next() => match signal {
                // Nothing new is asked, so nothing would be guarded by what is reloaded.
                #[cfg(unix)]
                Signal::HangUp if args.socket.is_some() => {}
                signal => {
                    bus.end();
                    // Whatever resists is left to the operating system.
                    let _ = tokio::time::timeout(LAST_WAIT, drained).await;
                    return Ok(Exit::Signalled(signal.number()));
                }
            }
        }
    }
}

fn report_opened(opened: std::result::Result<(), BusError>, manager: &Manager) {
    match opened {
        Ok(()) => manager.ready("serving"),
        Err(error) => {
            tracing::error!(target: "hookrail::bus", reason = error.message, "the server's own project cannot be opened");
            manager.ready("serving; the server's own project cannot be opened");
        }
    }
}

async fn reload(bus: Bus, manager: Arc<Manager>) {
    manager.reloading();
    let reloaded = bus.reload().await;
    manager.ready(if reloaded.success { "serving" } else { "serving; a part of the configuration cannot be used" });
}

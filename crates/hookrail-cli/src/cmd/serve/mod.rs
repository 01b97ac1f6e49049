//! `hookrail serve`: the message bus, for one program on standard input and output or for several on a socket.
//!
//! The first signal lets what runs finish and takes nothing new; the second ends it.

mod clients;
mod metrics;
mod settings;

use std::time::Duration;

use hookrail_bus::{Bus, Settings};

use crate::args::ServeArgs;
use crate::config::BusSettings;
use crate::errors::{Exit, Failure, Result};
use crate::interrupt::Interrupts;
use crate::project::Project;
use crate::render;

pub(crate) use metrics::metrics_address;

/// How long hooks that were told to end are waited for after a second signal.
const LAST_WAIT: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &ServeArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    // Options that describe no hook system are refused now, not at the first request.
    drop(project.builder(&args.project)?);
    let configuration = project.configuration(&args.project);
    // Standard output belongs to the clients, and this is not theirs to know.
    anstream::eprint!("{}", render::diagnostic::all(&configuration.findings(), &project.places));
    let configured = configuration.bus;
    let settings = settings::settings(&project, args, configured);
    let runtime = super::runtime()?;
    let exit = runtime.block_on(serve(args, settings, configured));
    // Standard input may still be waited for by a thread that cannot be stopped.
    runtime.shutdown_background();
    exit
}

async fn serve(args: &ServeArgs, settings: Settings, configured: BusSettings) -> Result<Exit> {
    let mut interrupts = Interrupts::listen().map_err(|error| {
        Failure::new(format!("the server cannot be made interruptible: {error}"))
            .hint("the system may be out of file descriptors")
    })?;
    let bus = Bus::new(settings);
    if let Some(address) = args.metrics.or(configured.metrics) {
        metrics::offer_metrics(&bus, address).await?;
    }
    let serving = bus.clone();
    let work = clients::serve_clients(args, serving, configured.line)?;
    let mut work = std::pin::pin!(work);
    let served = tokio::select! {
        () = &mut work => true,
        _ = interrupts.next() => false,
    };
    // After the end of standard input everything is answered already, and the drain is only for what nobody waits for.
    let drained = async {
        if served {
            bus.drain().await;
        } else {
            tokio::join!(bus.drain(), work);
        }
    };
    let mut drained = std::pin::pin!(drained);
    tokio::select! {
        () = &mut drained => Ok(Exit::Fine),
        number = interrupts.next() => {
            bus.end();
            // Whatever resists is left to the operating system.
            let _ = tokio::time::timeout(LAST_WAIT, drained).await;
            Ok(Exit::Signalled(number))
        }
    }
}

//! `hookrail serve`: the message bus, for one program on standard input and output or for several on a socket.
//!
//! The first signal lets what runs finish and takes nothing new; the second ends it.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use hookrail::{Builder, HookSystem, RunLedger};
use hookrail_bus::{Bus, MetricsServer, Settings, transport};

use crate::args::{ProjectArgs, ServeArgs};
use crate::config::BusSettings;
use crate::errors::{Exit, Failure, Result};
use crate::interrupt::Interrupts;
use crate::project::Project;
use crate::render;

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
    let ledger = ledger();
    let settings = settings(&project, args, configured, ledger);
    let runtime = super::runtime()?;
    let exit = runtime.block_on(serve(args, settings, configured));
    // Standard input may still be waited for by a thread that cannot be stopped.
    runtime.shutdown_background();
    exit
}

/// What is not said on the command line or in the user's configuration is as the bus has it by itself.
fn settings(project: &Project, args: &ServeArgs, configured: BusSettings, ledger: Option<RunLedger>) -> Settings {
    let (own, options) = (project.root().to_owned(), args.project.clone());
    let describe = move |directory: &Path| {
        let builder = describe(directory, directory == own, &options);
        match &ledger {
            Some(ledger) => builder.record_running_hooks(ledger),
            None => builder,
        }
    };
    let given = [
        (args.limit.or(configured.requests), Settings::limit as fn(Settings, usize) -> Settings),
        (args.in_flight.or(configured.in_flight), Settings::in_flight),
        (args.most_projects.or(configured.projects), Settings::most_projects),
        (configured.connections, Settings::most_connections),
        (configured.buffered, Settings::most_buffered),
        (configured.line, Settings::longest_line),
    ];
    let mut settings = Settings::new(project.root(), describe);
    for (number, set) in given {
        if let Some(number) = number {
            settings = set(settings, number);
        }
    }
    if let Some(patience) = configured.patience {
        settings = settings.patience(patience);
    }
    if let Ok(store) = Project::trust_store() {
        settings = settings.also_watch(store.path());
    }
    if args.no_watch || configured.watch == Some(false) { settings.without_watching() } else { settings }
}

/// The record of the hooks that run, after those were ended that a killed server has left. A server without a place for
/// it serves all the same.
fn ledger() -> Option<RunLedger> {
    let store = Project::trust_store().ok()?;
    let directory = store.path().parent()?.join("running");
    // Standard error may be closed, and that is no reason not to serve.
    let say = |text: String| drop(writeln!(std::io::stderr(), "{text}"));
    match RunLedger::open(&directory) {
        Ok((ledger, left)) => {
            if left.ended > 0 {
                say(format!("note: ended {} processes of hooks that a killed server had left running", left.ended));
            }
            Some(ledger)
        }
        Err(error) => {
            say(format!("warning: running hooks cannot be recorded in `{}`: {error}", directory.display()));
            None
        }
    }
}

/// The hooks of a project that a request names. What was said on the command line about trust and modules is about the
/// server's own project and no other.
fn describe(directory: &Path, is_own: bool, options: &ProjectArgs) -> Builder {
    let options = ProjectArgs {
        project: Some(directory.to_owned()),
        trust_project: options.trust_project && is_own,
        modules: if is_own { options.modules.clone() } else { Vec::new() },
        no_plugins: options.no_plugins,
    };
    let described = Project::open(&options).and_then(|project| project.builder(&options));
    // The directory was there a moment ago. If it cannot be read any more, there is nothing in it that could run.
    described.unwrap_or_else(|_| HookSystem::builder(directory).hooks_off("the project cannot be read"))
}

async fn serve(args: &ServeArgs, settings: Settings, configured: BusSettings) -> Result<Exit> {
    let mut interrupts = Interrupts::listen().map_err(|error| {
        Failure::new(format!("the server cannot be made interruptible: {error}"))
            .hint("the system may be out of file descriptors")
    })?;
    let bus = Bus::new(settings);
    if let Some(address) = args.metrics.or(configured.metrics) {
        offer_metrics(&bus, address).await?;
    }
    let serving = bus.clone();
    let work = serve_clients(args, serving, configured.line)?;
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

/// Serves until everybody is served.
fn serve_clients(args: &ServeArgs, bus: Bus, longest_line: Option<usize>) -> Result<impl Future<Output = ()>> {
    let listener = match &args.socket {
        None => {
            debug_assert!(args.stdio, "the parser wants one of the two");
            None
        }
        #[cfg(unix)]
        Some(path) => Some(transport::Listener::bind(path).map_err(|error| cannot_bind(&error))?),
        #[cfg(not(unix))]
        Some(_) => return Err(Failure::new("sockets are not supported on this system").hint("use `--stdio`")),
    };
    Ok(async move {
        match listener {
            None => {
                let lines = transport::stdio();
                bus.serve(match longest_line {
                    Some(bytes) => lines.limit(bytes),
                    None => lines,
                })
                .await;
            }
            #[cfg(unix)]
            Some(listener) => bus.listen(listener).await,
            #[cfg(not(unix))]
            Some(()) => {}
        }
    })
}

#[cfg(unix)]
fn cannot_bind(error: &transport::BindError) -> Failure {
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    let failure = Failure::new(format!("{error}{cause}"));
    match error {
        transport::BindError::InUse(_) => failure.hint("end the other server, or choose another path"),
        transport::BindError::NotASocket(_) => failure.hint("choose another path, or remove what is there"),
        _ => {
            failure.hint("the folder must exist and be writable, and a socket's path has at most about 100 characters")
        }
    }
}

async fn offer_metrics(bus: &Bus, address: SocketAddr) -> Result<()> {
    let server = MetricsServer::bind(address).await.map_err(|error| {
        Failure::new(format!("metrics cannot be offered at `{address}`: {error}"))
            .hint("choose another address, such as 127.0.0.1:0")
    })?;
    if let Ok(address) = server.address() {
        // Standard output belongs to the clients. This is how a script learns which port it was.
        eprintln!("metrics at http://{address}/metrics");
    }
    tokio::spawn(server.serve(bus.metrics()));
    Ok(())
}

/// An address, or a port on the loopback interface.
pub(crate) fn metrics_address(text: &str) -> std::result::Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    match (text.parse(), port.parse::<u16>()) {
        (Ok(address), _) => Ok(address),
        (_, Ok(port)) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        _ => Err("expected an address such as 127.0.0.1:9464, or a port of this machine".to_owned()),
    }
}

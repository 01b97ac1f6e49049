//! `hookrail serve`: the arguments of a server, and what it tells on standard error.
//!
//! Nothing here waits for standard error: what is printed there goes through the log's queue.

use hookrail_app::failure::Result;
use hookrail_app::serve::{ClientSource, Reloading, ServeEnd, ServeNotice, ServeOptions, ServedProject, serve};

use crate::args::ServeArgs;
use crate::cmd::exit::Exit;
use crate::{logging, output, render};

pub(crate) fn run(args: &ServeArgs) -> Result<Exit> {
    // Standard output belongs to the clients, so panics too go to standard error.
    logging::report_panics();
    Ok(match serve(&options(args), &tell)? {
        ServeEnd::Finished => Exit::Fine,
        ServeEnd::Signalled(signal) => Exit::Signalled(signal.number()),
    })
}

fn options(args: &ServeArgs) -> ServeOptions {
    let project = ServedProject {
        directory: args.project.project.clone(),
        trust_project: args.project.trust_project,
        modules: args.project.modules.clone(),
        no_plugins: args.project.no_plugins,
    };
    ServeOptions {
        clients: clients(args),
        limit: args.limit,
        in_flight: args.in_flight,
        most_projects: args.most_projects,
        reloading: if args.no_watch { Reloading::OnRequest } else { Reloading::WhenFilesChange },
        metrics: args.metrics,
        project,
    }
}

/// The parser requires one of the three, and allows no two.
fn clients(args: &ServeArgs) -> ClientSource {
    #[cfg(feature = "fleet")]
    if let Some(group) = &args.group {
        return ClientSource::Group(hookrail_app::serve::WorkerOptions {
            group: group.clone(),
            servers: args.nats.clone(),
            member: args.member.clone(),
        });
    }
    args.socket.clone().map_or(ClientSource::StandardStreams, ClientSource::Socket)
}

fn tell(notice: ServeNotice<'_>) {
    match notice {
        ServeNotice::Findings { findings, places } => {
            logging::write_stderr(styled(&render::diagnostic::all(findings, places)));
        }
        ServeNotice::NothingRecorded(warning) => output::warnings(&format!("warning: {warning}\n")),
        ServeNotice::LeftoversEnded(ended) => {
            let processes = if ended == 1 { "process" } else { "processes" };
            let text = format!("note: ended {ended} {processes} of hooks that a killed server had left running\n");
            logging::write_stderr(text);
        }
        ServeNotice::LedgerUnusable { directory, error } => {
            let directory = directory.display();
            logging::write_stderr(format!("warning: running hooks cannot be recorded in `{directory}`: {error}\n"));
        }
        ServeNotice::TelemetryLost(lost) => logging::write_stderr(format!("warning: {lost}\n")),
        ServeNotice::Metrics(address) => logging::write_stderr(format!("metrics at http://{address}/metrics\n")),
        #[cfg(feature = "fleet")]
        ServeNotice::Answering { group, tenant } => {
            logging::write_stderr(format!("answering group `{group}` of tenant `{tenant}`\n"));
        }
    }
}

/// Returns text for standard error, without styles if it is not a terminal.
fn styled(text: &str) -> String {
    if anstream::AutoStream::choice(&std::io::stderr()) == anstream::ColorChoice::Never {
        anstream::adapter::strip_str(text).to_string()
    } else {
        text.to_owned()
    }
}

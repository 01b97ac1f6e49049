//! The arguments of `serve` and `reload`.

use std::path::PathBuf;

use clap::Args;

use super::{ProjectArgs, at_least_one};
use crate::logging::LogFormat;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Serve one client on standard input and output
    #[cfg_attr(not(feature = "fleet"), arg(long, required_unless_present = "socket", conflicts_with = "socket"))]
    #[cfg_attr(
        feature = "fleet",
        arg(long, required_unless_present_any = ["socket", "nats"], conflicts_with_all = ["socket", "nats"])
    )]
    pub(crate) stdio: bool,
    /// Serve the clients of a Unix socket that only this user can use; if the service manager passes
    /// the socket, it is used as it is
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Answer remote hooks of other machines over the NATS servers at these addresses, as a worker of a group; requests
    /// beyond `--limit` are refused at once, so that another worker is asked
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "URL", value_delimiter = ',', requires = "group", conflicts_with = "socket")]
    pub(crate) nats: Vec<hookrail_fleet::nats::NatsServer>,
    /// The group that the worker belongs to
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "NAME", value_parser = hookrail::remote::GroupName::new, requires = "nats")]
    pub(crate) group: Option<hookrail::remote::GroupName>,
    /// The file with the worker's tenant, name and key [default: the configuration that remote hooks are asked with]
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "FILE", requires = "nats")]
    pub(crate) member: Option<PathBuf>,
    /// Run at most N requests at once; further requests wait, and sessions take turns [default: 64]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// Let at most N messages of one client wait for their answer before the server reads no more
    /// [default: 1024]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) in_flight: Option<usize>,
    /// Keep at most N projects open [default: 32]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) most_projects: Option<usize>,
    /// Do not reload the configuration when its files change; a change of the user's grants still reloads it
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// The form of the log on standard error
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) log_format: LogFormat,
    /// Serve Prometheus metrics, `/healthz` and `/readyz` at an address, or at a port of the
    /// loopback interface
    #[arg(long, value_name = "ADDR", value_parser = hookrail_app::config::metrics_address)]
    pub(crate) metrics: Option<std::net::SocketAddr>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReloadArgs {
    /// The server's socket [default: $XDG_RUNTIME_DIR/hookrail.sock]
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
}

//! The arguments of `fleet`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use hookrail_fleet::manifest::Name;
use hookrail_fleet::nats::MemberPublicKey;
use hookrail_fleet::servers::PlannedServer;

use super::BundleScopeArgs;

#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Write a configuration for servers of NATS, with the keys of an administrator, a publisher and an auditor
    ///
    /// Exit status: 0 written, 1 nothing was written.
    Init(FleetInitArgs),
    /// Create the streams of a tenant on running servers
    ///
    /// Streams that exist are brought to the form that is needed.
    ///
    /// Exit status: 0 they are there, 1 failed.
    Setup(FleetSetupArgs),
    /// Make the key of this machine, or replace it, and print what the servers have to know
    ///
    /// Exit status: 0 made, 1 nothing was written.
    #[command(visible_alias = "enrol")]
    Enroll(FleetEnrollArgs),
    /// Admit a member to a tenant: the servers accept its key once they have read their configuration again
    ///
    /// Exit status: 0 admitted, 1 nothing was changed.
    Admit(FleetAdmitArgs),
    /// Remove a member of a tenant
    ///
    /// Exit status: 0 removed, 1 nothing was changed.
    Revoke(FleetRevokeArgs),
    /// Ship the journal to the servers
    ///
    /// Each record is stored once, however often shipping is interrupted. No hook waits for it.
    ///
    /// Exit status: 0 everything is stored, or a signal ended `--follow`, 1 failed, 2 an alarm: the journal and the stream contradict each other.
    Ship(FleetShipArgs),
    /// Verify the records of every machine of a tenant, from the servers alone
    ///
    /// Exit status: 0 every record holds, 1 failed, 2 something is wrong with a machine or with the stream.
    Verify(FleetVerifyArgs),
    /// Wait for announcements of bundles, and put the newest one in force
    ///
    /// For the system layer this needs root. A forged announcement changes nothing, because every bundle is verified.
    ///
    /// Exit status: 0 ended by a signal, 1 failed.
    Watch(FleetWatchArgs),
    /// Show how far the journal was shipped, and whether the servers can be reached
    ///
    /// Exit status: 0 the servers can be reached and the backlog is within its limit, 1 not.
    Status(FleetStatusArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FleetInitArgs {
    /// The new folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// A server (once, three times or five times)
    #[arg(long = "server", value_name = "NAME=HOST:PORT", required = true, value_parser = server)]
    pub(crate) servers: Vec<PlannedServer>,
    /// A tenant (repeatable); each has an account of its own
    #[arg(long = "tenant", value_name = "NAME", required = true)]
    pub(crate) tenants: Vec<Name>,
    /// The folder in which each server keeps its streams
    #[arg(long, value_name = "DIR", default_value = "/var/lib/nats")]
    pub(crate) store: PathBuf,
    /// The folder with ca.pem, and NAME.pem and NAME-key.pem of each server; needed unless all are on this machine
    #[arg(long, value_name = "DIR")]
    pub(crate) tls: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetSetupArgs {
    /// The file of the tenant's administrator
    #[arg(long, value_name = "FILE")]
    pub(crate) member: PathBuf,
    /// A channel that bundles are published in (repeatable)
    #[arg(long = "channel", value_name = "NAME", default_value = "stable")]
    pub(crate) channels: Vec<Name>,
    /// The number of servers that keep each message [default: 3, or 1 if there are fewer servers]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) replicas: Option<u8>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetEnrollArgs {
    #[command(flatten)]
    pub(crate) of: FleetMemberArgs,
    /// The channel that a member with `--member` may read
    #[arg(long, value_name = "NAME", default_value = "stable")]
    pub(crate) channel: Name,
    /// Replace the key. The old one signs that, so that `fleet verify` accepts the new one
    #[arg(long)]
    pub(crate) rotate: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetAdmitArgs {
    /// The folder that `fleet init` wrote
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Name,
    /// The name of the member; that of a machine is printed by `fleet enroll`
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Name,
    /// The public key that `fleet enroll` printed
    #[arg(long, value_name = "KEY")]
    pub(crate) key: MemberPublicKey,
    /// The public key of its checkpoints that `fleet enroll` printed
    #[arg(long, value_name = "KEY")]
    pub(crate) signing_key: Option<MemberPublicKey>,
    /// What the member may do
    #[arg(long, value_enum, default_value_t = FleetRoleArg::Machine)]
    pub(crate) role: FleetRoleArg,
    /// The channel that a machine follows
    #[arg(long, value_name = "NAME", default_value = "stable")]
    pub(crate) channel: Name,
    /// The group that a worker answers for
    #[arg(long, value_name = "NAME", default_value = "guards")]
    pub(crate) group: Name,
    /// Replace the key of a member of the same name
    #[arg(long)]
    pub(crate) replace: bool,
}

/// What a member may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FleetRoleArg {
    /// Ship its own records, follow one channel, ask workers
    Machine,
    /// Answer what machines ask
    Worker,
    /// Store bundles and announce them
    Publisher,
    /// Read the records of all machines
    Auditor,
}

#[derive(Debug, Args)]
pub(crate) struct FleetRevokeArgs {
    /// The folder that `fleet init` wrote
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Name,
    /// The name of the member
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Name,
}

#[derive(Debug, Args)]
pub(crate) struct FleetShipArgs {
    #[command(flatten)]
    pub(crate) of: FleetMemberArgs,
    /// Go on with what is recorded later
    #[arg(long)]
    pub(crate) follow: bool,
    /// With `--follow`, the time between two looks at the journal
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) interval: Duration,
    /// Without `--follow`, how long servers that cannot be reached are tried again
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub(crate) patience: Duration,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetVerifyArgs {
    /// The file of an auditor
    #[arg(long, value_name = "FILE")]
    pub(crate) member: PathBuf,
    /// Take the keys of machines from the folder that `fleet init` wrote [default: the key of a machine's first slice counts]
    #[arg(long, value_name = "DIR")]
    pub(crate) fleet: Option<PathBuf>,
    /// Verify one machine only
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// Report machines that have shipped nothing for so long
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) silence: Option<Duration>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetWatchArgs {
    #[command(flatten)]
    pub(crate) scope: BundleScopeArgs,
    /// The longest time between an announcement and the look for the bundle; each machine waits for another part of it
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    pub(crate) jitter: Duration,
    /// The longest time between two looks without an announcement
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub(crate) interval: Duration,
    /// Print a JSON document for each look
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetStatusArgs {
    #[command(flatten)]
    pub(crate) of: FleetMemberArgs,
    /// Do not connect to the servers
    #[arg(long)]
    pub(crate) offline: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Who connects.
#[derive(Debug, Args)]
pub(crate) struct FleetMemberArgs {
    /// A file with `tenant`, `member` and `[nats]`, for a journal that is not the machine's [default: the enrolment]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scope", "root"])]
    pub(crate) member: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scope: BundleScopeArgs,
}

fn duration(text: &str) -> Result<Duration, String> {
    hookrail_fleet::parse_duration(text).ok_or_else(|| "expected a duration such as 30s, 5m or 7d".to_owned())
}

fn server(text: &str) -> Result<PlannedServer, String> {
    text.parse().map_err(|error: hookrail_fleet::servers::PlanError| error.to_string())
}

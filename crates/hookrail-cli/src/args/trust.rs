//! The arguments of `trust`.

use clap::{Args, Subcommand};
use hookrail::module::Capabilities;

use super::{ProjectArgs, names};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TrustCommand>,
    #[command(flatten)]
    pub(crate) status: TrustStatusArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// Show what is trusted (the default)
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Status(TrustStatusArgs),
    /// Show what has changed since it was granted
    ///
    /// Exit status: 0 no hook that could run is new or has changed, 1 a hook is new or has changed, or the command failed.
    Diff(TrustDiffArgs),
    /// Trust the project and its hooks as they are now
    ///
    /// Exit status: 0 granted or nothing to grant, 1 nothing was granted.
    Grant(TrustGrantArgs),
    /// Revoke trust in the project or in some of its hooks
    ///
    /// Exit status: 0 revoked or nothing to revoke, 1 nothing was revoked.
    Revoke(TrustRevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TrustStatusArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TrustDiffArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TrustGrantArgs {
    /// Names of hooks [default: all hooks of the project]
    #[arg(value_name = "HOOK", add = names::hooks())]
    pub(crate) names: Vec<String>,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Limit modules to these capabilities, separated by commas: read, write, run (everything you can do), network, env,
    /// and with a scope read:src/**, write:out/**, network:api.example.com, env:NAME
    #[arg(long, value_name = "CAPABILITIES", value_delimiter = ',', value_parser = capability)]
    pub(crate) allow: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TrustRevokeArgs {
    /// Names of hooks [default: the project and all its hooks]
    #[arg(value_name = "HOOK", add = names::hooks())]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

fn capability(text: &str) -> Result<String, String> {
    match Capabilities::parse([text]) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.problem.to_string()),
    }
}

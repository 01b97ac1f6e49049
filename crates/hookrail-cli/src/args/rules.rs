//! The arguments of `rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{AddArgs, ProjectArgs};

#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RulesCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// List the rules of all layers
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    List(RulesListArgs),
    /// Check that every rule can be used
    ///
    /// Exit status: 0 each can, 1 at least one cannot.
    Check(RulesListArgs),
    /// Try the examples of every rule
    ///
    /// Exit status: 0 all hold, 1 at least one does not.
    Test(RulesListArgs),
    /// Show the lines about which two files of rules answer differently
    ///
    /// Exit status: 0 no answer differs, 2 one differs, 1 the command itself failed.
    Diff(RulesDiffArgs),
    /// Write ready rules; the same as `hookrail add`
    ///
    /// Exit status: 0 added or listed, 1 nothing was written.
    Add(AddArgs),
}

#[derive(Debug, Default, Args)]
pub(crate) struct RulesListArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RulesDiffArgs {
    /// The rules before
    #[arg(value_name = "OLD", value_hint = clap::ValueHint::FilePath)]
    pub(crate) old: PathBuf,
    /// The rules after
    #[arg(value_name = "NEW", value_hint = clap::ValueHint::FilePath)]
    pub(crate) new: PathBuf,
    /// A file with a shell line on each line; `-` is standard input
    #[arg(long, value_name = "FILE|-", value_hint = clap::ValueHint::FilePath)]
    pub(crate) lines: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

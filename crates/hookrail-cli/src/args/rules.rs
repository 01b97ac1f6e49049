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
    /// Check that every rule can be used, and name those without effect
    ///
    /// A rule has no effect if it can never match, or if another one of its file is as strict wherever it matches. The first 200
    /// are compared.
    ///
    /// Exit status: 0 each can be used, 1 at least one cannot.
    Check(RulesListArgs),
    /// Try the examples of every rule
    ///
    /// Examples are on no machine: the project is `/w/project` and the home folder `/home/u`.
    ///
    /// Exit status: 0 all hold, 1 at least one does not.
    Test(RulesListArgs),
    /// Show the calls about which two files of rules answer differently
    ///
    /// The calls are those of the journal, or the lines of a file.
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
    /// A file with a shell line on each line; `-` is standard input [default: the calls of the journal]
    #[arg(long, value_name = "FILE|-", value_hint = clap::ValueHint::FilePath, conflicts_with = "since")]
    pub(crate) lines: Option<PathBuf>,
    /// Only calls since then: a time in UTC, or an age such as `2h`
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

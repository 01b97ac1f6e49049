//! The arguments of the commands that test hooks.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{SelectArgs, at_least_one};

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Case files, or folders with case files [default: the project]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Run only cases that fit: a part of the file or the name, a glob or a regular expression, behind `name:`, `file:`,
    /// `event:` or `hook:` for that part alone, behind `!` to leave cases out (repeatable)
    #[arg(long, short = 'E', value_name = "FILTER", allow_hyphen_values = true)]
    pub(crate) filter: Vec<String>,
    /// The number of cases that run at once [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = at_least_one)]
    pub(crate) jobs: Option<usize>,
    /// The form of the results
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: TestFormat,
    /// Store the outcomes of cases with `snapshot` that differ from the stored ones
    #[arg(long)]
    pub(crate) accept: bool,
    /// Start no further case after the first one that fails
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Run the cases again whenever a case file or a hook changes, until Ctrl-C
    #[arg(long, short)]
    pub(crate) watch: bool,
    /// List the cases and run none
    #[arg(long, conflicts_with_all = ["watch", "accept"])]
    pub(crate) list: bool,
    /// The project's directory [default: the nearest project above each case file]
    #[arg(long, value_name = "DIR", help_heading = "Project")]
    pub(crate) project: Option<PathBuf>,
    /// Run everything that the cases and the hooks of the project contain, for this one invocation
    #[arg(long, help_heading = "Project")]
    pub(crate) trust_project: bool,
}

/// The forms in which `test` prints its results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people: a line for each case, the failures, and a summary
    #[default]
    #[value(alias = "text")]
    Pretty,
    /// One JSON document
    Json,
    /// The XML form of JUnit
    Junit,
    /// As `pretty`, with workflow commands that GitHub shows beside the cases
    Github,
}

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The case file to add to; without it the cases are printed
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Take at most the last N events
    #[arg(long, short = 'n', value_name = "N", value_parser = at_least_one, conflicts_with = "follow")]
    pub(crate) last: Option<usize>,
    /// Take the events that are recorded from now on, until Ctrl-C or `--count`
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// End after N cases
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "follow")]
    pub(crate) count: Option<usize>,
    /// The project's directory [default: found upwards from the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

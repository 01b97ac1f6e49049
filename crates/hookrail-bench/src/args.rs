//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Measures hookrail against the minimum that the machine allows (the floor) and against its peers
#[derive(Debug, Parser)]
#[command(name = "hookrail-bench", version, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: BenchCommand,
}

const EXAMPLES: &str = "\
Examples:
  hookrail-bench list                                   what can be measured
  hookrail-bench run --quick --case one-tiny            one case, a few seconds
  hookrail-bench run --json results.json                everything, about ten minutes
  hookrail-bench table results.json                     every time, as Markdown
  hookrail-bench table results.json --into docs/evidence/performance.md";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Run the benchmark
    Run(RunArgs),
    /// List every case
    List,
    /// Print the tables of a measurement as Markdown
    Table(ViewArgs),
    /// Run as a process that appends to a journal
    #[command(hide = true)]
    Append {
        /// The folder of the journal
        folder: PathBuf,
        /// Append bytes under a lock instead of records
        #[arg(long)]
        bare: bool,
    },
    /// Run as a worker hook
    #[command(hide = true)]
    Worker,
    /// Run as a host that `run` drives
    #[command(hide = true)]
    Probe {
        /// The kind of host, as JSON
        host: String,
    },
}

/// How to measure.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Measure only this case; a name that ends with `*` selects every case that begins so. May be given several times
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// Run at most this many rounds of each case
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub rounds: usize,
    /// Run each case for at most about this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 8.0)]
    pub seconds: f64,
    /// Run quickly: at most 1.5 seconds for each case, and small numbers where memory is filled
    #[arg(long)]
    pub quick: bool,
    /// Write the raw data to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Do not ask for real-time priority
    #[arg(long)]
    pub no_realtime: bool,
    /// Leave out peers that are not installed, instead of installing them
    #[arg(long)]
    pub no_install: bool,
}

/// What to show.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// The raw data of a run
    pub file: PathBuf,
    /// Put the targets between the marks of this page, instead of printing every time
    #[arg(long, value_name = "FILE")]
    pub into: Option<PathBuf>,
}

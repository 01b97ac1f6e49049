//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Measures hookrail against the floor of the machine and against its peers.
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
  hookrail-bench table results.json                     the tables, as Markdown
  hookrail-bench table results.json --into docs/performance.md
  hookrail-bench chart results.json --into docs/performance/chart.svg";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure.
    Run(RunArgs),
    /// Name every case.
    List,
    /// Print the tables of a measurement as Markdown.
    Table(ViewArgs),
    /// Draw a measurement as SVG.
    Chart(ViewArgs),
    /// Be a hook that stays.
    #[command(hide = true)]
    Worker,
    /// Be a host that `run` drives.
    #[command(hide = true)]
    Probe {
        /// What kind of host, as JSON.
        host: String,
    },
}

/// How to measure.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Measure only this case; a name that ends with `*` stands for all that begin so. May be given several times.
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// At most this many rounds of each case.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub rounds: usize,
    /// At most about this many seconds for each case.
    #[arg(long, value_name = "SECONDS", default_value_t = 8.0)]
    pub seconds: f64,
    /// A short look: at most 1.5 seconds for each case, and small numbers where memory is filled.
    #[arg(long)]
    pub quick: bool,
    /// Write the raw data here.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Do not ask for real-time priority.
    #[arg(long)]
    pub no_realtime: bool,
    /// Leave out peers that are not installed yet, instead of installing them.
    #[arg(long)]
    pub no_install: bool,
}

/// What to show.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// The raw data of a run.
    pub file: PathBuf,
    /// Write it here instead of printing it. The tables replace what stands between the marks in a Markdown file.
    #[arg(long, value_name = "FILE")]
    pub into: Option<PathBuf>,
}

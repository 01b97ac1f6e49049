//! The arguments of `inspect`.

use std::path::PathBuf;

use clap::Args;

use super::{ProjectArgs, at_least_one};

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Serve the page at this port of 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Do not open a browser; without a terminal none is opened
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Let the page fire events, which runs the hooks of this project
    #[arg(long, conflicts_with = "export")]
    pub(crate) allow_run: bool,
    /// Write one file that can be sent and needs no server, and end
    #[arg(long, value_name = "FILE.html")]
    pub(crate) export: Option<PathBuf>,
    /// Show at most the last N records [default: 100000, exported: 5000]
    #[arg(long, short = 'n', value_name = "N", value_parser = at_least_one)]
    pub(crate) last: Option<usize>,
    /// Show only records of this time on: `90s`, `30m`, `2h`, `1d`, `1w`, or a time such as `2026-11-16`
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

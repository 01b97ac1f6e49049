//! The arguments of `accesses`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct AccessesArgs {
    /// The shell line
    #[arg(value_name = "LINE", required_unless_present = "line_from", conflicts_with = "line_from")]
    pub(crate) line: Option<OsString>,
    /// Read the line from a file; `-` is standard input
    #[arg(long, value_name = "FILE|-", value_hint = clap::ValueHint::FilePath)]
    pub(crate) line_from: Option<PathBuf>,
    /// The project's directory, which need not exist [default: found upwards from the working directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    /// The working directory of the line [default: the current directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// The home directory [default: the user's]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

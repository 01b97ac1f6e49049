//! `hookrail completions`: a script that completes this command's arguments.

use clap::CommandFactory as _;

use crate::args::{Cli, CompletionsArgs};
use crate::errors::{Exit, Result};
use crate::output;

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hookrail", &mut script);
    output::text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}

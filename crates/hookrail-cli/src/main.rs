//! The `hookrail` command.
//!
//! This file only puts the parts together: arguments, log, command, exit status. Whatever a library user could need
//! belongs in the engine.

#![forbid(unsafe_code)]

mod args;
mod cmd;
mod config;
mod errors;
mod interrupt;
mod logging;
mod output;
mod progress;
mod project;
mod project_search;
mod render;
mod request;
mod style;

use std::process::ExitCode;

use args::Cli;
use errors::Exit;

fn main() -> ExitCode {
    let cli = match Cli::given() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    logging::start(cli.log_options());
    let exit = match cmd::run(cli.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.report();
            Exit::Failed.into()
        }
    };
    logging::finish();
    exit
}

/// Help and version are answers; everything else the parser says is a failure of the command, which is status 1
/// here because 2 means that hooks blocked the event.
fn usage(error: &clap::Error) -> ExitCode {
    // There is nobody left to tell when this cannot be written.
    let _ = error.print();
    if error.use_stderr() { Exit::Failed.into() } else { ExitCode::SUCCESS }
}

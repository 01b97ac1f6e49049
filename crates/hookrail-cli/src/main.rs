//! The `hookrail` command.
//!
//! This file only connects the parts: arguments, log, command, exit status. Code that a library user could need belongs
//! in the engine.

#![forbid(unsafe_code)]

mod args;
mod cmd;
mod logging;
mod output;
mod render;
mod signals;

use std::process::ExitCode;

use args::{Cli, ColorWhen};
use cmd::exit::Exit;

fn main() -> ExitCode {
    let given = Vec::from_iter(std::env::args_os());
    if let Some(exit) = cmd::completions::answer(&given) {
        return exit.into();
    }
    if let Some(exit) = cmd::post_event::answer(&given) {
        return exit.into();
    }
    let cli = match Cli::parse_arguments(&given) {
        Ok(cli) => cli,
        Err(error) => {
            ColorWhen::find(&given).apply();
            return print_usage(&error);
        }
    };
    cli.global.color.apply();
    render::verbosity::choose(cli.global.verbosity());
    logging::start(cli.log_options());
    let exit = match cmd::run(cli.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::failure(&failure);
            Exit::Failed.into()
        }
    };
    logging::finish();
    exit
}

/// Prints what the parser returned instead of arguments. Help and version are successes. A usage error has status 1,
/// not clap's 2, because 2 means that hooks blocked the event. The bridge blocks: an agent that calls it with options of
/// another version would take any other status for a permission.
fn print_usage(error: &clap::Error) -> ExitCode {
    if let Some(failure) = args::features::missing_feature(error) {
        output::failure(&failure);
        return Exit::Failed.into();
    }
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        output::errors(&text);
    } else {
        // A help text that cannot be written has no other reader.
        let _ = output::text(&text);
    }
    match error.use_stderr() {
        true if cmd::bridge::deny_misuse(&std::env::args().collect::<Vec<_>>()) => Exit::Blocked.into(),
        true => Exit::Failed.into(),
        false => ExitCode::SUCCESS,
    }
}

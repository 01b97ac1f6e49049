//! `hookrail completions`: a script by which a shell asks this program for what fits, and the answer to such a question.
//!
//! The shell calls `hookrail -- WORDS` with the variable [`VARIABLE`]. No command line begins with `--` otherwise, so the variable
//! alone changes nothing: an agent that has it in its environment still gets the verdict of its hooks.

use std::ffi::OsString;
use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::env::Shells;
use hookrail_app::failure::{Failure, Result};

use crate::args::{Cli, CompletionsArgs};
use crate::cmd::exit::Exit;
use crate::output;

/// The variable that names the shell which asks.
const VARIABLE: &str = "HOOKRAIL_COMPLETE";

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit> {
    let shell = args.shell.to_string();
    let unknown =
        || Failure::new(format!("there is no completion for {shell}")).hint("see `hookrail completions --help`");
    let shells = Shells::builtins();
    let completer = shells.completer(&shell).ok_or_else(unknown)?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "hookrail", "hookrail", "hookrail", &mut script).map_err(|_| unknown())?;
    output::verbatim(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}

/// Answers a shell that asks what fits; none if no shell asks.
pub(crate) fn answer(given: &[OsString]) -> Option<Exit> {
    let (first, words) = given.get(1..)?.split_first()?;
    if first != "--" {
        return None;
    }
    let shell = std::env::var(VARIABLE).ok()?;
    let shells = Shells::builtins();
    let completer = shells.completer(&shell)?;
    let mut command = Cli::command();
    command.build();
    let mut found = Vec::new();
    let here = std::env::current_dir().ok();
    completer.write_complete(&mut command, words.to_vec(), here.as_deref(), &mut found).ok()?;
    // A shell that does not read the answer any more needs none.
    let _ = std::io::stdout().write_all(&found);
    Some(Exit::Fine)
}

//! A small parser for `fire`, the command that agents wait for before every tool call. It does not build the
//! descriptions of all other commands.
//!
//! Command lines that it cannot read, such as `--help` and usage errors, go to the whole parser, which alone prints
//! something.

use std::ffi::{OsStr, OsString};

use clap::{Parser, Subcommand};

use super::{Cli, Command, FireCommand};

#[derive(Debug, Parser)]
struct QuickCli {
    #[command(subcommand)]
    command: QuickCommand,
}

#[derive(Debug, Subcommand)]
enum QuickCommand {
    Fire(FireCommand),
}

/// Parses the command line if it is a well-formed `fire`.
pub(super) fn parse(given: &[OsString]) -> Option<Cli> {
    if given.get(1).map(OsString::as_os_str) != Some(OsStr::new("fire")) {
        return None;
    }
    let QuickCli { command: QuickCommand::Fire(args) } = QuickCli::try_parse_from(given).ok()?;
    Some(Cli { command: Command::Fire(args) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("hookrail").chain(line.split_whitespace()).map(OsString::from).collect()
    }

    #[test]
    fn a_well_formed_fire_is_read_as_the_whole_parser_reads_it() {
        for line in [
            "fire BeforeTool",
            "fire BeforeTool --tool write_file --tool-input {} --trust-project --project /p --json",
            "fire --json --payload=- --dialect xcsh --dialect llxprt -- tool_call",
            "fire SessionStart --hook a.ts --extension b.ts --no-plugins --no-hooks --plugin-debug",
            "fire BeforeTool --journal",
            "fire x --prompt p --session-id s --transcript t --tool-response {}",
        ] {
            let given = words(line);
            let whole = Cli::try_parse_from(&given).unwrap();
            assert_eq!(format!("{:?}", parse(&given).unwrap()), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_whole_parser() {
        for line in [
            "",
            "--version",
            "help fire",
            "list",
            "explain BeforeTool",
            "fire",
            "fire --help",
            "fire BeforeTool -h",
            "fire BeforeTool --version",
            "fire BeforeTool --nonsense",
            "fire BeforeTool --dialect none",
            "fire BeforeTool --json --json",
            "fire BeforeTool more",
        ] {
            assert!(parse(&words(line)).is_none(), "{line}");
        }
    }
}

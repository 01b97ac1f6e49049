//! A small parser for `fire` and `bridge`, the commands that agents wait for before every tool call, and for the question for the
//! version. It does not build the descriptions of all other commands.
//!
//! Command lines that it cannot read, such as `--help` and usage errors, go to the whole parser, which alone prints
//! something.

use std::ffi::{OsStr, OsString};

use clap::{Parser, Subcommand};

use super::{BridgeArgs, Cli, Command, FireCommand, GlobalArgs};

/// A command line with one command.
#[derive(Debug, Parser)]
struct QuickCli<C: Subcommand> {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: C,
}

#[derive(Debug, Subcommand)]
enum Fire {
    Fire(Box<FireCommand>),
}

#[derive(Debug, Subcommand)]
enum Bridge {
    Bridge(BridgeArgs),
}

/// Parses the command line if it is a well-formed `fire` or `bridge`.
pub(super) fn parse(given: &[OsString]) -> Option<Cli> {
    let name = given.get(1)?.as_os_str();
    if name == OsStr::new("fire") {
        let QuickCli { global, command: Fire::Fire(args) } = QuickCli::try_parse_from(given).ok()?;
        Some(Cli { global, command: Command::Fire(*args) })
    } else if name == OsStr::new("bridge") {
        let QuickCli { global, command: Bridge::Bridge(args) } = QuickCli::try_parse_from(given).ok()?;
        Some(Cli { global, command: Command::Bridge(args) })
    } else {
        None
    }
}

/// Returns what answers the question for the version, if nothing else is asked for.
pub(super) fn version(given: &[OsString]) -> Option<clap::Error> {
    let [_, asked] = given else { return None };
    let is_asked = asked == "--version" || asked == "-V";
    let command = || clap::Command::new("hookrail").version(env!("CARGO_PKG_VERSION"));
    is_asked.then(|| command().try_get_matches_from(given).err()).flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("hookrail").chain(line.split_whitespace()).map(OsString::from).collect()
    }

    #[test]
    fn a_well_formed_command_is_read_as_the_whole_parser_reads_it() {
        for line in [
            "fire BeforeTool",
            "fire BeforeTool --tool write_file --tool-input {} --trust-project --project /p --json",
            "fire --json --payload=- --dialect xcsh --dialect llxprt -- tool_call",
            "fire SessionStart --hook a.ts --extension b.ts --no-plugins --no-hooks --plugin-debug",
            "fire BeforeTool --journal",
            "fire BeforeTool -v --color never",
            "fire BeforeTool -vv",
            "fire BeforeTool --quiet --color=always",
            "fire x --prompt p --session-id s --transcript t --tool-response {}",
            "bridge claude",
            "bridge copilot --event preToolUse --deadline 100 --attended --strict-trust --noisy --alone",
        ] {
            let given = words(line);
            let whole = Cli::try_parse_from(&given).unwrap();
            assert_eq!(format!("{:?}", parse(&given).unwrap()), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn the_version_is_answered_as_the_whole_parser_answers_it() {
        for line in ["--version", "-V"] {
            let (quick, whole) = (version(&words(line)).unwrap(), Cli::try_parse_from(words(line)).unwrap_err());
            assert_eq!((quick.kind(), quick.to_string()), (whole.kind(), whole.to_string()), "{line}");
        }
        for line in ["", "--help", "fire", "--version list", "-v --version", "version"] {
            assert!(version(&words(line)).is_none(), "{line}");
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
            "fire BeforeTool -q -v",
            "fire BeforeTool --color sometimes",
            "-v fire BeforeTool",
            "bridge",
            "bridge claude --help",
            "bridge unknown",
        ] {
            assert!(parse(&words(line)).is_none(), "{line}");
        }
    }
}

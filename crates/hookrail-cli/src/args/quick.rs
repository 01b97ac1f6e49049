//! A parser that knows only the command that is called, and the question for the version. Agents wait for `fire` and `bridge`
//! before every tool call, and to describe all other commands takes longer than to read a line.
//!
//! Command lines that it cannot read, such as `--help` and usage errors, go to the whole parser, which alone prints
//! something.

use std::ffi::OsString;

use clap::{ArgMatches, Args, FromArgMatches};

use super::{Cli, Command, GlobalArgs};

/// A command as this parser knows it.
struct QuickCommand {
    name: &'static str,
    /// Adds its arguments.
    describe: fn(clap::Command) -> clap::Command,
    read: fn(&mut ArgMatches) -> Result<Command, clap::Error>,
}

/// A row for each command: its name, its variant and its arguments.
macro_rules! quick_commands {
    ($($(#[$condition:meta])? $name:literal $variant:ident $args:ident,)+) => {
        &[$($(#[$condition])? QuickCommand {
            name: $name,
            describe: <super::$args as Args>::augment_args,
            read: |matches| super::$args::from_arg_matches_mut(matches).map(Command::$variant),
        },)+]
    };
}

const COMMANDS: &[QuickCommand] = quick_commands! {
    "fire" Fire FireCommand,
    "bridge" Bridge BridgeArgs,
    "demo" Demo DemoArgs,
    "dev" Dev DevArgs,
    "try" Try TryArgs,
    "agent" Agent AgentArgs,
    "list" List ListArgs,
    "check" Check CheckArgs,
    "explain" Explain EventCommand,
    "accesses" Accesses AccessesArgs,
    "trust" Trust TrustArgs,
    "plugin" Plugin PluginArgs,
    "serve" Serve ServeArgs,
    "reload" Reload ReloadArgs,
    "install" Install InstallArgs,
    "uninstall" Uninstall UninstallArgs,
    "enable" Enable EnableArgs,
    "disable" Disable DisableArgs,
    "import" Import ImportArgs,
    "doctor" Doctor DoctorArgs,
    "log" Log LogArgs,
    "stats" Stats StatsArgs,
    #[cfg(feature = "inspect")] "inspect" Inspect InspectArgs,
    "journal" Journal JournalArgs,
    "replay" Replay ReplayArgs,
    "rules" Rules RulesArgs,
    #[cfg(feature = "fleet")] "bundle" Bundle BundleArgs,
    #[cfg(feature = "fleet")] "fleet" Fleet FleetArgs,
    "new" New NewArgs,
    "test" Test TestArgs,
    "record" Record RecordArgs,
    "init" Init InitArgs,
    "add" Add AddArgs,
    "types" Types TypesArgs,
    "schema" Schema SchemaArgs,
    "reference" Reference ReferenceArgs,
    "docs" Docs DocsArgs,
    "completions" Completions CompletionsArgs,
    "man" Man ManArgs,
};

/// Parses a well-formed command line that begins with a command.
pub(super) fn parse(given: &[OsString]) -> Option<Cli> {
    let called = given.get(1)?;
    let QuickCommand { name, describe, read } = COMMANDS.iter().find(|command| called == command.name)?;
    let command =
        GlobalArgs::augment_args(clap::Command::new("hookrail")).subcommand(describe(clap::Command::new(*name)));
    let mut matches = command.try_get_matches_from(given).ok()?;
    let (_, mut arguments) = matches.remove_subcommand()?;
    let global = GlobalArgs::from_arg_matches_mut(&mut matches).ok()?;
    Some(Cli { global, command: read(&mut arguments).ok()? })
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
    use clap::{CommandFactory as _, Parser as _};

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
            "list --json",
            "check --strict --format github",
            "explain BeforeTool",
            "trust status -v",
            "trust grant --yes --project /p",
            "plugin list --json",
            "serve --stdio --quiet",
            "test --trust-project a.hooktest.toml",
            "trust",
            "agent --script s --headless --prompt go",
            "journal verify",
        ] {
            let given = words(line);
            let whole = Cli::try_parse_from(&given).unwrap();
            assert_eq!(format!("{:?}", parse(&given).unwrap()), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn every_command_is_known() {
        let whole = Cli::command();
        let mut expected: Vec<&str> = whole.get_subcommands().map(clap::Command::get_name).collect();
        let mut known: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        expected.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, expected);
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
            "fire",
            "explain",
            "trust nonsense",
            "list more",
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

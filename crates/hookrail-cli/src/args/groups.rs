//! The commands in groups, as the help of the whole program lists them: the parser knows no groups of commands.

use std::fmt::Write as _;

use clap::Command;

/// Each group: its heading and its commands. Those that only other programs call come last in theirs.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["demo", "init", "add", "new"]),
    ("In your agent", &["install", "uninstall", "enable", "disable", "import", "doctor", "trust", "plugin"]),
    (
        "While you write",
        &[
            "try", "fire", "dev", "explain", "accesses", "rules", "list", "check", "test", "record", "types", "schema",
            "agent",
        ],
    ),
    (
        "What happened",
        &[
            "log",
            #[cfg(feature = "inspect")]
            "inspect",
            "stats",
            "replay",
            "journal",
        ],
    ),
    (
        "For machines",
        &[
            "serve",
            "reload",
            #[cfg(feature = "fleet")]
            "bundle",
            #[cfg(feature = "fleet")]
            "fleet",
            "bridge",
        ],
    ),
    ("Help", &["docs", "reference", "completions", "man", HELP]),
];

/// The command that the parser adds by itself.
const HELP: &str = "help";

/// Returns the whole command with a help text that lists its commands in groups.
pub(super) fn arranged(command: Command) -> Command {
    let (heading, name_style) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let mut text = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    for (title, names) in GROUPS {
        let _ = write!(text, "\n{heading}{title}:{heading:#}\n");
        for name in names {
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None => "Print this message or the help of a command".to_owned(),
            };
            let _ = writeln!(text, "  {name_style}{name:width$}{name_style:#}  {about}");
        }
    }
    let _ = write!(text, "\n{heading}Options:{heading:#}\n{{options}}{{after-help}}");
    command.help_template(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Cli;

    /// How often each name is in a group, which must be once for every command and for nothing else.
    #[test]
    fn every_command_is_in_one_group() {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            *counts.entry((*name).to_owned()).or_default() += 1;
        }
        let cli = Cli::command();
        let commands = cli.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
        let expected: BTreeMap<String, usize> = commands.chain([HELP]).map(|name| (name.to_owned(), 1)).collect();
        assert_eq!(counts, expected);
    }

    /// The parser breaks its own lines, not those of a template.
    #[test]
    fn the_list_fits_on_80_columns() {
        let help = arranged(Cli::command()).render_help().to_string();
        let lines: Vec<&str> = help.lines().skip_while(|line| *line != "Start:").collect();
        let list = lines.iter().take_while(|line| **line != "Options:");
        for line in list {
            assert!(line.len() <= 80, "{line}");
        }
        assert!(lines.contains(&"In your agent:") && lines.contains(&"Options:"), "{help}");
    }
}

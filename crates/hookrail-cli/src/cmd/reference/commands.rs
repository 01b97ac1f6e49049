//! The page about every command, made from the descriptions that the parser of the command line uses.

use std::fmt::Write as _;

use clap::{Arg, Command};

use crate::args::Cli;

pub(super) fn page(generated: &str) -> String {
    let mut cli = Cli::whole_command().disable_help_subcommand(true);
    cli.build();
    let mut page = format!(
        "# Commands\n\n{generated}Every command with its arguments. `hookrail COMMAND --help` prints the same.\n\n\
         ## Options of every command\n\n"
    );
    page.push_str(&table(cli.get_arguments().filter(|arg| arg.is_global_set())));
    describe_below(&mut page, &cli);
    page
}

fn describe_below(page: &mut String, command: &Command) {
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        describe(page, command);
        describe_below(page, command);
    }
}

fn describe(page: &mut String, command: &Command) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let _ = write!(page, "\n## {name}\n\n");
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let mut paragraphs = about.split("\n\n");
    // The first paragraph is a title, which has no full stop.
    if let Some(title) = paragraphs.next() {
        let _ = write!(page, "{title}.\n\n");
    }
    for paragraph in paragraphs {
        let _ = write!(page, "{paragraph}\n\n");
    }
    let is_own = |arg: &&Arg| !arg.is_global_set() && !matches!(arg.get_id().as_str(), "help" | "version");
    let arguments = table(command.get_arguments().filter(is_own));
    if !arguments.is_empty() {
        let _ = writeln!(page, "{arguments}");
    }
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let _ = writeln!(page, "```text\n{}\n```", examples.trim_start_matches("EXAMPLES:\n").trim_end());
    }
}

fn table<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let rows: String = arguments.filter(|arg| !arg.is_hide_set()).map(row).collect();
    if rows.is_empty() { rows } else { format!("| argument | meaning |\n|---|---|\n{rows}") }
}

fn row(arg: &Arg) -> String {
    let values =
        || arg.get_value_names().map(|names| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" "));
    let value = if arg.get_action().takes_values() { values() } else { None };
    let name = match (arg.get_short(), arg.get_long()) {
        (None, None) => value.unwrap_or_else(|| arg.get_id().to_string()),
        (short, long) => {
            let short = short.map(|short| format!("-{short}"));
            let aliases = arg.get_visible_aliases().unwrap_or_default();
            let long = long.into_iter().chain(aliases).map(|long| format!("--{long}"));
            let names = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
            value.map_or(names.clone(), |value| format!("{names} {value}"))
        }
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('\n', " ");
    let choices: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && arg.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    // A long list, such as that of all topics, has a command of its own.
    let choices =
        if choices.is_empty() || choices.len() > 12 { String::new() } else { format!(" ({})", choices.join(", ")) };
    format!("| `{}` | {}{choices} |\n", name.replace('|', "\\|"), help.replace('|', "\\|"))
}

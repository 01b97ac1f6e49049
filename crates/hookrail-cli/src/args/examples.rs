//! The examples below each command's help, which stand in a text file.

use clap::Command;

/// A line `[install]` begins the examples of `hookrail install`, `[]` those of the whole program. Examples that only a build with
/// the feature `fleet` has stand below a line such as `[serve (fleet)]`.
const EXAMPLES: &str = include_str!("examples.txt");

/// Returns the whole command with examples below the help of each command.
pub(super) fn with_examples(command: Command) -> Command {
    with_examples_of(command, "")
}

fn with_examples_of(command: Command, path: &str) -> Command {
    let command = command.mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        with_examples_of(below, path.trim_start())
    });
    let of_feature = if cfg!(feature = "fleet") { find(&format!("{path} (fleet)")) } else { None };
    match of_feature.or_else(|| find(path)) {
        Some(examples) => command.after_help(format!("EXAMPLES:\n{examples}")),
        None => command,
    }
}

/// Finds the examples of a command, by its name behind that of the program.
fn find(path: &str) -> Option<&'static str> {
    EXAMPLES.split("\n[").find_map(|section| {
        let (head, examples) = section.trim_start_matches('[').split_once("]\n")?;
        head.split(", ").any(|command| command == path).then_some(examples.trim_end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;

    /// A section that no command has was misspelt, or its command was removed.
    #[test]
    fn every_section_is_that_of_a_command() {
        let mut known = vec![String::new()];
        names_below(&Cli::whole_command(), "", &mut known);
        let heads = EXAMPLES.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        for command in heads.flat_map(|head| head.split(", ")) {
            let name = command.trim_end_matches(" (fleet)");
            let is_elsewhere = ["fleet", "bundle", "inspect"].iter().any(|feature| name.starts_with(feature));
            assert!(is_elsewhere || known.iter().any(|known| known == name), "{command}");
        }
    }

    fn names_below(command: &Command, path: &str, names: &mut Vec<String>) {
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name()).trim_start().to_owned();
            names_below(below, &path, names);
            names.push(path);
        }
    }
}

//! The options of every command.

use std::ffi::OsString;

use clap::{ArgAction, Args, ValueEnum};

use crate::render::verbosity::Verbosity;

/// The options of every command.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct GlobalArgs {
    /// When to use colour; `auto` follows the terminal and `NO_COLOR`
    #[arg(long, value_enum, value_name = "WHEN", global = true, default_value_t, hide_default_value = true)]
    pub(crate) color: ColorWhen,
    /// Show more, such as what each hook runs, receives and writes; `-vv` also logs what the engine does to standard error
    #[arg(long, short, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// Show only results and errors: no hints, warnings or progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

impl ColorWhen {
    /// Makes both output streams follow the choice.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => return,
            Self::Always => anstream::ColorChoice::AlwaysAnsi,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// Finds the choice in arguments that may be wrong: the message about them follows it too.
    pub(crate) fn find(arguments: &[OsString]) -> Self {
        let mut arguments = arguments.iter().filter_map(|argument| argument.to_str()).take_while(|word| *word != "--");
        let mut found = Self::default();
        while let Some(argument) = arguments.next() {
            let value = match argument.strip_prefix("--color") {
                Some("") => arguments.next(),
                Some(rest) => rest.strip_prefix('='),
                None => None,
            };
            found = value.and_then(|value| Self::from_str(value, false).ok()).unwrap_or(found);
        }
        found
    }
}

impl GlobalArgs {
    /// Returns how much is shown.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match self.verbose {
            0 if self.quiet => Verbosity::Quiet,
            0 => Verbosity::Normal,
            1 => Verbosity::Detailed,
            _ => Verbosity::Logged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_of_colour_is_found_in_wrong_arguments() {
        for (line, found) in [
            ("hookrail --nonsense", ColorWhen::Auto),
            ("hookrail --color never --nonsense", ColorWhen::Never),
            ("hookrail fire --color=always", ColorWhen::Always),
            ("hookrail fire --color=sometimes", ColorWhen::Auto),
            ("hookrail fire x -- --color=always", ColorWhen::Auto),
            ("hookrail --color", ColorWhen::Auto),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(ColorWhen::find(&words), found, "{line}");
        }
    }
}

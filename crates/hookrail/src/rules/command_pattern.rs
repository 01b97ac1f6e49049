//! Patterns of commands: a program with its leading words, and options in any order.

use hookrail_shell::{CommandFact, CommandWords};
use regex::Regex;

use super::path_pattern::fits_text;

/// A pattern such as `npm publish` or `rm -r -f`.
#[derive(Clone, Debug)]
pub(crate) struct CommandPattern {
    pub(crate) text: String,
    program: String,
    /// The first words that are no options.
    operands: Vec<String>,
    /// Options that all have to be there.
    options: Vec<String>,
    /// What the arguments or the text that is fed to the program must contain.
    about: Option<Regex>,
}

impl CommandPattern {
    pub(crate) fn read(text: &str, about: Option<Regex>) -> Result<Self, String> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let program = words.next().ok_or("a command is empty")?;
        if program.starts_with('-') {
            return Err(format!("`{text}` begins with an option, not with a program"));
        }
        let words: Vec<String> = words.collect();
        let CommandWords { operands, options } = CommandWords::of(&program, &words);
        Ok(Self { text: text.to_owned(), program, operands, options, about })
    }

    /// Whether a command fits.
    pub(crate) fn fits(&self, command: &CommandFact) -> bool {
        let name = command.program.rsplit('/').next().unwrap_or_default();
        if !fits_text(&self.program, name) {
            return false;
        }
        self.fits_words(command) && self.fits_text_of(command)
    }

    fn fits_words(&self, command: &CommandFact) -> bool {
        if self.operands.is_empty() && self.options.is_empty() {
            return true;
        }
        let given = CommandWords::of(&command.program, &command.args);
        // Options of the program stand before its subcommand, with values that look like operands: `git -C x rebase`.
        let subcommand = command.subcommand.as_deref().and_then(|name| name.split_whitespace().next());
        let below = subcommand.and_then(|name| given.operands.iter().position(|operand| operand == name));
        let fit_from = |first: usize| {
            let mut operands = given.operands.iter().skip(first);
            self.operands.iter().all(|word| operands.next().is_some_and(|given| fits_text(word, given)))
        };
        (fit_from(0) || below.is_some_and(fit_from)) && self.options.iter().all(|option| given.options.contains(option))
    }

    fn fits_text_of(&self, command: &CommandFact) -> bool {
        let Some(about) = &self.about else { return true };
        about.is_match(&command.args.join(" ")) || command.fed.as_deref().is_some_and(|fed| about.is_match(fed))
    }

    /// The program, if the pattern names one.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }
}

//! Which program a command runs behind its wrappers, as far as its words say it themselves.

use super::options::{Arg, Grammar};
use crate::resolve::{Value, base_name};
use crate::syntax::SimpleCommand;
use crate::tables::{Role, tables};

/// The most wrappers around a program.
const MOST_WRAPPERS: usize = 40;

/// A program that a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name without its folder. `None` if the line does not say it.
    pub name: Option<String>,
    /// The index of its word.
    pub word: usize,
    /// The wrappers before it, the outermost first.
    pub via: Vec<String>,
}

impl SimpleCommand {
    /// Returns the program that the command runs behind `sudo`, `env`, `timeout` and other wrappers.
    ///
    /// Only the command's own words are looked at: variables and code in words are for [`accesses`](crate::accesses).
    #[must_use]
    pub fn program(&self) -> Option<Program> {
        let value = |word: &crate::syntax::Word| word.literal().map(|text| Value::known(text.into_owned()));
        let mut args = Vec::new();
        for (index, word) in self.words.iter().enumerate() {
            // The span is the index of the word: options are divided by their texts only.
            let span = crate::syntax::Span::new(index, index);
            args.push(Arg { value: value(word).unwrap_or_default(), span });
        }
        let mut rest = args.as_slice();
        let mut via = Vec::new();
        loop {
            let (first, behind) = rest.split_first()?;
            let word = first.span.start as usize;
            let name =
                self.words.get(word).and_then(crate::syntax::Word::literal).map(|text| base_name(&text).to_owned());
            let row =
                name.as_deref().and_then(|name| tables().row(name)).filter(|row| row.operands.before_rest().is_some());
            let Some((name, row)) = name.clone().zip(row) else { return Some(Program { name, word, via }) };
            let operands = Grammar::of(row).divide(behind).operands;
            let skipped = row.operands.before_rest().unwrap_or_default();
            let is_command = matches!(row.operands.first.get(skipped), Some(Role::Command | Role::RemoteCommand));
            if !is_command || operands.len() <= skipped || via.len() >= MOST_WRAPPERS {
                return Some(Program { name: Some(name), word, via });
            }
            via.push(name);
            let found = operands.get(skipped).map_or(word + 1, |arg| arg.span.start as usize);
            rest = args.get(found..)?;
        }
    }
}

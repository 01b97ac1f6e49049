//! The code that a hook brings: its line for the shell, code that the line gives to an interpreter, and scripts. What a lint
//! finds in it has a place that an editor can go to.

use std::ops::Range;
use std::rc::Rc;

use hookrail::Diagnostic;
use hookrail::hook::Action;
use hookrail::sources::Location;

use super::command_line::ScriptUse;
use super::context::{HookContext, LintContext};

/// One text of code.
pub(super) struct HookCode {
    pub(super) text: Rc<str>,
    /// The script, or the command of the entry.
    script: Option<ScriptUse>,
}

/// Every text of code of a hook, its line first.
pub(super) fn codes_of(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<HookCode> {
    let mut codes = Vec::new();
    match &seen.hook.action {
        Action::Shell(line) => codes.push(HookCode { text: Rc::from(&**line), script: None }),
        Action::Program(words) => codes.push(HookCode { text: Rc::from(words.join(" ")), script: None }),
        _ => {}
    }
    for script in seen.commands.iter().filter_map(|command| command.script.as_ref()) {
        if let Some(text) = context.text(&script.path) {
            codes.push(HookCode { text, script: Some(script.clone()) });
        }
    }
    codes
}

impl HookCode {
    /// Gives a diagnostic the place of something in this code.
    pub(super) fn place(
        &self,
        context: &LintContext<'_>,
        seen: &HookContext<'_>,
        at: Range<usize>,
        found: Diagnostic,
    ) -> Diagnostic {
        found.at(match &self.script {
            Some(script) => Location::in_text(&script.path, &self.text, at),
            None => context.place_of(seen.hook, "command"),
        })
    }
}

/// A word of letters, digits and `_` at the beginning of a text.
pub(super) fn word_at_start(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The places of a word that is no part of a longer one.
pub(super) fn places_of_word<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    text.match_indices(word).map(|(at, found)| at..at + found.len()).filter(move |span| {
        let before = text.get(..span.start).and_then(|before| before.chars().next_back());
        let behind = text.get(span.end..).and_then(|behind| behind.chars().next());
        !is_part(before) && !is_part(behind)
    })
}

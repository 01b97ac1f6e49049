//! Hooks that nothing switches on: the engine reports them, and the switch can be added.

use hookrail::Diagnostic;

use super::Finding;
use super::context::LintContext;
use super::events::is_typing_error;
use super::fix::Fix;
use super::switches::Switches;

const SWITCH: &str = "\"hooksConfig\": {\"enabled\": true}";

/// Adds the change that switches hooks on: the switch as the first member of the settings.
pub(super) fn with_fix(context: &LintContext<'_>, diagnostic: Diagnostic) -> Finding {
    let fix = diagnostic.location.as_ref().and_then(|place| {
        let text = context.text(&place.file)?;
        // An existing section may have other members, which the author has to read, and a misspelt one is repaired itself.
        let keys = Switches::read(&text).keys;
        if keys.iter().any(|(key, _)| is_typing_error(&key.name, "hooksConfig")) {
            return None;
        }
        // Only comments and blanks may stand before the first brace of a settings file.
        let brace = first_brace(&text)?;
        let behind = &text[brace + 1..];
        let indent: String = behind.chars().take_while(|character| character.is_whitespace()).collect();
        let new = format!("{indent}{SWITCH},");
        Some(Fix::Edit { file: place.file.to_path_buf(), span: brace + 1..brace + 1, text: new })
    });
    Finding { diagnostic, fix }
}

/// The first brace outside of comments.
fn first_brace(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let skipped = if rest.starts_with("//") {
            rest.find('\n')?
        } else if rest.starts_with("/*") {
            rest.find("*/")? + 2
        } else if rest.starts_with('{') {
            return Some(at);
        } else {
            rest.chars().next().filter(|character| character.is_whitespace())?.len_utf8()
        };
        at += skipped;
    }
}

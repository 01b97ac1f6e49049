//! Names and files that a script uses and that are not there: it fails where it is used, which lets a guard pass.

use hookrail::sources::Location;
use hookrail::{Code, Diagnostic};

use super::Finding;
use super::command_line::ScriptUse;
use super::context::{HookContext, LintContext};
use super::interpreter::Interpreter;
use super::python::missing_import;
use super::syntax::{language_of, position_in};

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    context.active().flat_map(|seen| of_hook(context, seen)).collect()
}

/// What the scripts of one hook use and do not have.
pub(super) fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let scripts = seen.commands.iter().filter_map(|command| command.script.as_ref());
    let mut found: Vec<Finding> = scripts.flat_map(|script| of_script(context, seen, script)).collect();
    let given = seen.commands.iter().filter_map(|command| command.code.as_ref());
    for code in given.filter(|code| code.interpreter == Interpreter::Python) {
        if let Some((_, name)) = missing_import(&code.text) {
            let message =
                format!("the code in the command of hook `{}` uses `{name}`, which it does not import", seen.hook);
            let diagnostic = context.about_key(seen.hook, "command", Code::ScriptUndefined, message);
            found.push(Finding::new(diagnostic.hint(format!("begin it with `import {name};`"))));
        }
    }
    found
}

fn of_script(context: &LintContext<'_>, seen: &HookContext<'_>, script: &ScriptUse) -> Vec<Finding> {
    let Some(text) = context.text(&script.path) else { return Vec::new() };
    let finding = |message: String, place: Location, hint: String| {
        let message = format!("this script of hook `{}` {message}", seen.hook);
        Finding::new(Diagnostic::new(Code::ScriptUndefined, message).at(place).hint(hint))
    };
    match language_of(script, &text) {
        Some(Interpreter::Python) => {
            let missing = missing_import(&text).map(|(span, name)| {
                let place = Location::in_text(&script.path, &text, span);
                finding(format!("uses `{name}`, which it does not import"), place, format!("add `import {name}`"))
            });
            Vec::from_iter(missing)
        }
        Some(Interpreter::JavaScript) => {
            let mistakes = hookrail_js::find_script_mistakes(&script.path, &text).into_iter();
            let found = mistakes.map(|mistake| {
                let place = position_in(&script.path, &text, mistake.place.line, mistake.place.column);
                finding(mistake.message, place, mistake.hint.unwrap_or_default())
            });
            found.collect()
        }
        Some(Interpreter::Shell(_) | Interpreter::Other) | None => Vec::new(),
    }
}

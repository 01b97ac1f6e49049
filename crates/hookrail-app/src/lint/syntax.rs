//! Syntax errors of scripts and modules, found by parsers and not by running an interpreter.
//!
//! A script with an error that its interpreter would not find is worse than an error that is missed: it would fail a
//! strict check for nothing. So each language has a parser that agrees with its interpreter on real scripts. For shells
//! that is bash itself, in `shell_syntax.rs`. On 2500 files of Python, tree-sitter finds no error where there is none; what
//! it overlooks is in `python.rs`. Files of JavaScript and TypeScript are parsed as the module runtime does it; what is
//! wrong with modules is in `modules.rs`.

use std::path::Path;

use hookrail::hook::Action;
use hookrail::module::LoadFailure;
use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, DialectId, Hook};

use super::Finding;
use super::command_line::{GivenCode, Runner, ScriptUse};
use super::context::{HookContext, LintContext};
use super::first_line::named_interpreter;
use super::interpreter::Interpreter;
use super::python::python_error;
use super::shell_syntax::shell_error;

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    context.active().flat_map(|seen| of_hook(context, seen)).collect()
}

/// The syntax errors of one hook's command and scripts, and of the code in its command.
pub(super) fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let hook = seen.hook;
    let own = match &hook.action {
        // A plugin's command has variables in a syntax of its own, which is as long as one of the shell.
        Action::Shell(line) if hook.dialect == DialectId::Xcode => {
            command(context, hook, &line.replace("${env:", "${env_"))
        }
        Action::Shell(line) => command(context, hook, line),
        _ => None,
    };
    let scripts = seen.commands.iter().filter_map(|command| command.script.as_ref());
    let given = seen.commands.iter().filter_map(|command| command.code.as_ref());
    let mut found: Vec<Finding> = own.into_iter().collect();
    found.extend(scripts.filter_map(|script| of_script(context, hook, script)));
    found.extend(given.filter_map(|code| of_given_code(context, hook, code)));
    found
}

/// The language of a script as far as it can be parsed.
pub(super) fn language_of(script: &ScriptUse, text: &str) -> Option<Interpreter> {
    match script.runner {
        Runner::Given(interpreter) => Some(interpreter),
        Runner::Itself => match named_interpreter(text) {
            Some(name) => Interpreter::of_program(name),
            None => Interpreter::of_ending(&script.path),
        },
    }
}

fn of_script(context: &LintContext<'_>, hook: &Hook, script: &ScriptUse) -> Option<Finding> {
    let text = context.text(&script.path)?;
    // Line ends have a finding of their own, behind which every line would be an error.
    if text.contains("\r\n") {
        return None;
    }
    let (span, what) = match language_of(script, &text)? {
        Interpreter::Shell(_) => {
            let error = shell_error(&text)?;
            (error.at..error.at, error.complaint.message())
        }
        Interpreter::Python => python_error(&text)?,
        Interpreter::JavaScript => {
            let failure = hookrail_js::check_script_syntax(&script.path, &text).err()?;
            return Some(Finding::new(about_failure(hook, &script.path, &text, &failure)));
        }
        Interpreter::Other => return None,
    };
    let message = format!("hook `{hook}` cannot run this script: {what}");
    let diagnostic = Diagnostic::new(Code::ScriptSyntax, message).at(Location::in_text(&script.path, &text, span));
    Some(Finding::new(diagnostic.hint("correct the script at this place, or a little before it")))
}

/// The syntax error of code that a command gives to an interpreter.
fn of_given_code(context: &LintContext<'_>, hook: &Hook, code: &GivenCode) -> Option<Finding> {
    let (at, what) = match code.interpreter {
        Interpreter::Shell(_) => (shell_error(&code.text)?.at, "syntax error".to_owned()),
        Interpreter::Python => python_error(&code.text).map(|(span, what)| (span.start, what))?,
        Interpreter::JavaScript => {
            let failure = hookrail_js::check_script_syntax(Path::new("code.js"), &code.text).err()?;
            (usize::MAX, failure.message)
        }
        Interpreter::Other => return None,
    };
    let near = near(&code.text, at);
    let message = format!("the code in the command of hook `{hook}` cannot run: {what} {near}");
    let diagnostic = context.about_key(hook, "command", Code::ScriptSyntax, message);
    Some(Finding::new(diagnostic.hint("correct it, or put it into a script of its own")))
}

fn about_failure(hook: &Hook, path: &Path, text: &str, failure: &LoadFailure) -> Diagnostic {
    let message = format!("hook `{hook}` cannot be loaded: {}", failure.message);
    let place = failure.place.as_ref().map(|place| position_in(path, text, place.line, place.column));
    let location = place.unwrap_or_else(|| Location::whole_file(path));
    Diagnostic::new(Code::ScriptSyntax, message).at(location).hint("correct the file at this place")
}

/// The place of a line and a column, both from one, the column in characters.
pub(super) fn position_in(path: &Path, text: &str, line: u32, column: u32) -> Location {
    let line = usize::try_from(line.saturating_sub(1)).unwrap_or(0);
    let column = usize::try_from(column.saturating_sub(1)).unwrap_or(0);
    let begins: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let ahead: usize = text.get(begins..).unwrap_or_default().chars().take(column).map(char::len_utf8).sum();
    Location::in_text(path, text, begins + ahead..begins + ahead)
}

/// Says what stands at an offset.
fn near(text: &str, at: usize) -> String {
    let rest: String = text.get(at..).unwrap_or_default().trim().chars().take(20).collect();
    // What is missing at the end is noticed at the last character.
    if rest.chars().nth(1).is_none() { "at its end".to_owned() } else { format!("near `{rest}`") }
}

fn command(context: &LintContext<'_>, hook: &Hook, line: &str) -> Option<Finding> {
    let at = shell_error(line)?.at;
    let message = format!("the command of hook `{hook}` is not valid for a shell {}", near(line, at));
    let diagnostic = context.about_key(hook, "command", Code::ScriptSyntax, message);
    Some(Finding::new(diagnostic.hint("check its quotes and brackets, or put the code into a script")))
}

#[cfg(test)]
mod tests {
    use super::super::parse::{first_error, parse_python};

    #[test]
    fn python_is_parsed_with_its_newer_statements() {
        let python = "#!/usr/bin/env python3\nimport json, sys\ndata = json.load(sys.stdin)\n\
            match data:\n    case {'a': b} if b > 1:\n        print(f\"{b!r:>{10}}\")\n\
            async def f(*, x: int = 1) -> None:\n    async with x as y, z:\n        pass\n";
        assert_eq!(first_error(&parse_python(python).unwrap()), None);
        for text in ["def f(:\n    pass\n", "print(\"a\"\n", "if x\n    pass\n"] {
            assert!(first_error(&parse_python(text).unwrap()).is_some(), "{text}");
        }
    }
}

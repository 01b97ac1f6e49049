//! Syntax errors of scripts and modules, found by parsers and not by running an interpreter.
//!
//! A script with an error that its interpreter would not find is worse than an error that is missed: it would fail a
//! strict check for nothing. So each language has the parser that agreed with its interpreter on real scripts. Of 561
//! shell scripts of a Linux system, of which two are not valid for `bash -n`, brush-parser finds an error in one, which
//! is one of the two; tree-sitter's grammar finds 41. It is used for the structure of commands only. On 2500 files of
//! Python, tree-sitter finds no error where there is none; what it overlooks is in `python.rs`. Files of JavaScript and
//! TypeScript are parsed as the module runtime does it; what is wrong with modules is in `modules.rs`.

use std::ops::Range;
use std::path::Path;

use hookrail::hook::Action;
use hookrail::module::LoadFailure;
use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, DialectId, Hook};

use super::Finding;
use super::command_line::{GivenCode, Runner, ScriptUse};
use super::first_line::named_interpreter;
use super::interpreter::Interpreter;
use super::parse::is_plausible;
use super::python::python_error;
use super::scene::{HookScene, Scene};

pub(super) fn look(scene: &Scene<'_>) -> Vec<Finding> {
    scene.active().flat_map(|seen| of_hook(scene, seen)).collect()
}

/// The syntax errors of one hook's command and scripts, and of the code in its command.
pub(super) fn of_hook(scene: &Scene<'_>, seen: &HookScene<'_>) -> Vec<Finding> {
    let hook = seen.hook;
    let own = match &hook.action {
        // A plugin's command has variables in a syntax of its own, which is as long as one of the shell.
        Action::Shell(line) if hook.dialect == DialectId::Xcode => {
            command(scene, hook, &line.replace("${env:", "${env_"))
        }
        Action::Shell(line) => command(scene, hook, line),
        _ => None,
    };
    let scripts = seen.commands.iter().filter_map(|command| command.script.as_ref());
    let given = seen.commands.iter().filter_map(|command| command.code.as_ref());
    let mut found: Vec<Finding> = own.into_iter().collect();
    found.extend(scripts.filter_map(|script| of_script(scene, hook, script)));
    found.extend(given.filter_map(|code| of_given_code(scene, hook, code)));
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

fn of_script(scene: &Scene<'_>, hook: &Hook, script: &ScriptUse) -> Option<Finding> {
    let text = scene.text(&script.path)?;
    // Line ends have a finding of their own, behind which every line would be an error.
    if text.contains("\r\n") {
        return None;
    }
    let (span, what) = match language_of(script, &text)? {
        Interpreter::Shell(_) => (shell_error(&text)?, "syntax error".to_owned()),
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
fn of_given_code(scene: &Scene<'_>, hook: &Hook, code: &GivenCode) -> Option<Finding> {
    let (at, what) = match code.interpreter {
        Interpreter::Shell(_) => (shell_error(&code.text)?.start, "syntax error".to_owned()),
        Interpreter::Python => python_error(&code.text).map(|(span, what)| (span.start, what))?,
        Interpreter::JavaScript => {
            let failure = hookrail_js::check_script_syntax(Path::new("code.js"), &code.text).err()?;
            (usize::MAX, failure.message)
        }
        Interpreter::Other => return None,
    };
    let near = near(&code.text, at);
    let message = format!("the code in the command of hook `{hook}` cannot run: {what} {near}");
    let diagnostic = scene.about_key(hook, "command", Code::ScriptSyntax, message);
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

fn command(scene: &Scene<'_>, hook: &Hook, line: &str) -> Option<Finding> {
    let span = shell_error(line)?;
    let message = format!("the command of hook `{hook}` is not valid for a shell {}", near(line, span.start));
    let diagnostic = scene.about_key(hook, "command", Code::ScriptSyntax, message);
    Some(Finding::new(diagnostic.hint("check its quotes and brackets, or put the code into a script")))
}

/// The place of the first error of a shell's code.
fn shell_error(text: &str) -> Option<Range<usize>> {
    if !is_plausible(text) {
        return None;
    }
    let error = match brush_parser::tokenize_str(text) {
        Ok(tokens) => brush_parser::parse_tokens(&tokens, &brush_parser::ParserOptions::default()).err()?,
        Err(inner) => brush_parser::ParseError::Tokenizing { inner, position: None },
    };
    let index = match error {
        brush_parser::ParseError::ParsingNear(position)
        | brush_parser::ParseError::Tokenizing { position: Some(position), .. } => position.index,
        brush_parser::ParseError::ParsingAtEndOfInput | brush_parser::ParseError::Tokenizing { position: None, .. } => {
            usize::MAX
        }
    };
    // The index counts characters. At the end, the last line with code shows where something is missing.
    let last = text.trim_end().char_indices().last().map_or(0, |(at, _)| at);
    let at = text.char_indices().nth(index).map_or(last, |(at, _)| at);
    Some(at..at)
}

#[cfg(test)]
mod tests {
    use super::super::parse::{first_error, parse_python};
    use super::*;

    #[test]
    fn valid_scripts_have_no_error() {
        for text in [
            "#!/bin/sh\nset -eu\ninput=$(cat)\ncase $input in\n  *secret*) echo no >&2; exit 2 ;;\nesac\n",
            "#!/bin/bash\nif [[ \"$x\" =~ ^a(b|c)+$ ]]; then echo \"${x//a/b}\"; fi\n",
            "cat <<EOF\n{\"decision\": \"$1\"}\nEOF\nfor i in a b; do printf '%s' \"$i\"; done\n",
            "a=(1 2 3)\necho \"${a[@]}\" | while read -r l; do ((n++)); done < <(ls)\n",
        ] {
            assert_eq!(shell_error(text), None, "{text}");
        }
        let python = "#!/usr/bin/env python3\nimport json, sys\ndata = json.load(sys.stdin)\n\
            match data:\n    case {'a': b} if b > 1:\n        print(f\"{b!r:>{10}}\")\n\
            async def f(*, x: int = 1) -> None:\n    async with x as y, z:\n        pass\n";
        assert_eq!(first_error(&parse_python(python).unwrap()), None);
    }

    #[test]
    fn errors_have_their_place() {
        for (text, line) in [
            ("if true; then\n  echo\n", 2),
            ("echo \"a\n", 1),
            ("case x in\n", 1),
            ("f() {\n", 1),
            ("echo\nfi\necho é\n", 2),
        ] {
            let at = shell_error(text).unwrap_or_else(|| panic!("{text}")).start;
            assert_eq!(text.get(..at).unwrap().matches('\n').count() + 1, line, "{text}");
        }
        for text in ["def f(:\n    pass\n", "print(\"a\"\n", "if x\n    pass\n"] {
            assert!(first_error(&parse_python(text).unwrap()).is_some(), "{text}");
        }
    }
}

//! The first line of a script: the interpreter it names, and how it ends.

use std::path::Path;
use std::rc::Rc;

use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, Hook};

use super::Finding;
use super::command_line::{Runner, ScriptUse};
use super::context::{HookContext, LintContext, find_program};
use super::fix::Fix;
use super::interpreter::Interpreter;

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    context.active().flat_map(|seen| of_hook(context, seen)).collect()
}

/// What is wrong with the first lines of one hook's scripts.
pub(super) fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let scripts = seen.commands.iter().filter_map(|command| command.script.as_ref());
    let with_text = scripts.filter_map(|script| Some((script, context.text(&script.path)?)));
    with_text.filter_map(|(script, text)| about(seen, script, &text)).collect()
}

/// The interpreter that a script's first line names, without its folder and without `env`.
pub(super) fn named_interpreter(text: &str) -> Option<&str> {
    let mut words = text.lines().next()?.strip_prefix("#!")?.split_ascii_whitespace();
    let program = words.next()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if name == "env" { words.find(|word| !word.starts_with('-') && !word.contains('=')) } else { Some(name) }
}

fn about(seen: &HookContext<'_>, script: &ScriptUse, text: &Rc<str>) -> Option<Finding> {
    let (path, hook) = (&script.path, seen.hook);
    let line = text.split('\n').next().unwrap_or_default();
    let at = |code, message: String, span: std::ops::Range<usize>| {
        Diagnostic::new(code, message).at(Location::in_text(path, text, span))
    };
    let is_shell = match script.runner {
        Runner::Itself => match named_interpreter(line.trim_end()) {
            Some(name) => matches!(Interpreter::of_program(name), Some(Interpreter::Shell(_))),
            None => true,
        },
        Runner::Given(interpreter) => matches!(interpreter, Interpreter::Shell(_)),
    };
    if line.ends_with('\r') && (is_shell || script.runner == Runner::Itself && line.starts_with("#!")) {
        let shown = line.trim_end().trim_start_matches("#!");
        let message = match script.runner {
            Runner::Itself if line.starts_with("#!") => {
                format!(
                    "line 1 ends in a carriage return, so the interpreter of hook `{hook}` is `{shown}\\r`, which does not exist"
                )
            }
            _ => format!(
                "the lines of this script end in a carriage return, which the shell of hook `{hook}` reads as a part of them"
            ),
        };
        let end = line.len();
        let diagnostic = at(Code::ScriptLineEndings, message, end.saturating_sub(1)..end);
        let diagnostic =
            diagnostic.hint(format!("convert the file to LF line ends, as in `sed -i 's/\\r$//' {}`", script.written));
        return Some(Finding::new(diagnostic).fixed_by(Fix::ConvertLineEndings(path.clone())));
    }
    if script.runner != Runner::Itself {
        return None;
    }
    if line.starts_with("#!") && begins_with_mark(path) {
        let message =
            format!("this script of hook `{hook}` begins with a byte order mark, so its line `#!` is not seen");
        let hint = "save it as UTF-8 without a byte order mark";
        return Some(Finding::new(at(Code::ScriptInterpreter, message, 0..line.len()).hint(hint)));
    }
    let Some(shebang) = line.strip_prefix("#!") else { return without_first_line(seen.hook, path, text) };
    let mut words = shebang.split_ascii_whitespace();
    let program = words.next().unwrap_or_default();
    let span = 0..line.len();
    if program.is_empty() || !Path::new(program).is_absolute() {
        let message = format!("line 1 of this script of hook `{hook}` names no interpreter by its full path");
        let hint = format!("write `{}`", Interpreter::first_line(path).unwrap_or("#!/bin/sh"));
        return Some(Finding::new(at(Code::ScriptInterpreter, message, span).hint(hint)));
    }
    let name = named_interpreter(line)?;
    let is_env = program.ends_with("/env");
    if let Some(finding) = several_arguments(hook, path, text, line) {
        return Some(finding);
    }
    let exists = Path::new(program).exists() && (!is_env || find_program(&seen.search_path(), name).is_some());
    if !exists {
        let missing = if is_env && Path::new(program).exists() { name } else { program };
        let message = format!("hook `{hook}` cannot start this script: its interpreter `{missing}` does not exist");
        let elsewhere = find_program(&seen.search_path(), name).filter(|_| !is_env);
        let hint = match (elsewhere, Interpreter::first_line(path)) {
            (Some(_), _) => format!("write `#!/usr/bin/env {name}`"),
            (None, Some(usual)) => format!("install `{name}`, or write `{usual}`"),
            (None, None) => format!("install `{name}`, or correct the line"),
        };
        return Some(Finding::new(at(Code::ScriptInterpreter, message, span).hint(hint)));
    }
    let (named, by_ending) = (Interpreter::of_program(name)?, Interpreter::of_ending(path)?);
    if named.is_like(by_ending) || by_ending == Interpreter::Other || named == Interpreter::Other {
        return None;
    }
    let message =
        format!("line 1 gives this script of hook `{hook}` to `{name}`, but its name ends like another language");
    let hint = match Interpreter::first_line(path) {
        Some(usual) => format!("write `{usual}`, or rename the file"),
        None => "correct the line, or rename the file".to_owned(),
    };
    Some(Finding::new(at(Code::ScriptInterpreter, message, span).hint(hint)))
}

/// Whether a file begins with the mark that editors of Windows write.
fn begins_with_mark(path: &Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 3];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == [0xef, 0xbb, 0xbf]
}

/// The kernel gives everything behind the interpreter to it as one argument.
fn several_arguments(hook: &Hook, path: &Path, text: &str, line: &str) -> Option<Finding> {
    let (program, arguments) = line.strip_prefix("#!")?.trim().split_once(char::is_whitespace)?;
    let arguments = arguments.trim();
    let is_env = program.ends_with("/env");
    // The option with which `env` splits its argument itself.
    if !arguments.contains(char::is_whitespace)
        || is_env && (arguments.starts_with("-S") || arguments.starts_with("-vS"))
    {
        return None;
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    let better =
        if is_env { format!("#!{program} -S {arguments}") } else { format!("#!/usr/bin/env -S {name} {arguments}") };
    let message = format!("line 1 gives `{arguments}` to `{name}` as one argument, so hook `{hook}` cannot start");
    let diagnostic = Diagnostic::new(Code::ScriptInterpreter, message).at(Location::in_text(path, text, 0..line.len()));
    let fix = Fix::Edit { file: path.to_owned(), span: 0..line.len(), text: better.clone() };
    Some(Finding::new(diagnostic.hint(format!("write `{better}`"))).fixed_by(fix))
}

/// A script without a first line for an interpreter is run by the shell, whatever it is written in.
fn without_first_line(hook: &Hook, path: &Path, text: &str) -> Option<Finding> {
    let is_shell = matches!(Interpreter::of_ending(path), None | Some(Interpreter::Shell(_)));
    let usual = Interpreter::first_line(path)?;
    // A binary program is no text, and a shell script without the line is run by the shell anyway.
    if is_shell {
        return None;
    }
    let message = format!("this script of hook `{hook}` has no line `#!`, so the shell would run it as shell code");
    let diagnostic = Diagnostic::new(Code::ScriptInterpreter, message).at(Location::in_text(path, text, 0..1));
    let fix = Fix::Edit { file: path.to_owned(), span: 0..0, text: format!("{usual}\n") };
    Some(Finding::new(diagnostic.hint(format!("begin the file with `{usual}`"))).fixed_by(fix))
}

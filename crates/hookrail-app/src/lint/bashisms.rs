//! Scripts that `sh` runs and that use what only bash has. Where `sh` is another shell, a test with `[[` is a command
//! that is not found, and the guard behind it lets everything pass.

use std::ops::Range;

use hookrail::hook::Action;
use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, DialectId};
use tree_sitter::Node;

use super::Finding;
use super::command_line::{Runner, ScriptUse};
use super::context::{HookContext, LintContext, find_program};
use super::fix::Fix;
use super::interpreter::{Interpreter, ShellKind};
use super::parse::{nodes, parse_shell};
use super::syntax::language_of;

/// Commands that are builtins of bash alone.
const COMMANDS: [&str; 16] = [
    "source",
    "declare",
    "typeset",
    "let",
    "shopt",
    "mapfile",
    "readarray",
    "pushd",
    "popd",
    "dirs",
    "disown",
    "compgen",
    "complete",
    "caller",
    "builtin",
    "enable",
];

/// Variables that bash alone sets.
const VARIABLES: [&str; 8] =
    ["BASH_SOURCE", "BASH_REMATCH", "BASHPID", "FUNCNAME", "PIPESTATUS", "RANDOM", "EPOCHSECONDS", "SECONDS"];

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    context.active().flat_map(|seen| of_hook(context, seen)).collect()
}

/// What the scripts and the code of one hook have that the shell that runs them has not.
pub(super) fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let scripts = seen.commands.iter().filter_map(|command| command.script.as_ref());
    let mut found: Vec<Finding> = scripts.flat_map(|script| in_script(context, seen, script)).collect();
    let given = seen.commands.iter().filter_map(|command| command.code.as_ref());
    for code in given.filter(|code| code.interpreter == Interpreter::Shell(ShellKind::Posix)) {
        for (what, _) in bashisms(&code.text) {
            let message =
                format!("the code that hook `{}` gives to `sh -c` has {what}, which only bash has", seen.hook);
            let diagnostic = context.about_key(seen.hook, "command", Code::ScriptBashism, message);
            found.push(Finding::new(diagnostic.hint("write `bash -c`")));
        }
    }
    found.extend(in_command_of_plugin(context, seen));
    found
}

/// What the command of a plugin's hook has that `/bin/sh`, which it is given to, may not have.
fn in_command_of_plugin(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let (DialectId::Xcode, Action::Shell(line)) = (seen.hook.dialect, &seen.hook.action) else { return Vec::new() };
    let about = |(what, _): (&str, Range<usize>)| {
        let message =
            format!("the command of hook `{}` has {what}, which only bash has, and is given to `/bin/sh`", seen.hook);
        let diagnostic = context.about_key(seen.hook, "command", Code::ScriptBashism, message);
        Finding::new(diagnostic.hint("write `bash -c '…'`, or put the code into a script for bash"))
    };
    bashisms(&without_plugin_variables(line)).into_iter().map(about).collect()
}

/// The command with a word in the place of each `${env:…}`, which a shell never sees.
fn without_plugin_variables(line: &str) -> String {
    let mut parts = line.split("${env:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "x" + part.split_once('}').map_or(part, |(_, rest)| rest))
}

fn in_script(context: &LintContext<'_>, seen: &HookContext<'_>, script: &ScriptUse) -> Vec<Finding> {
    let Some(text) = context.text(&script.path) else { return Vec::new() };
    if language_of(script, &text) != Some(Interpreter::Shell(ShellKind::Posix)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (what, span) in bashisms(&text) {
        let message =
            format!("this script of hook `{}` has {what}, which only bash has, and another shell runs it", seen.hook);
        let place = Location::in_text(&script.path, &text, span);
        let diagnostic = Diagnostic::new(Code::ScriptBashism, message).at(place);
        found.push(match script.runner {
            Runner::Given(_) => Finding::new(diagnostic.hint(format!("run it with `bash {}`", script.written))),
            Runner::Itself => {
                let line = text.lines().next().unwrap_or_default().trim_end().len();
                let new = "#!/usr/bin/env bash";
                let finding = Finding::new(diagnostic.hint(format!("begin the script with `{new}`")));
                match find_program(&seen.search_path(), "bash") {
                    Some(_) => {
                        finding.fixed_by(Fix::Edit { file: script.path.clone(), span: 0..line, text: new.to_owned() })
                    }
                    None => finding,
                }
            }
        });
    }
    found
}

/// What of a shell's code only bash has, each once with its first place.
fn bashisms(text: &str) -> Vec<(&'static str, Range<usize>)> {
    // Such a script looks for the shell that runs it.
    if text.contains("BASH_VERSION") {
        return Vec::new();
    }
    let Some(tree) = parse_shell(text) else { return Vec::new() };
    let mut found: Vec<(&'static str, Range<usize>)> = Vec::new();
    for node in nodes(&tree) {
        let Some(what) = bashism(node, text) else { continue };
        if !found.iter().any(|(known, _)| *known == what) {
            let start = node.start_byte();
            // A block may span the rest of the script; its first line is what helps.
            let line = text[start..].find('\n').map_or(text.len(), |at| start + at);
            found.push((what, start..node.end_byte().min(line)));
        }
    }
    found
}

fn bashism(node: Node<'_>, text: &str) -> Option<&'static str> {
    let written = text.get(node.byte_range())?;
    let has_token = |token: &str| {
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| child.kind() == token)
    };
    Some(match node.kind() {
        "test_command" if written.starts_with("[[") => "`[[ … ]]`",
        "test_command" if written.starts_with("((") => "`(( … ))`",
        "compound_statement" if written.starts_with("((") => "`(( … ))`",
        "test_command" if written.starts_with('[') && has_operator(node, text, "==") => "`==` in `[ … ]`",
        "test_command" if written.starts_with('[') && has_operator(node, text, "=~") => "`=~`",
        "c_style_for_statement" => "`for ((…))`",
        "for_statement" if written.starts_with("select") => "`select`",
        "array" => "an array",
        "subscript" => "an array",
        "function_definition" if written.starts_with("function") => "`function`",
        "herestring_redirect" => "`<<<`",
        "process_substitution" => "`<(…)`",
        "ansi_c_string" => "`$'…'`",
        "brace_expression" => "`{1..9}`",
        "file_redirect" if written.starts_with("&>") => "`&>`",
        "pipeline" if has_token("|&") => "`|&`",
        "variable_assignment" if has_token("+=") => "`+=`",
        "declaration_command" if written.starts_with("declare") => "`declare`",
        "declaration_command" if written.starts_with("typeset") => "`typeset`",
        "expansion" => return expansion(written),
        "simple_expansion" if VARIABLES.contains(&written.trim_start_matches('$')) => "a variable of bash",
        "command" => return command(written),
        _ => return None,
    })
}

/// Whether a test compares with an operator. The parser may have read `[ a == b ]` as a comparison or as words.
fn has_operator(test: Node<'_>, text: &str, operator: &str) -> bool {
    let mut waiting = vec![test];
    while let Some(node) = waiting.pop() {
        if matches!(node.kind(), "string" | "raw_string" | "command_substitution") {
            continue;
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        if children.is_empty() && text.get(node.byte_range()) == Some(operator) {
            return true;
        }
        waiting.extend(children);
    }
    false
}

/// What of `${…}` only bash has.
fn expansion(written: &str) -> Option<&'static str> {
    let inner = written.strip_prefix("${")?.strip_suffix('}')?;
    if inner.starts_with('!') {
        return Some("`${!name}`");
    }
    let name = inner.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))?;
    let (name, rest) = inner.split_at(name);
    if VARIABLES.contains(&name) {
        return Some("a variable of bash");
    }
    match rest.as_bytes() {
        _ if name.is_empty() => None,
        [b'/', ..] => Some("`${name/…/…}`"),
        [b'^' | b',', ..] => Some("`${name^^}` or `${name,,}`"),
        [b'@', ..] => Some("`${name@…}`"),
        [b':', b'-' | b'=' | b'?' | b'+', ..] => None,
        [b':', ..] => Some("`${name:…:…}`"),
        _ => None,
    }
}

fn command(written: &str) -> Option<&'static str> {
    let words: Vec<&str> = written.split_ascii_whitespace().collect();
    let name = *words.first()?;
    if let Some(known) = COMMANDS.iter().find(|known| **known == name) {
        return Some(match *known {
            "source" => "`source`",
            "let" => "`let`",
            "shopt" => "`shopt`",
            "declare" => "`declare`",
            "typeset" => "`typeset`",
            "mapfile" | "readarray" => "`mapfile`",
            "pushd" | "popd" | "dirs" => "`pushd`",
            _ => "a builtin of bash",
        });
    }
    let has = |words_of: &[&str]| words.iter().skip(1).any(|word| words_of.contains(word));
    match name {
        "set" if has(&["pipefail"]) => Some("`set -o pipefail`"),
        "read" if words.iter().skip(1).any(|word| is_flag_of_bash(word)) => Some("`read` with an option of bash"),
        "trap" if has(&["ERR", "DEBUG", "RETURN"]) => Some("`trap … ERR`"),
        "printf" if has(&["-v"]) => Some("`printf -v`"),
        "test" if has(&["==", "=~"]) => Some("`==` in `test`"),
        _ => None,
    }
}

/// Whether a word has an option of `read` that other shells lack.
fn is_flag_of_bash(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| flags.contains(['a', 'd', 'n', 'N', 't', 's', 'u', 'e', 'i']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_shell_has_is_no_finding() {
        for text in [
            "#!/bin/sh\nset -eu\ninput=$(cat)\ncase $input in\n  *secret*) echo no >&2; exit 2 ;;\nesac\n",
            "f() { local x=$1; echo \"${x:-a}${x%b}${x##*/}\" >/dev/null 2>&1; }\nf && f || exit 2\n",
            "if [ \"$a\" = b ] && [ -n \"$c\" ]; then echo $((1 + 2)); fi\nread -r line\n. ./lib.sh\n",
            "echo '[[ a == b ]]' \"$(grep '==' x)\" # [[ <<< source\ncat <<EOF\n[[ x ]] ${y:-z}\nEOF\n",
            "[ -n \"${BASH_VERSION:-}\" ] || exec bash \"$0\" \"$@\"\n[[ a == b ]]\n",
            "[ \"$x\" = \"a == b\" ] && exit 2\nprintf '%s' \"$1\" | jq -e '.a == 1'\n",
        ] {
            assert_eq!(bashisms(text), [], "{text}");
        }
    }

    #[test]
    fn a_variable_of_a_plugin_is_no_expansion_of_bash() {
        let line = "cat ${env:A} \"${env:B:-c}\" ${pluginDir}/x";
        assert_eq!(without_plugin_variables(line), "cat x \"x\" ${pluginDir}/x");
        assert_eq!(bashisms(&without_plugin_variables(line)), []);
    }

    #[test]
    fn what_only_bash_has_is_found_at_its_line() {
        for (code, what) in [
            ("if [[ $a == b ]]; then exit 2; fi", "`[[ … ]]`"),
            ("[ \"$a\" == b ] && exit 2", "`==` in `[ … ]`"),
            ("names=(a b)", "an array"),
            ("function f { echo; }", "`function`"),
            ("grep x <<< \"$input\"", "`<<<`"),
            ("source ./lib.sh", "`source`"),
            ("echo \"${input//a/b}\"", "`${name/…/…}`"),
            ("echo \"${input:0:3}\"", "`${name:…:…}`"),
            ("echo \"${input^^}\"", "`${name^^}` or `${name,,}`"),
            ("set -o pipefail", "`set -o pipefail`"),
            ("diff <(a) <(b)", "`<(…)`"),
            ("declare -a x", "`declare`"),
            ("(( n > 1 )) && exit 2", "`(( … ))`"),
            ("for ((i = 0; i < 3; i++)); do :; done", "`for ((…))`"),
            ("a &> /dev/null", "`&>`"),
            ("a |& b", "`|&`"),
            ("x+=y", "`+=`"),
            ("echo $'a\\n'", "`$'…'`"),
            ("for i in {1..3}; do :; done", "`{1..9}`"),
            ("read -n 1 x", "`read` with an option of bash"),
            ("echo $RANDOM", "a variable of bash"),
        ] {
            let text = format!("#!/bin/sh\nset -eu\n{code}\n");
            let found = bashisms(&text);
            let line = |span: &Range<usize>| text[..span.start].matches('\n').count() + 1;
            assert!(found.iter().any(|(found, span)| *found == what && line(span) == 3), "{code}: {found:?}");
        }
    }
}

//! Guards that print a text and succeed. A guard with a failure policy has to print an answer, so it would fail each time.
//!
//! Only what is certain is reported: a text in the code itself, on standard output, with no failing exit behind it.

use std::ops::Range;

use hookrail::hook::Action;
use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, Hook, OnFailure};
use tree_sitter::{Node, Tree};

use super::Finding;
use super::command_line::ScriptUse;
use super::context::{HookContext, LintContext};
use super::interpreter::{Interpreter, ShellKind};
use super::parse::{nodes, parse_python, parse_shell};
use super::syntax::language_of;

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    let answers_strictly =
        |hook: &Hook| hook.on_failure != OnFailure::Allow && hook.event.spec().gated_by(hook.dialect);
    context.active().filter(|seen| answers_strictly(seen.hook)).flat_map(|seen| of_hook(context, seen)).collect()
}

fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let hook = seen.hook;
    let line = match &hook.action {
        Action::Shell(line) => Some((Interpreter::Shell(ShellKind::Bash), &**line)),
        _ => None,
    };
    let given = seen.commands.iter().filter_map(|command| command.code.as_ref());
    let mut codes = line.into_iter().chain(given.map(|code| (code.interpreter, code.text.as_str())));
    let in_command =
        codes.find_map(|(language, code)| printed_text(language, code).map(|_| context.place_of(hook, "command")));
    let in_script = |script: &ScriptUse| {
        let text = context.text(&script.path)?;
        let at = printed_text(language_of(script, &text)?, &text)?;
        Some(Location::in_text(&script.path, &text, at))
    };
    let in_scripts = seen.commands.iter().filter_map(|command| in_script(command.script.as_ref()?));
    in_command.into_iter().chain(in_scripts).map(|place| finding(hook, place)).collect()
}

fn finding(hook: &Hook, place: Location) -> Finding {
    let message = format!("hook `{hook}` prints a text on standard output, which is no answer; it fails when it does");
    let hint = "print messages on standard error (`>&2`), and nothing or one JSON object on standard output";
    Finding::new(Diagnostic::new(Code::PrintsText, message).at(place).hint(hint))
}

/// The first statement that prints a text on standard output and is followed by no failing exit.
fn printed_text(language: Interpreter, code: &str) -> Option<Range<usize>> {
    match language {
        Interpreter::Shell(_) => find(&parse_shell(code)?, code, &SHELL),
        Interpreter::Python => find(&parse_python(code)?, code, &PYTHON),
        Interpreter::JavaScript | Interpreter::Other => None,
    }
}

/// How a language prints, and what takes its output elsewhere.
struct Printing {
    statement: &'static str,
    prints: fn(Node<'_>, &str) -> bool,
    /// Constructs whose output goes elsewhere, or is not certain to be written.
    elsewhere: &'static [&'static str],
    /// Words with which all output of a script goes elsewhere.
    redirections: &'static [&'static str],
}

const SHELL: Printing = Printing {
    statement: "command",
    prints: shell_prints,
    elsewhere: &[
        "command_substitution",
        "process_substitution",
        "redirected_statement",
        "pipeline",
        "function_definition",
    ],
    redirections: &["exec >", "exec 1>", "exec 3>&1"],
};

const PYTHON: Printing = Printing {
    statement: "call",
    prints: python_prints,
    elsewhere: &["with_statement", "class_definition", "lambda"],
    redirections: &["sys.stdout =", "redirect_stdout", "def print"],
};

fn find(tree: &Tree, code: &str, printing: &Printing) -> Option<Range<usize>> {
    if printing.redirections.iter().any(|word| code.contains(word)) {
        return None;
    }
    let prints = |node: &Node<'_>| {
        node.kind() == printing.statement
            && (printing.prints)(*node, code)
            && !std::iter::successors(node.parent(), Node::parent).any(|node| printing.elsewhere.contains(&node.kind()))
            && !may_fail_behind(*node, code)
    };
    nodes(tree).find(prints).map(|node| node.byte_range())
}

/// Whether anything behind a statement, in its block or in those around it, may end the script with another status than 0.
fn may_fail_behind(node: Node<'_>, code: &str) -> bool {
    let levels = std::iter::successors(Some(node), Node::parent);
    levels.flat_map(siblings_behind).any(|node| {
        let text = code.get(node.byte_range()).unwrap_or_default();
        text.replace("exit 0", "").replace("exit(0)", "").contains("exit") || text.contains("raise ")
    })
}

fn siblings_behind(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(node.next_sibling(), Node::next_sibling)
}

fn shell_prints(command: Node<'_>, code: &str) -> bool {
    let text = code.get(command.byte_range()).unwrap_or_default();
    let Some((name, rest)) = text.split_once(char::is_whitespace) else { return false };
    let first = rest.split_ascii_whitespace().find(|word| !word.starts_with('-')).unwrap_or_default();
    matches!(name, "echo" | "printf") && begins_with_letter(first.trim_start_matches(['"', '\'']))
}

fn python_prints(call: Node<'_>, code: &str) -> bool {
    let of = |node: Node<'_>| code.get(node.byte_range()).unwrap_or_default();
    let named = |field: &str| call.child_by_field_name(field);
    let Some(arguments) = named("arguments").filter(|_| named("function").is_some_and(|name| of(name) == "print"))
    else {
        return false;
    };
    let Some(first) = arguments.named_child(0).filter(|first| first.kind() == "string") else { return false };
    let text =
        of(first).trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).trim_start_matches(['"', '\'']);
    !of(arguments).contains("file=") && begins_with_letter(text)
}

fn begins_with_letter(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(code: &str) -> bool {
        printed_text(Interpreter::Shell(ShellKind::Bash), code).is_some()
    }

    fn python(code: &str) -> bool {
        printed_text(Interpreter::Python, code).is_some()
    }

    #[test]
    fn a_text_of_a_shell_script_is_found_where_it_is_certain() {
        for code in [
            "echo checking",
            "echo \"checking $file\"\nexit 0\n",
            "printf 'all is well\\n'",
            "case $x in a) echo no >&2; exit 2;; esac\necho fine\n",
            "if true; then echo ok; fi\n",
            "echo -n checking; jq -n '{decision: \"allow\"}'",
        ] {
            assert!(shell(code), "{code}");
        }
        for code in [
            "echo no; exit 2",
            "echo no && exit 1",
            "if grep -q x; then echo no; exit 2; fi",
            "echo checking >&2",
            "{ echo checking; } >&2",
            "echo '{\"decision\": \"deny\"}'",
            "echo \"$answer\"",
            "printf '%s' x",
            "x=$(echo text)",
            "echo text | tr a b",
            "exec >&2\necho text\n",
            "say() { echo text; }\nx=$(say)\n",
            "echo text; exit $status",
            "# echo text",
        ] {
            assert!(!shell(code), "{code}");
        }
    }

    #[test]
    fn a_text_of_a_python_script_is_found_where_it_is_certain() {
        for code in [
            "print('checking')\n",
            "def main():\n    print(f\"checking {x}\")\nmain()\n",
            "print(\"ok\")\nsys.exit(0)\n",
        ] {
            assert!(python(code), "{code}");
        }
        for code in [
            "print('no', file=sys.stderr)\n",
            "print('no')\nsys.exit(2)\n",
            "print(json.dumps({}))\n",
            "print('{}')\n",
            "print()\n",
            "with open('x') as f:\n    print('text')\n",
        ] {
            assert!(!python(code), "{code}");
        }
    }
}

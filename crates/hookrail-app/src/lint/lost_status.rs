//! Commands that discard the exit status of the script that they run: the script denies, and its caller never hears it.

use hookrail::hook::Action;
use hookrail::{Code, DialectId, Hook, OnFailure};
use tree_sitter::{Node, Tree};

use super::Finding;
use super::command_line::{CommandUse, Lookup, commands_in_code};
use super::context::{HookContext, LintContext};
use super::interpreter::Interpreter;
use super::parse::{nodes, parse_shell};

/// Programs that look for something or write something, and refuse nothing themselves.
const TOOLS: [&str; 22] = [
    "grep",
    "egrep",
    "rg",
    "jq",
    "yq",
    "cat",
    "sed",
    "awk",
    "head",
    "tail",
    "tee",
    "tr",
    "cut",
    "sort",
    "date",
    "mkdir",
    "rm",
    "touch",
    "cp",
    "mv",
    "logger",
    "notify-send",
];

/// What happens to the status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is the status of the hook, or the line uses it.
    Used,
    /// The right side of `||` replaces it.
    Replaced,
    /// A command behind it replaces it.
    Overtaken,
    /// Another part of the pipe has the status.
    Piped,
    /// `!` turns it round.
    Negated,
    /// Nothing waits for the command.
    Background,
}

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    let guards = context.active().filter(|seen| seen.hook.event.spec().gated_by(seen.hook.dialect));
    guards.flat_map(|seen| of_hook(context, seen)).collect()
}

fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let hook = seen.hook;
    let Action::Shell(line) = &hook.action else { return Vec::new() };
    let given = seen.commands.iter().filter_map(|command| command.code.as_ref());
    let for_shells = given.filter(|code| matches!(code.interpreter, Interpreter::Shell(_)));
    let codes = std::iter::once(&**line).chain(for_shells.map(|code| code.text.as_str()));
    codes.flat_map(|code| in_code(context, hook, code)).collect()
}

fn in_code(context: &LintContext<'_>, hook: &Hook, code: &str) -> Vec<Finding> {
    let Some(tree) = parse_shell(code) else { return Vec::new() };
    let commands = commands_in_code(context.root, hook, code);
    let mut found = Vec::new();
    for command in commands.iter().filter(|command| runs_guard(command, &commands)) {
        let fate = fate_of(&tree, code, command);
        if !is_loss(context, hook, command, fate) {
            continue;
        }
        let shown = code.get(command.span.clone()).unwrap_or_default();
        let (why, hint) = match fate {
            Fate::Used => continue,
            Fate::Replaced => ("`||` replaces it", "leave out what stands behind `||`"),
            Fate::Overtaken => ("a later command replaces it", "run it last, or begin with `set -e`"),
            Fate::Piped => {
                ("a later part of the pipe replaces it", "begin with `set -o pipefail`, or leave out the pipe")
            }
            Fate::Negated => ("`!` turns it round", "leave out `!`"),
            Fate::Background => ("`&` lets it run on without being waited for", "leave out `&`"),
        };
        let message = format!("the exit status of `{shown}` in hook `{hook}` is lost, because {why}; it cannot block");
        let diagnostic = context.about_key(hook, "command", Code::StatusLost, message);
        found.push(Finding::new(diagnostic.hint(hint)));
    }
    found
}

/// Whether a command runs what may refuse: a script, or the only program of a line.
fn runs_guard(command: &CommandUse, all: &[CommandUse]) -> bool {
    if matches!(&command.lookup, Lookup::SearchPath(name) if TOOLS.contains(&name.as_str())) && command.script.is_none()
    {
        return false;
    }
    let is_program =
        |command: &&CommandUse| matches!(command.lookup, Lookup::SearchPath(_)) || command.script.is_some();
    command.script.is_some() || is_program(&command) && all.iter().filter(is_program).count() == 1
}

/// Whether a status that is lost could have denied. What a script prints is read all the same, unless it runs in the
/// background.
fn is_loss(context: &LintContext<'_>, hook: &Hook, command: &CommandUse, fate: Fate) -> bool {
    match fate {
        Fate::Used => return false,
        Fate::Background => return true,
        Fate::Replaced | Fate::Overtaken | Fate::Piped | Fate::Negated => {}
    }
    // A plugin denies by what it prints; its status is a failure, for which there is a policy.
    let counts = hook.dialect != DialectId::Xcode || hook.on_failure != OnFailure::Allow;
    let text = command.script.as_ref().and_then(|script| context.text(&script.path));
    counts && text.is_none_or(|text| !text.contains("decision"))
}

fn fate_of(tree: &Tree, code: &str, command: &CommandUse) -> Fate {
    let is_meant = |node: &Node<'_>| node.kind() == "command" && node.byte_range() == command.span;
    let Some(mut node) = nodes(tree).find(is_meant) else { return Fate::Used };
    let text = |node: Node<'_>| code.get(node.byte_range()).unwrap_or_default();
    while let Some(parent) = node.parent() {
        let behind = siblings_behind(node);
        match parent.kind() {
            "list" => {
                let operator = behind.iter().find(|sibling| !sibling.is_named()).map(|sibling| sibling.kind());
                let right = behind.iter().rev().find(|sibling| sibling.is_named());
                if operator == Some("||")
                    && right.is_some_and(|right| succeeds(text(*right)))
                    && !text(node).contains("exit")
                {
                    return Fate::Replaced;
                }
            }
            "pipeline" if behind.iter().any(Node::is_named) && !code.contains("pipefail") => return Fate::Piped,
            "negated_command" => return Fate::Negated,
            "program" | "compound_statement" | "subshell" => {
                if behind.first().is_some_and(|sibling| sibling.kind() == "&") {
                    return Fate::Background;
                }
                let next = behind.iter().find(|sibling| sibling.is_named() && sibling.kind() != "comment");
                let handles = code.contains("set -e") || code.contains("errexit") || code.contains("$?");
                // `check && exit 2; exit 0` has used the status before it goes on.
                if next.is_some() && !handles && !text(node).contains("exit") {
                    return Fate::Overtaken;
                }
            }
            // The line does something with the status or the output.
            "redirected_statement" | "pipeline" => {}
            _ => return Fate::Used,
        }
        node = parent;
    }
    Fate::Used
}

fn siblings_behind(node: Node<'_>) -> Vec<Node<'_>> {
    std::iter::successors(node.next_sibling(), Node::next_sibling).collect()
}

/// Whether a command behind `||` ends with success whatever was before.
fn succeeds(command: &str) -> bool {
    let mut words = command.split_ascii_whitespace();
    match words.next() {
        Some("true" | ":" | "echo" | "printf") => true,
        Some("exit" | "return") => words.next() == Some("0"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn fate(line: &str) -> Fate {
        let origin = hookrail::sources::Origin::without_file(hookrail::sources::SourceKind::Project);
        let event = hookrail::EventKind::BeforeTool;
        let hook = Hook::new(event, DialectId::Llxprt, "x", Action::Shell(line.into()), origin);
        let commands = commands_in_code(Path::new("/p"), &hook, line);
        let command = commands.iter().find(|command| command.script.is_some()).unwrap();
        fate_of(&parse_shell(line).unwrap(), line, command)
    }

    #[test]
    fn the_status_of_a_script_and_what_becomes_of_it() {
        for (line, expected) in [
            ("sh g.sh", Fate::Used),
            ("cd x && sh g.sh", Fate::Used),
            ("cd x; sh g.sh", Fate::Used),
            ("sh g.sh || exit 2", Fate::Used),
            ("sh g.sh || sh other.sh", Fate::Used),
            ("sh g.sh || { echo no >&2; exit 2; }", Fate::Used),
            ("set -e; sh g.sh; echo done", Fate::Used),
            ("sh g.sh; s=$?; echo; exit $s", Fate::Used),
            ("if sh g.sh; then :; else exit 2; fi", Fate::Used),
            ("out=$(sh g.sh); echo \"$out\"", Fate::Used),
            ("sh g.sh 2>/dev/null", Fate::Used),
            ("cat | sh g.sh", Fate::Used),
            ("sh g.sh > log", Fate::Used),
            ("sh g.sh && exit 2; exit 0", Fate::Used),
            ("sh g.sh || true", Fate::Replaced),
            ("sh g.sh 2>/dev/null || :", Fate::Replaced),
            ("cd x && sh g.sh || exit 0", Fate::Replaced),
            ("sh g.sh; true", Fate::Overtaken),
            ("sh g.sh\nexit 0", Fate::Overtaken),
            ("{ sh g.sh; echo; }", Fate::Overtaken),
            ("sh g.sh | tee log", Fate::Piped),
            ("set -o pipefail; sh g.sh | tee log", Fate::Used),
            ("! sh g.sh", Fate::Negated),
            ("sh g.sh &", Fate::Background),
            ("(sh g.sh &)", Fate::Background),
        ] {
            assert_eq!(fate(line), expected, "{line}");
        }
    }
}

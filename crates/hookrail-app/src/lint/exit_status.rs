//! Scripts that deny with an exit status which does not deny.

use hookrail::hook::Action;
use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, DialectId, Hook, OnFailure};

use tree_sitter::Node;

use super::Finding;
use super::context::LintContext;
use super::interpreter::{Interpreter, ShellKind};
use super::parse::{nodes, parse_python, parse_shell};
use super::syntax::language_of;

const SHELL: Interpreter = Interpreter::Shell(ShellKind::Bash);

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // A failure of a guard has the effect that its author chose.
    let guards = context.active().filter(|seen| {
        let hook = seen.hook;
        hook.on_failure == OnFailure::Allow && hook.event.spec().gated_by(hook.dialect)
    });
    for seen in guards {
        let hook = seen.hook;
        let line = match &hook.action {
            Action::Shell(line) => Some((SHELL, &**line)),
            _ => None,
        };
        let given = seen.commands.iter().filter_map(|command| command.code.as_ref());
        let mut codes = line.into_iter().chain(given.map(|code| (code.interpreter, code.text.as_str())));
        if let Some((_, status)) = codes.find_map(|(language, code)| policy_exit(hook, language, code)) {
            let diagnostic = context.about_key(hook, "command", Code::ExitStatusAsPolicy, message(hook, status));
            found.push(Finding::new(diagnostic.hint(hint(hook))));
        }
        for script in seen.commands.iter().filter_map(|command| command.script.as_ref()) {
            let Some(text) = context.text(&script.path) else { continue };
            let Some(language) = language_of(script, &text) else { continue };
            if language == SHELL
                && let Some(at) = return_outside(&text)
            {
                let message = format!(
                    "`return` in this script of hook `{hook}` stands outside of a function, so the script goes on behind it"
                );
                let place = Location::in_text(&script.path, &text, at);
                let diagnostic = Diagnostic::new(Code::ExitStatusAsPolicy, message).at(place);
                found.push(Finding::new(diagnostic.hint("write `exit`; the status 2 blocks")));
            }
            if let Some((at, status)) = policy_exit(hook, language, &text) {
                let place = Location::in_text(&script.path, &text, at);
                found.push(Finding::new(
                    Diagnostic::new(Code::ExitStatusAsPolicy, message(hook, status)).at(place).hint(hint(hook)),
                ));
            }
        }
    }
    found
}

fn message(hook: &Hook, status: &str) -> String {
    let status = match status.parse::<i64>() {
        Ok(_) => format!("exits with {status}"),
        Err(_) => format!("exits with the text `{status}`, so with the status 1"),
    };
    format!("hook `{hook}` {status}, which is a failure and does not block; the operation is allowed")
}

fn hint(hook: &Hook) -> String {
    match hook.dialect {
        DialectId::Xcode => {
            "print {\"decision\": \"deny\", \"reason\": \"…\"} and exit with 0, or set `failurePolicy` to \"block\""
                .to_owned()
        }
        _ => "exit with 2 to block, or set `onFailure` to \"block\" if any failure must block".to_owned(),
    }
}

/// The first exit with a status that looks like a refusal, if the code has no other way to refuse.
fn policy_exit<'t>(hook: &Hook, language: Interpreter, text: &'t str) -> Option<(std::ops::Range<usize>, &'t str)> {
    if text.contains("decision") {
        return None;
    }
    let is_plugin = hook.dialect == DialectId::Xcode;
    // A text as the status is a mistake even where another place refuses with 2.
    let with_text =
        || (language == Interpreter::Python).then(|| python_exit(text, |status| status.is_text())).flatten();
    if !is_plugin && exits(language, text, |status| status == "2").is_some() {
        return with_text();
    }
    exits(language, text, |status| status != "0" && (is_plugin || status != "2")).or_else(with_text)
}

/// The first exit with a number that is wanted.
fn exits(
    language: Interpreter,
    text: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<(std::ops::Range<usize>, &str)> {
    match language {
        Interpreter::Shell(_) => {
            let tree = parse_shell(text)?;
            let mut commands = nodes(&tree).filter(|node| node.kind() == "command");
            commands.find_map(|node| {
                let mut words = text.get(node.byte_range())?.split_ascii_whitespace();
                let status = words.next().filter(|name| *name == "exit").and_then(|_| words.next())?;
                (is_number(status) && is_wanted(status)).then(|| (node.byte_range(), status))
            })
        }
        Interpreter::Python => python_exit(text, |status| match status {
            PythonStatus::Number(number) => is_wanted(number),
            PythonStatus::Text => false,
        }),
        Interpreter::JavaScript => call(text, &["process.exit(", "process.exitCode = "], is_wanted),
        Interpreter::Other => None,
    }
}

/// The first `return` of bash that is in no function. A file that is read by another one may return.
fn return_outside(text: &str) -> Option<std::ops::Range<usize>> {
    let tree = parse_shell(text)?;
    let is_return = |node: &Node<'_>| {
        let is_return =
            text.get(node.byte_range()).and_then(|text| text.split_ascii_whitespace().next()) == Some("return");
        is_return && node.kind() == "command"
    };
    let is_in_function = |node: &Node<'_>| {
        std::iter::successors(node.parent(), Node::parent).any(|around| around.kind() == "function_definition")
    };
    nodes(&tree).filter(is_return).find(|node| !is_in_function(node)).map(|node| node.byte_range())
}

fn is_number(status: &str) -> bool {
    let digits = status.strip_prefix('-').unwrap_or(status);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a call that ends Python is given.
#[derive(Clone, Copy)]
enum PythonStatus<'t> {
    Number(&'t str),
    /// A text, which is printed; the status is 1.
    Text,
}

impl PythonStatus<'_> {
    fn is_text(self) -> bool {
        matches!(self, Self::Text)
    }
}

/// The first call that ends Python with a wanted status.
fn python_exit(text: &str, is_wanted: impl Fn(PythonStatus<'_>) -> bool) -> Option<(std::ops::Range<usize>, &str)> {
    let tree = parse_python(text)?;
    nodes(&tree).filter(|node| node.kind() == "call").find_map(|node| {
        let function = text.get(node.child_by_field_name("function")?.byte_range())?;
        let arguments = node.child_by_field_name("arguments")?;
        let argument = arguments.named_child(0).filter(|_| arguments.named_child_count() == 1)?;
        let given = text.get(argument.byte_range())?;
        let status = match argument.kind() {
            "integer" | "unary_operator" if is_number(given) => PythonStatus::Number(given),
            "string" | "concatenated_string" => PythonStatus::Text,
            _ => return None,
        };
        let ends = ["sys.exit", "exit", "quit", "SystemExit", "os._exit"].contains(&function);
        (ends && is_wanted(status)).then(|| (node.byte_range(), given))
    })
}

/// A call with the status as its only argument.
fn call<'t>(
    text: &'t str,
    calls: &[&str],
    is_wanted: impl Fn(&str) -> bool,
) -> Option<(std::ops::Range<usize>, &'t str)> {
    calls.iter().find_map(|call| {
        text.match_indices(call).find_map(|(at, _)| {
            let behind = text.get(at + call.len()..)?;
            let sign = usize::from(behind.starts_with('-'));
            let digits =
                behind.get(sign..)?.find(|letter: char| !letter.is_ascii_digit()).map_or(behind.len(), |at| at + sign);
            let status = behind.get(..digits)?;
            (is_number(status) && is_wanted(status)).then(|| (at..at + call.len() + digits, status))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_with_one_is_found_where_it_is_code() {
        let shell = |text| exits(SHELL, text, |status| status == "1").is_some();
        assert!(shell("grep -q rm && { echo no >&2; exit 1; }"));
        assert_eq!(return_outside("f() { return 2; }\nreturn 2\n"), Some(18..26));
        assert_eq!(return_outside("f() { return 2; }\nf\n"), None);
        assert!(!shell("# exit 1\necho 'exit 1'\nexit 0\n"));
        assert!(exits(Interpreter::Python, "import sys\nsys.exit(1)\n", |status| status == "1").is_some());
        assert!(
            exits(Interpreter::Python, "import sys\n# sys.exit(1)\nsys.exit(0)\n", |status| status == "1").is_none()
        );
        let with_text = python_exit("import sys\nsys.exit(f'denied {1}')\n", |status| status.is_text());
        assert_eq!(with_text, Some((11..34, "f'denied {1}'")));
        assert!(exits(Interpreter::JavaScript, "process.exit(10)\n", |status| status == "1").is_none());
    }
}

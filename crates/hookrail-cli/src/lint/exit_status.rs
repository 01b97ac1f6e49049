//! Scripts that deny with an exit status which does not deny.

use hookrail::hook::Action;
use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, DialectId, Hook, OnFailure};

use super::Finding;
use super::command_line::nodes;
use super::interpreter::{Interpreter, ShellKind};
use super::scene::Scene;
use super::syntax::{language_of, parse_python, parse_shell};

const SHELL: Interpreter = Interpreter::Shell(ShellKind::Bash);

pub(super) fn look(scene: &Scene<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // A failure of a guard has the effect that its author chose.
    let guards = scene.active().filter(|seen| {
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
            let diagnostic = scene.about_key(hook, "command", Code::ExitStatusAsPolicy, message(hook, status));
            found.push(Finding::new(diagnostic.hint(hint(hook))));
        }
        for script in seen.commands.iter().filter_map(|command| command.script.as_ref()) {
            let Some(text) = scene.text(&script.path) else { continue };
            let Some(language) = language_of(script, &text) else { continue };
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
    let status = match status.parse::<u32>() {
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
    let statuses: &[&str] = match hook.dialect {
        DialectId::Xcode => &["1", "2"],
        _ => &["1"],
    };
    if text.contains("decision") {
        return None;
    }
    // A text as the status is a mistake even where another place refuses with 2.
    let with_text =
        || (language == Interpreter::Python).then(|| python_exit(text, |status| status.is_text())).flatten();
    if hook.dialect != DialectId::Xcode && exits(language, text, &["2"]).is_some() {
        return with_text();
    }
    exits(language, text, statuses).or_else(with_text)
}

fn exits<'t>(language: Interpreter, text: &'t str, statuses: &[&str]) -> Option<(std::ops::Range<usize>, &'t str)> {
    match language {
        Interpreter::Shell(_) => {
            let tree = parse_shell(text)?;
            let mut commands = nodes(&tree).filter(|node| node.kind() == "command");
            commands.find_map(|node| {
                let mut words = text.get(node.byte_range())?.split_ascii_whitespace();
                let status = words.next().filter(|name| *name == "exit").and_then(|_| words.next())?;
                statuses.contains(&status).then(|| (node.byte_range(), status))
            })
        }
        Interpreter::Python => python_exit(text, |status| match status {
            PythonStatus::Number(number) => statuses.contains(&number),
            PythonStatus::Text => false,
        }),
        Interpreter::JavaScript => call(text, &["process.exit(", "process.exitCode = "], statuses),
        Interpreter::Other => None,
    }
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
            "integer" => PythonStatus::Number(given),
            "string" | "concatenated_string" => PythonStatus::Text,
            _ => return None,
        };
        let ends = ["sys.exit", "exit", "quit", "SystemExit", "os._exit"].contains(&function);
        (ends && is_wanted(status)).then(|| (node.byte_range(), given))
    })
}

/// A call with the status as its only argument.
fn call<'t>(text: &'t str, calls: &[&str], statuses: &[&str]) -> Option<(std::ops::Range<usize>, &'t str)> {
    calls.iter().find_map(|call| {
        text.match_indices(call).find_map(|(at, _)| {
            let behind = text.get(at + call.len()..)?;
            let digits = behind.find(|character: char| !character.is_ascii_digit()).unwrap_or(behind.len());
            let status = behind.get(..digits)?;
            statuses.contains(&status).then(|| (at..at + call.len() + digits, status))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_with_one_is_found_where_it_is_code() {
        let shell = |text| exits(SHELL, text, &["1"]).is_some();
        assert!(shell("grep -q rm && { echo no >&2; exit 1; }"));
        assert!(!shell("# exit 1\necho 'exit 1'\nexit 0\n"));
        assert!(exits(Interpreter::Python, "import sys\nsys.exit(1)\n", &["1"]).is_some());
        assert!(exits(Interpreter::Python, "import sys\n# sys.exit(1)\nsys.exit(0)\n", &["1"]).is_none());
        let with_text = python_exit("import sys\nsys.exit(f'denied {1}')\n", |status| status.is_text());
        assert_eq!(with_text, Some((11..34, "f'denied {1}'")));
        assert!(exits(Interpreter::JavaScript, "process.exit(10)\n", &["1"]).is_none());
    }
}

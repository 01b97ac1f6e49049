//! A command as it is started: its line for the shell, its variables, and when two commands are the same work.

use std::sync::Arc;

use crate::event::Event;
use crate::exec_options::ProcessLifetime;
use crate::hook::{Action, Hook};

/// The variables that hold the project's directory. The shell expands them; their values are never pasted into a
/// command.
pub(super) const PROJECT_VARIABLES: [&str; 3] = ["LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

/// The environment variables of a hook.
pub(super) fn variables(hook: &Hook, event: &Event) -> Arc<[(String, String)]> {
    // The project is the one whose hooks were loaded, whatever the directory of the event.
    let [variable, ..] = PROJECT_VARIABLES;
    let known = hook.environment.as_ref().and_then(|environment| environment.get(variable));
    let project = known.unwrap_or(event.cwd().as_os_str()).to_string_lossy().into_owned();
    let mut variables: Vec<(String, String)> = PROJECT_VARIABLES.map(|name| (name.to_owned(), project.clone())).into();
    if let Some(extension) = &hook.owner {
        variables.push(("extensionPath".to_owned(), extension.dir.to_string_lossy().into_owned()));
        variables.push(("workspacePath".to_owned(), project));
        variables.push(("pathSeparator".to_owned(), std::path::MAIN_SEPARATOR_STR.to_owned()));
    }
    variables.into()
}

/// The key of a hook's work: the command text, and for an extension's hook the extension, because its variables have
/// other values elsewhere.
pub(super) fn work_key(hook: &Hook) -> Option<String> {
    let own = ["extensionPath", "workspacePath", "pathSeparator"];
    let is_relative = |command: &str| own.iter().any(|name| command.contains(name));
    let owner = hook.owner.as_ref().filter(|_| match &hook.action {
        Action::Shell(command) => is_relative(command),
        Action::Program(words) => words.iter().any(|word| is_relative(word)),
        _ => false,
    });
    let owner = owner.map(|owner| &owner.dir);
    // A worker uses another protocol than a program that answers once, so neither can replace the other.
    let life = if hook.exec.lifetime == ProcessLifetime::Worker { "worker" } else { "" };
    let terms = (hook.terms_of_its_own(), &hook.sandbox_floors);
    match &hook.action {
        Action::Shell(command) => Some(format!("{owner:?} {life} {terms:?} shell {command}")),
        Action::Program(words) => Some(format!("{owner:?} {life} {terms:?} program {words:?}")),
        _ => None,
    }
}

/// The line with quotes around unquoted references to the project; nothing if there are none.
///
/// Without quotes a blank in the project's path splits the command, and a guard that cannot be found lets everything
/// pass.
pub(super) fn with_quoted_project(line: &str) -> Option<Arc<str>> {
    // In a here-document quotes are part of the text, and only the shell knows where one begins. Such a line stays as
    // it is.
    if !line.contains("_PROJECT_DIR") || line.contains("<<") {
        return None;
    }
    let mut out = String::with_capacity(line.len() + 8);
    let mut quote = None;
    let mut rest = line;
    let mut changed = false;
    while let Some(first) = rest.chars().next() {
        let reference = if quote.is_none() { project_reference(rest) } else { None };
        if let Some(reference) = reference {
            out.push('"');
            out.push_str(reference);
            out.push('"');
            rest = rest.get(reference.len()..).unwrap_or_default();
            changed = true;
            continue;
        }
        let length = match (first, quote) {
            // An escaped character has no special meaning, except in single quotes.
            ('\\', None | Some('"')) => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            (end, Some(begin)) if end == begin => {
                quote = None;
                first.len_utf8()
            }
            ('"' | '\'', None) => {
                quote = Some(first);
                first.len_utf8()
            }
            _ => first.len_utf8(),
        };
        let (done, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        out.push_str(done);
        rest = behind;
    }
    changed.then(|| out.into())
}

/// The reference to the project that the text begins with.
fn project_reference(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('$')?;
    let (name, signs) = match rest.strip_prefix('{') {
        Some(braced) => (braced.split_once('}')?.0, "${}".len()),
        None => {
            let is_other = |next: char| !(next.is_ascii_alphanumeric() || next == '_');
            (rest.split(is_other).next()?, "$".len())
        }
    };
    text.get(..name.len() + signs).filter(|_| PROJECT_VARIABLES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::with_quoted_project;

    #[test]
    fn a_reference_outside_of_quotes_is_quoted_and_nothing_else_is_changed() {
        for (line, expected) in [
            ("$LLXPRT_PROJECT_DIR/x.sh", "\"$LLXPRT_PROJECT_DIR\"/x.sh"),
            ("sh ${CLAUDE_PROJECT_DIR}/a b", "sh \"${CLAUDE_PROJECT_DIR}\"/a b"),
            ("cd $GEMINI_PROJECT_DIR; ls", "cd \"$GEMINI_PROJECT_DIR\"; ls"),
            ("X=$LLXPRT_PROJECT_DIR \"$LLXPRT_PROJECT_DIR\"/x", "X=\"$LLXPRT_PROJECT_DIR\" \"$LLXPRT_PROJECT_DIR\"/x"),
        ] {
            assert_eq!(with_quoted_project(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "\"$LLXPRT_PROJECT_DIR/x.sh\"",
            "'$LLXPRT_PROJECT_DIR'",
            "\\$LLXPRT_PROJECT_DIR",
            "$LLXPRT_PROJECT_DIRX",
            "$HOME/x",
            "${LLXPRT_PROJECT_DIR:-x}",
            "cat <<E\n$LLXPRT_PROJECT_DIR\nE",
            "echo \"a \\\" $LLXPRT_PROJECT_DIR\"",
        ] {
            assert_eq!(with_quoted_project(line), None, "{line}");
        }
    }
}

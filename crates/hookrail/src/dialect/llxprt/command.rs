//! A command as it is started: its line for the shell, its variables, and when two commands are the same work.

use std::sync::Arc;

use crate::event::Event;
use crate::hook::exec_options::ProcessLifetime;
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
    let life = if hook.lifetime == ProcessLifetime::Worker { "worker" } else { "" };
    let terms = (hook.terms_of_its_own(), &hook.sandbox_floors);
    match &hook.action {
        Action::Shell(command) => Some(format!("{owner:?} {life} {terms:?} shell {command}")),
        Action::Program(words) => Some(format!("{owner:?} {life} {terms:?} program {words:?}")),
        Action::Remote(target) => Some(format!("{terms:?} remote {target:?}")),
        _ => None,
    }
}

//! How a command is started: its line, its variables, and when two commands are the same work.

use std::path::Path;
use std::sync::Arc;

use crate::dialect::Launch;
use crate::dialect::command_hooks::with_quoted_variables;
use crate::event::Event;
use crate::hook::exec_options::CommandShell;
use crate::hook::{Action, Hook};
use crate::run::Environment;

/// The variables that hold the project's directory.
pub(super) const PROJECT: [&str; 2] = ["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

/// How a hook is started for an event.
pub(super) fn launch(hook: &Hook, event: &Event) -> Launch {
    let environment = hook.environment.as_deref();
    // The project is the one whose hooks were loaded, whatever the directory of the event.
    let known = environment.and_then(|environment| environment.get(PROJECT.first()?));
    let project = known.unwrap_or(event.cwd().as_os_str()).to_string_lossy().into_owned();
    let mut variables: Vec<(String, String)> = PROJECT.map(|name| (name.to_owned(), project.clone())).into();
    variables.push(("GEMINI_CWD".to_owned(), event.cwd().to_string_lossy().into_owned()));
    variables.push(("GEMINI_SESSION_ID".to_owned(), event.session_id().to_owned()));
    variables.extend(plans(environment, Path::new(&project), event.session_id()));
    if let Some(extension) = &hook.owner {
        variables.push(("extensionPath".to_owned(), extension.dir.to_string_lossy().into_owned()));
        variables.push(("workspacePath".to_owned(), project));
    }
    let command = match &hook.action {
        Action::Shell(line) => with_quoted_variables(line, &[PROJECT[0], PROJECT[1], "extensionPath", "workspacePath"]),
        _ => None,
    };
    Launch { command, variables: variables.into(), shell: CommandShell::Bash, ..Launch::default() }
}

/// The folder in which the agent keeps the plans of a session.
fn plans(environment: Option<&Environment>, project: &Path, session: &str) -> Option<(String, String)> {
    let home = Path::new(environment?.get("HOME")?);
    let name = project.file_name()?;
    let is_plain = !session.is_empty() && session.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    let folder = home.join(".gemini/tmp").join(name).join(session).join("plans");
    is_plain.then(|| ("GEMINI_PLANS_DIR".to_owned(), folder.to_string_lossy().into_owned()))
}

/// The line of an extension's hook with the one variable that no shell knows put in.
pub(super) fn with_separator(line: &str) -> Arc<str> {
    line.replace("${/}", std::path::MAIN_SEPARATOR_STR).into()
}

/// The key of a hook's work: its name and its command, and for an extension's hook the extension.
pub(super) fn work_key(hook: &Hook) -> Option<String> {
    let owner = hook.owner.as_ref().map(|owner| &owner.dir);
    let terms = (hook.terms_of_its_own(), &hook.sandbox_floors);
    match &hook.action {
        Action::Shell(command) => Some(format!("{owner:?} {terms:?} {} {command}", hook.label)),
        _ => None,
    }
}

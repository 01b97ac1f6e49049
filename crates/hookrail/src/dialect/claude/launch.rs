//! How a command is started: its line, its shell, its variables, and when two commands are the same work.

use std::path::PathBuf;
use std::sync::Arc;

use hookrail_spawn::{Environment, UserFolders};

use crate::dialect::Launch;
use crate::dialect::command_hooks::with_quoted_variables;
use crate::event::{Event, EventKind};
use crate::hook::exec_options::CommandShell;
use crate::hook::{Action, Hook};

/// The variable with the project's directory.
pub(super) const PROJECT: &str = "CLAUDE_PROJECT_DIR";
/// The variable with the folder of a plugin.
pub(super) const PLUGIN: &str = "CLAUDE_PLUGIN_ROOT";
/// The variable with the folder in which a plugin keeps what survives its updates.
const PLUGIN_DATA: &str = "CLAUDE_PLUGIN_DATA";

/// How a hook is started for an event.
pub(super) fn launch(hook: &Hook, event: &Event) -> Launch {
    let mut variables = vec![
        (PROJECT.to_owned(), project(hook, event)),
        ("CLAUDECODE".to_owned(), "1".to_owned()),
        ("CLAUDE_CODE_SESSION_ID".to_owned(), event.session_id().to_owned()),
    ];
    if let Some(plugin) = &hook.owner {
        variables.push((PLUGIN.to_owned(), plugin.dir.to_string_lossy().into_owned()));
        let data = plugin.data_dir.as_ref().map(|data| data.to_string_lossy().into_owned());
        variables.extend(data.map(|data| (PLUGIN_DATA.to_owned(), data)));
    }
    let mut folders = Vec::new();
    if event.kind() == EventKind::SessionStart
        && let Some(folder) = environment_folder(hook.environment.as_deref(), event.session_id())
    {
        let file = folder.join("sessionstart-hook.sh");
        variables.push(("CLAUDE_ENV_FILE".to_owned(), file.to_string_lossy().into_owned()));
        folders.push(folder);
    }
    Launch {
        command: line(hook),
        variables: variables.into(),
        folders,
        shell: hook.shell.unwrap_or(CommandShell::Posix),
        refused: None,
    }
}

/// The project is the one whose hooks were loaded, whatever the directory of the event.
fn project(hook: &Hook, event: &Event) -> String {
    let known = hook.environment.as_ref().and_then(|environment| environment.get(PROJECT));
    known.unwrap_or(event.cwd().as_os_str()).to_string_lossy().into_owned()
}

/// The folder of the file to which a hook may write variables for the session.
fn environment_folder(environment: Option<&Environment>, session: &str) -> Option<PathBuf> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if session.is_empty() || session.len() > 128 || !session.chars().all(is_plain) {
        return None;
    }
    let state = UserFolders::of(environment?).state?;
    Some(state.join("hookrail/session-env").join(session))
}

/// The line for the shell, if it differs from the hook's own text.
fn line(hook: &Hook) -> Option<Arc<str>> {
    match &hook.action {
        Action::Shell(line) => with_quoted_variables(line, &[PROJECT, PLUGIN]),
        _ => None,
    }
}

/// The text of an entry with the plugin's folder put in. Only a path that no shell and no other language reads as anything but text
/// is put into a line, as the agent does with any path; any other path is in the environment.
pub(super) fn with_plugin_folder(line: &str, folder: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_@%+=:,./-".contains(letter);
    match folder.chars().all(is_plain) {
        true => line.replace(&format!("${{{PLUGIN}}}"), folder),
        false => line.to_owned(),
    }
}

/// The key of a hook's work: its command, and what makes the same command another one.
pub(super) fn work_key(hook: &Hook) -> Option<String> {
    let owner = hook.owner.as_ref().map(|owner| &owner.dir);
    let terms = (hook.terms_of_its_own(), &hook.sandbox_floors, &hook.conditions);
    match &hook.action {
        Action::Shell(command) => Some(format!("{owner:?} {terms:?} shell {command}")),
        Action::Program(words) => Some(format!("{owner:?} {terms:?} program {words:?}")),
        Action::Http(target) => Some(format!("{owner:?} {terms:?} http {target:?}")),
        _ => None,
    }
}

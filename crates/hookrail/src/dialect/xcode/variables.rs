//! The variables of a plugin's command.
//!
//! A value that is plain text to every shell is written into the command. Any other is passed in the environment, and the
//! command gets a reference that fits the quotes it stands in. So a path may hold blanks, quotes, line breaks or `$(…)`,
//! and never becomes shell syntax. An unknown name reaches the program as it is written, so that a typing error shows.

use std::collections::HashMap;
use std::path::PathBuf;

use super::assigned::is_assigned;
use super::code_words::UnsafeUse;
use super::quotes::Value;
use super::shell::{self, Meaning, Translated};
use crate::dialect::Launch;
use crate::event::Event;
use crate::hook::exec_options::CommandShell;
use crate::hook::{Action, Hook};
use crate::run::Environment;

/// The names there are, for suggestions.
pub(super) const NAMES: [&str; 6] = ["pluginDir", "pluginDataDir", "cwd", "homedir", "sep", "env:NAME"];

/// Names that a shell defines by itself, whatever its environment.
const OF_THE_SHELL: &str = "BASH BASHPID BASH_ARGC BASH_ARGV BASH_COMMAND BASH_LINENO BASH_SOURCE BASH_SUBSHELL \
    BASH_VERSINFO BASH_VERSION COLUMNS DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HOME HOSTNAME \
    HOSTTYPE IFS LINENO LINES MACHTYPE OLDPWD OPTARG OPTERR OPTIND OSTYPE PATH PIPESTATUS PPID PWD RANDOM REPLY \
    SECONDS SHELLOPTS SHLVL UID";

/// Whether a name is a variable of this dialect.
fn is_known(name: &str, environment: Option<&Environment>) -> bool {
    let Some(name) = name.strip_prefix("env:") else { return NAMES.contains(&name) };
    // `${env:-x}` is the shell's own default of its variable `env`.
    !name.starts_with(['-', '=', '?', '+']) || environment.is_some_and(|environment| environment.get(name).is_some())
}

/// How a command is started for an event: its text, its variables, and the folders it needs.
pub(super) fn launch(hook: &Hook, event: &Event) -> Launch {
    let Action::Shell(command) = &hook.action else { return Launch::default() };
    let (found, handed) = insert_variables(command, hook, Some(event));
    Launch {
        command: Some(found.text.into()),
        variables: handed.variables.into(),
        folders: handed.folders,
        shell: CommandShell::Posix,
        refused: found.unsafe_use.map(|why| refusal(why).into()),
    }
}

/// Says why a hook is not run.
pub(super) fn refusal(why: UnsafeUse) -> String {
    format!("a variable stands where its value could run as code ({why}); the hook is not run")
}

/// What the author of a command can do about a refusal.
pub(super) const REFUSAL_HINT: &str = "give the value to the code as an argument: `bash -c 'ls \"$1\"' - ${cwd}`";

/// What loading can say about the variables of a command.
pub(super) struct VariableFindings {
    /// The names that are not known, each once.
    pub(super) unknown: Vec<String>,
    /// Why a value cannot be inserted safely.
    pub(super) unsafe_use: Option<UnsafeUse>,
}

/// Finds unknown variables in a command, and unsafe uses of the values that are known before an event.
pub(super) fn check_variables(command: &str, hook: &Hook) -> VariableFindings {
    let (found, handed) = insert_variables(command, hook, None);
    VariableFindings { unknown: handed.unknown, unsafe_use: found.unsafe_use }
}

fn insert_variables<'h>(command: &str, hook: &'h Hook, event: Option<&'h Event>) -> (Translated, HandedVariables<'h>) {
    let environment = hook.environment.as_deref();
    let mut handed = HandedVariables {
        hook,
        event,
        environment,
        variables: Vec::new(),
        folders: Vec::new(),
        named: Vec::new(),
        unknown: Vec::new(),
    };
    let mut known_before = HashMap::new();
    let translated = shell::translate(command, &mut |content| {
        once(&mut known_before, content, || {
            if is_known(content, environment) {
                return handed.hand_over(content).map_or(Meaning::Verbatim, Meaning::Known);
            }
            let meaning = meaning(command, content, environment);
            if meaning == Meaning::Verbatim {
                handed.unknown.push(content.to_owned());
            }
            meaning
        })
    });
    (translated, handed)
}

/// The meaning of a text, worked out the first time it is asked for: a command may repeat it without end.
fn once(known: &mut HashMap<String, Meaning>, content: &str, find: impl FnOnce() -> Meaning) -> Meaning {
    if let Some(meaning) = known.get(content) {
        return meaning.clone();
    }
    let meaning = find();
    known.insert(content.to_owned(), meaning.clone());
    meaning
}

/// What a reference to something else than a variable of this dialect is.
fn meaning(command: &str, content: &str, environment: Option<&Environment>) -> Meaning {
    let (name, rest) = match content.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        Some(at) => content.split_at(at),
        None => (content, ""),
    };
    let is_name = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    // `name`, `word:word`, and `name.name`, which no shell has.
    let could_be_ours = is_name(name)
        && (rest.is_empty()
            || rest.strip_prefix(':').is_some_and(is_name)
            || rest.strip_prefix('.').is_some_and(|rest| rest.split('.').all(is_name)));
    let of_the_shell = OF_THE_SHELL.split_ascii_whitespace().any(|known| known == name)
        || environment.is_some_and(|environment| environment.get(name).is_some())
        || name.starts_with("HOOKRAIL_")
        || is_assigned(command, name);
    if could_be_ours && (!of_the_shell || rest.starts_with('.')) { Meaning::Verbatim } else { Meaning::Shell }
}

/// Collects what a command is handed over.
struct HandedVariables<'h> {
    hook: &'h Hook,
    /// The event, unless the command is only checked.
    event: Option<&'h Event>,
    environment: Option<&'h Environment>,
    variables: Vec<(String, String)>,
    folders: Vec<PathBuf>,
    /// The names behind `${env:…}`, in the order of their numbers.
    named: Vec<String>,
    /// The names that are not known, each once.
    unknown: Vec<String>,
}

impl HandedVariables<'_> {
    /// Hands a value over; nothing when there is no such value.
    fn hand_over(&mut self, known: &str) -> Option<Value> {
        let owner = self.hook.owner.as_ref();
        let (name, value) = match known {
            "pluginDir" => ("HOOKRAIL_PLUGIN_DIR".to_owned(), text(owner?.dir.clone())),
            "pluginDataDir" => {
                let folder = owner?.data_dir.clone()?;
                if !self.folders.contains(&folder) {
                    self.folders.push(folder.clone());
                }
                ("HOOKRAIL_PLUGIN_DATA_DIR".to_owned(), text(folder))
            }
            // Without an event nothing can be said against it.
            "cwd" => (
                "HOOKRAIL_CWD".to_owned(),
                self.event.map_or_else(|| "/".to_owned(), |event| text(event.cwd().to_owned())),
            ),
            "homedir" => ("HOOKRAIL_HOMEDIR".to_owned(), self.variable("HOME").filter(|home| !home.is_empty())?),
            "sep" => ("HOOKRAIL_SEP".to_owned(), std::path::MAIN_SEPARATOR_STR.to_owned()),
            _ => {
                let name = known.strip_prefix("env:")?;
                let value = self.variable(name).unwrap_or_default();
                // A name may hold what a shell's names cannot, so they are numbered.
                let at = self.named.iter().position(|known| known == name).unwrap_or(self.named.len());
                if at == self.named.len() {
                    self.named.push(name.to_owned());
                }
                (format!("HOOKRAIL_ENV_{at}"), value)
            }
        };
        let value = Value { variable: name, text: value };
        // A plain value is never referred to.
        if !value.is_plain() && !self.variables.iter().any(|(taken, _)| *taken == value.variable) {
            self.variables.push((value.variable.clone(), value.text.clone()));
        }
        Some(value)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.environment?.get(name).map(|value| value.to_string_lossy().into_owned())
    }
}

fn text(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}

//! Scripts and modules that are run without settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::hook::{Action, Owner};
use hookrail::sources::{Location, Origin, SourceKind};
use hookrail::{DialectId, Event, EventKind, Hook};

use crate::failure::{Failure, Result};

/// The variables by which scripts of settings files find the project.
const PROJECT_VARIABLES: [&str; 3] = ["LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

/// The programs that run scripts which are not executable, by the ending of their names.
const INTERPRETERS: [(&str, &str); 9] = [
    ("sh", "sh"),
    ("bash", "bash"),
    ("zsh", "zsh"),
    ("py", "python3"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("js", "node"),
    ("mjs", "node"),
    ("cjs", "node"),
];

/// Returns the event with the variables by which scripts find the project.
pub fn with_project(event: Event, project: &Path) -> Event {
    let root = project.to_string_lossy();
    PROJECT_VARIABLES.into_iter().fold(event, |event, name| event.variable(name, &*root))
}

/// Returns the dialect of a file: one with the ending of a module is one, unless its first line names an interpreter.
pub fn usual_dialect(file: &Path) -> DialectId {
    let is_module = ["ts", "mts", "js", "mjs"].iter().any(|ending| file.extension().is_some_and(|own| own == *ending));
    if is_module && !begins_with_interpreter(file) { DialectId::Xcsh } else { DialectId::Llxprt }
}

fn begins_with_interpreter(file: &Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 2];
    std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut first)).is_ok() && &first == b"#!"
}

/// Returns the hook that runs a script.
pub fn script_hook(kind: EventKind, dialect: DialectId, named: &Path, file: &Path) -> Result<Hook> {
    let path = file.to_string_lossy().into_owned();
    let words: Vec<String> = match interpreter(file) {
        _ if is_executable(file) => vec![path],
        Some(interpreter) => vec![interpreter.to_owned(), path],
        None => {
            return Err(Failure::new(format!("`{}` is not executable", named.display())).hint(format!(
                "run `chmod +x {}`, and begin the file with a line such as `#!/bin/sh`",
                named.display()
            )));
        }
    };
    let origin = Origin { kind: SourceKind::Option, location: Location::whole_file(file) };
    let label = named.to_string_lossy().into_owned();
    let mut hook = Hook::new(kind, dialect, label, Action::Program(words.into()), origin);
    if dialect == DialectId::Xcode {
        let dir: PathBuf = file.parent().map(Path::to_owned).unwrap_or_default();
        hook.owner = Some(Arc::new(Owner { id: "try@local".to_owned(), dir, data_dir: None }));
    }
    Ok(hook)
}

/// Returns the program that runs a script which is not executable.
pub fn interpreter(file: &Path) -> Option<&'static str> {
    let ending = file.extension()?.to_str()?;
    INTERPRETERS.into_iter().find(|(own, _)| *own == ending).map(|(_, program)| program)
}

/// Returns whether a file can be executed.
#[cfg(unix)]
pub fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
}

/// Returns whether a file can be executed.
#[cfg(not(unix))]
pub fn is_executable(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "exe" || ending == "cmd" || ending == "bat")
}

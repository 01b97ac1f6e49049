//! What a shell line would do.

use std::path::{Path, PathBuf};

use hookrail::rules::{AddedPrograms, FileSystemLinks};
use hookrail::sources::without_dots;
use hookrail_shell::{Accesses, Scene, accesses, parse};

use crate::config::user_file;
use crate::failure::{Failure, Result};
use crate::folders;
use crate::project::search::find_project;

/// Where a line would run. What is not named is found as for every command.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinePlaces<'p> {
    pub project: Option<&'p Path>,
    pub cwd: Option<&'p Path>,
    pub home: Option<&'p Path>,
}

/// A line that is read no further: the engine reads less of it.
pub const LONGEST_LINE: u64 = 1 << 20;

/// A character that no shell line has. It stands for bytes that are no text, so that the line is not understood.
const NOT_TEXT: &str = "\u{fdd0}";

/// Returns what a line would do. The folders need not exist.
///
/// # Errors
///
/// The current directory cannot be found, or the name of a folder is no text.
pub fn of_line(line: &str, places: LinePlaces<'_>) -> Result<Accesses> {
    let cwd = absolute(places.cwd.unwrap_or(Path::new(".")))?;
    let project = match places.project {
        Some(project) => absolute(project)?,
        None => find_project(&cwd, folders::home().as_deref()),
    };
    let home = places.home.map(absolute).transpose()?.or_else(folders::home).unwrap_or_default();
    let links = FileSystemLinks::new(added_programs());
    let scene = Scene { project: text(&project)?, cwd: text(&cwd)?, home: text(&home)?, surroundings: &links };
    Ok(accesses(&parse(line), &scene))
}

/// What the machine and the user say about programs, as far as it can be read: `hookrail check` says what cannot.
fn added_programs() -> AddedPrograms {
    let of_user = user_file().map(|file| file.with_file_name("programs.toml"));
    let files = [PathBuf::from("/etc/hookrail/programs.toml")].into_iter().chain(of_user);
    let texts = files.filter_map(|file| std::fs::read_to_string(file).ok());
    texts.fold(AddedPrograms::default(), |programs, text| programs.with(&text))
}

/// Returns a line that may be no text.
#[must_use]
pub fn line_of_bytes(bytes: &[u8]) -> String {
    let mut line = String::new();
    for chunk in bytes.utf8_chunks() {
        line.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            line.push_str(NOT_TEXT);
        }
    }
    line
}

/// Returns the path as the kernel resolves it, or as it is written if there is nothing.
fn absolute(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|error| {
        Failure::new(format!("the folder `{}` cannot be found: {error}", path.display()))
            .hint("name an existing folder")
    })?;
    Ok(hookrail_spawn::real_path(&absolute).unwrap_or_else(|_| without_dots(&absolute)))
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Failure::new(format!("the name of the folder `{}` is no text", path.display()))
            .hint("a shell line is text, so its folders have to be")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_not_understood() {
        assert_eq!(line_of_bytes(b"ls -la"), "ls -la");
        let line = line_of_bytes(b"rm \xff x");
        assert!(!parse(&line).faults().is_empty(), "{line:?}");
    }
}

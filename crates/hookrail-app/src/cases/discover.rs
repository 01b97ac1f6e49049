//! Finds case files.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::folders::home;
use crate::project::search::find_project;

/// How the names of case files end.
const ENDINGS: [&str; 2] = [".hooktest.toml", ".hooktest.json"];

/// Folders that hold files of other authors, or none at all.
const LEFT_OUT: [&str; 5] = [".git", "node_modules", "target", ".venv", "__pycache__"];

/// A case file and the project whose hooks it tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    pub(super) project: PathBuf,
}

/// Returns whether a path has the name of a case file.
pub(super) fn is_case_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Finds the case files in these places: files, or folders with everything below them. Without a project each file belongs
/// to the nearest one above it.
pub(super) fn find_case_files(places: &[PathBuf], project: Option<&Path>) -> Result<Vec<FoundFile>> {
    let mut found = Vec::new();
    for place in places {
        let path = place.canonicalize().map_err(|error| {
            Failure::new(format!("`{}` cannot be read: {error}", place.display()))
                .hint("give a case file, or a folder with case files")
        })?;
        if path.is_dir() {
            walk(&path, &mut found);
        } else if is_case_file(&path) {
            found.push(path);
        } else {
            return Err(Failure::new(format!("`{}` is not a case file", place.display()))
                .hint("the names of case files end in `.hooktest.toml` or `.hooktest.json`"));
        }
    }
    found.sort();
    found.dedup();
    if found.is_empty() {
        let shown: Vec<String> = places.iter().map(|place| format!("`{}`", place.display())).collect();
        return Err(Failure::new(format!("there are no case files in {}", shown.join(", ")))
            .hint("write `NAME.hooktest.toml` beside a hook; `hookrail docs how-to/test` shows how")
            .hint("`hookrail record` writes cases from events that were recorded"));
    }
    let home = home();
    let files = found.into_iter().map(|path| {
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        let project = project.map_or_else(|| find_project(&folder, home.as_deref()), Path::to_owned);
        FoundFile { path, project }
    });
    Ok(files.collect())
}

/// Adds the case files below a folder. Links are not followed, and what cannot be read is left out.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        if kind.is_dir() && !LEFT_OUT.iter().any(|left_out| name == *left_out) {
            walk(&entry.path(), found);
        } else if kind.is_file() && is_case_file(&entry.path()) {
            found.push(entry.path());
        }
    }
}

//! Files that an interpreter imports from the folder of its script although no command names them.
//!
//! A file that appears beside a granted script can replace a module of the standard library and so run as part of the
//! hook. So every file that could be imported from there belongs to the grant.

use std::path::Path;

use super::imports::FileSet;
use super::interpreter::{Importable, Interpreter};

/// The most files that are covered. A hook with more cannot be granted.
const MOST_FILES: usize = 512;

/// Every file below the folder that can be imported. Links are followed to files but not to folders.
pub(super) fn importable_files(folder: &Path, interpreter: Interpreter) -> FileSet {
    let mut found = FileSet::complete();
    let mut waiting = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            found.complete = false;
            continue;
        };
        for entry in entries {
            let Ok(entry) = entry else {
                found.complete = false;
                continue;
            };
            seen += 1;
            if seen > MOST_FILES * 4 || found.paths.len() > MOST_FILES {
                found.complete = false;
                return found;
            }
            let path = entry.path();
            let kind = entry.file_type();
            if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
                // Byte code is written to a private folder while hooks run.
                if interpreter != Interpreter::Python || entry.file_name() != "__pycache__" {
                    waiting.push(path);
                }
            } else if kind.is_ok_and(|kind| kind.is_symlink()) && path.is_dir() {
                // A link to a folder makes everything in it importable, which no grant can list.
                found.complete = false;
            } else if interpreter.can_import(&path) == Importable::Yes {
                found.paths.insert(path);
            }
        }
    }
    found
}

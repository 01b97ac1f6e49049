//! Files that an interpreter imports from the folder of its script although no command names them.
//!
//! A file that appears beside a granted script can take the place of a module of the standard library, and so run as part of
//! the hook. So everything that could be imported from there belongs to the grant.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// More files than this are not covered, and the hook cannot be granted.
const MOST_FILES: usize = 512;

/// Whose imports are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Imports {
    Python,
    Node,
    Ruby,
    Perl,
}

impl Imports {
    /// The endings of files that can be imported.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["py", "pyc", "pyd", "so", "zip", "egg", "pth"],
            Self::Node => &["js", "mjs", "cjs", "json", "node", "ts", "mts", "cts", "wasm"],
            Self::Ruby => &["rb", "so", "bundle"],
            Self::Perl => &["pm", "pl", "pmc", "so", "bundle"],
        }
    }

    /// Folders that are not looked into: byte code is kept elsewhere while hooks run.
    fn leaves_out(self, name: &OsStr) -> bool {
        self == Self::Python && name == "__pycache__"
    }
}

/// What can be imported from a folder.
#[derive(Debug)]
pub(super) struct Importable {
    pub(super) paths: BTreeSet<PathBuf>,
    /// Whether these are all of them.
    pub(super) complete: bool,
}

/// Every file below the folder that can be imported. Links are followed to files but not to folders.
pub(super) fn importable_files(folder: &Path, imports: Imports) -> Importable {
    let mut found = Importable { paths: BTreeSet::new(), complete: true };
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
                if !imports.leaves_out(&entry.file_name()) {
                    waiting.push(path);
                }
            } else if kind.is_ok_and(|kind| kind.is_symlink()) && path.is_dir() {
                // A link to a folder makes everything in there importable, which is nothing that can be shown.
                found.complete = false;
            } else if path.extension().is_some_and(|ending| imports.endings().iter().any(|known| ending == *known)) {
                found.paths.insert(path);
            }
        }
    }
    found
}

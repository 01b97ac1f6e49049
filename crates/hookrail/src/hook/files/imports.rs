//! The files of a module: the module itself, and the files that it imports by a path.
//!
//! There is no parser for the module's language here. Every quoted text that could be the path of a file is taken,
//! because taking too many files is harmless, and taking too few would leave code unwatched. An import that is put
//! together at run time is not found; a runner refuses to load a file that was not covered.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::config::{is_want_of_resources, read_within, without_dots};

/// The most files that are followed. A module with more cannot be granted.
const MOST_FILES: usize = 512;

/// The most bytes of source that are read. A module with more cannot be granted.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// The extensions that an import may leave out.
const ENDINGS: [&str; 7] = ["ts", "mts", "cts", "js", "mjs", "cjs", "json"];

/// The files that a hook can run without naming them.
#[derive(Debug)]
pub(crate) struct FileSet {
    /// The files, sorted. Files that do not exist are left out.
    pub(crate) paths: BTreeSet<PathBuf>,
    /// Whether these are all. There may be more if a limit was reached or a file could not be read.
    pub(crate) complete: bool,
    /// Whether something could not be read for lack of resources.
    pub(crate) out_of_resources: bool,
}

impl FileSet {
    /// No files, as long as nothing is missing.
    pub(crate) fn complete() -> Self {
        Self { paths: BTreeSet::new(), complete: true, out_of_resources: false }
    }
}

/// Follows the imports of a module.
pub(crate) fn files_of(module: &Path) -> FileSet {
    let mut found = FileSet::complete();
    let mut waiting = vec![without_dots(module)];
    let mut budget = MOST_BYTES;
    while let Some(file) = waiting.pop() {
        if found.paths.len() > MOST_FILES {
            found.complete = false;
            break;
        }
        if !found.paths.insert(file.clone()) {
            continue;
        }
        if file.extension().is_none_or(|ending| ending == "json") {
            continue;
        }
        let source = match read_within(&file, &mut budget) {
            Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            Ok(None) => {
                found.complete = false;
                continue;
            }
            Err(error) => {
                found.complete = false;
                found.out_of_resources |= is_want_of_resources(&error);
                continue;
            }
        };
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        for specifier in specifiers(&source) {
            waiting.extend(candidates(&folder, &specifier));
        }
    }
    found
}

/// Every quoted text that looks like a path.
fn specifiers(source: &str) -> BTreeSet<String> {
    let quoted = source.split(['"', '\'', '`', '\n']);
    let paths = quoted.filter(|text| ["./", "../", "/", "file:"].iter().any(|start| text.starts_with(start)));
    let named = [".", ".."]
        .into_iter()
        .filter(|name| source.contains(&format!("\"{name}\"")) || source.contains(&format!("'{name}'")));
    paths.chain(named).map(|text| text.strip_prefix("file://").unwrap_or(text).to_owned()).collect()
}

/// The existing files that a specifier can mean.
fn candidates(folder: &Path, specifier: &str) -> Vec<PathBuf> {
    let specifier = specifier.split(['?', '#']).next().unwrap_or_default();
    let base = without_dots(&folder.join(specifier));
    let with = |ending: &str| {
        let mut name = base.clone().into_os_string();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    };
    let mut all = vec![base.clone()];
    all.extend(ENDINGS.map(with));
    all.extend(ENDINGS.map(|ending| base.join("index").with_extension(ending)));
    // TypeScript sources are imported by the name their compiled form would have.
    all.extend(["ts", "mts", "cts"].map(|ending| base.with_extension(ending)));
    all.retain(|path| {
        let known = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| *ending == **known));
        (known || *path == base) && path.is_file() && (known || specifier.starts_with('.'))
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_followed_in_every_spelling() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "hook.ts",
            "import { a } from \"./a\";\nimport data from './data.json';\nexport * from './lib';\nconst x = await import(`../outside.js`);\n",
        );
        write("a.ts", "import './b.js'; // compiled name\nimport './hook.ts';");
        write("b.ts", "export const b = require('./c.mjs');");
        write("c.mjs", "");
        write("data.json", "{}");
        write("lib/index.ts", "");
        write("unused.ts", "");
        let found = files_of(&dir.path().join("hook.ts"));
        assert!(found.complete);
        let found: Vec<String> = found
            .paths
            .iter()
            .map(|path| path.strip_prefix(dir.path()).unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(found, ["a.ts", "b.ts", "c.mjs", "data.json", "hook.ts", "lib/index.ts"]);
    }
    #[test]
    fn what_is_too_large_or_cannot_be_read_is_not_covered() {
        let dir = tempfile::tempdir().unwrap();
        let module = dir.path().join("hook.ts");
        std::fs::write(&module, "import './large.ts';").unwrap();
        let large = std::fs::File::create(dir.path().join("large.ts")).unwrap();
        large.set_len(MOST_BYTES).unwrap();
        let found = files_of(&module);
        assert!(!found.complete && found.paths.len() == 2, "{found:?}");
        large.set_len(MOST_BYTES / 2).unwrap();
        assert!(files_of(&module).complete);
        assert!(!files_of(dir.path()).paths.is_empty());
    }
}

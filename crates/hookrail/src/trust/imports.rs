//! The files a module is made of: itself, and what it imports by a path.
//!
//! There is no parser for the module's language here. Every quoted text that could be the path of a file counts,
//! because taking too many files is harmless, and taking too few would leave code unwatched. An import that is put
//! together at run time is not found; a runner refuses to load a file that was not covered.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::fingerprint::lexically_normal;

/// More files than this are not followed, and the module cannot be granted.
pub(super) const MOST_FILES: usize = 512;

/// What may stand behind a path that is written without it.
const ENDINGS: [&str; 5] = ["ts", "mts", "js", "mjs", "json"];

/// The module and everything it imports by a path, sorted. Files that do not exist are left out.
pub(super) fn files_of(module: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![lexically_normal(module)];
    while let Some(file) = waiting.pop() {
        if found.len() > MOST_FILES || !found.insert(file.clone()) {
            continue;
        }
        let is_code = file.extension().is_some_and(|ending| ending != "json");
        let (true, Ok(bytes)) = (is_code, std::fs::read(&file)) else { continue };
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        for specifier in specifiers(&String::from_utf8_lossy(&bytes)) {
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
    let base = lexically_normal(&folder.join(specifier));
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
    all.extend(["ts", "mts"].map(|ending| base.with_extension(ending)));
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
        let found: Vec<String> = files_of(&dir.path().join("hook.ts"))
            .iter()
            .map(|path| path.strip_prefix(dir.path()).unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(found, ["a.ts", "b.ts", "c.mjs", "data.json", "hook.ts", "lib/index.ts"]);
    }
}

//! Resolves an import to a built-in module or a file.

use std::path::{Path, PathBuf};

use hookrail::sources::without_dots;

use super::virtuals;

/// The extensions that an import may leave out, in the order in which they are tried.
const EXTENSIONS: [&str; 7] = ["ts", "mts", "cts", "js", "mjs", "cjs", "json"];

/// Whether a file is imported as code and not as data.
pub(super) fn is_code(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ending != "json" && EXTENSIONS.contains(&ending))
}

/// The name of the module that `specifier` means in the file `base`. `is_in_version` tells which files are in memory since
/// the module was inspected. Those can be imported even if they were removed from the disk.
pub(super) fn resolve(base: &str, specifier: &str, is_in_version: impl Fn(&Path) -> bool) -> Result<String, String> {
    if let Some(name) = virtuals::builtin_named(specifier) {
        return Ok(name);
    }
    if specifier.starts_with("node:") {
        return Err(format!(
            "`{specifier}` is not available to module hooks; `hookrail docs reference/modules` lists the modules there are"
        ));
    }
    let candidates = candidates_of(base, specifier);
    if candidates.is_empty() {
        return Err(format!(
            "the package `{specifier}` cannot be imported: module hooks have no node_modules; bundle it into the module or \
             import a file by its path"
        ));
    }
    match candidates.into_iter().find(|file| is_in_version(file) || file.is_file()) {
        Some(file) => Ok(file.to_string_lossy().into_owned()),
        None => Err(format!("Cannot find module '{specifier}' imported from '{base}'")),
    }
}

/// The files that a specifier can mean; none if it is not a path.
pub(super) fn candidates_of(base: &str, specifier: &str) -> Vec<PathBuf> {
    let path = specifier.strip_prefix("file://").unwrap_or(specifier);
    let is_path =
        path.starts_with('/') || path == "." || path == ".." || path.starts_with("./") || path.starts_with("../");
    if !is_path {
        return Vec::new();
    }
    // A query or a fragment is not part of the file's name.
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let folder = Path::new(base).parent().unwrap_or(Path::new("/"));
    with_extensions(&without_dots(&folder.join(path)))
}

/// The path itself, then the path with each extension, then the index file of a directory.
fn with_extensions(wanted: &Path) -> Vec<PathBuf> {
    // Not `with_extension`, which would replace the end of a name such as `hook.test`.
    let append = |extension: &str| {
        let mut name = wanted.as_os_str().to_owned();
        name.push(".");
        name.push(extension);
        PathBuf::from(name)
    };
    let mut all = vec![wanted.to_owned()];
    // TypeScript sources are imported by the name their compiled form would have.
    match wanted.extension().and_then(|extension| extension.to_str()) {
        Some("js") => all.push(wanted.with_extension("ts")),
        Some("mjs") => all.push(wanted.with_extension("mts")),
        Some("cjs") => all.push(wanted.with_extension("cts")),
        _ => {}
    }
    all.extend(EXTENSIONS.map(append));
    all.extend(EXTENSIONS.map(|extension| wanted.join("index").with_extension(extension)));
    all
}

#[cfg(test)]
mod tests {
    use hookrail_testkit::TestProject;

    use super::resolve;

    #[test]
    fn imports_are_found_as_authors_write_them() {
        let folder = TestProject::new();
        for name in ["a.ts", "b.mjs", "c.json", "d/index.ts", "e.ts"] {
            folder.write(name, "");
        }
        let base = folder.project.join("hook.ts").to_string_lossy().into_owned();
        let of = |specifier: &str| {
            let found = resolve(&base, specifier, |_| false).unwrap();
            found.strip_prefix(&format!("{}/", folder.project.display())).unwrap_or(&found).to_owned()
        };
        assert_eq!(of("./a"), "a.ts");
        assert_eq!(of("./e.js"), "e.ts");
        assert_eq!(of("./b.mjs"), "b.mjs");
        assert_eq!(of("./c.json"), "c.json");
        assert_eq!(of("./d"), "d/index.ts");
        assert_eq!(of("fs"), "node:fs");
        assert_eq!(of("@f5xc-salesdemos/xcsh/hooks"), "hookrail:agent");
        assert!(resolve(&base, "./nothing", |_| false).unwrap_err().contains("./nothing"));
        assert!(resolve(&base, "zod", |_| false).unwrap_err().contains("zod"));
        assert!(resolve(&base, "node:http", |_| false).unwrap_err().contains("node:http"));
        assert!(resolve(&base, "hookrail:agent", |_| false).is_err(), "the inner names are not for modules");
    }
}

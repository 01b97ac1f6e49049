//! Types for hooks in TypeScript and Python, for editors and type checkers.

mod node;
mod python;
mod schema_type;

use std::path::{Path, PathBuf};

use hookrail::hook::Action;
use hookrail::{Environment, HookSystem};

use super::files::{FileMode, FileWrite, IfExists, NewFile, StagedFiles, read_below};
use crate::failure::{Failure, Result};

/// What every generated file says in its first lines. A file without it was written by a person.
const MARK: &str = "written by `hookrail types`";

/// The configuration of the TypeScript compiler and of editors. A module runs without a library of a browser or of Node.
const TSCONFIG: &str = r#"{
  // For editors and `tsc`. hookrail itself needs neither this file nor a compiler.
  "compilerOptions": {
    "target": "es2023",
    "module": "preserve",
    "lib": ["es2023"],
    "types": [],
    "strict": true,
    "noEmit": true,
    "allowJs": true,
    "allowImportingTsExtensions": true
  },
  "include": ["**/*"]
}
"#;

/// The languages that there are types for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TypesLanguage {
    Typescript,
    Node,
    Python,
}

/// Where the types go.
#[derive(Clone, Copy, Debug)]
pub enum TypesPlace<'p> {
    /// Into the folders of hooks of the project in this folder.
    Project(&'p Path),
    /// Into this folder, which is created if it does not exist.
    Folder(&'p Path),
}

/// Writes the types, all files or none. Returns the files as they are shown, and what was done with each.
pub fn write_types(
    place: TypesPlace<'_>,
    languages: &[TypesLanguage],
    replace_others: bool,
) -> Result<Vec<(PathBuf, FileWrite)>> {
    let (root, shown) = match place {
        TypesPlace::Project(root) => (root.to_owned(), Path::new("")),
        TypesPlace::Folder(folder) => (existing_folder(folder)?, folder),
    };
    let mut planned = Vec::new();
    for language in languages {
        let (folder, files) = files_of(*language);
        for (name, text) in files {
            let path = match place {
                TypesPlace::Project(_) => format!("{folder}/{name}"),
                TypesPlace::Folder(_) => name.to_owned(),
            };
            let if_exists = match read_below(&root, &path)? {
                // The configuration of the compiler is the author's own as soon as it exists.
                Some(_) if name == "tsconfig.json" && !replace_others => IfExists::Keep,
                Some(known) if !known.contains(MARK) && !replace_others => {
                    let message = format!("`{path}` was not written by `hookrail types`; nothing was written");
                    let hint = "move it away, choose another directory with `--out`, or give `--force` to replace it";
                    return Err(Failure::new(message).hint(hint));
                }
                Some(_) | None => IfExists::Replace,
            };
            planned.push(NewFile { path, text, mode: FileMode::Plain, if_exists });
        }
    }
    let changes = StagedFiles::stage(&root, &planned)?.commit()?;
    Ok(planned.into_iter().zip(changes).map(|(file, change)| (shown.join(file.path), change)).collect())
}

/// Returns the files of a language, and the folder of the project that they belong to.
fn files_of(language: TypesLanguage) -> (&'static str, Vec<(&'static str, String)>) {
    match language {
        TypesLanguage::Typescript => (
            ".xcsh/hooks",
            vec![
                ("pi.d.ts", hookrail_js::module_declarations()),
                ("world.d.ts", hookrail_js::world_declarations()),
                ("tsconfig.json", TSCONFIG.to_owned()),
            ],
        ),
        TypesLanguage::Node => (".llxprt/hooks", vec![("hook-types.d.ts", node::declarations())]),
        // A file that Python could import would change what the guards beside it are granted with.
        TypesLanguage::Python => (".llxprt/hooks", vec![("hook_types.pyi", python::module())]),
    }
}

/// Returns the languages of a project's own hooks. Nothing is trusted, so no module is loaded.
pub fn languages_of(root: &Path) -> Vec<TypesLanguage> {
    let nowhere =
        Environment::new().with("LLXPRT_SYSTEM_SETTINGS_PATH", root.with_file_name("no-system-settings.json"));
    let system = HookSystem::builder(root).environment(nowhere).no_bundles().build();
    let mut languages = Vec::new();
    for hook in system.snapshot().hooks() {
        let command = match &hook.action {
            Action::Module(_) => {
                languages.push(TypesLanguage::Typescript);
                continue;
            }
            Action::Shell(line) => line.to_string(),
            Action::Program(words) => words.join(" "),
            Action::Native(_)
            | Action::Remote(_)
            | Action::Http(_)
            | Action::Rule(_)
            | Action::NotExecutable(_)
            | Action::Unusable(_)
            | Action::Missing(_) => continue,
        };
        let ends_with = |endings: &[&str]| {
            let mut words =
                command.split(|character: char| !(character.is_alphanumeric() || "._-".contains(character)));
            words.any(|word| endings.iter().any(|ending| word.ends_with(ending)))
        };
        languages.extend(ends_with(&[".py"]).then_some(TypesLanguage::Python));
        languages.extend(ends_with(&[".js", ".mjs", ".cjs"]).then_some(TypesLanguage::Node));
    }
    if languages.is_empty() {
        languages.push(TypesLanguage::Typescript);
    }
    languages.sort_by_key(|language| *language as u8);
    languages.dedup();
    languages
}

/// Creates the directory that was named, if it does not exist.
fn existing_folder(out: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(out).and_then(|()| out.canonicalize()).map_err(|error| {
        Failure::new(format!("the directory `{}` cannot be used: {error}", out.display()))
            .hint("give a directory that can be written with `--out DIR`")
    })
}

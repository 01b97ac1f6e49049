//! `hookrail types`: types for hooks in TypeScript and Python, for editors and type checkers.

mod node;
mod python;
mod schema_type;

use std::path::{Path, PathBuf};

use hookrail::hook::Action;
use hookrail::{Environment, HookSystem};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::project::Project;

use super::new::{FileChange, FileMode, IfExists, NewFile, StagedFiles, read_below};
use crate::args::{TypesArgs, TypesLanguage};
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{GOOD, QUIET, paint};

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

pub(crate) fn run(args: &TypesArgs) -> Result<Exit> {
    let project = || Ok::<PathBuf, Failure>(Project::open(&args.project)?.root().to_owned());
    let languages = match args.lang {
        Some(language) => vec![language],
        None => languages_of(&project()?),
    };
    let root = match &args.out {
        Some(out) => existing_folder(out)?,
        None => project()?,
    };
    let files = languages.into_iter().flat_map(|language| {
        let (folder, files) = files_of(language);
        files.into_iter().map(move |(name, text)| (folder, name, text))
    });
    let mut planned = Vec::new();
    for (folder, name, text) in files {
        let path = if args.out.is_some() { name.to_owned() } else { format!("{folder}/{name}") };
        let if_exists = match read_below(&root, &path)? {
            // The configuration of the compiler is the author's own as soon as it exists.
            Some(_) if name == "tsconfig.json" && !args.force => IfExists::Keep,
            Some(known) if !known.contains(MARK) && !args.force => {
                return Err(Failure::new(format!("`{path}` was not written by `hookrail types`; nothing was written"))
                    .hint("move it away, choose another directory with `--out`, or give `--force` to replace it"));
            }
            Some(_) | None => IfExists::Replace,
        };
        planned.push(NewFile { path, text, mode: FileMode::Plain, if_exists });
    }
    let changes = StagedFiles::stage(&root, &planned)?.commit()?;
    let mut text = String::new();
    for (file, change) in planned.iter().zip(changes) {
        let word = match change {
            FileChange::Created => paint(GOOD, "created"),
            FileChange::Changed => paint(GOOD, "changed"),
            FileChange::Kept => paint(QUIET, "kept   "),
        };
        let shown = args.out.as_ref().map_or_else(|| PathBuf::from(&file.path), |out| out.join(&file.path));
        text.push_str(&format!("{word}  {}\n", shown.display()));
    }
    output::text(&text)?;
    Ok(Exit::Fine)
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
fn languages_of(root: &Path) -> Vec<TypesLanguage> {
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

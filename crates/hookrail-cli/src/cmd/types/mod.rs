//! `hookrail types`: types for hooks in TypeScript and Python, for editors and type checkers.

mod node;
mod python;
mod schema_type;

use std::path::{Path, PathBuf};

use super::new::{FileChange, FileMode, IfExists, NewFile, StagedFiles, read_below};
use crate::args::{TypesArgs, TypesLanguage};
use crate::errors::{Exit, Failure, Result};
use crate::output;
use crate::project::Project;
use crate::style::{GOOD, QUIET, paint};

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
    let (folder, files) = match args.lang {
        TypesLanguage::Typescript => (
            ".xcsh/hooks",
            vec![
                ("pi.d.ts", hookrail_js::module_declarations()),
                ("world.d.ts", hookrail_js::world_declarations()),
                ("tsconfig.json", TSCONFIG.to_owned()),
            ],
        ),
        TypesLanguage::Node => (".llxprt/hooks", vec![("hook-types.d.ts", node::declarations())]),
        TypesLanguage::Python => (".llxprt/hooks", vec![("hook_types.py", python::module())]),
    };
    let (root, folder) = match &args.out {
        Some(out) => (existing_folder(out)?, None),
        None => (Project::open(&args.project)?.root().to_owned(), Some(folder)),
    };
    let mut planned = Vec::new();
    for (name, text) in files {
        let path = folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
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

/// Creates the directory that was named, if it does not exist.
fn existing_folder(out: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(out).and_then(|()| out.canonicalize()).map_err(|error| {
        Failure::new(format!("the directory `{}` cannot be used: {error}", out.display()))
            .hint("give a directory that can be written with `--out DIR`")
    })
}

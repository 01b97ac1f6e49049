//! What keeps a module from working and can be seen in its text. Nothing is run: a file is parsed as the runtime does it,
//! its imports are resolved, and the files that they mean are parsed too.
//!
//! What the text of the hook file does with the API is looked at in `api_use`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hookrail::module::{LoadFailure, LoadPlace};
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;
use oxc_syntax::module_record::{ExportEntry, ExportImportName, ImportImportName, ModuleRecord};

use super::loader::{find_import, read_up_to};
use super::transpile::{CodeKind, position, transpile};
use super::{api_use, resolve, virtuals};
use crate::stack;

/// The largest number of files that are followed from one module.
const MOST_FILES: usize = 200;

/// The size in bytes of the largest file that is parsed.
const LARGEST_FILE: usize = 512 << 10;

/// A mistake in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleMistake {
    /// What it is.
    pub kind: MistakeKind,
    /// The mistake as a sentence about the module, without a subject and without its final stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where it is.
    pub place: LoadPlace,
}

/// The kinds of mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MistakeKind {
    /// The text is no JavaScript or TypeScript.
    Syntax,
    /// The module cannot be loaded: it has no default function, or an import cannot be resolved.
    Load,
    /// It registers something that is not a function.
    Registration,
    /// It uses something that modules do not have.
    Api,
    /// It calls a function of the agent's extension API.
    Unsupported,
    /// It registers a handler for an event that does not exist.
    Event {
        /// The name of the event.
        name: String,
    },
    /// A handler returns an object without a meaning.
    Result,
}

impl ModuleMistake {
    pub(super) fn new(kind: MistakeKind, message: impl Into<String>, place: LoadPlace) -> Self {
        Self { kind, message: message.into(), hint: None, place }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn of_failure(kind: MistakeKind, failure: LoadFailure, file: &Path) -> Self {
        let place = failure.place.unwrap_or_else(|| LoadPlace { file: file.to_owned(), line: 1, column: 1 });
        Self { kind, message: format!("cannot be loaded: {}", failure.message), hint: None, place }
    }
}

/// Finds the mistakes of a module and of the files that it imports, without running anything.
#[must_use]
pub fn find_module_mistakes(path: &Path, source: &str) -> Vec<ModuleMistake> {
    stack::run_deep(|| Survey::of(path, source)).unwrap_or_default()
}

/// Finds what a script for Node or another program that runs JavaScript and TypeScript uses and does not have, without
/// running it.
#[must_use]
pub fn find_script_mistakes(path: &Path, source: &str) -> Vec<ModuleMistake> {
    stack::run_deep(|| api_use::find_script_mistakes(path, source)).unwrap_or_default()
}

/// The files of a module, one after the other.
#[derive(Default)]
struct Survey {
    found: Vec<ModuleMistake>,
    waiting: Vec<(PathBuf, String)>,
    seen: HashSet<PathBuf>,
}

impl Survey {
    fn of(path: &Path, source: &str) -> Vec<ModuleMistake> {
        let mut survey = Self::default();
        survey.seen.insert(path.to_owned());
        survey.waiting.push((path.to_owned(), source.to_owned()));
        while let Some((file, text)) = survey.waiting.pop() {
            survey.look_at(&file, &text);
            if file == path {
                survey.found.extend(api_use::find_mistakes(path, source));
            }
        }
        survey.found
    }

    fn look_at(&mut self, file: &Path, text: &str) {
        // The code and not the source is what has imports: an import of types vanishes.
        let code = match transpile(file, text) {
            Ok(code) => match code.kind {
                CodeKind::Module { .. } => code.text,
                CodeKind::CommonJs { .. } => return,
            },
            Err(failure) => return self.found.push(ModuleMistake::of_failure(MistakeKind::Syntax, failure, file)),
        };
        let base = file.to_string_lossy();
        for import in Imports::of(&code).0 {
            let place = || {
                let (line, column) = find_import(file, &import.specifier).unwrap_or((1, 1));
                LoadPlace { file: file.to_owned(), line, column }
            };
            let target = match resolve::resolve(&base, &import.specifier, |_| false) {
                Ok(target) => target,
                Err(message) => {
                    let message = format!("cannot be loaded: {message}");
                    self.found.push(
                        ModuleMistake::new(MistakeKind::Load, message, place()).hint(import_hint(&import.specifier)),
                    );
                    continue;
                }
            };
            let Some(target_text) = text_of(&target) else { continue };
            self.found.extend(json_mistake(&target, &target_text));
            for name in import.names.iter().filter(|name| lacks_export(&target, &target_text, name)) {
                let message = format!("cannot be loaded: `{}` has no export `{name}`", import.specifier);
                let mistake = ModuleMistake::new(MistakeKind::Load, message, place());
                self.found.push(mistake.hint("import a name that it exports"));
            }
            self.follow(&target, target_text);
        }
    }

    fn follow(&mut self, target: &str, text: String) {
        let path = Path::new(target);
        let is_code = path.is_absolute() && path.extension().is_some_and(|ending| ending != "json");
        if is_code && self.seen.len() < MOST_FILES && self.seen.insert(path.to_owned()) {
            self.waiting.push((path.to_owned(), text));
        }
    }
}

/// The error of a JSON file.
fn json_mistake(target: &str, text: &str) -> Option<ModuleMistake> {
    if !target.ends_with(".json") {
        return None;
    }
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    let count = |count: usize| u32::try_from(count).unwrap_or(1).max(1);
    let place = LoadPlace { file: PathBuf::from(target), line: count(error.line()), column: count(error.column()) };
    Some(ModuleMistake::new(
        MistakeKind::Load,
        format!("cannot be loaded: it imports what is not valid JSON: {error}"),
        place,
    ))
}

fn import_hint(specifier: &str) -> &'static str {
    if specifier.starts_with(['.', '/']) {
        "correct the path, or create the file"
    } else {
        "`hookrail docs reference/modules` lists the modules there are"
    }
}

/// The text of a built-in module or a file.
fn text_of(target: &str) -> Option<String> {
    if let Some(source) = virtuals::module(target) {
        return Some(source.to_owned());
    }
    let bytes = read_up_to(Path::new(target), LARGEST_FILE).ok().filter(|bytes| bytes.len() <= LARGEST_FILE)?;
    String::from_utf8(bytes).ok()
}

/// What a module imports from one other module.
struct Import {
    specifier: String,
    names: Vec<String>,
}

/// The imports of a module.
struct Imports(Vec<Import>);

impl Imports {
    fn of(code: &str) -> Self {
        with_record(code, |record| {
            let mut imports: Vec<Import> = Vec::new();
            let mut specifiers: Vec<(u32, &str)> = Vec::new();
            for (specifier, uses) in &record.requested_modules {
                let first = uses.iter().map(|one| one.span.start).min().unwrap_or(0);
                specifiers.push((first, specifier.as_str()));
            }
            // A map has no order, and what is reported has one.
            specifiers.sort_unstable();
            for (_, specifier) in specifiers {
                let mut names = Vec::new();
                for entry in record.import_entries.iter().filter(|entry| entry.module_request.name == specifier) {
                    match &entry.import_name {
                        ImportImportName::Name(name) => names.push(name.name.to_string()),
                        ImportImportName::Default(_) => names.push("default".to_owned()),
                        ImportImportName::NamespaceObject => {}
                    }
                }
                let is_from = |entry: &&ExportEntry<'_>| {
                    entry.module_request.as_ref().is_some_and(|request| request.name == specifier)
                };
                for entry in record.indirect_export_entries.iter().filter(is_from) {
                    if let ExportImportName::Name(name) = &entry.import_name {
                        names.push(name.name.to_string());
                    }
                }
                imports.push(Import { specifier: specifier.to_owned(), names });
            }
            Self(imports)
        })
        .unwrap_or(Self(Vec::new()))
    }
}

/// Whether a module certainly does not export a name.
fn lacks_export(target: &str, text: &str, name: &str) -> bool {
    if target.ends_with(".json") {
        return name != "default";
    }
    let code = match virtuals::module(target) {
        Some(_) => Ok(text.to_owned()),
        None => match transpile(Path::new(target), text) {
            // What it exports is known when it has run.
            Ok(code) if matches!(code.kind, CodeKind::CommonJs { .. }) => return false,
            code => code.map(|code| code.text),
        },
    };
    // A file with a syntax error has a mistake of its own.
    let exports = code.ok().and_then(|code| with_record(&code, |record| has_export(record, name)));
    exports == Some(false)
}

fn has_export(record: &ModuleRecord<'_>, name: &str) -> bool {
    // What `export *` brings is not followed.
    if !record.star_export_entries.is_empty() && name != "default" {
        return true;
    }
    let mut entries = record.local_export_entries.iter().chain(&record.indirect_export_entries);
    entries.any(|entry| exported_as(entry, name))
}

fn exported_as(entry: &ExportEntry<'_>, name: &str) -> bool {
    use oxc_syntax::module_record::ExportExportName;
    match &entry.export_name {
        ExportExportName::Name(exported) => exported.name == name,
        ExportExportName::Default(_) => name == "default",
        ExportExportName::Null => false,
    }
}

fn with_record<T>(code: &str, look: impl FnOnce(&ModuleRecord<'_>) -> T) -> Option<T> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, code, SourceType::mjs()).parse();
    if parsed.diagnostics.errors().next().is_some() {
        return None;
    }
    Some(look(&parsed.module_record))
}

/// The place of an offset in a source.
pub(super) fn place_of(file: &Path, source: &str, offset: u32) -> LoadPlace {
    let (line, column) = position(source, usize::try_from(offset).unwrap_or(0));
    LoadPlace { file: file.to_owned(), line, column }
}

#[cfg(test)]
mod tests {
    use hookrail_testkit::TestProject;

    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let project = TestProject::new();
        for (name, text) in files {
            project.write(name, text);
        }
        let path = project.project.join("hook.ts");
        let source = std::fs::read_to_string(&path).unwrap();
        let shown = |mistake: ModuleMistake| {
            let file = mistake.place.file.strip_prefix(&project.project).unwrap().display().to_string();
            format!("{file}:{}:{}: {}", mistake.place.line, mistake.place.column, mistake.message)
        };
        find_module_mistakes(&path, &source).into_iter().map(shown).collect()
    }

    #[test]
    fn imports_are_followed_and_not_run() {
        let hook = "import { a } from './a';\nimport fs from 'node:fs';\nimport type { T } from './types';\n\
                    import { Only } from './only-types';\nexport default (pi: Only) => { a(fs, pi); };\n";
        let fine = [("hook.ts", hook), ("a.ts", "export const a = (x: unknown) => x;\nthrow new Error('run');\n")];
        assert_eq!(messages(&fine), [""; 0]);
        let broken = [("hook.ts", hook), ("a.ts", "import './b.js';\nexport const a = ;\n")];
        assert!(messages(&broken)[0].starts_with("a.ts:2:18: cannot be loaded: "), "{:?}", messages(&broken));
        let deep = [("hook.ts", hook), ("a.ts", "import './b.js';\nexport const a = 1;\n")];
        assert!(messages(&deep)[0].starts_with("a.ts:1:8: cannot be loaded: Cannot find module './b.js'"));
        let other = [("hook.ts", hook), ("a.ts", "export const b = 1;\n")];
        assert_eq!(messages(&other), ["hook.ts:1:19: cannot be loaded: `./a` has no export `a`"]);
    }

    #[test]
    fn what_built_in_modules_export_is_known() {
        let import = |import: &str| {
            messages(&[("hook.ts", &format!("{import}\nexport default (pi) => {{ pi.on('tool_call', x); }};\n"))])
        };
        for fine in [
            "import { readFileSync as x } from 'node:fs';",
            "import x from 'fs';",
            "import * as x from 'node:path';",
            "import { join as x } from 'path';",
            "import { Type as x } from '@sinclair/typebox';",
        ] {
            assert_eq!(import(fine), [""; 0], "{fine}");
        }
        for wrong in [
            "import { readFil as x } from 'node:fs';",
            "import x from 'zod';",
            "import x from 'node:http';",
            "import x from './nothing';",
        ] {
            assert_eq!(import(wrong).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn modules_may_import_each_other() {
        let files = [
            ("hook.ts", "import { a } from './a.ts';\nexport const b = 1;\nexport default (pi) => a(pi);\n"),
            ("a.ts", "import { b } from './hook.ts';\nexport const a = () => b;\nimport './c.json';\n"),
            ("c.json", "{}"),
        ];
        assert_eq!(messages(&files), [""; 0]);
        let broken = [files[0], files[1], ("c.json", "{\n  a: 1\n}")];
        assert!(messages(&broken)[0].starts_with("c.json:2:3: cannot be loaded: "), "{:?}", messages(&broken));
    }
}

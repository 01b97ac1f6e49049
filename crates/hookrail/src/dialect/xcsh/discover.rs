//! Finds module files: which folders are searched, in which order, and which file shadows another. No file is opened.

use std::path::{Path, PathBuf};

use crate::config::{EntryKind, SourceId, SourceReader, without_dots};
use crate::diagnostic::Diagnostic;
use crate::dialect::{ConfiguredHooks, DialectId, Sources};
use crate::enrolment::Bundle;
use crate::source::SourceKind;

/// A file that was found or named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModuleFile {
    pub(super) path: PathBuf,
    pub(super) kind: SourceKind,
    /// What makes two discovered files the same hook: `type:tool:name`.
    key: Option<String>,
    /// The file that shadows it.
    pub(super) shadowed_by: Option<PathBuf>,
}

/// Which program's folder it is: they name the tool of a file differently.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Provider {
    Own,
    Neighbour,
}

/// Every module file, in load order.
pub(super) fn discover(
    sources: &Sources,
    bundles: &[Bundle],
    reading: &mut SourceReader<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<ModuleFile> {
    let project = &sources.project;
    let home = sources.home();
    let in_home = |inside: &str| home.as_ref().map(|home| home.join(inside));
    let roots = [
        (Some(project.join(".xcsh/hooks")), SourceKind::Project, Provider::Own),
        (in_home(".xcsh/agent/hooks"), SourceKind::User, Provider::Own),
        (in_home(".claude/hooks"), SourceKind::User, Provider::Neighbour),
        (Some(project.join(".claude/hooks")), SourceKind::Project, Provider::Neighbour),
    ];
    let mut found: Vec<ModuleFile> = Vec::new();
    for (root, kind, provider) in roots {
        let Some(root) = root.filter(|_| sources.configured == ConfiguredHooks::Loaded) else { continue };
        reading.look_at(&root);
        for file in files_in(&root, kind, provider, reading, problems) {
            add_file(&mut found, file);
        }
    }
    for bundle in bundles.iter().filter(|_| sources.configured == ConfiguredHooks::Loaded) {
        let files = sorted_files(&bundle.folder.join("modules"), bundle.kind, reading, problems);
        // Without a key, no file of another layer stands for one of a bundle.
        let module = |path| ModuleFile { path, kind: bundle.kind, key: None, shadowed_by: None };
        files.into_iter().filter(|path| is_module(path)).for_each(|path| add_file(&mut found, module(path)));
    }
    for named in &sources.modules {
        let path = resolve_path(named, project, home.as_deref());
        if !found.iter().any(|file| file.path == path && file.shadowed_by.is_none()) {
            // A project's file that the user names explicitly counts as the user's.
            found.push(ModuleFile { path, kind: SourceKind::Option, key: None, shadowed_by: None });
        } else if let Some(file) = found.iter_mut().find(|file| file.path == path && file.kind != SourceKind::System) {
            file.kind = SourceKind::Option;
        }
    }
    found
}

/// Keeps the first file of each key. A file of a project never shadows one from outside the project.
fn add_file(found: &mut Vec<ModuleFile>, mut file: ModuleFile) {
    if found.iter().any(|known| known.path == file.path) {
        return;
    }
    let stands_before = |known: &&ModuleFile| {
        known.key == file.key && (known.kind != SourceKind::Project || file.kind == SourceKind::Project)
    };
    if file.key.is_some() {
        file.shadowed_by = found.iter().find(stands_before).map(|known| known.path.clone());
    }
    found.push(file);
}

fn files_in(
    root: &Path,
    kind: SourceKind,
    provider: Provider,
    reading: &mut SourceReader<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<ModuleFile> {
    let mut found = Vec::new();
    for when in ["pre", "post"] {
        for path in sorted_files(&root.join(when), kind, reading, problems) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // Test cases may stand beside the hooks that they test.
            if name.contains(".hooktest.") {
                continue;
            }
            let key = Some(format!("{when}:{}:{name}", tool_of(&name, provider)));
            found.push(ModuleFile { path, kind, key, shadowed_by: None });
        }
    }
    if provider == Provider::Own {
        let flat = sorted_files(root, kind, reading, problems).into_iter().filter(|path| is_module(path));
        found.extend(flat.map(|path| ModuleFile { path, kind, key: None, shadowed_by: None }));
    }
    found
}

fn tool_of(name: &str, provider: Provider) -> &str {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    match provider {
        Provider::Own => stem,
        Provider::Neighbour if ["sh", "bash", "zsh", "fish"].contains(&ending) => stem,
        Provider::Neighbour => name,
    }
}

/// The regular files of a folder by name, without hidden ones. A link is not a regular file.
fn sorted_files(
    folder: &Path,
    kind: SourceKind,
    reading: &mut SourceReader<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<PathBuf> {
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let entries =
        reading.list_folder(SourceId { path: folder, kind, dialect: Some(DialectId::Xcsh) }, problems).into_iter();
    entries.filter(|entry| entry.kind == EntryKind::File && !is_hidden(&entry.path)).map(|entry| entry.path).collect()
}

/// Whether a file can be a module, by its name.
pub(super) fn is_module(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let declares_only = [".d.ts", ".d.mts"].iter().any(|ending| name.ends_with(ending));
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    ["ts", "mts", "js", "mjs"].contains(&ending.as_str()) && !declares_only
}

/// The path that the user's text for a module means.
pub(crate) fn resolve_path(named: &Path, project: &Path, home: Option<&Path>) -> PathBuf {
    let text = named.to_string_lossy();
    let text = text.replace(is_wide_space, " ");
    let text = match text.strip_prefix('@') {
        Some(rest) if rest.starts_with(['/', '~']) => rest.to_owned(),
        _ => text,
    };
    let text = text.strip_prefix("file://").map_or(text.clone(), str::to_owned);
    let path = match (text.strip_prefix('~'), home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches(['/', '\\'])),
        _ => project.join(text),
    };
    without_dots(&path)
}

/// Characters that look like a space in a pasted name.
fn is_wide_space(character: char) -> bool {
    matches!(character, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_as_the_agent_does() {
        let of = |named: &str| {
            let path = resolve_path(Path::new(named), Path::new("/p"), Some(Path::new("/h")));
            path.to_string_lossy().into_owned()
        };
        assert_eq!(of("/a/b.ts"), "/a/b.ts");
        assert_eq!(of("x/../b.ts"), "/p/b.ts");
        assert_eq!(of("~/b.ts"), "/h/b.ts");
        assert_eq!(of("~b.ts"), "/h/b.ts");
        assert_eq!(of("~"), "/h");
        assert_eq!(of("@~/b.ts"), "/h/b.ts");
        assert_eq!(of("@b.ts"), "/p/@b.ts");
        assert_eq!(of("file:///a/b.ts"), "/a/b.ts");
        assert_eq!(of("a\u{a0}b.ts"), "/p/a b.ts");
    }

    #[test]
    fn the_first_of_a_key_counts_unless_a_project_would_push_out_its_user() {
        let file = |path: &str, kind, key: &str| ModuleFile {
            path: path.into(),
            kind,
            key: Some(key.into()),
            shadowed_by: None,
        };
        let mut found = Vec::new();
        add_file(&mut found, file("/p/a", SourceKind::Project, "k"));
        add_file(&mut found, file("/h/a", SourceKind::User, "k"));
        add_file(&mut found, file("/h/b", SourceKind::User, "k"));
        add_file(&mut found, file("/p/b", SourceKind::Project, "k"));
        let shadowed: Vec<_> = found.iter().map(|file| file.shadowed_by.clone()).collect();
        assert_eq!(shadowed, [None, None, Some("/h/a".into()), Some("/p/a".into())]);
    }
}

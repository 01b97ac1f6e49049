//! Finds module files: which folders are searched, in which order, and which file shadows another. No file is opened.

use std::path::{Path, PathBuf};

use crate::config::diagnostic::Diagnostic;
use crate::config::source::SourceKind;
use crate::config::{Entry, EntryKind, SourceId, SourceReader, list_entries, without_dots};
use crate::dialect::enrolment::Bundle;
use crate::dialect::{ConfiguredHooks, DialectId, Sources};

/// A file that was found or named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModuleFile {
    pub(super) path: PathBuf,
    /// The folder or the path without its ending by which the user named it.
    pub(super) named: Option<PathBuf>,
    pub(super) kind: SourceKind,
    /// What makes two discovered files the same hook: `type:tool:name`.
    key: Option<String>,
    /// The file that shadows it.
    pub(super) shadowed_by: Option<PathBuf>,
}

/// How a folder is searched. The tool of a file is named differently in each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Provider {
    /// `pre/` and `post/`, then the files of the folder itself.
    Own,
    /// `pre/` and `post/` with their subfolders and links.
    Nested,
    /// `pre/` and `post/` of another program's folder.
    Neighbour,
    /// The files `pre-TOOL` and `post-TOOL` of another program's folder. Its other files are that program's.
    Prefixed,
}

/// The folders in which modules are looked for, in load order. A file that two of them lead to counts once.
fn roots(project: &Path, home: Option<&Path>) -> Vec<(PathBuf, SourceKind, Provider)> {
    let user = |inside: &str, provider| home.map(|home| (home.join(inside), SourceKind::User, provider));
    let project = |inside: &str, provider| Some((project.join(inside), SourceKind::Project, provider));
    let all = [
        project(".xcsh/hooks", Provider::Own),
        user(".xcsh/agent/hooks", Provider::Own),
        user(".xcsh/hooks", Provider::Nested),
        project(".xcsh/hooks", Provider::Nested),
        user(".claude/hooks", Provider::Neighbour),
        project(".claude/hooks", Provider::Neighbour),
        user(".codex/hooks", Provider::Prefixed),
        project(".codex/hooks", Provider::Prefixed),
    ];
    all.into_iter().flatten().collect()
}

/// The files that [`discover`] would find and load, each with whether it is the project's. Nothing is remembered or reported.
pub(crate) fn discoverable(project: &Path, home: Option<&Path>) -> Vec<(PathBuf, SourceKind)> {
    let mut found = Vec::new();
    for (root, kind, provider) in roots(project, home) {
        let mut list = |folder: &Path| list_entries(folder).unwrap_or_default().into_iter().collect();
        files_in(&root, kind, provider, &mut list).into_iter().for_each(|file| add_file(&mut found, file));
    }
    found.retain(|file| file.shadowed_by.is_none());
    found.into_iter().map(|file| (file.path, file.kind)).collect()
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
    let mut found: Vec<ModuleFile> = Vec::new();
    let roots = roots(project, home.as_deref()).into_iter();
    for (root, kind, provider) in roots.filter(|_| sources.configured == ConfiguredHooks::Loaded) {
        reading.look_at(&root);
        let mut list = |folder: &Path| reading.list_folder(source(folder, kind), problems);
        for file in files_in(&root, kind, provider, &mut list) {
            add_file(&mut found, file);
        }
    }
    for bundle in bundles.iter().filter(|_| sources.configured == ConfiguredHooks::Loaded) {
        let folder = bundle.folder.join("modules");
        let files = regular_files(reading.list_folder(source(&folder, bundle.kind), problems));
        // Without a key, no file of another layer stands for one of a bundle.
        let module = |path| ModuleFile { path, named: None, kind: bundle.kind, key: None, shadowed_by: None };
        files.into_iter().filter(|path| is_module(path)).for_each(|path| add_file(&mut found, module(path)));
    }
    for named in &sources.modules {
        let given = resolve_path(named, project, home.as_deref());
        let path = find_module_file(&given).unwrap_or_else(|| given.clone());
        let named = (path != given).then_some(given);
        if !found.iter().any(|file| file.path == path && file.shadowed_by.is_none()) {
            // A project's file that the user names explicitly counts as the user's.
            found.push(ModuleFile { path, named, kind: SourceKind::Option, key: None, shadowed_by: None });
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

/// What lists a folder. It is the engine's reader, which remembers what it listed, or nothing but the file system.
type Lister<'a> = dyn FnMut(&Path) -> Vec<Entry> + 'a;

fn source(folder: &Path, kind: SourceKind) -> SourceId<'_> {
    SourceId { path: folder, kind, dialect: Some(DialectId::Xcsh) }
}

fn files_in(root: &Path, kind: SourceKind, provider: Provider, list: &mut Lister<'_>) -> Vec<ModuleFile> {
    let mut found = Vec::new();
    let flat = match provider {
        Provider::Own | Provider::Prefixed => regular_files(list(root)),
        Provider::Nested | Provider::Neighbour => Vec::new(),
    };
    for when in ["pre", "post"] {
        let folder = root.join(when);
        let files = match provider {
            Provider::Own | Provider::Neighbour => regular_files(list(&folder)),
            Provider::Nested => nested_files(&folder, list),
            Provider::Prefixed => prefixed_files(&flat, when),
        };
        for path in files {
            let name = file_name(&path);
            // Test cases may stand beside the hooks that they test.
            if name.contains(".hooktest.") {
                continue;
            }
            let key = Some(format!("{when}:{}:{name}", tool_of(&name, when, provider)));
            found.push(ModuleFile { path, named: None, kind, key, shadowed_by: None });
        }
    }
    if provider == Provider::Own {
        let flat = flat.into_iter().filter(|path| is_module(path));
        found.extend(flat.map(|path| ModuleFile { path, named: None, kind, key: None, shadowed_by: None }));
    }
    found
}

/// The deepest folder below `pre/` or `post/` that is searched.
const DEEPEST_FOLDER: usize = 8;

/// The files of a folder and of the folders below it, through links, each folder once: first its files by name, then its
/// folders by name.
fn nested_files(folder: &Path, list: &mut Lister<'_>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut seen = Vec::new();
    let mut waiting = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        let real = hookrail_spawn::real_path(&folder).unwrap_or_else(|_| folder.clone());
        if seen.contains(&real) || depth > DEEPEST_FOLDER {
            continue;
        }
        seen.push(real);
        let entries = list(&folder).into_iter().filter(|entry| !is_hidden(&entry.path));
        let (folders, others): (Vec<Entry>, Vec<Entry>) = entries.partition(Entry::is_folder);
        let is_file = |entry: &Entry| match entry.kind {
            EntryKind::File => true,
            EntryKind::Other => entry.path.metadata().is_ok_and(|about| about.is_file()),
            EntryKind::Folder | EntryKind::LinkToFolder | EntryKind::DanglingLink => false,
        };
        files.extend(others.into_iter().filter(is_file).map(|entry| entry.path));
        waiting.extend(folders.into_iter().rev().map(|entry| (entry.path, depth + 1)));
    }
    files
}

/// The files whose name says when they run, by their ending TypeScript or JavaScript.
fn prefixed_files(files: &[PathBuf], when: &str) -> Vec<PathBuf> {
    let is_prefixed = |path: &&PathBuf| {
        let name = file_name(path);
        let tool = name.strip_prefix(when).and_then(|rest| rest.strip_prefix('-'));
        tool.is_some_and(|tool| tool.ends_with(".ts") || tool.ends_with(".js")) && is_module(path)
    };
    files.iter().filter(is_prefixed).cloned().collect()
}

fn tool_of<'n>(name: &'n str, when: &str, provider: Provider) -> &'n str {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    match provider {
        Provider::Own => stem,
        Provider::Prefixed => stem.strip_prefix(when).and_then(|tool| tool.strip_prefix('-')).unwrap_or(stem),
        Provider::Nested | Provider::Neighbour if ["sh", "bash", "zsh", "fish"].contains(&ending) => stem,
        Provider::Nested | Provider::Neighbour => name,
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_hidden(path: &Path) -> bool {
    file_name(path).starts_with('.')
}

/// The regular files of a folder by name, without hidden ones. A link is not a regular file.
fn regular_files(entries: Vec<Entry>) -> Vec<PathBuf> {
    let entries = entries.into_iter();
    entries.filter(|entry| entry.kind == EntryKind::File && !is_hidden(&entry.path)).map(|entry| entry.path).collect()
}

/// The endings of modules, in the order in which a path without one is tried.
const ENDINGS: [&str; 6] = ["ts", "mts", "cts", "js", "mjs", "cjs"];

/// The file that a path means: itself, the path with the ending of a module, or the index file of a folder.
pub(crate) fn find_module_file(path: &Path) -> Option<PathBuf> {
    let with = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    };
    let index = ENDINGS.map(|ending| path.join("index").with_extension(ending));
    let mut candidates = [path.to_owned()].into_iter().chain(ENDINGS.map(with)).chain(index);
    candidates.find(|path| path.is_file())
}

/// Whether a file can be a module, by its name.
pub(super) fn is_module(path: &Path) -> bool {
    let name = file_name(path);
    let declares_only = [".d.ts", ".d.mts", ".d.cts"].iter().any(|ending| name.ends_with(ending));
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    ENDINGS.contains(&ending.as_str()) && !declares_only
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
            named: None,
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

//! Hooks of extensions. Validation is strict: what is wrong in an extension fails that extension, and no other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::group;
use crate::config::{Document, Node, ReadProblem, read_file};
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::hook::{Action, Hook, OnFailure, Owner};
use crate::source::{Location, SourceKind};

const MANIFESTS: [&str; 2] = ["llxprt-extension.json", "gemini-extension.json"];

/// The hooks of every extension in a folder, in the order of the folders' names.
pub(super) fn load_all(folder: &Path) -> (Vec<Hook>, Vec<Diagnostic>) {
    let mut extensions: Vec<PathBuf> = match std::fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect(),
        Err(_) => return Default::default(),
    };
    extensions.sort();
    let mut hooks = Vec::new();
    let mut found = Vec::new();
    for extension in extensions {
        let (loaded, problems) = load(&extension);
        hooks.extend(loaded);
        found.extend(problems);
    }
    (hooks, found)
}

/// The hooks of one extension: all of them, or none.
fn load(dir: &Path) -> (Vec<Hook>, Vec<Diagnostic>) {
    let Some(manifest) = MANIFESTS.iter().map(|name| dir.join(name)).find(|path| path.exists()) else {
        return Default::default();
    };
    let mut found = Vec::new();
    let hooks = read(dir, &manifest, &mut found);
    let broken = found.iter().any(|problem| problem.level == Level::Error || problem.code == Code::UnknownEvent);
    if broken {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let message = format!("extension `{name}` was not loaded because something in it is wrong");
        found.push(Diagnostic::new(Code::ExtensionInvalid, message).at(Location::whole_file(&manifest)));
        // The hooks are lost with the extension, but a guard that asked for its failure to count has now failed.
        let guards = hooks.into_iter().filter(|hook| hook.on_failure != OnFailure::Allow).map(|mut hook| {
            hook.action = Action::Unusable("its extension was not loaded".into());
            hook
        });
        return (guards.collect(), found);
    }
    (hooks, found)
}

fn read(dir: &Path, manifest: &Path, found: &mut Vec<Diagnostic>) -> Vec<Hook> {
    let Some(about) = document(manifest, found) else { return Vec::new() };
    let name = about.root().and_then(|root| root.get("name")).and_then(Node::text).map(str::to_owned);
    let owner = Arc::new(Owner::new(name.unwrap_or_else(|| folder_name(dir)), dir));
    // A file of its own wins over the manifest.
    let own_file = dir.join("hooks/hooks.json");
    let source = if own_file.exists() { document(&own_file, found) } else { Some(about) };
    let Some(source) = source else { return Vec::new() };
    let hooks = match source.root() {
        Some(root) if root.members().is_some() => root.get("hooks"),
        root => {
            let span = root.map_or(0..0, |root| root.span.clone());
            found.push(source.finding(Code::FileShape, &span, "an extension's file must hold an object"));
            return Vec::new();
        }
    };
    let Some(hooks) = hooks else {
        if own_file.exists() {
            found.push(source.finding(Code::FileShape, &(0..0), "`hooks/hooks.json` needs a key `hooks`"));
        }
        return Vec::new();
    };
    let Some(events) = hooks.members() else {
        let message = format!("`hooks` must be an object, not {}", hooks.described());
        found.push(source.finding(Code::SettingType, &hooks.span, message));
        return Vec::new();
    };
    source.duplicate_keys(hooks, found);
    let mut all = Vec::new();
    for (key, value) in events {
        // Named entries of an older format were never executed, and are not events.
        if value.members().is_some() && value.get("command").is_some() {
            continue;
        }
        let (hooks, problems) = group::read_event(&source, SourceKind::Extension, key, value);
        found.extend(problems);
        for group in value.elements().unwrap_or_default() {
            if group.get("hooks").and_then(Node::elements).is_some_and(<[Node]>::is_empty) {
                found.push(source.finding(Code::GroupShape, &group.span, "a group of an extension needs a hook"));
            }
        }
        for hook in hooks.iter().filter(|hook| matches!(hook.action, Action::NotExecutable(_))) {
            let message = "an extension's hooks must be of type `command`";
            found.push(Diagnostic::new(Code::HookType, message).at(hook.origin.location.clone()));
        }
        for mut hook in hooks {
            hook.action = match hook.action {
                // The other variables are valid in a shell as they stand and are handed over in the environment.
                Action::Shell(command) => Action::Shell(command.replace("${/}", std::path::MAIN_SEPARATOR_STR).into()),
                // Without a shell nobody else would expand them, and a whole word can hold any path.
                Action::Program(words) => Action::Program(words.iter().map(|word| expanded(word, dir)).collect()),
                other => other,
            };
            hook.owner = Some(Arc::clone(&owner));
            all.push(hook);
        }
    }
    all
}

/// A word of a program's arguments with the extension's own variables expanded. Where the workspace is, is known only
/// when an event is fired, so that one is left to the program's environment.
fn expanded(word: &str, dir: &Path) -> String {
    let separator = std::path::MAIN_SEPARATOR_STR;
    word.replace("${extensionPath}", &dir.to_string_lossy())
        .replace("${/}", separator)
        .replace("${pathSeparator}", separator)
}

fn folder_name(dir: &Path) -> String {
    dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn document(path: &Path, found: &mut Vec<Diagnostic>) -> Option<Document> {
    match read_file(path) {
        Ok(Some(text)) => Document::parse(path, text).map_err(|problem| found.push(problem)).ok(),
        Ok(None) => None,
        Err(problem) => {
            found.push(unreadable(path, &problem));
            None
        }
    }
}

/// The finding about a file that cannot be read.
pub(super) fn unreadable(path: &Path, problem: &ReadProblem) -> Diagnostic {
    let message = format!("`{}` cannot be read: {problem}", path.display());
    Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(path))
}

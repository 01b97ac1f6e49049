//! Loads hooks of extensions. Validation is strict: a mistake in an extension disables that extension and no other.

use std::path::Path;
use std::sync::Arc;

use super::Llxprt;
use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::config::source::{Location, SourceKind};
use crate::config::{Document, Parsed, PlacedValue, Source, SourceId, SourceReader, Usability};
use crate::dialect::DialectId;
use crate::dialect::command_hooks::read_event;
use crate::dialect::extension_enablement::ExtensionEnablement;
use crate::hook::{Action, Enablement, Hook, OnFailure, Owner};

const MANIFESTS: [&str; 2] = ["llxprt-extension.json", "gemini-extension.json"];

const ENABLEMENT_FILE: &str = "extension-enablement.json";

/// Loads the hooks of every extension in a folder, in the order of the folders' names. Hooks of an extension that is not
/// enabled for the project are disabled.
pub(super) fn load_all(folder: &Path, project: &Path, reading: &mut SourceReader<'_>) -> (Vec<Hook>, Vec<Diagnostic>) {
    let mut hooks = Vec::new();
    let mut found = Vec::new();
    let file = folder.join(ENABLEMENT_FILE);
    let rules = read_enablement(&file, reading, &mut found);
    let enablement_of = |extension: &str| match rules.disables(extension, project) {
        true => Enablement::Disabled(format!("`{}`", file.display()).into()),
        false => Enablement::Active,
    };
    for entry in reading.list_folder(place(folder), &mut found) {
        if entry.is_folder() {
            hooks.extend(load(&entry.path, enablement_of, reading, &mut found));
        }
    }
    (hooks, found)
}

/// Reads which extensions are disabled where. A file that cannot be used disables none, because an extension may be a
/// guard.
fn read_enablement(file: &Path, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> ExtensionEnablement {
    let read = reading.read_document(place(file), found, |document| ExtensionEnablement::read(&document));
    read.into_value().unwrap_or_default()
}

fn place(path: &Path) -> SourceId<'_> {
    SourceId { path, kind: SourceKind::Extension, dialect: Some(DialectId::Llxprt) }
}

/// Loads the hooks of one extension: all of them, or none.
fn load(
    dir: &Path,
    enablement_of: impl Fn(&str) -> Enablement,
    reading: &mut SourceReader<'_>,
    found: &mut Vec<Diagnostic>,
) -> Vec<Hook> {
    let Some(manifest) = reading.first_of(MANIFESTS.iter().map(|name| dir.join(name))) else { return Vec::new() };
    // A separate hooks file replaces the hooks of the manifest, which then only gives the name.
    let own_file = Some(dir.join("hooks/hooks.json")).filter(|file| reading.is_there(file));
    let about = reading.read_document(place(&manifest), found, |document| {
        let mut problems = Vec::new();
        let root = must_be_an_object(&document, &mut problems);
        let name = root.and_then(|root| root.get("name")).and_then(PlacedValue::text).map(str::to_owned);
        let owner =
            Arc::new(Owner { id: name.unwrap_or_else(|| folder_name(dir)), dir: dir.to_owned(), data_dir: None });
        let hooks = root.filter(|_| own_file.is_none()).and_then(|root| root.get("hooks"));
        let hooks = hooks.map(|hooks| read_hooks(&document, hooks, &owner, &mut problems));
        judged((owner, hooks.unwrap_or_default()), problems)
    });
    let mut broken = matches!(about, Source::Unusable(_));
    let Some((owner, mut hooks)) = about.into_value() else {
        return if broken { not_loaded(dir, &manifest, Vec::new(), found) } else { Vec::new() };
    };
    let enablement = enablement_of(&owner.id);
    if enablement != Enablement::Active {
        if let Some(file) = &own_file {
            hooks = hooks_to_show(file, &owner, reading);
        }
        hooks.iter_mut().for_each(|hook| hook.enablement = enablement.clone());
        return hooks;
    }
    if let Some(file) = &own_file {
        let own = reading.read_document(place(file), found, |document| read_hooks_file(&document, &owner));
        broken |= matches!(own, Source::Unusable(_));
        hooks = own.into_value().unwrap_or_default();
    }
    if broken { not_loaded(dir, &manifest, hooks, found) } else { hooks }
}

/// The hooks of `hooks/hooks.json`.
fn read_hooks_file(document: &Document, owner: &Arc<Owner>) -> Parsed<Vec<Hook>> {
    let mut problems = Vec::new();
    let root = must_be_an_object(document, &mut problems);
    let hooks = root.and_then(|root| root.get("hooks"));
    if root.is_some() && hooks.is_none() {
        problems.push(document.finding(Code::FileShape, &(0..0), "`hooks/hooks.json` needs a key `hooks`"));
    }
    let hooks = hooks.map(|hooks| read_hooks(document, hooks, owner, &mut problems));
    judged(hooks.unwrap_or_default(), problems)
}

/// The hooks of a disabled extension. They are listed and never run, so a mistake in the file is no problem.
fn hooks_to_show(file: &Path, owner: &Arc<Owner>, reading: &mut SourceReader<'_>) -> Vec<Hook> {
    let document = reading.text_to_show(file).and_then(|text| Document::parse(file, text).ok());
    document.and_then(|document| read_hooks_file(&document, owner).value).unwrap_or_default()
}

/// The extension's hooks are lost, but a guard whose failure has an effect counts as failed.
fn not_loaded(dir: &Path, manifest: &Path, hooks: Vec<Hook>, found: &mut Vec<Diagnostic>) -> Vec<Hook> {
    let message = format!("extension `{}` was not loaded because something in it is wrong", folder_name(dir));
    found.push(Diagnostic::new(Code::ExtensionInvalid, message).at(Location::whole_file(manifest)));
    let guards = hooks.into_iter().filter(|hook| hook.on_failure != OnFailure::Allow).map(|mut hook| {
        hook.action = Action::Unusable("its extension was not loaded".into());
        hook
    });
    guards.collect()
}

/// Any problem in a file of an extension makes the extension unusable.
fn judged<T>(value: T, problems: Vec<Diagnostic>) -> Parsed<T> {
    let broken = problems.iter().any(|problem| problem.level == Level::Error || problem.code == Code::UnknownEvent);
    let verdict = if broken { Usability::Broken } else { Usability::Usable };
    Parsed { value: Some(value), problems, verdict }
}

fn must_be_an_object<'d>(source: &'d Document, found: &mut Vec<Diagnostic>) -> Option<&'d PlacedValue> {
    let root = source.root();
    if root.is_none_or(|root| root.members().is_none()) {
        let span = root.map_or(0..0, |root| root.span.clone());
        found.push(source.finding(Code::FileShape, &span, "an extension's file must hold an object"));
        return None;
    }
    root
}

fn read_hooks(source: &Document, hooks: &PlacedValue, owner: &Arc<Owner>, found: &mut Vec<Diagnostic>) -> Vec<Hook> {
    let Some(events) = hooks.members() else {
        found.push(source.mismatch(Code::SettingType, hooks, "`hooks` must be an object"));
        return Vec::new();
    };
    source.duplicate_keys(hooks, found);
    let mut all = Vec::new();
    for (key, value) in events {
        // Named entries of an older format were never executed, and are not events.
        if value.members().is_some() && value.get("command").is_some() {
            continue;
        }
        let (hooks, problems) = read_event::<Llxprt>(source, SourceKind::Extension, key, value);
        found.extend(problems);
        for group in value.elements().unwrap_or_default() {
            if group.get("hooks").and_then(PlacedValue::elements).is_some_and(<[PlacedValue]>::is_empty) {
                found.push(source.finding(Code::GroupShape, &group.span, "a group of an extension needs a hook"));
            }
        }
        for hook in hooks.iter().filter(|hook| matches!(hook.action, Action::NotExecutable(_))) {
            let message = "an extension's hooks must be of type `command`";
            found.push(Diagnostic::new(Code::HookType, message).at(hook.origin.location.clone()));
        }
        for mut hook in hooks {
            hook.action = match hook.action {
                // The other variables are valid shell syntax and are passed in the environment.
                Action::Shell(command) => Action::Shell(command.replace("${/}", std::path::MAIN_SEPARATOR_STR).into()),
                // Without a shell nothing else expands them. A whole word can hold any path, so expanding them is safe.
                Action::Program(words) => {
                    Action::Program(words.iter().map(|word| expanded(word, &owner.dir)).collect())
                }
                other => other,
            };
            hook.owner = Some(Arc::clone(owner));
            all.push(hook);
        }
    }
    all
}

/// A word of a program's arguments with the extension's variables expanded. The workspace is known only when an event
/// is fired, so its variable is left to the program's environment.
fn expanded(word: &str, dir: &Path) -> String {
    let separator = std::path::MAIN_SEPARATOR_STR;
    word.replace("${extensionPath}", &dir.to_string_lossy())
        .replace("${/}", separator)
        .replace("${pathSeparator}", separator)
}

fn folder_name(dir: &Path) -> String {
    dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

//! The plugins that the agent has installed: the list of them, and the hooks in their folders.

use std::path::PathBuf;
use std::sync::Arc;

use super::Claude;
use super::launch::{PLUGIN, with_plugin_folder};
use super::layers::user_folder;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::SourceKind;
use crate::config::{Document, Parsed, PlacedValue, SourceId, SourceReader, same_place};
use crate::dialect::Sources;
use crate::dialect::command_hooks::section_hooks;
use crate::dialect_id::DialectId;
use crate::hook::{Action, Enablement, Hook, Owner};

/// A plugin in the list.
struct Installed {
    id: String,
    folder: PathBuf,
    /// The project that it was installed for, if not for all.
    project: Option<PathBuf>,
}

fn place(path: &std::path::Path) -> SourceId<'_> {
    SourceId { path, kind: SourceKind::Plugin, dialect: Some(DialectId::Claude) }
}

/// The hooks of every installed plugin, with the file that they are in. `disabled` are those that the user turned off.
pub(super) fn load(
    sources: &Sources,
    disabled: &[String],
    reading: &mut SourceReader<'_>,
    found: &mut Vec<Diagnostic>,
) -> Vec<(PathBuf, Vec<Hook>)> {
    let Some(folder) = user_folder(sources).map(|folder| folder.join("plugins")) else { return Vec::new() };
    let list = folder.join("installed_plugins.json");
    let installed = reading.read_document(place(&list), found, |document| read_list(&document));
    let mut all = Vec::new();
    for plugin in installed.into_value().unwrap_or_default() {
        let is_meant = plugin.project.as_ref().is_none_or(|project| same_place(project, &sources.project));
        if !is_meant || !plugin.folder.is_absolute() {
            continue;
        }
        let file = plugin.folder.join("hooks/hooks.json");
        let data_dir = folder.join("data").join(plugin.id.replace(['/', '\\', ':'], "_"));
        let owner = Owner { id: plugin.id.clone(), dir: plugin.folder.clone(), data_dir: Some(data_dir) };
        let owner = Arc::new(owner);
        let read = reading.read_document(place(&file), found, |document| read_hooks(&document, &owner));
        let mut hooks = read.into_value().unwrap_or_default();
        if disabled.contains(&plugin.id) {
            for hook in &mut hooks {
                hook.enablement = Enablement::Disabled("`enabledPlugins` in the settings of Claude Code".into());
            }
        }
        all.push((file, hooks));
    }
    all
}

/// Reads the list, in either form in which the agent has written it: one place for each plugin, or several.
fn read_list(document: &Document) -> Parsed<Vec<Installed>> {
    let Some(root) = document.root() else { return Parsed::usable(Vec::new(), Vec::new()) };
    let Some(plugins) = root.get("plugins").and_then(PlacedValue::members) else {
        return Parsed::broken(document.mismatch(Code::FileShape, root, "a list of plugins needs an object `plugins`"));
    };
    let mut problems = Vec::new();
    let mut installed = Vec::new();
    for (key, value) in plugins {
        for entry in value.elements().unwrap_or(std::slice::from_ref(value)) {
            let text = |name: &str| entry.get(name).and_then(PlacedValue::text);
            match text("installPath") {
                Some(folder) => installed.push(Installed {
                    id: key.name.clone(),
                    folder: folder.into(),
                    project: text("projectPath").map(PathBuf::from),
                }),
                None => {
                    let message = format!("plugin `{}` has no `installPath`; its hooks do not run", key.name);
                    problems.push(document.finding(Code::SettingValue, &entry.span, message));
                }
            }
        }
    }
    Parsed::usable(installed, problems)
}

fn read_hooks(document: &Document, owner: &Arc<Owner>) -> Parsed<Vec<Hook>> {
    let mut found = Vec::new();
    let Some(root) = document.root() else { return Parsed::usable(Vec::new(), found) };
    let section = root.get("hooks").unwrap_or(root);
    let mut hooks = section_hooks::<Claude>(document, SourceKind::Plugin, section, &mut found);
    let folder = owner.dir.to_string_lossy();
    for hook in &mut hooks {
        hook.owner = Some(Arc::clone(owner));
        hook.action = match std::mem::replace(&mut hook.action, Action::Unusable("".into())) {
            Action::Shell(line) => Action::Shell(with_plugin_folder(&line, &folder).into()),
            // A whole word can hold any path.
            Action::Program(words) => {
                let variable = format!("${{{PLUGIN}}}");
                Action::Program(words.iter().map(|word| word.replace(&variable, &folder)).collect())
            }
            other => other,
        };
    }
    Parsed::usable(hooks, found)
}

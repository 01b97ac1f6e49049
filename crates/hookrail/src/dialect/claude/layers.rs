//! The settings files of this dialect: of the user, the project, the machine, and of plugins; and what their switches turn off.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::launch::PROJECT;
use super::{Claude, plugins};
use crate::config::diagnostic::Diagnostic;
use crate::config::source::SourceKind;
use crate::config::{Document, Node, Shape, SourceId, SourceReader, same_place};
use crate::dialect::command_hooks::{LayerFile, LayerSyntax, read_layer};
use crate::dialect::{LoadContext, Loaded, Plugins, Sources, path_in};
use crate::dialect_id::DialectId;
use crate::hook::{Enablement, Hook, ProjectSwitch};
use crate::run::Environment;
use crate::trust::OffByUser;

/// The folder of the machine's settings.
const MANAGED: &str = "/etc/claude-code";
/// The variable that names another root, for images and tests.
const ROOT_VARIABLE: &str = "HOOKRAIL_FLEET_ROOT";

/// What a file says beside its hooks.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerSettings {
    /// Whether it turns hooks off.
    off: bool,
    /// Whether only hooks of the machine count.
    managed_only: bool,
    /// Plugins that it turns off.
    pub(super) disabled_plugins: Vec<String>,
}

struct Layer {
    kind: SourceKind,
    file: PathBuf,
    hooks: Vec<Hook>,
    settings: LayerSettings,
}

/// The user's folder of the agent.
pub(super) fn user_folder(sources: &Sources) -> Option<PathBuf> {
    let named = path_in(&sources.environment, "CLAUDE_CONFIG_DIR").filter(|folder| folder.is_absolute());
    named.or_else(|| sources.home().map(|home| home.join(".claude")))
}

/// Loads every hook of this dialect.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let environment = context.hook_environment();
    let environment = Arc::new(Environment::clone(environment).with(PROJECT, &context.sources.project));
    let LoadContext { sources, reading, trusted, .. } = context;
    let mut loaded = Loaded::default();
    let mut layers = Vec::new();
    for layer in files(sources, reading, &mut loaded.diagnostics) {
        if let Some(read) = read_layer::<Claude, LayerSettings>(&layer, reading, &mut loaded.diagnostics, settings) {
            let LayerFile { kind, file, .. } = layer;
            layers.push(Layer { kind, file, hooks: read.hooks, settings: read.settings });
        }
    }
    if sources.plugins == Plugins::Loaded {
        let disabled = layers.iter().filter(|layer| layer.kind != SourceKind::Project);
        let disabled: Vec<String> = disabled.flat_map(|layer| layer.settings.disabled_plugins.clone()).collect();
        for (file, hooks) in plugins::load(sources, &disabled, reading, &mut loaded.diagnostics) {
            let settings = LayerSettings::default();
            layers.push(Layer { kind: SourceKind::Plugin, file, hooks, settings });
        }
    }
    loaded.off_by_user = off_by_user(&layers);
    for layer in &layers {
        for hook in &layer.hooks {
            let mut hook = hook.clone();
            hook.environment = Some(Arc::clone(&environment));
            if hook.enablement == Enablement::Active
                && let Some(by) = switched_off_by(&layers, layer.kind)
            {
                hook.enablement = Enablement::SwitchedOff(by);
            }
            if layer.kind == SourceKind::Project {
                hook.project_switch = project_switch(&layers);
                hook.trust = trusted.judge(&hook, sources, reading);
            }
            loaded.hooks.push(hook);
        }
    }
    loaded
}

/// The settings files, the project's first.
fn files(sources: &Sources, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Vec<LayerFile> {
    let layer = |kind, file| LayerFile { kind, file, syntax: LayerSyntax::StrictJson };
    let own = sources.project.join(".claude");
    let user = user_folder(sources);
    let mut files = Vec::new();
    // In the home directory the project's files and the user's are the same, and they count as the user's.
    let is_users = user.as_ref().is_some_and(|user| same_place(user, &own));
    if !is_users {
        files.push(layer(SourceKind::Project, own.join("settings.local.json")));
        files.push(layer(SourceKind::Project, own.join("settings.json")));
    }
    files.extend(user.map(|folder| layer(SourceKind::User, folder.join("settings.json"))));
    for folder in managed_folders(sources) {
        files.push(layer(SourceKind::System, folder.join("managed-settings.json")));
        let further = folder.join("managed-settings.d");
        let place = SourceId { path: &further, kind: SourceKind::System, dialect: Some(DialectId::Claude) };
        let entries = reading.list_folder(place, found).into_iter().map(|entry| entry.path);
        let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        files.extend(entries.filter(is_json).map(|file| layer(SourceKind::System, file)));
    }
    files
}

fn managed_folders(sources: &Sources) -> Vec<PathBuf> {
    let root = path_in(&sources.environment, ROOT_VARIABLE).filter(|root| root.is_absolute());
    let elsewhere = root.map(|root| root.join(MANAGED.trim_start_matches('/')));
    let elsewhere = elsewhere.filter(|folder| !crate::config::lies_in(folder, &sources.project));
    std::iter::once(Path::new(MANAGED).to_owned()).chain(elsewhere).collect()
}

fn settings(_document: &Document, root: &Node, _found: &mut Vec<Diagnostic>) -> LayerSettings {
    let says = |key: &str| matches!(root.get(key).map(|value| &value.shape), Some(Shape::Flag(true)));
    let plugins = root.get("enabledPlugins").and_then(Node::members).unwrap_or_default();
    let off = plugins.iter().filter(|(_, value)| matches!(value.shape, Shape::Flag(false)));
    LayerSettings {
        off: says("disableAllHooks"),
        managed_only: says("allowManagedHooksOnly"),
        disabled_plugins: off.map(|(key, _)| key.name.clone()).collect(),
    }
}

/// Whether the switch of one layer turns off the hooks of another: those of its own layer and of less authoritative ones. A project's
/// applies to the project alone, and none but its own turns off the machine's.
fn reaches(from: SourceKind, to: SourceKind) -> bool {
    match from {
        SourceKind::System => true,
        SourceKind::User => to != SourceKind::System,
        _ => from == to,
    }
}

fn turns_off(layer: &Layer, kind: SourceKind) -> Option<&'static str> {
    if layer.settings.off && reaches(layer.kind, kind) {
        return Some("`disableAllHooks`");
    }
    let only_managed = layer.settings.managed_only && layer.kind == SourceKind::System && kind != SourceKind::System;
    only_managed.then_some("`allowManagedHooksOnly`")
}

fn switched_off_by(layers: &[Layer], kind: SourceKind) -> Option<Arc<str>> {
    layers.iter().find_map(|layer| {
        let key = turns_off(layer, kind)?;
        Some(format!("{key} in the {} settings ({})", layer.kind, layer.file.display()).into())
    })
}

/// What the project's own files have to do with whether its hooks take part.
fn project_switch(layers: &[Layer]) -> ProjectSwitch {
    let by = |layer: &&Layer| turns_off(layer, SourceKind::Project).is_some();
    let (own, others): (Vec<&Layer>, Vec<&Layer>) =
        layers.iter().filter(by).partition(|layer| layer.kind == SourceKind::Project);
    if !own.is_empty() && others.is_empty() { ProjectSwitch::SwitchesOff } else { ProjectSwitch::Nothing }
}

/// What the user and the machine switch off among the project's hooks.
fn off_by_user(layers: &[Layer]) -> Vec<OffByUser> {
    let others = layers.iter().filter(|layer| layer.kind != SourceKind::Project);
    let off = others.filter(|layer| turns_off(layer, SourceKind::Project).is_some());
    off.map(|_| OffByUser::Dialect(DialectId::Claude)).collect()
}

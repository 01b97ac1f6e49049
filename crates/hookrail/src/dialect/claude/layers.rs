//! The settings files of this dialect: of the user, the project, the machine, and of plugins; and what their switches turn off.

use std::path::PathBuf;
use std::sync::Arc;

use super::launch::PROJECT;
use super::{Claude, plugins};
use crate::config::diagnostic::Diagnostic;
use crate::config::source::SourceKind;
use crate::config::{Document, PlacedValue, SourceId, SourceReader, ValueShape, same_place};
use crate::dialect::command_hooks::{
    Layer, LayerFile, LayerSwitches, LayerSyntax, load_bundles, load_layers, read_layer,
};
use crate::dialect::{LoadContext, Loaded, MachineFile, Plugins, Sources, machine_files, path_in};
use crate::dialect_id::DialectId;
use crate::run::Environment;

/// The folder of the machine's settings.
pub(super) const MANAGED: &str = "/etc/claude-code";
/// The variable that names another folder of the user.
pub(super) const FOLDER_VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// What a file says beside its hooks.
#[derive(Clone, Debug, Default)]
struct LayerSettings {
    switches: LayerSwitches,
    /// Plugins that it turns off.
    disabled_plugins: Vec<String>,
}

/// The user's folder of the agent.
pub(super) fn user_folder(sources: &Sources) -> Option<PathBuf> {
    let named = path_in(&sources.environment, FOLDER_VARIABLE).filter(|folder| folder.is_absolute());
    named.or_else(|| sources.home().map(|home| home.join(".claude")))
}

/// Loads every hook of this dialect.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let environment = context.hook_environment();
    let environment = Arc::new(Environment::clone(environment).with(PROJECT, &context.sources.project));
    let LoadContext { sources, reading, .. } = context;
    let mut loaded = Loaded::default();
    let mut layers = Vec::new();
    let mut disabled_plugins = Vec::new();
    let is_enabled = DialectId::Claude.is_read(&sources.enabled);
    let files = if is_enabled { files(sources, reading, &mut loaded.diagnostics) } else { Vec::new() };
    for file in files {
        let read = read_layer::<Claude, LayerSettings>(&file, reading, &mut loaded.diagnostics, settings);
        let Some(read) = read else { continue };
        if file.kind != SourceKind::Project {
            disabled_plugins.extend(read.settings.disabled_plugins);
        }
        layers.push(Layer::new(file, read.hooks, read.settings.switches));
    }
    if is_enabled && sources.plugins == Plugins::Loaded {
        for (file, hooks) in plugins::load(sources, &disabled_plugins, reading, &mut loaded.diagnostics) {
            layers.push(Layer { kind: SourceKind::Plugin, file, hooks, switches: LayerSwitches::default() });
        }
    }
    load_layers::<Claude>(&layers, &environment, context, &mut loaded);
    load_bundles::<Claude>(&layers, &environment, context, &mut loaded, |kind, folder| {
        vec![LayerFile::new(kind, folder.join("settings.json"), LayerSyntax::StrictJson)]
    });
    loaded
}

/// The settings files, the project's first.
fn files(sources: &Sources, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Vec<LayerFile> {
    let layer = |kind, file| LayerFile::new(kind, file, LayerSyntax::StrictJson);
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
    for folder in machine_files(MANAGED, sources) {
        let of_machine = |path| LayerFile::of_machine(MachineFile { path, ..folder }, LayerSyntax::StrictJson);
        files.push(of_machine(folder.path.join("managed-settings.json")));
        let further = folder.path.join("managed-settings.d");
        let place = SourceId { path: &further, kind: SourceKind::System, dialect: Some(DialectId::Claude) };
        let entries = reading.list_folder(place, found).into_iter().map(|entry| entry.path);
        let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        files.extend(entries.filter(is_json).map(of_machine));
    }
    files
}

fn settings(_document: &Document, root: &PlacedValue, _found: &mut Vec<Diagnostic>) -> LayerSettings {
    let says = |key: &str| matches!(root.get(key).map(|value| &value.shape), Some(ValueShape::Flag(true)));
    let plugins = root.get("enabledPlugins").and_then(PlacedValue::members).unwrap_or_default();
    let off = plugins.iter().filter(|(_, value)| matches!(value.shape, ValueShape::Flag(false)));
    let switches = LayerSwitches {
        all: says("disableAllHooks").then_some("disableAllHooks"),
        unmanaged: says("allowManagedHooksOnly").then_some("allowManagedHooksOnly"),
        disabled: None,
    };
    LayerSettings { switches, disabled_plugins: off.map(|(key, _)| key.name.clone()).collect() }
}

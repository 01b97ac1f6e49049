//! The settings files of this dialect: of the project, the user, the machine and of extensions; and what their switches turn off.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::launch::PROJECT;
use super::{Gemini, extensions};
use crate::config::diagnostic::Diagnostic;
use crate::config::source::SourceKind;
use crate::config::{Document, Node, Shape, lies_in, same_place};
use crate::dialect::command_hooks::{LayerFile, LayerSyntax, read_layer};
use crate::dialect::{DialectId, LoadContext, Loaded, Plugins, Sources, path_in};
use crate::hook::{Enablement, Hook, ProjectSwitch};
use crate::run::Environment;
use crate::trust::OffByUser;

/// The file of the machine.
const MANAGED: &str = "/etc/gemini-cli/settings.json";
/// The variable that names another root, for images and tests.
const ROOT_VARIABLE: &str = "HOOKRAIL_FLEET_ROOT";

/// What a file says beside its hooks.
#[derive(Clone, Debug, Default)]
struct LayerSettings {
    /// Whether it turns hooks off.
    off: bool,
    /// The names and commands of hooks that it disables.
    disabled: Vec<String>,
}

struct Layer {
    kind: SourceKind,
    file: PathBuf,
    hooks: Vec<Hook>,
    settings: LayerSettings,
}

/// Loads every hook of this dialect.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let base = Environment::clone(context.hook_environment());
    let project = &context.sources.project;
    let environment = Arc::new(PROJECT.into_iter().fold(base, |environment, name| environment.with(name, project)));
    let LoadContext { sources, reading, trusted, .. } = context;
    let mut loaded = Loaded::default();
    let mut layers = Vec::new();
    for layer in files(sources) {
        let read = read_layer::<Gemini, LayerSettings>(&layer, reading, &mut loaded.diagnostics, settings);
        let LayerFile { kind, file, .. } = layer;
        layers.extend(read.map(|read| Layer { kind, file, hooks: read.hooks, settings: read.settings }));
    }
    let folder = sources.home().map(|home| home.join(".gemini/extensions"));
    if let Some(file) = folder.filter(|_| sources.plugins == Plugins::Loaded) {
        let hooks = extensions::load_all(&file, &sources.project, reading, &mut loaded.diagnostics);
        layers.push(Layer { kind: SourceKind::Extension, file, hooks, settings: LayerSettings::default() });
    }
    for layer in &layers {
        for hook in &layer.hooks {
            let mut hook = hook.clone();
            hook.environment = Some(Arc::clone(&environment));
            if hook.enablement == Enablement::Active {
                hook.enablement = enablement(&layers, layer.kind, &hook);
            }
            if layer.kind == SourceKind::Project {
                hook.project_switch = project_switch(&layers, &hook);
                hook.trust = trusted.judge(&hook, sources, reading);
            }
            loaded.hooks.push(hook);
        }
    }
    loaded.off_by_user = off_by_user(&layers);
    loaded
}

/// The settings files, the project's first.
fn files(sources: &Sources) -> Vec<LayerFile> {
    let layer = |kind, file| LayerFile { kind, file, syntax: LayerSyntax::WithComments };
    let own = sources.project.join(".gemini");
    let user = sources.home().map(|home| home.join(".gemini"));
    let mut files = Vec::new();
    // In the home directory the project's file and the user's are the same, and it counts as the user's.
    if !user.as_ref().is_some_and(|user| same_place(user, &own)) {
        files.push(layer(SourceKind::Project, own.join("settings.json")));
    }
    files.extend(user.map(|folder| layer(SourceKind::User, folder.join("settings.json"))));
    let root = path_in(&sources.environment, ROOT_VARIABLE).filter(|root| root.is_absolute());
    let elsewhere = root.map(|root| root.join(MANAGED.trim_start_matches('/')));
    let elsewhere = elsewhere.filter(|file| !lies_in(file, &sources.project));
    let managed = std::iter::once(Path::new(MANAGED).to_owned()).chain(elsewhere);
    files.extend(managed.map(|file| layer(SourceKind::System, file)));
    files
}

fn settings(_document: &Document, root: &Node, _found: &mut Vec<Diagnostic>) -> LayerSettings {
    let config = root.get("hooksConfig");
    let enabled = config.and_then(|config| config.get("enabled")).map(|value| &value.shape);
    let disabled = config.and_then(|config| config.get("disabled")).and_then(Node::elements).unwrap_or_default();
    LayerSettings {
        off: matches!(enabled, Some(Shape::Flag(false))),
        disabled: disabled.iter().filter_map(Node::text).map(str::to_owned).collect(),
    }
}

/// Whether what one layer says reaches another: its own and those of less authority. A project's reaches the project alone.
fn reaches(from: SourceKind, to: SourceKind) -> bool {
    match from {
        SourceKind::System => true,
        SourceKind::User => to != SourceKind::System,
        _ => from == to,
    }
}

fn lists(layer: &Layer, hook: &Hook) -> bool {
    layer.settings.disabled.iter().any(|name| *name == *hook.label)
}

fn enablement(layers: &[Layer], kind: SourceKind, hook: &Hook) -> Enablement {
    let reaching = || layers.iter().filter(|layer| reaches(layer.kind, kind));
    let named = |layer: &Layer, what: &str| -> Arc<str> {
        format!("{what} in the {} settings ({})", layer.kind, layer.file.display()).into()
    };
    if let Some(layer) = reaching().find(|layer| layer.settings.off) {
        return Enablement::SwitchedOff(named(layer, "`hooksConfig.enabled`"));
    }
    match reaching().find(|layer| lists(layer, hook)) {
        Some(layer) => Enablement::Disabled(named(layer, "`hooksConfig.disabled`")),
        None => Enablement::Active,
    }
}

/// What the project's own file has to do with whether one of its hooks takes part.
fn project_switch(layers: &[Layer], hook: &Hook) -> ProjectSwitch {
    let by = |layer: &&Layer| reaches(layer.kind, SourceKind::Project) && (layer.settings.off || lists(layer, hook));
    let (own, others): (Vec<&Layer>, Vec<&Layer>) =
        layers.iter().filter(by).partition(|layer| layer.kind == SourceKind::Project);
    if !own.is_empty() && others.is_empty() { ProjectSwitch::SwitchesOff } else { ProjectSwitch::Nothing }
}

/// What the user and the machine switch off among the project's hooks.
fn off_by_user(layers: &[Layer]) -> Vec<OffByUser> {
    let mut off = Vec::new();
    let others = layers.iter().filter(|layer| layer.kind != SourceKind::Project);
    for layer in others.filter(|layer| reaches(layer.kind, SourceKind::Project)) {
        if layer.settings.off {
            off.push(OffByUser::Dialect(DialectId::Gemini));
        }
        let named = |name: &String| OffByUser::Hook(DialectId::Gemini, name.clone());
        off.extend(layer.settings.disabled.iter().map(named));
    }
    off
}

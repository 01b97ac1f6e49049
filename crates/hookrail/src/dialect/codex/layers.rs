//! The files of this dialect: `hooks.json` and `config.toml` of the project, the user and the machine, and the machine's
//! `requirements.toml`; and what their switches turn off.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Codex;
use crate::config::diagnostic::Diagnostic;
use crate::config::source::SourceKind;
use crate::config::{Document, Node, Shape, lies_in, same_place};
use crate::dialect::command_hooks::{LayerFile, LayerSyntax, read_layer};
use crate::dialect::{DialectId, LoadContext, Loaded, Sources, path_in};
use crate::hook::{Enablement, Hook, ProjectSwitch};
use crate::trust::OffByUser;

/// The folder of the machine's settings.
const MANAGED: &str = "/etc/codex";
/// The variable that names another root, for images and tests.
const ROOT_VARIABLE: &str = "HOOKRAIL_FLEET_ROOT";

/// What a file says beside its hooks.
#[derive(Clone, Debug, Default)]
struct LayerSettings {
    /// Whether it turns hooks off.
    off: bool,
    /// Whether only hooks of the machine count.
    managed_only: bool,
}

struct Layer {
    kind: SourceKind,
    file: PathBuf,
    hooks: Vec<Hook>,
    settings: LayerSettings,
}

/// Loads every hook of this dialect.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let environment = Arc::clone(context.hook_environment());
    let LoadContext { sources, reading, trusted, .. } = context;
    let mut loaded = Loaded::default();
    let mut layers = Vec::new();
    for layer in files(sources) {
        let read = read_layer::<Codex, LayerSettings>(&layer, reading, &mut loaded.diagnostics, settings);
        let LayerFile { kind, file, .. } = layer;
        layers.extend(read.map(|read| Layer { kind, file, hooks: read.hooks, settings: read.settings }));
    }
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
    loaded.off_by_user = off_by_user(&layers);
    loaded
}

/// The files, the project's first.
fn files(sources: &Sources) -> Vec<LayerFile> {
    let both = |kind: SourceKind, folder: &Path| {
        let file = |name: &str, syntax| LayerFile { kind, file: folder.join(name), syntax };
        [file("hooks.json", LayerSyntax::StrictJson), file("config.toml", LayerSyntax::Toml)]
    };
    let own = sources.project.join(".codex");
    let named = path_in(&sources.environment, "CODEX_HOME").filter(|folder| folder.is_absolute());
    let user = named.or_else(|| sources.home().map(|home| home.join(".codex")));
    let mut files = Vec::new();
    // In the home directory the project's files and the user's are the same, and they count as the user's.
    if !user.as_ref().is_some_and(|user| same_place(user, &own)) {
        files.extend(both(SourceKind::Project, &own));
    }
    files.extend(user.iter().flat_map(|folder| both(SourceKind::User, folder)));
    for folder in managed_folders(sources) {
        files.extend(both(SourceKind::System, &folder));
        let file = folder.join("requirements.toml");
        files.push(LayerFile { kind: SourceKind::System, file, syntax: LayerSyntax::Toml });
    }
    files
}

fn managed_folders(sources: &Sources) -> Vec<PathBuf> {
    let root = path_in(&sources.environment, ROOT_VARIABLE).filter(|root| root.is_absolute());
    let elsewhere = root.map(|root| root.join(MANAGED.trim_start_matches('/')));
    let elsewhere = elsewhere.filter(|folder| !lies_in(folder, &sources.project));
    std::iter::once(Path::new(MANAGED).to_owned()).chain(elsewhere).collect()
}

fn settings(_document: &Document, root: &Node, _found: &mut Vec<Diagnostic>) -> LayerSettings {
    let is = |node: Option<&Node>, flag: bool| matches!(node.map(|node| &node.shape), Some(Shape::Flag(said)) if *said == flag);
    let features = root.get("features");
    LayerSettings {
        off: is(features.and_then(|features| features.get("hooks")), false),
        managed_only: is(root.get("allow_managed_hooks_only"), true),
    }
}

/// The switch of a layer that turns off the hooks of another one. A project's applies to the project alone, and none but its own
/// turns off the machine's.
fn turns_off(layer: &Layer, kind: SourceKind) -> Option<&'static str> {
    let reaches = match layer.kind {
        SourceKind::System => true,
        SourceKind::User => kind != SourceKind::System,
        _ => layer.kind == kind,
    };
    let is_machine = |kind: SourceKind| kind == SourceKind::System;
    if layer.settings.off && reaches {
        return Some("`features.hooks`");
    }
    let only = layer.settings.managed_only && is_machine(layer.kind) && !is_machine(kind);
    only.then_some("`allow_managed_hooks_only`")
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
    off.map(|_| OffByUser::Dialect(DialectId::Codex)).collect()
}

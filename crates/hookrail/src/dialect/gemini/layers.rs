//! The settings files of this dialect: of the project, the user, the machine and of extensions; and what their switches turn off.

use std::sync::Arc;

use super::launch::PROJECT;
use super::{Gemini, extensions};
use crate::config::diagnostic::Diagnostic;
use crate::config::source::SourceKind;
use crate::config::{Document, PlacedValue, ValueShape, same_place};
use crate::dialect::command_hooks::{
    Layer, LayerFile, LayerSwitches, LayerSyntax, load_bundles, load_layers, read_layer,
};
use crate::dialect::{DialectId, LoadContext, Loaded, Plugins, Sources, machine_files};
use crate::run::Environment;

/// The file of the machine.
pub(super) const MANAGED: &str = "/etc/gemini-cli/settings.json";

/// Loads every hook of this dialect.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let base = Environment::clone(context.hook_environment());
    let project = &context.sources.project;
    let environment = Arc::new(PROJECT.into_iter().fold(base, |environment, name| environment.with(name, project)));
    let mut loaded = Loaded::default();
    let mut layers = Vec::new();
    let is_enabled = DialectId::Gemini.is_read(&context.sources.enabled);
    for file in files(context.sources).into_iter().filter(|_| is_enabled) {
        let read = read_layer::<Gemini, LayerSwitches>(&file, context.reading, &mut loaded.diagnostics, switches);
        layers.extend(read.map(|read| Layer::new(file, read.hooks, read.settings)));
    }
    let folder = context.sources.home().map(|home| home.join(".gemini/extensions"));
    if let Some(file) = folder.filter(|_| is_enabled && context.sources.plugins == Plugins::Loaded) {
        let hooks = extensions::load_all(&file, project, context.reading, &mut loaded.diagnostics);
        layers.push(Layer { kind: SourceKind::Extension, file, hooks, switches: LayerSwitches::default() });
    }
    load_layers::<Gemini>(&layers, &environment, context, &mut loaded);
    load_bundles::<Gemini>(&layers, &environment, context, &mut loaded, |kind, folder| {
        vec![LayerFile::new(kind, folder.join("settings.json"), LayerSyntax::WithComments)]
    });
    loaded
}

/// The settings files, the project's first.
fn files(sources: &Sources) -> Vec<LayerFile> {
    let layer = |kind, file| LayerFile::new(kind, file, LayerSyntax::WithComments);
    let own = sources.project.join(".gemini");
    let user = sources.home().map(|home| home.join(".gemini"));
    let mut files = Vec::new();
    // In the home directory the project's file and the user's are the same, and it counts as the user's.
    if !user.as_ref().is_some_and(|user| same_place(user, &own)) {
        files.push(layer(SourceKind::Project, own.join("settings.json")));
    }
    files.extend(user.map(|folder| layer(SourceKind::User, folder.join("settings.json"))));
    let of_machine = |file| LayerFile::of_machine(file, LayerSyntax::WithComments);
    files.extend(machine_files(MANAGED, sources).map(of_machine));
    files
}

fn switches(_document: &Document, root: &PlacedValue, _found: &mut Vec<Diagnostic>) -> LayerSwitches {
    let config = root.get("hooksConfig");
    let enabled = config.and_then(|config| config.get("enabled")).map(|value| &value.shape);
    let disabled = config.and_then(|config| config.get("disabled")).and_then(PlacedValue::elements).unwrap_or_default();
    let disabled = disabled.iter().filter_map(PlacedValue::text).map(str::to_owned).collect();
    LayerSwitches {
        all: matches!(enabled, Some(ValueShape::Flag(false))).then_some("hooksConfig.enabled"),
        unmanaged: None,
        disabled: Some(("hooksConfig.disabled", disabled)),
    }
}

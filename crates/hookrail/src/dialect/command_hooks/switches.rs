//! What the layers of an agent's settings turn off among each other's hooks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{BUNDLE_VARIABLE, CommandDialect, LayerFile, read_layer};
use crate::config::source::SourceKind;
use crate::dialect::{LoadContext, Loaded, SettingsReach};
use crate::hook::{Enablement, Hook, ProjectSwitch};
use crate::run::Environment;
use crate::trust::OffByUser;

/// What one layer turns off. A switch is named by its key.
#[derive(Clone, Debug, Default)]
pub(crate) struct LayerSwitches {
    /// All hooks that it reaches.
    pub(crate) all: Option<&'static str>,
    /// All hooks but the machine's, if this layer is the machine's.
    pub(crate) unmanaged: Option<&'static str>,
    /// The hooks of these names and commands.
    pub(crate) disabled: Option<(&'static str, Vec<String>)>,
}

/// The hooks of one file or folder, and what it turns off.
pub(crate) struct Layer {
    pub(crate) kind: SourceKind,
    pub(crate) file: PathBuf,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) switches: LayerSwitches,
}

impl Layer {
    pub(crate) fn new(layer: LayerFile, hooks: Vec<Hook>, switches: LayerSwitches) -> Self {
        Self { kind: layer.kind, file: layer.file, hooks, switches }
    }

    /// The key that turns off every hook of a layer.
    fn turns_off(&self, kind: SourceKind) -> Option<&'static str> {
        let is_machine = |kind: SourceKind| kind == SourceKind::System;
        let all = self.switches.all.filter(|_| self.kind.reaches(kind));
        all.or_else(|| self.switches.unmanaged.filter(|_| is_machine(self.kind) && !is_machine(kind)))
    }

    /// The names of hooks that it disables in a layer.
    fn disabled(&self, kind: SourceKind) -> &[String] {
        self.switches.disabled.as_ref().filter(|_| self.kind.reaches(kind)).map_or(&[], |(_, names)| names)
    }

    fn disables(&self, kind: SourceKind, hook: &Hook) -> bool {
        self.disabled(kind).iter().any(|name| *name == *hook.label)
    }

    /// A switch as messages name it.
    fn named(&self, key: &str) -> Arc<str> {
        format!("`{key}` in the {} settings ({})", self.kind, self.file.display()).into()
    }
}

/// Loads the hooks of all layers.
pub(crate) fn load_layers<D: CommandDialect>(
    layers: &[Layer],
    environment: &Arc<Environment>,
    context: &mut LoadContext<'_, '_>,
    loaded: &mut Loaded,
) {
    let LoadContext { sources, reading, trusted, .. } = context;
    for layer in layers {
        for hook in &layer.hooks {
            let mut hook = hook.clone();
            hook.environment = Some(Arc::clone(environment));
            if hook.enablement == Enablement::Active {
                hook.enablement = enablement(layers, layer.kind, &hook);
            }
            if layer.kind == SourceKind::Project {
                hook.project_switch = project_switch(layers, &hook);
                hook.trust = trusted.judge(&hook, sources, reading);
            }
            loaded.hooks.push(hook);
        }
    }
    loaded.off_by_user = off_by_user::<D>(layers);
}

/// Loads the hooks that bundles bring for a dialect: those of the files that `files` names in the bundle's folder for it. A machine relies
/// on them, whatever its user has enabled, and switches in them act on nothing.
pub(crate) fn load_bundles<D: CommandDialect>(
    layers: &[Layer],
    environment: &Arc<Environment>,
    context: &mut LoadContext<'_, '_>,
    loaded: &mut Loaded,
    files: impl Fn(SourceKind, &Path) -> Vec<LayerFile>,
) {
    for bundle in context.bundles {
        let environment = Arc::new(Environment::clone(environment).with(BUNDLE_VARIABLE, &bundle.folder));
        for file in files(bundle.kind, &bundle.folder.join(D::DIALECT.name())) {
            // Whose the files of a bundle are was checked when it was put in force.
            let file = LayerFile { reach: SettingsReach::OwnHooks, ..file };
            let read = read_layer::<D, ()>(&file, context.reading, &mut loaded.diagnostics, |_, _, _| ());
            for mut hook in read.map(|read| read.hooks).unwrap_or_default() {
                hook.environment = Some(Arc::clone(&environment));
                if hook.enablement == Enablement::Active {
                    hook.enablement = enablement(layers, file.kind, &hook);
                }
                loaded.hooks.push(hook);
            }
        }
    }
}

fn enablement(layers: &[Layer], kind: SourceKind, hook: &Hook) -> Enablement {
    let off = layers.iter().find_map(|layer| Some(layer.named(layer.turns_off(kind)?)));
    let disabled = || {
        let layer = layers.iter().find(|layer| layer.disables(kind, hook))?;
        let (key, _) = layer.switches.disabled.as_ref()?;
        Some(layer.named(key))
    };
    match (off, disabled) {
        (Some(by), _) => Enablement::SwitchedOff(by),
        (None, disabled) => disabled().map_or(Enablement::Active, Enablement::Disabled),
    }
}

/// What the project's own files have to do with whether one of its hooks takes part.
fn project_switch(layers: &[Layer], hook: &Hook) -> ProjectSwitch {
    let project = SourceKind::Project;
    let by = |layer: &&Layer| layer.turns_off(project).is_some() || layer.disables(project, hook);
    let (own, others): (Vec<&Layer>, Vec<&Layer>) =
        layers.iter().filter(by).partition(|layer| layer.kind == SourceKind::Project);
    if !own.is_empty() && others.is_empty() { ProjectSwitch::SwitchesOff } else { ProjectSwitch::Nothing }
}

/// What the user and the machine switch off among the project's hooks.
fn off_by_user<D: CommandDialect>(layers: &[Layer]) -> Vec<OffByUser> {
    let mut off = Vec::new();
    for layer in layers.iter().filter(|layer| layer.kind != SourceKind::Project) {
        off.extend(layer.turns_off(SourceKind::Project).map(|_| OffByUser::Dialect(D::DIALECT)));
        let named = |name: &String| OffByUser::Hook(D::DIALECT, name.clone());
        off.extend(layer.disabled(SourceKind::Project).iter().map(named));
    }
    off
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_can_leave_its_own_hooks_alone_on() {
        let only = LayerSwitches { unmanaged: Some("only"), ..LayerSwitches::default() };
        let off = |from, switches: &LayerSwitches, kind| {
            let layer = Layer { kind: from, file: PathBuf::new(), hooks: Vec::new(), switches: switches.clone() };
            layer.turns_off(kind).is_some()
        };
        for (from, others_are_off) in
            [(SourceKind::System, true), (SourceKind::User, false), (SourceKind::Project, false)]
        {
            assert_eq!(off(from, &only, SourceKind::User), others_are_off, "{from}");
            assert!(!off(from, &only, SourceKind::System) && !off(from, &LayerSwitches::default(), SourceKind::User));
        }
    }
}

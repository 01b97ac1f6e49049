//! The files of this dialect: `hooks.json` and `config.toml` of the project, the user and the machine, and the machine's
//! `requirements.toml`; and what their switches turn off.

use std::path::Path;
use std::sync::Arc;

use super::Codex;
use crate::config::diagnostic::Diagnostic;
use crate::config::source::SourceKind;
use crate::config::{Document, PlacedValue, ValueShape, same_place};
use crate::dialect::command_hooks::{
    Layer, LayerFile, LayerSwitches, LayerSyntax, load_bundles, load_layers, read_layer,
};
use crate::dialect::{DialectId, LoadContext, Loaded, MachineFile, Sources, machine_files, path_in};

/// The folder of the machine's settings.
pub(super) const MANAGED: &str = "/etc/codex";
/// The variable that names another folder of the user.
pub(super) const FOLDER_VARIABLE: &str = "CODEX_HOME";

/// Loads every hook of this dialect.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let environment = Arc::clone(context.hook_environment());
    let mut loaded = Loaded::default();
    let mut layers = Vec::new();
    let is_enabled = DialectId::Codex.is_read(&context.sources.enabled);
    for file in files(context.sources).into_iter().filter(|_| is_enabled) {
        let read = read_layer::<Codex, LayerSwitches>(&file, context.reading, &mut loaded.diagnostics, switches);
        layers.extend(read.map(|read| Layer::new(file, read.hooks, read.settings)));
    }
    load_layers::<Codex>(&layers, &environment, context, &mut loaded);
    load_bundles::<Codex>(&layers, &environment, context, &mut loaded, |kind, folder| both(kind, folder).into());
    loaded
}

/// The files with hooks in a folder of any layer.
const BOTH: [(&str, LayerSyntax); 2] = [("hooks.json", LayerSyntax::StrictJson), ("config.toml", LayerSyntax::Toml)];

fn both(kind: SourceKind, folder: &Path) -> [LayerFile; 2] {
    BOTH.map(|(name, syntax)| LayerFile::new(kind, folder.join(name), syntax))
}

/// The files, the project's first.
fn files(sources: &Sources) -> Vec<LayerFile> {
    let own = sources.project.join(".codex");
    let named = path_in(&sources.environment, FOLDER_VARIABLE).filter(|folder| folder.is_absolute());
    let user = named.or_else(|| sources.home().map(|home| home.join(".codex")));
    let mut files = Vec::new();
    // In the home directory the project's files and the user's are the same, and they count as the user's.
    if !user.as_ref().is_some_and(|user| same_place(user, &own)) {
        files.extend(both(SourceKind::Project, &own));
    }
    files.extend(user.iter().flat_map(|folder| both(SourceKind::User, folder)));
    for folder in machine_files(MANAGED, sources) {
        let of_machine = |(name, syntax): (&str, LayerSyntax)| {
            LayerFile::of_machine(MachineFile { path: folder.path.join(name), ..folder }, syntax)
        };
        files.extend(BOTH.into_iter().chain([("requirements.toml", LayerSyntax::Toml)]).map(of_machine));
    }
    files
}

fn switches(_document: &Document, root: &PlacedValue, _found: &mut Vec<Diagnostic>) -> LayerSwitches {
    let is = |node: Option<&PlacedValue>, flag: bool| matches!(node.map(|node| &node.shape), Some(ValueShape::Flag(said)) if *said == flag);
    let features = root.get("features");
    LayerSwitches {
        all: is(features.and_then(|features| features.get("hooks")), false).then_some("features.hooks"),
        unmanaged: is(root.get("allow_managed_hooks_only"), true).then_some("allow_managed_hooks_only"),
        disabled: None,
    }
}

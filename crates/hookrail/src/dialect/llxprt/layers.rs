//! The layers of settings: their files, how their switches and lists affect each other, and the order of their hooks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::PROJECT_VARIABLES;
use super::extension;
use super::settings::{self, SettingsFile, Switch};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{Location, SourceKind};
use crate::config::{Document, KeptReason, SourceId, SourceReader, is_absence, lies_in, same_place};
use crate::dialect::command_hooks::{BUNDLE_VARIABLE, system_file_problem};
use crate::dialect::enrolment::Bundle;
use crate::dialect::snapshot::ModelDecisions;
use crate::dialect::{Bundles, DialectId, LoadContext, Loaded, SettingsReach, Sources, path_in};
use crate::hook::sandbox::SandboxFloors;
use crate::hook::{Enablement, Enforcement, Hook, ProjectSwitch};
use crate::run::Environment;
use crate::trust::OffByUser;

/// The file of the system layer, unless the environment names another one in the variable.
const DEFAULT_SYSTEM_FILE: &str = "/etc/llxprt-code/settings.json";
const SYSTEM_FILE_VARIABLE: &str = "LLXPRT_SYSTEM_SETTINGS_PATH";

/// One layer as it was read.
struct Layer {
    kind: SourceKind,
    file: PathBuf,
    settings: SettingsFile,
    /// The folder of the bundle that it comes from.
    bundle: Option<PathBuf>,
    /// The switch of a bundle whose settings concern its own hooks only.
    own_switch: Option<Switch>,
}

impl Layer {
    fn new(kind: SourceKind, file: PathBuf, settings: SettingsFile) -> Self {
        Self { kind, file, settings, bundle: None, own_switch: None }
    }
}

/// Loads every layer.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let LoadContext { sources, reading, trusted, bundles, common } = context;
    let mut loaded = Loaded::default();
    let mut read: Vec<Layer> = Vec::new();
    for (kind, file) in files(sources) {
        read.push(layer(kind, file, reading, &mut loaded.diagnostics));
    }
    let of_kind = |kind: SourceKind| bundles.iter().filter(move |bundle| bundle.kind == kind);
    for bundle in of_kind(SourceKind::User) {
        read.extend(bundle_layer(bundle, reading, &mut loaded.diagnostics));
    }
    read.push(system_layer(sources, reading, &mut loaded.diagnostics));
    for bundle in of_kind(SourceKind::System) {
        read.extend(bundle_layer(bundle, reading, &mut loaded.diagnostics));
    }
    let extensions = sources.home().map(|home| home.join(".llxprt/extensions"));
    if let Some(folder) = extensions {
        let (hooks, problems) = extension::load_all(&folder, &sources.project, reading);
        loaded.diagnostics.extend(problems);
        let settings = SettingsFile { hooks, ..SettingsFile::default() };
        read.push(Layer::new(SourceKind::Extension, folder, settings));
    }
    let project_counts = sources.trust_all || sources.grants.project;
    common.policy.model_decisions = model_decisions(&read, project_counts);
    common.policy.sandbox_floors = sandbox_floors(&read);
    let switched_on = read.iter().any(|layer| {
        layer.settings.switch == Some(Switch::On) && (layer.kind != SourceKind::Project || project_counts)
    });
    common.redacted = redacted_environment(&read, &sources.environment);
    let environment = common.redacted.as_ref().unwrap_or(&sources.environment);
    let in_project = |environment: Environment, name: &str| environment.with(name, &sources.project);
    let environment = Arc::new(PROJECT_VARIABLES.into_iter().fold(Environment::clone(environment), in_project));
    for layer in &read {
        let environment = match &layer.bundle {
            Some(folder) => Arc::new(Environment::clone(&environment).with(BUNDLE_VARIABLE, folder)),
            None => Arc::clone(&environment),
        };
        for hook in &layer.settings.hooks {
            let mut hook = hook.clone();
            hook.environment = Some(Arc::clone(&environment));
            // No switch enables the hook of an extension that is disabled.
            if hook.enablement == Enablement::Active {
                hook.enablement = match layer.own_switch {
                    Some(Switch::Off(key)) => Enablement::SwitchedOff(describe_setting(layer, key)),
                    Some(Switch::On) => enablement(&hook, layer.kind, &read, true),
                    None => enablement(&hook, layer.kind, &read, switched_on),
                };
            }
            if layer.kind == SourceKind::Project {
                hook.project_switch = project_switch(&hook, &read);
                hook.trust = trusted.judge(&hook, sources, reading);
            }
            loaded.hooks.push(hook);
        }
    }
    loaded.off_by_user = off_by_user(&read);
    // A switch of an untrusted project is not reported as missing: the trust is what is missing.
    if !read.iter().any(|layer| layer.settings.switch == Some(Switch::On)) {
        loaded.diagnostics.extend(never_switched_on(&loaded.hooks));
    }
    loaded
}

/// Reports hooks that never run because no file switches hooks on, once for each file with hooks.
fn never_switched_on(hooks: &[Hook]) -> Vec<Diagnostic> {
    let hooks: Vec<&Hook> = hooks.iter().filter(|hook| hook.enablement == Enablement::NeverSwitchedOn).collect();
    let mut found: Vec<Diagnostic> = Vec::new();
    for hook in &hooks {
        let location = &hook.origin.location;
        if found.iter().any(|known| known.location.as_ref().is_some_and(|known| known.file == location.file)) {
            continue;
        }
        let count = hooks.iter().filter(|other| other.origin.location.file == location.file).count();
        let (these, verb) = if count == 1 { ("hook is", "it never runs") } else { ("hooks are", "they never run") };
        let message = format!("{count} {these} configured here and no settings file switches hooks on; {verb}");
        let hint = "add `\"hooksConfig\": {\"enabled\": true}` to the settings";
        found.push(Diagnostic::new(Code::HooksNeverOn, message).at(location.clone()).hint(hint));
    }
    found
}

/// The files of the project and the user, in the order in which their hooks run.
fn files(sources: &Sources) -> Vec<(SourceKind, PathBuf)> {
    let settings = |folder: &Path| folder.join(".llxprt/settings.json");
    let mut files = vec![(SourceKind::Project, settings(&sources.project))];
    if let Some(home) = sources.home() {
        // In the home directory the project's file and the user's are the same, and it counts as the user's.
        if same_place(&sources.project, &home) {
            files.clear();
        }
        files.push((SourceKind::User, settings(&home)));
    }
    files.extend(user_configuration(sources).map(|file| (SourceKind::User, file)));
    files
}

/// The second file of the user: in the folder that the environment names, else at the current default place of the
/// agent. None if it is the same file as the first one or a project's.
fn user_configuration(sources: &Sources) -> Option<PathBuf> {
    let folder = match path_in(&sources.environment, "LLXPRT_CONFIG_HOME") {
        // A relative folder would mean another one in every directory, and a project could bring it.
        Some(folder) => Some(folder).filter(|folder| folder.is_absolute()),
        None => sources.home().map(|home| home.join(".config/llxprt-code")),
    }?;
    let first = [Some(sources.project.clone()), sources.home()];
    let is_known = first.into_iter().flatten().any(|known| same_place(&folder, &known.join(".llxprt")));
    (!is_known).then(|| folder.join("settings.json"))
}

/// The file of the system layer.
pub(super) fn system_file(environment: &Environment) -> PathBuf {
    path_in(environment, SYSTEM_FILE_VARIABLE).unwrap_or_else(|| DEFAULT_SYSTEM_FILE.into())
}

/// The system layer. Its file is named by the environment, which the caller of the program controls, or is at its
/// default place.
fn system_layer(sources: &Sources, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Layer {
    let kind = SourceKind::System;
    let (file, problem) = match path_in(&sources.environment, SYSTEM_FILE_VARIABLE) {
        Some(file) => {
            // A host that tries hooks out names a file that is missing, so that the machine's own is not read.
            let is_expected = sources.bundles == Bundles::Honoured;
            found.extend(missing_system_file(&file).filter(|_| is_expected));
            (file.clone(), misplaced_system_file(&file, &sources.project))
        }
        None => (DEFAULT_SYSTEM_FILE.into(), system_file_problem(Path::new(DEFAULT_SYSTEM_FILE))),
    };
    let Some(problem) = problem else { return layer(kind, file, reading, found) };
    let message = problem.message.clone();
    found.push(problem);
    let settings = match reading.last_good(&file) {
        Some(text) => {
            reading.keep(&file, KeptReason::Unusable, found);
            let document = Document::parse(&file, text.to_string()).ok();
            document.and_then(|document| settings::read(&document, kind).value).unwrap_or_default()
        }
        None => {
            reading.look_at(&file);
            reading.unusable(place(kind, &file), message);
            SettingsFile::default()
        }
    };
    Layer::new(kind, file, settings)
}

/// The settings of a bundle, if it has any. Those of a bundle that is tried out, or whose root a variable names, bring their hooks and affect
/// nothing else.
fn bundle_layer(bundle: &Bundle, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Option<Layer> {
    let file = bundle.folder.join("settings.json");
    if !reading.is_there(&file) {
        return None;
    }
    let mut layer = layer(bundle.kind, file, reading, found);
    layer.bundle = Some(bundle.folder.clone());
    match (bundle.enforcement, bundle.reach) {
        (Enforcement::Enforced, SettingsReach::Layers) => {}
        (Enforcement::Shadow, _) | (_, SettingsReach::OwnHooks) => {
            let SettingsFile { hooks, switch, .. } = layer.settings;
            layer.settings = SettingsFile { hooks, ..SettingsFile::default() };
            layer.own_switch = switch;
        }
    }
    Some(layer)
}

fn place(kind: SourceKind, path: &Path) -> SourceId<'_> {
    SourceId { path, kind, dialect: Some(DialectId::Llxprt) }
}

fn layer(kind: SourceKind, file: PathBuf, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Layer {
    let read = reading.read_document(place(kind, &file), found, |document| settings::read(&document, kind));
    Layer::new(kind, file, read.into_value().unwrap_or_default())
}

fn enablement(hook: &Hook, kind: SourceKind, layers: &[Layer], switched_on: bool) -> Enablement {
    for layer in layers.iter().filter(|layer| layer.kind.reaches(kind)) {
        if let Some(Switch::Off(key)) = layer.settings.switch {
            return Enablement::SwitchedOff(describe_setting(layer, key));
        }
    }
    for layer in layers.iter().filter(|layer| layer.kind.reaches(kind)) {
        if layer.settings.disabled.iter().any(|name| *name == *hook.label) {
            return Enablement::Disabled(describe_setting(layer, "the list of disabled hooks"));
        }
    }
    if switched_on { Enablement::Active } else { Enablement::NeverSwitchedOn }
}

/// What the project's own file has to do with whether one of its hooks takes part.
fn project_switch(hook: &Hook, layers: &[Layer]) -> ProjectSwitch {
    let of_project = |layer: &&Layer| layer.kind == SourceKind::Project;
    let disables = |layer: &Layer| {
        let reaches = layer.kind.reaches(SourceKind::Project);
        let is_listed = || layer.settings.disabled.iter().any(|name| *name == *hook.label);
        reaches && (matches!(layer.settings.switch, Some(Switch::Off(_))) || is_listed())
    };
    let switches_on = |layer: &Layer| layer.settings.switch == Some(Switch::On);
    let (project, others): (Vec<&Layer>, Vec<&Layer>) = layers.iter().partition(of_project);
    let alone = |what: &dyn Fn(&Layer) -> bool| {
        project.iter().any(|layer| what(layer)) && !others.iter().any(|layer| what(layer))
    };
    if alone(&disables) {
        ProjectSwitch::SwitchesOff
    } else if alone(&switches_on) {
        ProjectSwitch::SwitchesOn
    } else {
        ProjectSwitch::Nothing
    }
}

/// What the user and the system switch off among the project's hooks.
fn off_by_user(layers: &[Layer]) -> Vec<OffByUser> {
    let mut off = Vec::new();
    let others = layers.iter().filter(|layer| layer.kind != SourceKind::Project);
    for layer in others.filter(|layer| layer.kind.reaches(SourceKind::Project)) {
        if let Some(Switch::Off(_)) = layer.settings.switch {
            off.push(OffByUser::Dialect(DialectId::Llxprt));
        }
        let named = |name: &String| OffByUser::Hook(DialectId::Llxprt, name.clone());
        off.extend(layer.settings.disabled.iter().map(named));
    }
    off
}

fn describe_setting(layer: &Layer, what: &str) -> Arc<str> {
    format!("{what} in the {} settings ({})", layer.kind, layer.file.display()).into()
}

/// The strictest setting. That of a trusted project acts only on what the project brings.
fn model_decisions(layers: &[Layer], project_counts: bool) -> ModelDecisions {
    let is_strict = |layer: &&Layer| layer.settings.model_decisions == Some(ModelDecisions::Strict);
    let (project, others): (Vec<&Layer>, Vec<&Layer>) =
        layers.iter().filter(is_strict).partition(|layer| layer.kind == SourceKind::Project);
    match (others.is_empty(), project.is_empty() || !project_counts) {
        (false, _) => ModelDecisions::Strict,
        (true, false) => ModelDecisions::StrictInProject,
        (true, true) => ModelDecisions::LastWins,
    }
}

/// The sandbox floors that the system and the user impose on hooks of less authority.
fn sandbox_floors(layers: &[Layer]) -> SandboxFloors {
    let of = |kind: SourceKind| {
        let layers = layers.iter().filter(move |layer| layer.kind == kind);
        layers.filter_map(|layer| layer.settings.sandbox_floor.clone())
    };
    SandboxFloors { system: of(SourceKind::System).collect(), user: of(SourceKind::User).collect() }
}

/// The environment without secrets, if the user or the system asks for that. A project's setting is ignored: it could
/// remove a variable from the guard of another layer.
fn redacted_environment(layers: &[Layer], environment: &Environment) -> Option<Arc<Environment>> {
    let mut asked = layers
        .iter()
        .filter(|layer| layer.kind != SourceKind::Project)
        .filter_map(|layer| layer.settings.redaction.as_ref());
    let first = asked.next()?;
    let redacted = asked.fold(first.apply(environment), |environment, redaction| redaction.apply(&environment));
    Some(Arc::new(redacted))
}

/// Reports a system file that is named and missing. As in the original there is none then.
fn missing_system_file(file: &Path) -> Option<Diagnostic> {
    let is_missing = file.is_absolute() && file.symlink_metadata().is_err_and(|error| is_absence(&error));
    let message = format!(
        "`LLXPRT_SYSTEM_SETTINGS_PATH` names `{}`, which does not exist: no system settings count",
        file.display()
    );
    let finding = Diagnostic::new(Code::SystemMissing, message).at(Location::whole_file(file));
    is_missing.then(|| finding.hint("create the file, or unset the variable"))
}

/// Rejects a system file from the environment that is relative, or that is inside the project.
fn misplaced_system_file(file: &Path, project: &Path) -> Option<Diagnostic> {
    let why = if file.is_relative() {
        "its path is relative"
    } else if lies_in(file, project) {
        "it lies in the project"
    } else {
        return None;
    };
    let message = format!("the system settings `{}` cannot be used, because {why}", file.display());
    let finding = Diagnostic::new(Code::SystemFileUnsafe, message).at(Location::whole_file(file));
    Some(finding.hint("set `LLXPRT_SYSTEM_SETTINGS_PATH` to an absolute path outside of the project"))
}

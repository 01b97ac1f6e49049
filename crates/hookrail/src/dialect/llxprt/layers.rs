//! The layers of settings: which files there are, how their switches and lists act on each other, and the order of
//! their hooks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::extension::{self, unreadable};
use super::settings::{self, SettingsFile, Switch};
use crate::config::{Document, read_file, same_place};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::{Loaded, Sources, path_in};
use crate::hook::{Hook, Standing, Trust};
use crate::run::Environment;
use crate::snapshot::ModelDecisions;
use crate::source::{Location, SourceKind};
use crate::trust::Fingerprint;

/// The last good version of every file, for when a new version is broken.
pub(crate) type LastGood = HashMap<PathBuf, SettingsFile>;

const DEFAULT_SYSTEM_FILE: &str = "/etc/llxprt-code/settings.json";

/// One layer as it was read.
struct Layer {
    kind: SourceKind,
    file: PathBuf,
    settings: SettingsFile,
}

/// Loads every layer. A broken file keeps its last good version in force.
pub(crate) fn load(sources: &Sources, last_good: &mut LastGood) -> Loaded {
    let named_system_file = path_in(&sources.environment, "LLXPRT_SYSTEM_SETTINGS_PATH");
    let mut loaded = Loaded::default();
    let mut read: Vec<Layer> = Vec::new();
    for (kind, file) in files(sources, named_system_file.clone()) {
        if kind == SourceKind::System
            // One that the environment names is taken as its invoker gave it.
            && named_system_file.is_none()
            && let Some(problem) = unsafe_system_file(&file)
        {
            loaded.diagnostics.push(problem);
            continue;
        }
        let settings = load_file(kind, &file, last_good, &mut loaded.diagnostics);
        loaded.files.push(file.clone());
        read.push(Layer { kind, file, settings });
    }
    let extensions = sources.home().map(|home| home.join(".llxprt/extensions"));
    if let Some(folder) = extensions {
        let (hooks, problems) = extension::load_all(&folder);
        loaded.diagnostics.extend(problems);
        loaded.files.push(folder.clone());
        let settings = SettingsFile { hooks, ..SettingsFile::default() };
        read.push(Layer { kind: SourceKind::Extension, file: folder, settings });
    }
    let project_counts = sources.trust_all || sources.grants.project;
    loaded.policy.model_decisions = model_decisions(&read);
    let switched_on = read.iter().any(|layer| {
        layer.settings.switch == Some(Switch::On) && (layer.kind != SourceKind::Project || project_counts)
    });
    let environment =
        redacted_environment(&read, &sources.environment).unwrap_or_else(|| Arc::clone(&sources.environment));
    for layer in &read {
        for hook in &layer.settings.hooks {
            let mut hook = hook.clone();
            hook.environment = Some(Arc::clone(&environment));
            hook.standing = standing(&hook, layer.kind, &read, switched_on);
            if layer.kind == SourceKind::Project {
                hook.trust = judge(sources, &hook);
            }
            loaded.hooks.push(hook);
        }
    }
    loaded
}

/// The files, in the order in which their hooks run.
fn files(sources: &Sources, system_file: Option<PathBuf>) -> Vec<(SourceKind, PathBuf)> {
    let settings = |folder: &Path| folder.join(".llxprt/settings.json");
    let mut files = vec![(SourceKind::Project, settings(&sources.project))];
    if let Some(home) = sources.home() {
        // In the home directory the project's file and the user's are one and the same, and it is the user's.
        if same_place(&sources.project, &home) {
            files.clear();
        }
        files.push((SourceKind::User, settings(&home)));
    }
    files.push((SourceKind::System, system_file.unwrap_or_else(|| PathBuf::from(DEFAULT_SYSTEM_FILE))));
    files
}

fn judge(sources: &Sources, hook: &Hook) -> Trust {
    if sources.trust_all { Trust::ForThisRun } else { sources.grants.judge(Fingerprint::take(&sources.project, hook)) }
}

fn load_file(kind: SourceKind, file: &Path, last_good: &mut LastGood, found: &mut Vec<Diagnostic>) -> SettingsFile {
    let problem = match read_file(file) {
        Ok(None) => {
            last_good.remove(file);
            return SettingsFile::default();
        }
        Ok(Some(text)) => match Document::parse(file, text) {
            Ok(document) => {
                let (settings, problems) = settings::read(&document, kind);
                let usable = !problems.iter().any(|problem| problem.code == Code::FileShape);
                found.extend(problems);
                if usable {
                    last_good.insert(file.to_owned(), settings.clone());
                    return settings;
                }
                None
            }
            Err(problem) => Some(problem),
        },
        Err(problem) => Some(unreadable(file, &problem)),
    };
    found.extend(problem);
    match last_good.get(file) {
        Some(settings) => {
            let message = format!("`{}` is broken; its last good version stays in force", file.display());
            found.push(Diagnostic::new(Code::FileLastGood, message).at(Location::whole_file(file)));
            settings.clone()
        }
        None => SettingsFile::default(),
    }
}

/// A switch or a list acts on its own layer and on those with less authority; what a project brings acts on the
/// project alone.
fn reaches(from: SourceKind, to: SourceKind) -> bool {
    match from {
        SourceKind::System => true,
        SourceKind::User => to != SourceKind::System,
        _ => from == to,
    }
}

fn standing(hook: &Hook, kind: SourceKind, layers: &[Layer], switched_on: bool) -> Standing {
    for layer in layers.iter().filter(|layer| reaches(layer.kind, kind)) {
        if let Some(Switch::Off(key)) = layer.settings.switch {
            return Standing::SwitchedOff(by(layer, key));
        }
    }
    for layer in layers.iter().filter(|layer| reaches(layer.kind, kind)) {
        if layer.settings.disabled.iter().any(|name| *name == *hook.label) {
            return Standing::Disabled(by(layer, "the list of disabled hooks"));
        }
    }
    if switched_on { Standing::Active } else { Standing::NeverSwitchedOn }
}

fn by(layer: &Layer, what: &str) -> Arc<str> {
    format!("{what} in the {} settings ({})", layer.kind, layer.file.display()).into()
}

/// The strictest of what the user and the system say. A project has no say: it acts only on what it brings.
fn model_decisions(layers: &[Layer]) -> ModelDecisions {
    let strict = layers.iter().any(|layer| {
        layer.kind != SourceKind::Project && layer.settings.model_decisions == Some(ModelDecisions::Strict)
    });
    if strict { ModelDecisions::Strict } else { ModelDecisions::LastWins }
}

/// The environment without secrets, when the user or the system asks for that. A project has no say: it could take a
/// variable away from somebody else's guard.
fn redacted_environment(layers: &[Layer], environment: &Environment) -> Option<Arc<Environment>> {
    let mut asked = layers
        .iter()
        .filter(|layer| layer.kind != SourceKind::Project)
        .filter_map(|layer| layer.settings.redaction.as_ref());
    let first = asked.next()?;
    let redacted = asked.fold(first.apply(environment), |environment, redaction| redaction.apply(&environment));
    Some(Arc::new(redacted))
}

/// The system file at its default place counts only if it and its folders are root's and not writable by others.
#[cfg(unix)]
fn unsafe_system_file(file: &Path) -> Option<Diagnostic> {
    use std::os::unix::fs::MetadataExt;
    if !file.exists() {
        return None;
    }
    let suspect = file.ancestors().find(|path| match std::fs::metadata(path) {
        Ok(about) => about.uid() != 0 || about.mode() & 0o022 != 0,
        Err(_) => true,
    })?;
    let message = format!("the system settings do not count, because `{}` is not root's alone", suspect.display());
    let finding = Diagnostic::new(Code::SystemFileUnsafe, message).at(Location::whole_file(file));
    Some(finding.hint("make the file and its folders root's, and writable by root only"))
}

#[cfg(not(unix))]
fn unsafe_system_file(_file: &Path) -> Option<Diagnostic> {
    None
}

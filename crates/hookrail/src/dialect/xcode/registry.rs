//! Finds plugins: first those in the list of installed plugins, then those in the project's folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entries::Context;
use super::manifest::{self, Manifest, is_component, is_name};
use super::places::PluginPlaces;
use super::settings::PluginSettings;
use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::config::source::{Location, SourceKind};
use crate::config::{Document, Entry, EntryKind, LoadMode, Parsed, PlacedValue, SourceReader, SourceStore, is_absence};
use crate::dialect::Plugins;
use crate::dialect::enrolment::Bundle;
use crate::hook::{Enablement, Hook, Owner};
use crate::run::Environment;
use crate::trust::OffByUser;

/// Where a plugin comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginScope {
    /// The user installed it.
    Installed,
    /// It is in the project's folder.
    Project,
    /// It is part of a bundle of the system layer.
    System,
}

impl PluginScope {
    /// The name used in JSON and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Project => "project",
            Self::System => "system",
        }
    }

    fn source_kind(self) -> SourceKind {
        match self {
            Self::Installed => SourceKind::Plugin,
            Self::Project => SourceKind::Project,
            Self::System => SourceKind::System,
        }
    }
}

/// A plugin that was found, whether it can be used or not.
#[derive(Clone, Debug)]
pub struct Plugin {
    /// Its identity, `name@marketplace`.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Where it comes from.
    pub scope: PluginScope,
    /// Where its files are.
    pub dir: PathBuf,
    /// What it says about itself.
    pub description: Option<String>,
    /// Whether it takes part.
    pub enablement: Enablement,
    /// Its hooks, in their order. Their trust has not been determined.
    pub hooks: Vec<Hook>,
    /// What is wrong with it.
    pub problems: Vec<Diagnostic>,
}

/// All plugins, and the problems that belong to none of them.
#[derive(Debug, Default)]
pub struct Survey {
    /// The plugins, in the order in which their hooks run.
    pub plugins: Vec<Plugin>,
    /// What is wrong with the lists and settings themselves.
    pub problems: Vec<Diagnostic>,
    /// What the user's settings and lists switch off.
    pub(super) off_by_user: Vec<OffByUser>,
}

/// A plugin whose folder is known and has not been read.
struct Candidate {
    /// What names it.
    identity: Identity,
    version: Option<String>,
    scope: PluginScope,
    dir: PathBuf,
    /// The place that names it, for diagnostics.
    named_at: Location,
}

/// Where the identity of a plugin comes from.
enum Identity {
    /// The name in its manifest, and this marketplace. Without a manifest it has the name of its record.
    Manifest { marketplace: String, recorded: Option<String> },
    /// The bundle that it is part of.
    Given(String),
}

impl Identity {
    /// The identity under which an installed plugin is recorded.
    fn recorded(&self) -> Option<String> {
        match self {
            Self::Manifest { marketplace, recorded } => Some(format!("{}@{marketplace}", recorded.as_ref()?)),
            Self::Given(id) => Some(id.clone()),
        }
    }

    /// The identity of the plugin with this manifest. A name that another record has is that plugin's.
    fn of(&self, manifest: Option<&Manifest>, folder: &str, records: &[String]) -> String {
        let Self::Manifest { marketplace, recorded } = self else { return self.recorded().unwrap_or_default() };
        let recorded_name = recorded.as_deref().unwrap_or(folder);
        let id = |name: &str| format!("{name}@{marketplace}");
        match manifest.map(|manifest| id(&manifest.name)) {
            Some(own) if recorded.is_none() || own == id(recorded_name) || !records.contains(&own) => own,
            _ => id(recorded_name),
        }
    }
}

/// Finds every plugin. Nothing is executed. Problems are reported in the result.
#[must_use]
pub fn survey(places: &PluginPlaces, environment: &Arc<Environment>) -> Survey {
    let mut store = SourceStore::default();
    survey_through(places, environment, &[], Plugins::Loaded, &mut SourceReader::new(&mut store, LoadMode::First, true))
}

/// Like [`survey`], for a load: the reader records every path, so that changes are noticed.
pub(super) fn survey_through(
    places: &PluginPlaces,
    environment: &Arc<Environment>,
    bundles: &[Bundle],
    wanted: Plugins,
    reading: &mut SourceReader<'_>,
) -> Survey {
    let mut survey = Survey::default();
    let mut settings = PluginSettings::default();
    let mut candidates = Vec::new();
    for bundle in bundles.iter().filter(|bundle| wanted == Plugins::Loaded || bundle.kind == SourceKind::System) {
        candidates.extend(in_bundle(bundle, reading, &mut survey.problems));
    }
    if wanted == Plugins::Loaded {
        settings = PluginSettings::read(places, reading, &mut survey.problems);
        survey.off_by_user = settings.off_by_user();
        candidates.extend(installed(places, reading, &mut survey.problems));
        candidates.extend(in_project(places, reading, &mut survey.problems));
    }
    let records: Vec<String> = candidates.iter().filter_map(|candidate| candidate.identity.recorded()).collect();
    let surroundings = Surroundings { places, settings: &settings, environment, records: &records };
    for candidate in candidates {
        let plugin = load(&candidate, &surroundings, &survey.plugins, reading);
        match plugin {
            Ok(plugin) => survey.plugins.push(plugin),
            Err(problem) => survey.problems.push(problem),
        }
    }
    survey
}

/// The list of installed plugins, in its order.
fn installed(places: &PluginPlaces, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Vec<Candidate> {
    let Some(file) = places.registry() else { return Vec::new() };
    let read = reading.read_document(manifest::place(&file, SourceKind::Plugin), found, |document| {
        let Some(root) = document.root() else { return Parsed::usable(Vec::new(), Vec::new()) };
        let Some(records) = root.get("plugins").and_then(PlacedValue::elements) else {
            let message = "the list of installed plugins must be an object with a list `plugins`";
            return Parsed::broken(document.finding(Code::PluginRegistry, &root.span, message));
        };
        let mut problems = Vec::new();
        let candidate = |record| from_record(places, &document, record, &mut problems);
        let candidates = records.iter().filter_map(candidate).collect();
        Parsed::usable(candidates, problems)
    });
    read.into_value().unwrap_or_default()
}

fn from_record(
    places: &PluginPlaces,
    document: &Document,
    record: &PlacedValue,
    found: &mut Vec<Diagnostic>,
) -> Option<Candidate> {
    let text = |key: &str| record.get(key).and_then(PlacedValue::text);
    let (name_in_id, marketplace_in_id) = text("id").and_then(|id| id.rsplit_once('@')).unzip();
    let name = text("name").or(name_in_id);
    let marketplace = text("marketplace").or(marketplace_in_id);
    let version = text("version").unwrap_or("0.0.0");
    let usable = (name.filter(|name| is_name(name)))
        .zip(marketplace.filter(|marketplace| is_component(marketplace)))
        .filter(|_| is_component(version));
    let Some((name, marketplace)) = usable else {
        let message = "an installed plugin needs a `name`, a `marketplace` and a `version` that can name folders";
        found.push(document.finding(Code::PluginRegistry, &record.span, message));
        return None;
    };
    Some(Candidate {
        identity: Identity::Manifest { marketplace: marketplace.to_owned(), recorded: Some(name.to_owned()) },
        version: Some(version.to_owned()),
        scope: PluginScope::Installed,
        dir: places.cache(marketplace, name, version)?,
        named_at: document.location(&record.span),
    })
}

/// The plugin folders of the project, in the order of their names.
fn in_project(places: &PluginPlaces, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Vec<Candidate> {
    let Some(folder) = places.project_plugins() else { return Vec::new() };
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let entries = reading.list_folder(manifest::place(&folder, SourceKind::Project), found).into_iter();
    entries
        .filter(|entry| entry.is_folder() || entry.kind == EntryKind::DanglingLink)
        .filter(|entry| !is_hidden(&entry.path))
        .map(|entry| {
            let named_at = Location::whole_file(&entry.path);
            let identity = Identity::Manifest { marketplace: "local".to_owned(), recorded: None };
            Candidate { identity, version: None, scope: PluginScope::Project, dir: entry.path, named_at }
        })
        .collect()
}

/// The plugins of a bundle, in the order of their names. Those of a bundle of the user layer count as installed.
fn in_bundle(bundle: &Bundle, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Vec<Candidate> {
    let folder = bundle.folder.join("plugins");
    let scope = if bundle.kind == SourceKind::System { PluginScope::System } else { PluginScope::Installed };
    let entries = reading.list_folder(manifest::place(&folder, bundle.kind), found).into_iter();
    let candidate = |entry: Entry| {
        let name = entry.path.file_name()?.to_str()?;
        let identity = Identity::Given(format!("{name}@bundle"));
        let named_at = Location::whole_file(&entry.path);
        Some(Candidate { identity, version: None, scope, dir: entry.path.clone(), named_at })
    };
    entries.filter(|entry| entry.kind == EntryKind::Folder).filter_map(candidate).collect()
}

/// What all plugins of a survey share.
struct Surroundings<'s> {
    places: &'s PluginPlaces,
    settings: &'s PluginSettings,
    environment: &'s Arc<Environment>,
    /// The identities under which plugins are recorded.
    records: &'s [String],
}

/// Reads one plugin.
fn load(
    candidate: &Candidate,
    surroundings: &Surroundings<'_>,
    before: &[Plugin],
    reading: &mut SourceReader<'_>,
) -> Result<Plugin, Diagnostic> {
    let Surroundings { places, settings, environment, records } = *surroundings;
    let dir = &candidate.dir;
    let folder = dir.file_name().unwrap_or_default().to_string_lossy();
    let kind = candidate.scope.source_kind();
    let mut problems = Vec::new();
    let manifest = manifest::read(dir, kind, reading, &mut problems);
    if manifest.is_none() && dir.metadata().is_err_and(|error| is_absence(&error)) {
        // The missing folder is the cause; a missing manifest is only its consequence.
        problems = vec![missing_folder(candidate)];
    }
    let id = candidate.identity.of(manifest.as_ref(), &folder, records);
    let same_id = before.iter().find(|plugin| plugin.id == id);
    if let Some(same_id) = same_id.filter(|same_id| same_id.scope == candidate.scope) {
        let message = format!("`{id}` is here twice; the one in `{}` counts", same_id.dir.display());
        return Err(Diagnostic::new(Code::PluginDuplicate, message).at(candidate.named_at.clone()));
    }
    let mut plugin = Plugin {
        enablement: settings.enablement(&id, candidate.scope),
        id,
        version: candidate.version.clone().unwrap_or_else(|| "0.0.0".to_owned()),
        scope: candidate.scope,
        dir: dir.clone(),
        description: None,
        hooks: Vec::new(),
        problems,
    };
    if same_id.is_some() {
        let message = format!("the project brings `{}`, which is installed too; both take part", plugin.id);
        let mut finding = Diagnostic::new(Code::PluginDuplicate, message).at(candidate.named_at.clone());
        finding.level = Level::Warning;
        plugin.problems.push(finding);
    }
    if let Some(manifest) = manifest {
        plugin.description.clone_from(&manifest.description);
        if candidate.version.is_none() {
            plugin.version.clone_from(&manifest.version);
        }
        // A project's plugin can have the identity of an installed one. It must not get the values that the user configured
        // for the installed one, which may be secrets.
        // No user gives values to a plugin of the system layer, because a variable can change what its guards do.
        let environment = match same_id {
            _ if plugin.scope == PluginScope::System => Arc::clone(environment),
            Some(_) => Arc::clone(environment),
            None => settings.environment(&plugin.id, environment),
        };
        // It must not use the data folder of the installed one either.
        let data = match same_id {
            Some(_) => places.data(&format!("project_{}", plugin.id)),
            None => places.data(&plugin.id),
        };
        read_hooks(&mut plugin, &manifest, data, &environment, reading);
        if plugin.scope == PluginScope::Project {
            let project_switch = settings.project_switch(&plugin.id);
            plugin.hooks.iter_mut().for_each(|hook| hook.project_switch = project_switch);
        }
    }
    Ok(plugin)
}

fn read_hooks(
    plugin: &mut Plugin,
    manifest: &Manifest,
    data: Option<PathBuf>,
    environment: &Arc<Environment>,
    reading: &mut SourceReader<'_>,
) {
    let mut owner = Owner { id: plugin.id.to_string(), dir: plugin.dir.to_path_buf(), data_dir: None };
    owner.data_dir = data;
    let context = Context { kind: plugin.scope.source_kind(), owner: &Arc::new(owner), environment };
    let mut problems = Vec::new();
    plugin.hooks = manifest.hooks(&context, &plugin.dir, reading, &mut problems);
    plugin.problems.extend(manifest.likely_typos.iter().cloned());
    plugin.problems.extend(problems);
    for hook in &mut plugin.hooks {
        hook.enablement = plugin.enablement.clone();
    }
}

fn missing_folder(candidate: &Candidate) -> Diagnostic {
    let dir = &candidate.dir;
    let message = match (candidate.scope, dir.is_symlink()) {
        (_, true) => format!("`{}` is a link that leads nowhere", dir.display()),
        (PluginScope::Installed, _) => {
            let id = candidate.identity.recorded().unwrap_or_default();
            format!("`{id}` is installed, but its folder `{}` is not there", dir.display())
        }
        _ => format!("`{}` is not there any more", dir.display()),
    };
    let finding = Diagnostic::new(Code::PluginMissing, message).at(candidate.named_at.clone());
    match candidate.scope {
        PluginScope::Installed => finding.hint("install it again, or run `hookrail plugin uninstall`"),
        PluginScope::Project => finding.hint("repair or remove the link"),
        PluginScope::System => finding.hint("run `hookrail bundle apply`"),
    }
}

/// Reads the plugin in a folder that is not installed, for a preview.
pub(super) fn read_folder(dir: &Path, environment: &Arc<Environment>) -> Result<Plugin, Diagnostic> {
    let mut store = SourceStore::default();
    let reading = &mut SourceReader::new(&mut store, LoadMode::First, true);
    let mut problems = Vec::new();
    let Some(manifest) = manifest::read(dir, SourceKind::Plugin, reading, &mut problems) else {
        return Err(problems.into_iter().next().unwrap_or_else(|| manifest::without_manifest(dir)));
    };
    let mut plugin = Plugin {
        id: format!("{}@local", manifest.name),
        version: manifest.version.clone(),
        scope: PluginScope::Installed,
        dir: dir.to_owned(),
        description: manifest.description.clone(),
        enablement: Enablement::Active,
        hooks: Vec::new(),
        problems: Vec::new(),
    };
    read_hooks(&mut plugin, &manifest, None, environment, reading);
    Ok(plugin)
}

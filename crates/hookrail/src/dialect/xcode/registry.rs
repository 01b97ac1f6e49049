//! Which plugins there are: those in the list of installed ones, then those the project brings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entries::{self, Context};
use super::manifest::{self, HooksAt, Manifest, is_component, is_name};
use super::places::PluginPlaces;
use super::settings::{self, PluginSettings};
use crate::config::{Document, Node};
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::hook::{Hook, Owner, Standing};
use crate::run::Environment;
use crate::source::{Location, SourceKind};

/// Where a plugin comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginScope {
    /// Its user installed it.
    Installed,
    /// The project brings it.
    Project,
}

impl PluginScope {
    /// The name used in JSON and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Project => "project",
        }
    }
}

/// A plugin that was found, whether it can be used or not.
#[derive(Clone, Debug)]
#[non_exhaustive]
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
    pub standing: Standing,
    /// Its hooks, in their order, before trust is asked about.
    pub hooks: Vec<Hook>,
    /// What is wrong with it.
    pub problems: Vec<Diagnostic>,
    /// Whether its files could be read as a whole; one that could not keeps its last good version on reload.
    pub(super) readable: bool,
}

/// All plugins, and what is wrong outside of any one of them.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Survey {
    /// The plugins, in the order in which their hooks run.
    pub plugins: Vec<Plugin>,
    /// What is wrong with the lists and settings themselves.
    pub problems: Vec<Diagnostic>,
}

/// A plugin that was named, before it is read.
struct Candidate {
    /// Known beforehand for an installed one; a project's is made of its manifest's name.
    id: Option<String>,
    version: Option<String>,
    scope: PluginScope,
    dir: PathBuf,
    /// Where it was named.
    named_at: Location,
}

/// Finds every plugin. Nothing is executed, and nothing fails.
#[must_use]
pub fn survey(places: &PluginPlaces, environment: &Arc<Environment>) -> Survey {
    let mut survey = Survey::default();
    let settings = PluginSettings::read(places, &mut survey.problems);
    let mut candidates = installed(places, &mut survey.problems);
    candidates.extend(in_project(places, &mut survey.problems));
    for candidate in candidates {
        let plugin = load(&candidate, places, &settings, environment, &survey.plugins);
        match plugin {
            Ok(plugin) => survey.plugins.push(plugin),
            Err(problem) => survey.problems.push(problem),
        }
    }
    survey
}

/// The list of installed plugins, in its order.
fn installed(places: &PluginPlaces, found: &mut Vec<Diagnostic>) -> Vec<Candidate> {
    let Some(file) = places.registry() else { return Vec::new() };
    let Some(document) = settings::document(&file, found) else { return Vec::new() };
    let Some(root) = document.root() else { return Vec::new() };
    let Some(records) = root.get("plugins").and_then(Node::elements) else {
        let message = "the list of installed plugins must be an object with a list `plugins`";
        found.push(document.finding(Code::PluginRegistry, &root.span, message));
        return Vec::new();
    };
    records.iter().filter_map(|record| from_record(places, &document, record, found)).collect()
}

fn from_record(
    places: &PluginPlaces,
    document: &Document,
    record: &Node,
    found: &mut Vec<Diagnostic>,
) -> Option<Candidate> {
    let text = |key: &str| record.get(key).and_then(Node::text);
    let (of_id, at) = text("id").and_then(|id| id.rsplit_once('@')).unzip();
    let name = text("name").or(of_id);
    let marketplace = text("marketplace").or(at);
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
        id: Some(text("id").map_or_else(|| format!("{name}@{marketplace}"), str::to_owned)),
        version: Some(version.to_owned()),
        scope: PluginScope::Installed,
        dir: places.cache(marketplace, name, version)?,
        named_at: document.location(&record.span),
    })
}

/// The folders a project brings, in the order of their names.
fn in_project(places: &PluginPlaces, found: &mut Vec<Diagnostic>) -> Vec<Candidate> {
    let Some(folder) = places.project_plugins() else { return Vec::new() };
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !folder.is_symlink() => return Vec::new(),
        Err(error) => {
            let message = format!("the project's plugins in `{}` cannot be read: {error}", folder.display());
            found.push(Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(&folder)));
            return Vec::new();
        }
    };
    let mut names: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    names.sort();
    names
        .into_iter()
        .filter(|name| !name.as_encoded_bytes().starts_with(b"."))
        .map(|name| folder.join(name))
        .filter(|dir| dir.is_dir() || (dir.is_symlink() && !dir.exists()))
        .map(|dir| {
            let named_at = Location::whole_file(&dir);
            Candidate { id: None, version: None, scope: PluginScope::Project, dir, named_at }
        })
        .collect()
}

/// Reads one plugin.
fn load(
    candidate: &Candidate,
    places: &PluginPlaces,
    settings: &PluginSettings,
    environment: &Arc<Environment>,
    before: &[Plugin],
) -> Result<Plugin, Diagnostic> {
    let dir = &candidate.dir;
    let folder = || dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let manifest = if dir.is_dir() { manifest::read(dir) } else { Err(vanished(candidate)) };
    let name = manifest.as_ref().map_or_else(|_| folder(), |manifest| manifest.name.clone());
    let id = candidate.id.clone().unwrap_or_else(|| format!("{name}@local"));
    let twin = before.iter().find(|plugin| plugin.id == id);
    if let Some(twin) = twin.filter(|twin| twin.scope == candidate.scope) {
        let message = format!("`{id}` is here twice; the one in `{}` counts", twin.dir.display());
        return Err(Diagnostic::new(Code::PluginDuplicate, message).at(candidate.named_at.clone()));
    }
    let mut plugin = Plugin {
        standing: settings.standing(&id, candidate.scope),
        id,
        version: candidate.version.clone().unwrap_or_else(|| "0.0.0".to_owned()),
        scope: candidate.scope,
        dir: dir.clone(),
        description: None,
        hooks: Vec::new(),
        problems: Vec::new(),
        readable: true,
    };
    if twin.is_some() {
        let message = format!("the project brings `{}`, which is installed too; both take part", plugin.id);
        let mut finding = Diagnostic::new(Code::PluginDuplicate, message).at(candidate.named_at.clone());
        finding.level = Level::Warning;
        plugin.problems.push(finding);
    }
    match manifest {
        Ok(manifest) => {
            plugin.description.clone_from(&manifest.description);
            if candidate.version.is_none() {
                plugin.version.clone_from(&manifest.version);
            }
            // What a user configured for an installed plugin is not for a namesake that a project brings.
            let environment = match twin {
                Some(_) => Arc::clone(environment),
                None => settings.environment(&plugin.id, environment),
            };
            // Nor is what an installed one keeps.
            let data = match twin {
                Some(_) => places.data(&format!("project_{}", plugin.id)),
                None => places.data(&plugin.id),
            };
            read_hooks(&mut plugin, &manifest, data, &environment);
        }
        Err(problem) => {
            plugin.readable = false;
            plugin.problems.push(problem);
        }
    }
    Ok(plugin)
}

fn read_hooks(plugin: &mut Plugin, manifest: &Manifest, data: Option<PathBuf>, environment: &Arc<Environment>) {
    let mut owner = Owner::new(&*plugin.id, &*plugin.dir);
    owner.data_dir = data;
    let kind = match plugin.scope {
        PluginScope::Installed => SourceKind::Plugin,
        PluginScope::Project => SourceKind::Project,
    };
    let context = Context { kind, owner: &Arc::new(owner), environment };
    let (hooks, problems) = match manifest.hooks(&plugin.dir) {
        Ok(HooksAt::Inline(document, map)) => entries::read(&context, document, map),
        Ok(HooksAt::Own(document)) => entries::read_file(&context, &document),
        Ok(HooksAt::Nowhere) => Default::default(),
        Err(problem) => {
            plugin.readable = false;
            (Vec::new(), vec![problem])
        }
    };
    plugin.hooks = hooks;
    plugin.problems.extend(manifest.slips.iter().cloned());
    plugin.problems.extend(problems);
    for hook in &mut plugin.hooks {
        hook.standing = plugin.standing.clone();
    }
}

fn vanished(candidate: &Candidate) -> Diagnostic {
    let dir = &candidate.dir;
    let message = match (candidate.scope, dir.is_symlink()) {
        (_, true) => format!("`{}` is a link that leads nowhere", dir.display()),
        (PluginScope::Installed, _) => {
            let id = candidate.id.as_deref().unwrap_or_default();
            format!("`{id}` is installed, but its folder `{}` is not there", dir.display())
        }
        _ => format!("`{}` is not there any more", dir.display()),
    };
    let finding = Diagnostic::new(Code::PluginMissing, message).at(candidate.named_at.clone());
    match candidate.scope {
        PluginScope::Installed => finding.hint("install it again, or run `hookrail plugin uninstall`"),
        PluginScope::Project => finding.hint("repair or remove the link"),
    }
}

/// What a folder holds, for somebody who wants to install it.
pub(super) fn look_at(dir: &Path, environment: &Arc<Environment>) -> Result<Plugin, Diagnostic> {
    let manifest = manifest::read(dir)?;
    let mut plugin = Plugin {
        id: format!("{}@local", manifest.name),
        version: manifest.version.clone(),
        scope: PluginScope::Installed,
        dir: dir.to_owned(),
        description: manifest.description.clone(),
        standing: Standing::Active,
        hooks: Vec::new(),
        problems: Vec::new(),
        readable: true,
    };
    read_hooks(&mut plugin, &manifest, None, environment);
    Ok(plugin)
}

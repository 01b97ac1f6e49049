//! What the settings say about plugins: which are enabled, which are blocked, and the values their users gave them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::manifest::place;
use super::places::PluginPlaces;
use super::registry::PluginScope;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::SourceKind;
use crate::config::{Document, Parsed, PlacedValue, SourceReader, ValueShape};
use crate::hook::{Enablement, ProjectSwitch};
use crate::run::Environment;
use crate::trust::OffByUser;

/// Everything the settings say about plugins.
#[derive(Debug, Default)]
pub(super) struct PluginSettings {
    /// What a file says about a plugin, with the weightier file last.
    enabled: Vec<Enabled>,
    blocked: Vec<String>,
    blocked_by: PathBuf,
    values: BTreeMap<String, Vec<(String, String)>>,
}

/// One file's `enabledPlugins`.
#[derive(Debug)]
struct Enabled {
    from: PluginScope,
    file: PathBuf,
    plugins: BTreeMap<String, bool>,
}

impl PluginSettings {
    /// Reads all settings files. A problem in one file does not affect the others.
    pub(super) fn read(places: &PluginPlaces, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Self {
        let mut settings = Self::default();
        if let Some(file) = &places.user_settings {
            settings.enabled.push(enabled(PluginScope::Installed, file, reading, found));
        }
        settings.enabled.push(enabled(PluginScope::Project, &places.project_settings(), reading, found));
        if let Some(file) = places.in_root("known_marketplaces.json") {
            settings.blocked = blocked(&file, reading, found);
            settings.blocked_by = file;
        }
        if let Some(file) = places.in_root("user-config.json") {
            settings.values = values(&file, reading, found);
        }
        settings
    }

    /// Whether a plugin takes part. The user's settings apply to every plugin. The project's settings apply only to
    /// the project's plugins, and there they have more weight.
    pub(super) fn enablement(&self, id: &str, scope: PluginScope) -> Enablement {
        // The settings and lists are the user's and the project's, who cannot disable what the system layer brings.
        if scope == PluginScope::System {
            return Enablement::Active;
        }
        if self.blocked.iter().any(|blocked| blocked == id) {
            return Enablement::Disabled(format!("`blockedPlugins` in {}", self.blocked_by.display()).into());
        }
        let reaches =
            |file_settings: &&Enabled| file_settings.from == PluginScope::Installed || scope == PluginScope::Project;
        let by = |file_settings: &Enabled| Arc::from(format!("`enabledPlugins` in {}", file_settings.file.display()));
        let last =
            self.enabled.iter().filter(reaches).rev().find(|file_settings| file_settings.plugins.contains_key(id));
        match last {
            Some(file_settings) if file_settings.plugins.get(id) == Some(&false) => {
                Enablement::Disabled(by(file_settings))
            }
            _ => Enablement::Active,
        }
    }

    /// What the project's own settings have to do with whether one of its plugins takes part.
    pub(super) fn project_switch(&self, id: &str) -> ProjectSwitch {
        let disables = |from: PluginScope| {
            self.enabled.iter().any(|settings| settings.from == from && settings.plugins.get(id) == Some(&false))
        };
        let is_off_by_user = self.off_by_user().contains(&OffByUser::Package(id.to_owned()));
        match disables(PluginScope::Project) && !is_off_by_user {
            true => ProjectSwitch::SwitchesOff,
            false => ProjectSwitch::Nothing,
        }
    }

    /// The plugins that the user's settings and lists switch off.
    pub(super) fn off_by_user(&self) -> Vec<OffByUser> {
        let of_user = self.enabled.iter().filter(|settings| settings.from == PluginScope::Installed);
        let disabled = of_user.flat_map(|settings| &settings.plugins).filter(|(_, enabled)| !**enabled);
        disabled.map(|(id, _)| id).chain(&self.blocked).map(|id| OffByUser::Package(id.clone())).collect()
    }

    /// The environment of a plugin's hooks: the engine's own, and over it what the user configured.
    pub(super) fn environment(&self, id: &str, base: &Arc<Environment>) -> Arc<Environment> {
        match self.values.get(id) {
            Some(values) => Arc::new(values.iter().fold(Environment::clone(base), |all, (name, value)| {
                // The engine's own names cannot be given away.
                if name.starts_with("HOOKRAIL_") { all } else { all.with(name, value) }
            })),
            None => Arc::clone(base),
        }
    }
}

fn enabled(from: PluginScope, file: &Path, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Enabled {
    let mut plugins = BTreeMap::new();
    let kind = if from == PluginScope::Project { SourceKind::Project } else { SourceKind::User };
    if let Some(document) = document(file, kind, reading, found)
        && let Some(node) = document.root().and_then(|root| root.get("enabledPlugins"))
    {
        for (id, value) in members("enabledPlugins", &document, node, found) {
            match value.shape {
                ValueShape::Flag(flag) => {
                    plugins.insert(id, flag);
                }
                _ => {
                    let message = format!("`enabledPlugins.{id}` must be true or false");
                    found.push(document.mismatch(Code::SettingType, value, message));
                }
            }
        }
    }
    Enabled { from, file: file.to_owned(), plugins }
}

fn blocked(file: &Path, reading: &mut SourceReader<'_>, found: &mut Vec<Diagnostic>) -> Vec<String> {
    let Some(document) = document(file, SourceKind::User, reading, found) else { return Vec::new() };
    let Some(list) = document.root().and_then(|root| root.get("blockedPlugins")) else { return Vec::new() };
    if list.elements().is_none() {
        found.push(document.mismatch(Code::SettingType, list, "`blockedPlugins` must be a list"));
    }
    list.elements().unwrap_or_default().iter().filter_map(PlacedValue::text).map(str::to_owned).collect()
}

fn values(
    file: &Path,
    reading: &mut SourceReader<'_>,
    found: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Vec<(String, String)>> {
    let Some(document) = document(file, SourceKind::User, reading, found) else { return BTreeMap::new() };
    let Some(root) = document.root() else { return BTreeMap::new() };
    let mut all = BTreeMap::new();
    for (id, plugin) in members("user-config.json", &document, root, found) {
        let mut values = Vec::new();
        for (name, value) in members(&id, &document, plugin, found) {
            match &value.shape {
                ValueShape::Text(text) => values.push((name, text.clone())),
                ValueShape::Number(number) => values.push((name, number.clone())),
                ValueShape::Flag(flag) => values.push((name, flag.to_string())),
                _ => {
                    // The value is not named: it may be a secret.
                    let message = format!("`{name}` of `{id}` must be text, a number or a boolean");
                    found.push(document.finding(Code::SettingType, &value.span, message));
                }
            }
        }
        all.insert(id, values);
    }
    all
}

fn members<'n>(
    what: &str,
    document: &Document,
    node: &'n PlacedValue,
    found: &mut Vec<Diagnostic>,
) -> impl Iterator<Item = (String, &'n PlacedValue)> + use<'n> {
    if node.members().is_none() {
        found.push(document.mismatch(Code::SettingType, node, format!("`{what}` must be an object")));
    }
    node.members().unwrap_or_default().iter().map(|(key, value)| (key.name.clone(), value))
}

/// A file of settings; one that is not there says nothing.
fn document(
    file: &Path,
    kind: SourceKind,
    reading: &mut SourceReader<'_>,
    found: &mut Vec<Diagnostic>,
) -> Option<Document> {
    reading.read_document(place(file, kind), found, |document| Parsed::usable(document, Vec::new())).into_value()
}

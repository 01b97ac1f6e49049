//! Reads one settings file: its switches, its lists and its hooks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Llxprt;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::SourceKind;
use crate::config::{Document, Parsed, PlacedValue, Usability, ValueShape};
use crate::dialect::command_hooks::read_event;
use crate::dialect::sandbox;
use crate::dialect::snapshot::ModelDecisions;
use crate::hook::Hook;
use crate::hook::sandbox::SandboxProfile;
use crate::run::Redaction;

/// The content of one file, as far as it concerns hooks.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingsFile {
    /// Whether it switches hooks on or off, and with which key.
    pub(super) switch: Option<Switch>,
    /// Identities of hooks it disables.
    pub(super) disabled: Vec<String>,
    pub(super) model_decisions: Option<ModelDecisions>,
    /// Which variables are withheld from hooks; none if the file does not ask for that.
    pub(super) redaction: Option<Redaction>,
    /// The most that processes of hooks with less authority may do.
    pub(super) sandbox_floor: Option<Arc<SandboxProfile>>,
    pub(super) hooks: Vec<Hook>,
}

/// A switch in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    On,
    /// Off, by this key.
    Off(&'static str),
}

/// The keys of `hooksConfig`.
pub(super) const CONFIG_KEYS: [&str; 5] =
    ["enabled", "disabled", "notifications", "modelDecisions", sandbox::PROFILE_KEY];
/// Keys that were under `hooks` in earlier versions.
const LEGACY_KEYS: [&str; 3] = ["enabled", "disabled", "notifications"];

/// Reads the parts of a settings file that concern hooks, and ignores the keys of other readers. A file is broken if
/// its own structure, or that of a section or a switch, is wrong, because then it is not clear which hooks it means.
pub(super) fn read(document: &Document, kind: SourceKind) -> Parsed<SettingsFile> {
    let (settings, verdict) = (SettingsFile::default(), Usability::Usable);
    let mut reader = Reader { document, kind, found: Vec::new(), settings, verdict };
    match document.root() {
        Some(root) if root.members().is_some() => reader.root(root),
        Some(root) => {
            reader.mismatch(Code::FileShape, root, "settings must be an object");
            reader.verdict = Usability::Broken;
        }
        // A file with only comments is valid and empty.
        None => {}
    }
    Parsed { value: Some(reader.settings), problems: reader.found, verdict: reader.verdict }
}

struct Reader<'d> {
    document: &'d Document,
    kind: SourceKind,
    found: Vec<Diagnostic>,
    settings: SettingsFile,
    verdict: Usability,
}

impl Reader<'_> {
    /// Reports a value of the wrong kind.
    fn mismatch(&mut self, code: Code, node: &PlacedValue, message: impl std::fmt::Display) {
        self.found.push(self.document.mismatch(code, node, message));
    }

    fn root(&mut self, root: &PlacedValue) {
        self.repeated_sections(root);
        let tools = self.section(root, "tools");
        let config = self.section(root, "hooksConfig");
        let hooks = self.section(root, "hooks");
        if let Some(config) = config {
            self.unknown_config_keys(config);
        }
        let old = |key: &str| hooks.and_then(|hooks| hooks.get(key));
        let new = |key: &str| config.and_then(|config| config.get(key));
        self.switch([
            ("enableHooks", root.get("enableHooks")),
            ("tools.enableHooks", tools.and_then(|tools| tools.get("enableHooks"))),
            ("hooksConfig.enabled", new("enabled")),
            ("hooks.enabled", old("enabled")),
        ]);
        // The old place is used only if the new one has no value.
        if let Some(list) = new("disabled").or(old("disabled")) {
            self.settings.disabled = self.names("disabled hooks", list);
        }
        for (key, value) in
            [("hooksConfig.notifications", new("notifications")), ("hooks.notifications", old("notifications"))]
        {
            if let Some(value) = value {
                self.flag(key, value);
            }
        }
        if let Some(value) = new("modelDecisions") {
            self.model_decisions(value);
        }
        if let Some(value) = new(sandbox::PROFILE_KEY) {
            self.sandbox_floor(value);
        }
        let security = self.section(root, "security");
        let redaction = security.and_then(|security| security.get("environmentVariableRedaction"));
        if let Some(redaction) = redaction {
            self.redaction(redaction);
        }
        if let Some(hooks) = hooks {
            self.hooks(hooks);
        }
    }

    fn redaction(&mut self, node: &PlacedValue) {
        if node.members().is_none() {
            self.mismatch(Code::SettingType, node, "`environmentVariableRedaction` must be an object");
            return;
        }
        let enabled =
            node.get("enabled").and_then(|enabled| self.flag("environmentVariableRedaction.enabled", enabled));
        let allowed = node.get("allowed").map(|list| self.names("allowed variables", list)).unwrap_or_default();
        let blocked = node.get("blocked").map(|list| self.names("blocked variables", list)).unwrap_or_default();
        if enabled == Some(true) {
            self.settings.redaction = Some(Redaction { allowed, blocked, kept_prefix: Some("LLXPRT_CLI_") });
        }
    }

    /// Reports repeated keys in what concerns hooks: the last value is used, and the replaced one may be a guard.
    fn repeated_sections(&mut self, root: &PlacedValue) {
        let mut seen = HashSet::new();
        for (key, section) in root.members().unwrap_or_default() {
            if !["enableHooks", "tools", "hooksConfig", "security", "hooks"].contains(&key.name.as_str()) {
                continue;
            }
            if !seen.insert(key.name.as_str()) {
                let message = format!("`{}` stands more than once here; the last one counts", key.name);
                self.found.push(self.document.finding(Code::DuplicateKey, &key.span, message));
            }
            self.document.duplicate_keys(section, &mut self.found);
        }
    }

    fn section<'n>(&mut self, root: &'n PlacedValue, name: &str) -> Option<&'n PlacedValue> {
        let node = root.get(name)?;
        if node.members().is_some() {
            return Some(node);
        }
        self.mismatch(Code::SettingType, node, format!("`{name}` must be an object"));
        // The replaced value may have been a guard, or have switched guards on.
        if ["tools", "hooksConfig", "hooks"].contains(&name) {
            self.verdict = Usability::Broken;
        }
        None
    }

    fn unknown_config_keys(&mut self, config: &PlacedValue) {
        for (key, _) in config.members().unwrap_or_default() {
            if !CONFIG_KEYS.contains(&key.name.as_str()) {
                let message = format!("`hooksConfig.{}` is not known and has no effect", key.name);
                let finding = self.document.finding(Code::UnknownKey, &key.span, message);
                self.found.push(finding.suggest(&key.name, CONFIG_KEYS));
            }
        }
    }

    /// Off if any key says so, on if at least one does, else not set.
    fn switch(&mut self, keys: [(&'static str, Option<&PlacedValue>); 4]) {
        for (name, node) in keys {
            let Some(node) = node else { continue };
            match self.flag(name, node) {
                Some(false) => self.settings.switch = Some(Switch::Off(name)),
                Some(true) => _ = self.settings.switch.get_or_insert(Switch::On),
                // A switch that cannot be read may be the one that switches guards on.
                None => self.verdict = Usability::Broken,
            }
        }
    }

    fn flag(&mut self, name: &str, node: &PlacedValue) -> Option<bool> {
        if let ValueShape::Flag(flag) = node.shape {
            return Some(flag);
        }
        self.mismatch(Code::SettingType, node, format!("`{name}` must be true or false"));
        None
    }

    /// A list of names; what is not a name is reported and left out.
    fn names(&mut self, what: &str, list: &PlacedValue) -> Vec<String> {
        let Some(elements) = list.elements() else {
            self.mismatch(Code::SettingType, list, format!("the list of {what} must be a list of names"));
            return Vec::new();
        };
        let mut names = Vec::new();
        for element in elements {
            match element.text() {
                Some(name) => names.push(name.to_owned()),
                None => self.mismatch(Code::SettingType, element, format!("the list of {what} must hold strings")),
            }
        }
        names
    }

    fn model_decisions(&mut self, node: &PlacedValue) {
        match node.text() {
            Some("strict") => self.settings.model_decisions = Some(ModelDecisions::Strict),
            Some("last-wins") => self.settings.model_decisions = Some(ModelDecisions::LastWins),
            _ => {
                let message = "`hooksConfig.modelDecisions` must be \"strict\" or \"last-wins\"";
                self.found.push(self.document.finding(Code::SettingValue, &node.span, message));
            }
        }
    }

    /// Reads a sandbox floor. It applies to layers with less authority, and below a project there is none.
    fn sandbox_floor(&mut self, node: &PlacedValue) {
        self.settings.sandbox_floor = sandbox::floor(self.document, node, &mut self.found);
        if self.kind == SourceKind::Project {
            let message = "`hooksConfig.sandbox` has no effect in a project's settings";
            let finding = self.document.finding(Code::SettingValue, &node.span, message);
            self.found.push(finding.hint("put `\"sandbox\"` on the hooks themselves"));
        }
    }

    fn hooks(&mut self, hooks: &PlacedValue) {
        let members = hooks.members().unwrap_or_default();
        // Of repeated keys the last value is used.
        let last: HashMap<&str, usize> =
            members.iter().enumerate().map(|(at, (key, _))| (key.name.as_str(), at)).collect();
        for (at, (key, value)) in members.iter().enumerate() {
            if last.get(key.name.as_str()) != Some(&at) {
                continue;
            }
            if LEGACY_KEYS.contains(&key.name.as_str()) {
                let message = format!("`hooks.{0}` is the old place of `hooksConfig.{0}`", key.name);
                let finding = self.document.finding(Code::LegacyKey, &key.span, message);
                self.found.push(finding.hint(format!("move it to `hooksConfig.{}`", key.name)));
                continue;
            }
            let (hooks, found) = read_event::<Llxprt>(self.document, self.kind, key, value);
            self.settings.hooks.extend(hooks);
            self.found.extend(found);
        }
    }
}

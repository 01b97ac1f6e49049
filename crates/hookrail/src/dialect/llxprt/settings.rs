//! One settings file: its switches, its lists and its hooks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Llxprt;
use crate::config::{Document, Node, Shape};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::command_hooks::{read_event, with_suggestion};
use crate::dialect::sandbox;
use crate::hook::Hook;
use crate::run::Redaction;
use crate::sandbox::SandboxProfile;
use crate::snapshot::ModelDecisions;
use crate::source::SourceKind;

/// What one file says.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    /// Whether the file and its sections have the shape they must have, so that it says which hooks it means.
    pub(super) is_whole: bool,
    /// Whether it switches hooks on or off, and with which key.
    pub(super) switch: Option<Switch>,
    /// Identities of hooks it disables.
    pub(super) disabled: Vec<String>,
    pub(super) model_decisions: Option<ModelDecisions>,
    /// Which variables are kept from hooks; none when the file does not ask for that.
    pub(super) redaction: Option<Redaction>,
    /// What processes of hooks with less authority may do at most.
    pub(super) sandbox_floor: Option<Arc<SandboxProfile>>,
    pub(super) hooks: Vec<Hook>,
}

impl Default for SettingsFile {
    fn default() -> Self {
        Self {
            is_whole: true,
            switch: None,
            disabled: Vec::new(),
            model_decisions: None,
            redaction: None,
            sandbox_floor: None,
            hooks: Vec::new(),
        }
    }
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
/// Keys that once stood under `hooks`.
const LEGACY_KEYS: [&str; 3] = ["enabled", "disabled", "notifications"];

/// Reads the parts of a settings file that concern hooks. Keys of the file's other readers are left alone.
pub(super) fn read(document: &Document, kind: SourceKind) -> (SettingsFile, Vec<Diagnostic>) {
    let mut reader = Reader { document, kind, found: Vec::new(), settings: SettingsFile::default() };
    match document.root() {
        Some(root) if root.members().is_some() => reader.root(root),
        Some(root) => {
            let message = format!("settings must be an object, not {}", root.described());
            reader.report(Code::FileShape, root, message);
            reader.settings.is_whole = false;
        }
        // A file of comments says nothing, and is not wrong.
        None => {}
    }
    (reader.settings, reader.found)
}

struct Reader<'d> {
    document: &'d Document,
    kind: SourceKind,
    found: Vec<Diagnostic>,
    settings: SettingsFile,
}

impl Reader<'_> {
    fn report(&mut self, code: Code, node: &Node, message: impl Into<String>) {
        self.found.push(self.document.finding(code, &node.span, message));
    }

    fn root(&mut self, root: &Node) {
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
            ("tools.enableHooks", tools.and_then(|tools| tools.get("enableHooks"))),
            ("hooksConfig.enabled", new("enabled")),
            ("hooks.enabled", old("enabled")),
        ]);
        // The old place counts only where the new one is silent.
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

    fn redaction(&mut self, node: &Node) {
        if node.members().is_none() {
            let message = format!("`environmentVariableRedaction` must be an object, not {}", node.described());
            self.report(Code::SettingType, node, message);
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

    /// Keys that stand twice, in what concerns hooks: the last one counts, and what it replaces may be a guard.
    fn repeated_sections(&mut self, root: &Node) {
        let mut seen = HashSet::new();
        for (key, section) in root.members().unwrap_or_default() {
            if !["tools", "hooksConfig", "security", "hooks"].contains(&key.name.as_str()) {
                continue;
            }
            if !seen.insert(key.name.as_str()) {
                let message = format!("`{}` stands more than once here; the last one counts", key.name);
                self.found.push(self.document.finding(Code::DuplicateKey, &key.span, message));
            }
            self.document.duplicate_keys(section, &mut self.found);
        }
    }

    fn section<'n>(&mut self, root: &'n Node, name: &str) -> Option<&'n Node> {
        let node = root.get(name)?;
        if node.members().is_some() {
            return Some(node);
        }
        let message = format!("`{name}` must be an object, not {}", node.described());
        self.report(Code::SettingType, node, message);
        // What stood there may have been a guard, or what switched guards on.
        self.settings.is_whole &= !["tools", "hooksConfig", "hooks"].contains(&name);
        None
    }

    fn unknown_config_keys(&mut self, config: &Node) {
        for (key, _) in config.members().unwrap_or_default() {
            if !CONFIG_KEYS.contains(&key.name.as_str()) {
                let message = format!("`hooksConfig.{}` is not known and has no effect", key.name);
                let finding = self.document.finding(Code::UnknownKey, &key.span, message);
                self.found.push(with_suggestion(finding, &key.name, CONFIG_KEYS));
            }
        }
    }

    /// Off if any key says so, on if at least one does, else silent.
    fn switch(&mut self, keys: [(&'static str, Option<&Node>); 3]) {
        for (name, node) in keys {
            let flag = node.and_then(|node| self.flag(name, node));
            // A switch that cannot be read may be the one that arms the guards.
            self.settings.is_whole &= node.is_none() || flag.is_some();
            match flag {
                Some(false) => self.settings.switch = Some(Switch::Off(name)),
                Some(true) if self.settings.switch.is_none() => self.settings.switch = Some(Switch::On),
                _ => {}
            }
        }
    }

    fn flag(&mut self, name: &str, node: &Node) -> Option<bool> {
        if let Shape::Flag(flag) = node.shape {
            return Some(flag);
        }
        let message = format!("`{name}` must be true or false, not {}", node.described());
        self.report(Code::SettingType, node, message);
        None
    }

    /// A list of names; what is not a name is reported and left out.
    fn names(&mut self, what: &str, list: &Node) -> Vec<String> {
        let Some(elements) = list.elements() else {
            let message = format!("the list of {what} must be a list of names, not {}", list.described());
            self.report(Code::SettingType, list, message);
            return Vec::new();
        };
        let mut names = Vec::new();
        for element in elements {
            match element.text() {
                Some(name) => names.push(name.to_owned()),
                None => {
                    let message = format!("the list of {what} must hold strings, not {}", element.described());
                    self.report(Code::SettingType, element, message);
                }
            }
        }
        names
    }

    fn model_decisions(&mut self, node: &Node) {
        match node.text() {
            Some("strict") => self.settings.model_decisions = Some(ModelDecisions::Strict),
            Some("last-wins") => self.settings.model_decisions = Some(ModelDecisions::LastWins),
            _ => {
                let message = "`hooksConfig.modelDecisions` must be \"strict\" or \"last-wins\"";
                self.report(Code::SettingValue, node, message);
            }
        }
    }

    /// A floor holds for layers of less authority, and below a project there is none.
    fn sandbox_floor(&mut self, node: &Node) {
        self.settings.sandbox_floor = sandbox::floor(self.document, node, &mut self.found);
        if self.kind == SourceKind::Project {
            let message = "`hooksConfig.sandbox` has no effect in a project's settings";
            let finding = self.document.finding(Code::SettingValue, &node.span, message);
            self.found.push(finding.hint("put `\"sandbox\"` on the hooks themselves"));
        }
    }

    fn hooks(&mut self, hooks: &Node) {
        let members = hooks.members().unwrap_or_default();
        // Where a key stands twice the last one counts.
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

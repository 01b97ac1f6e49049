//! Reads one configuration file into values and findings. A malformed value is skipped and reported; the others are
//! still read.
//!
//! This module does not know whose file it reads, or what its values are for.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hookrail::hook::SandboxProfile;
use hookrail::module::{CAPABILITY_NAMES, Capabilities, CapabilityProblem};
use hookrail::sources::{Document, Location, PlacedKey, PlacedValue, ValueShape, nearest, one_of, read_file};
use hookrail::tools::ToolUse;
use hookrail::{Code, Diagnostic, OnFailure, lock_mutex};

use super::table::{
    POLICIES, SECTIONS, Setting, SettingKind, SettingRow, TOOLS_SECTION, settings_of_section, switchable_dialects,
};

/// The consequence of a malformed list of capabilities.
const ONLY_READING: &str = "until this is fixed, modules may only read";

/// The consequence of a file that cannot be read as a whole.
const LEAST: &str = "until this is fixed, modules may only read, hooks of projects run in the sandbox `guard`, and the journal \
     keeps neither inputs nor texts and denies what it cannot record";

/// The content of a configuration file.
#[derive(Debug, Default)]
pub struct ConfigFile {
    pub state: ConfigFileState,
    pub values: Vec<ConfiguredSetting>,
    /// What tools are that no table has.
    pub tools: Vec<ConfiguredTool>,
    pub findings: Vec<Diagnostic>,
}

/// Whether a file exists and can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfigFileState {
    #[default]
    Missing,
    Read,
    /// The file exists, but it cannot be read or is no valid TOML.
    Broken,
}

/// One setting of a file, with its value and its place.
#[derive(Debug)]
pub struct ConfiguredSetting {
    pub row: &'static SettingRow,
    pub value: SettingValue,
    pub location: Location,
}

/// One key of the section `tools`.
#[derive(Debug)]
pub struct ConfiguredTool {
    pub name: String,
    pub tool_use: ToolUse,
    pub location: Location,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    Number(u64),
    Capabilities(Capabilities),
    Flag(bool),
    Address(SocketAddr),
    Policy(OnFailure),
    /// A sandbox profile, or none for the value `"none"`.
    Sandbox(Option<SandboxProfile>),
    Word(&'static str),
    Names(Vec<String>),
    Path(PathBuf),
    Url(String),
}

impl ConfigFile {
    /// Adds the finding that the last good version of a file stays in force.
    fn kept(mut self, file: &Path, state: ConfigFileState) -> Self {
        let shown = file.display();
        let (code, what) = match state {
            ConfigFileState::Missing => (Code::SourceRemoved, "was removed"),
            ConfigFileState::Broken | ConfigFileState::Read => (Code::KeptLastGood, "cannot be used"),
        };
        let message = format!("`{shown}` {what}; its last good version stays in force");
        self.findings.push(Diagnostic::new(code, message).at(Location::whole_file(file)));
        self
    }

    fn value(&self, setting: Setting) -> Option<SettingValue> {
        self.values.iter().find(|configured| configured.row.setting == setting).map(|found| found.value.clone())
    }

    pub fn number(&self, setting: Setting) -> Option<u64> {
        match self.value(setting)? {
            SettingValue::Number(number) => Some(number),
            _ => None,
        }
    }

    pub fn capabilities(&self) -> Option<Capabilities> {
        match self.value(Setting::Capabilities)? {
            SettingValue::Capabilities(capabilities) => Some(capabilities),
            _ => None,
        }
    }

    pub fn flag(&self, setting: Setting) -> Option<bool> {
        match self.value(setting)? {
            SettingValue::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub fn policy(&self, setting: Setting) -> Option<OnFailure> {
        match self.value(setting)? {
            SettingValue::Policy(policy) => Some(policy),
            _ => None,
        }
    }

    /// Returns the word of a setting that takes one of several.
    pub fn word(&self, setting: Setting) -> Option<&'static str> {
        match self.value(setting)? {
            SettingValue::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Returns the word of a setting that restricts something. If the file cannot be read, its value is unknown, so the
    /// strictest word is used.
    pub fn word_or_strictest(&self, setting: Setting) -> Option<&'static str> {
        match (self.state, setting.row().map(|row| row.kind)) {
            (ConfigFileState::Broken, Some(SettingKind::Word { strictest, .. })) => Some(strictest),
            _ => self.word(setting),
        }
    }

    /// Returns the names of a list.
    pub fn names(&self, setting: Setting) -> Vec<String> {
        match self.value(setting) {
            Some(SettingValue::Names(names)) => names,
            _ => Vec::new(),
        }
    }

    pub fn path(&self, setting: Setting) -> Option<PathBuf> {
        match self.value(setting)? {
            SettingValue::Path(path) => Some(path),
            _ => None,
        }
    }

    pub fn url(&self, setting: Setting) -> Option<String> {
        match self.value(setting)? {
            SettingValue::Url(url) => Some(url),
            _ => None,
        }
    }

    /// Returns the place of a setting.
    pub fn location(&self, setting: Setting) -> Option<Location> {
        self.values.iter().find(|configured| configured.row.setting == setting).map(|found| found.location.clone())
    }

    /// Returns the most that processes of a project's hooks may do. If the file cannot be read, its value is unknown, so
    /// `guard` is used.
    pub fn sandbox_floor(&self) -> Option<SandboxProfile> {
        match self.value(Setting::SandboxFloor) {
            Some(SettingValue::Sandbox(profile)) => profile,
            _ => (self.state == ConfigFileState::Broken).then(SandboxProfile::guard),
        }
    }

    pub fn address(&self, setting: Setting) -> Option<SocketAddr> {
        match self.value(setting)? {
            SettingValue::Address(address) => Some(address),
            _ => None,
        }
    }
}

/// The last good text of every file that this process has read. A server loads the configuration again for each project
/// that it opens, and the last good version must stay in force while the file is broken or missing.
static LAST_GOOD: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// Reads a file. A missing file sets nothing.
pub(super) fn read_config_file(file: &Path) -> ConfigFile {
    let mut last_good = lock_mutex(&LAST_GOOD);
    let mut config = ConfigFile::default();
    let read = read_file(file);
    match &read {
        Ok(None) => {}
        Ok(Some(text)) => config = parse_config(file, text),
        Err(problem) => {
            config.state = ConfigFileState::Broken;
            let message = format!("the configuration cannot be read: {problem}");
            let finding = Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(file));
            config.findings.push(finding.hint(LEAST));
        }
    }
    match (read, config.state) {
        (Ok(Some(text)), ConfigFileState::Read) => {
            last_good.insert(file.to_owned(), text);
            config
        }
        (_, state) => match last_good.get(file) {
            Some(text) => ConfigFile { findings: config.findings, ..parse_config(file, text) }.kept(file, state),
            None => config,
        },
    }
}

/// Whether a file was read while this process runs, so that its last good version counts.
pub(super) fn was_read(file: &Path) -> bool {
    lock_mutex(&LAST_GOOD).contains_key(file)
}

/// What is known of a file that is not read because a link leads out of its project.
pub(super) fn refuse_linked_file(file: &Path) -> ConfigFile {
    let message = "the configuration is not read, because a link leads out of the project";
    let finding = Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(file));
    let findings = vec![finding.hint(format!("copy the file into the project; {LEAST}"))];
    ConfigFile { state: ConfigFileState::Broken, findings, ..ConfigFile::default() }
}

fn parse_config(file: &Path, text: &str) -> ConfigFile {
    let mut config = ConfigFile::default();
    if text.trim().is_empty() {
        config.state = ConfigFileState::Broken;
        let message = "the configuration file is empty, possibly after an interrupted save";
        let finding = Diagnostic::new(Code::FileEmpty, message).at(Location::whole_file(file));
        config.findings.push(finding.hint(format!("remove the file if it is meant to be empty; {LEAST}")));
        return config;
    }
    match Document::of_toml(file, text.to_owned()) {
        Ok(document) => {
            config.state = ConfigFileState::Read;
            ConfigReader { document: &document, config: &mut config }.read_sections();
        }
        Err(fault) => {
            config.state = ConfigFileState::Broken;
            config.findings.push(fault.finding("invalid TOML").hint(LEAST));
        }
    }
    config
}

/// Returns the first finding if the text as a whole cannot be used.
pub(super) fn check_config(file: &Path, text: &str) -> Result<(), Diagnostic> {
    let config = parse_config(file, text);
    match (config.state, config.findings.into_iter().next()) {
        (ConfigFileState::Broken, Some(finding)) => Err(finding),
        _ => Ok(()),
    }
}

struct ConfigReader<'r> {
    document: &'r Document,
    config: &'r mut ConfigFile,
}

impl ConfigReader<'_> {
    fn read_sections(&mut self) {
        for (name, section) in self.document.root().and_then(PlacedValue::members).unwrap_or_default() {
            self.read_section(name, section);
        }
        // The keys of one section can stand in several places.
        let start = |finding: &Diagnostic| finding.location.as_ref().map(|location| location.span.start);
        self.config.findings.sort_by_key(start);
        self.config.values.sort_by_key(|configured| configured.location.span.start);
    }

    fn read_section(&mut self, PlacedKey { name, span: at }: &PlacedKey, value: &PlacedValue) {
        let Some(section) = SECTIONS.into_iter().find(|known| known == name) else {
            let hint = suggestion(name, SECTIONS).unwrap_or_else(|| format!("the sections are {}", listed(&SECTIONS)));
            self.report(Code::UnknownKey, format!("unknown section `{name}`"), at, Some(hint));
            return;
        };
        let Some(members) = value.members() else {
            let message = format!("`{section}` is a section, not {}", value.described_plainly());
            self.report(Code::SettingType, message, &value.span, Some(format!("write its keys below `[{section}]`")));
            return;
        };
        for (key, value) in members {
            if section == TOOLS_SECTION {
                self.read_tool(key, value);
                continue;
            }
            self.read_setting(section, key, value);
        }
    }

    fn read_setting(&mut self, section: &'static str, PlacedKey { name, span: at }: &PlacedKey, value: &PlacedValue) {
        let Some(row) = settings_of_section(section).find(|row| row.is_spelt(name)) else {
            let hint = suggestion(name, settings_of_section(section).map(|row| row.key));
            self.report(Code::UnknownKey, format!("`{section}` has no setting `{name}`"), at, hint);
            return;
        };
        let earlier = self.config.values.iter().position(|configured| configured.row.setting == row.setting);
        if let Some(earlier) = earlier {
            self.config.values.remove(earlier);
            let message = format!("`{}` is set twice, in two spellings; neither is used", row.key);
            self.report(Code::SettingValue, message, at, fallback_hint(row.kind));
            self.use_strictest(row, at);
            return;
        }
        let read = match (row.kind, &value.shape) {
            (SettingKind::Number { least, most, .. }, ValueShape::Number(_)) if value.is_whole() => {
                value.count().filter(|number| (least..=most).contains(number)).map(SettingValue::Number)
            }
            (SettingKind::Flag { .. }, ValueShape::Flag(flag)) => Some(SettingValue::Flag(*flag)),
            (SettingKind::Address, ValueShape::Text(text)) => {
                super::address::metrics_address(text).ok().map(SettingValue::Address)
            }
            (SettingKind::Address, ValueShape::Number(_)) if value.is_whole() => value
                .count()
                .and_then(|port| u16::try_from(port).ok())
                .map(|port| SettingValue::Address(SocketAddr::from(([127, 0, 0, 1], port)))),
            (SettingKind::Policy, ValueShape::Text(text)) => {
                Some(SettingValue::Policy(self.read_policy(name, text, &value.span)))
            }
            (SettingKind::Sandbox, ValueShape::Text(_) | ValueShape::Object(_)) => {
                Some(SettingValue::Sandbox(self.read_sandbox(name, value)))
            }
            (SettingKind::Word { words, strictest, .. }, ValueShape::Text(text)) => {
                let known = words.iter().find(|word| *word == text);
                Some(SettingValue::Word(known.copied().unwrap_or_else(|| {
                    let message = format!("`{name}` must be {}; it is read as \"{strictest}\"", row.kind.expected());
                    self.report(Code::SettingValue, message, &value.span, suggestion(text, words.iter().copied()));
                    strictest
                })))
            }
            // One that is no name switches nothing off.
            (SettingKind::Names, ValueShape::Array(names)) => {
                let read: Option<Vec<String>> = names.iter().map(|name| name.text().map(str::to_owned)).collect();
                read.map(SettingValue::Names)
            }
            (SettingKind::Dialects, ValueShape::Array(names)) => {
                Some(SettingValue::Names(names.iter().filter_map(|name| self.read_dialect(name)).collect()))
            }
            // Its guards must not be lost to a pair of brackets.
            (SettingKind::Dialects, ValueShape::Text(_)) => {
                let message = format!("`{name}` must be {}; it is read as a list of one", row.kind.expected());
                self.report(Code::SettingType, message, &value.span, None);
                Some(SettingValue::Names(self.read_dialect(value).into_iter().collect()))
            }
            (SettingKind::Path, ValueShape::Text(text)) => {
                let path = PathBuf::from(text);
                path.is_absolute().then_some(SettingValue::Path(path))
            }
            (SettingKind::Url, ValueShape::Text(text)) => {
                let is_web = text.starts_with("http://") || text.starts_with("https://");
                is_web.then(|| SettingValue::Url(text.clone()))
            }
            (SettingKind::Capabilities, ValueShape::Array(names)) => {
                Some(SettingValue::Capabilities(self.read_capabilities(names)))
            }
            (kind, _) => {
                let message = format!("`{name}` must be {}, not {}", kind.expected(), value.described_plainly());
                self.report(Code::SettingType, message, &value.span, fallback_hint(kind));
                self.use_strictest(row, &value.span);
                return;
            }
        };
        match read {
            Some(value) => self.set(row, value, at),
            None => {
                let message = format!("`{name}` must be {}", row.kind.expected());
                self.report(Code::SettingValue, message, &value.span, fallback_hint(row.kind));
            }
        }
    }

    /// Reads what a tool is. A malformed value says nothing, and the tool is judged by its input.
    fn read_tool(&mut self, PlacedKey { name, span: at }: &PlacedKey, value: &PlacedValue) {
        let written = value.text();
        match written.and_then(|word| ToolUse::ALL.into_iter().find(|known| known.name() == word)) {
            Some(tool_use) => {
                let location = self.document.location(at);
                self.config.tools.push(ConfiguredTool { name: name.clone(), tool_use, location });
            }
            None => {
                let message = format!("`{name}` must be {}", one_of(&ToolUse::ALL.map(ToolUse::name)));
                let near = written.and_then(|word| suggestion(word, ToolUse::ALL.map(ToolUse::name)));
                self.report(Code::SettingValue, message, &value.span, near);
            }
        }
    }

    /// Reads the name of a dialect that can be switched on.
    fn read_dialect(&mut self, name: &PlacedValue) -> Option<String> {
        let written = name.text();
        let known = written.and_then(|word| switchable_dialects().into_iter().find(|known| *known == word));
        if known.is_none() {
            let shown = written
                .map_or_else(|| name.described_plainly().to_owned(), |word| format!("`{}`", word.escape_debug()));
            let message = format!("{shown} is not a dialect that can be switched on");
            let hint = written.and_then(|word| suggestion(word, switchable_dialects()));
            let hint = hint.unwrap_or_else(|| format!("these are {}", listed(&switchable_dialects())));
            self.report(Code::SettingValue, message, &name.span, Some(hint));
        }
        known.map(str::to_owned)
    }

    /// Reads a list of capabilities. A malformed entry allows nothing.
    fn read_capabilities(&mut self, names: &[PlacedValue]) -> Capabilities {
        let mut known = Vec::new();
        for name in names {
            let Some(text) = name.text() else {
                let message = format!("{} is not a capability", name.described_plainly());
                let hint = format!("the capabilities are {}", listed(&CAPABILITY_NAMES));
                self.report(Code::SettingValue, message, &name.span, Some(hint));
                continue;
            };
            match Capabilities::parse([text]) {
                Ok(_) => known.push(text),
                Err(error) => {
                    let near = match error.problem {
                        CapabilityProblem::UnknownName => suggestion(text, CAPABILITY_NAMES),
                        _ => None,
                    };
                    let hint = near.unwrap_or_else(|| error.problem.to_string());
                    let message = format!("`{}` is not a capability; it allows nothing", text.escape_debug());
                    self.report(Code::SettingValue, message, &name.span, Some(hint));
                }
            }
        }
        Capabilities::parse(known).unwrap_or(Capabilities::NONE)
    }

    /// Sets a setting that restricts hooks to its strictest value, because its own value is malformed: a mistake must not
    /// lift a restriction.
    fn use_strictest(&mut self, row: &'static SettingRow, at: &Range<usize>) {
        let strictest = match row.kind {
            SettingKind::Capabilities => SettingValue::Capabilities(Capabilities::READ),
            SettingKind::Policy => SettingValue::Policy(OnFailure::Block),
            SettingKind::Sandbox => SettingValue::Sandbox(Some(SandboxProfile::guard())),
            SettingKind::Word { strictest, .. } => SettingValue::Word(strictest),
            // These restrict nothing that is not restricted without them.
            SettingKind::Number { .. }
            | SettingKind::Flag { .. }
            | SettingKind::Address
            | SettingKind::Names
            | SettingKind::Dialects
            | SettingKind::Path
            | SettingKind::Url => return,
        };
        self.set(row, strictest, at);
    }

    /// Reads a failure policy. A file that names this setting asks for failures to have an effect, so an unknown value is
    /// read as the strictest one.
    fn read_policy(&mut self, name: &str, text: &str, at: &Range<usize>) -> OnFailure {
        match text {
            "allow" => OnFailure::Allow,
            "ask" => OnFailure::Ask,
            "block" => OnFailure::Block,
            _ => {
                let message = format!("`{name}` must be {}; it is read as \"block\"", SettingKind::Policy.expected());
                self.report(Code::SettingValue, message, at, suggestion(text, POLICIES));
                OnFailure::Block
            }
        }
    }

    /// Reads a sandbox profile. A file that names this setting asks for hooks to be restricted, so an unknown value is read
    /// as `guard`.
    fn read_sandbox(&mut self, name: &str, written: &PlacedValue) -> Option<SandboxProfile> {
        SandboxProfile::from_json(&written.to_json().to_value()).unwrap_or_else(|problem| {
            let message = format!("`{name}` cannot be used: {problem}; it is read as \"guard\"");
            let hint = format!("write {}", SettingKind::Sandbox.expected());
            self.report(Code::SandboxInvalid, message, &written.span, Some(hint));
            Some(SandboxProfile::guard())
        })
    }

    fn set(&mut self, row: &'static SettingRow, value: SettingValue, at: &Range<usize>) {
        let location = self.document.location(at);
        self.config.values.push(ConfiguredSetting { row, value, location });
    }

    fn report(&mut self, code: Code, message: String, at: &Range<usize>, hint: Option<String>) {
        let finding = self.document.finding(code, at, message);
        self.config.findings.push(match hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        });
    }
}

/// Returns the hint that says what is in force instead of a malformed value.
fn fallback_hint(kind: SettingKind) -> Option<String> {
    match kind {
        SettingKind::Number { default: Some(default), .. } => Some(format!("the default of {default} stays in force")),
        SettingKind::Capabilities => Some(ONLY_READING.to_owned()),
        SettingKind::Policy => Some("until this is fixed, it is read as \"block\"".to_owned()),
        SettingKind::Word { strictest, .. } => Some(format!("until this is fixed, it is read as \"{strictest}\"")),
        SettingKind::Sandbox => Some("until this is fixed, it is read as \"guard\"".to_owned()),
        SettingKind::Url => Some(
            "write a base address, such as \"http://127.0.0.1:4318\"; until this is fixed, nothing is exported"
                .to_owned(),
        ),
        SettingKind::Number { default: None, .. }
        | SettingKind::Flag { .. }
        | SettingKind::Address
        | SettingKind::Names
        | SettingKind::Dialects
        | SettingKind::Path => None,
    }
}

fn suggestion(written: &str, known: impl IntoIterator<Item = &'static str>) -> Option<String> {
    nearest(written, known).map(|known| format!("did you mean `{known}`?"))
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

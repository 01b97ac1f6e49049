//! One configuration file as values with findings. What is wrong with one value harms only that value.
//!
//! Whose file it is, and what follows from its values, is not known here.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hookrail::hook::SandboxProfile;
use hookrail::module::{CAPABILITY_NAMES, Capabilities, CapabilityProblem};
use hookrail::sources::{Location, nearest, read_file};
use hookrail::{Code, Diagnostic, OnFailure, lock};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::table::{Kind, POLICIES, Row, SECTIONS, Setting, of_section};

/// What follows if it is unknown what was to be taken away.
const ONLY_READING: &str = "until this is fixed, modules may only read";

/// What follows if it is unknown what a whole file was to take away.
const LEAST: &str = "until this is fixed, modules may only read, and hooks of projects run in the sandbox `guard`";

/// What a file says.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) state: State,
    pub(crate) values: Vec<Stated>,
    pub(crate) findings: Vec<Diagnostic>,
}

/// Whether there is a file, and one that can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Missing,
    Read,
    /// Nobody can say what it means.
    Broken,
}

/// One setting, as it was said.
#[derive(Debug)]
pub(crate) struct Stated {
    pub(crate) row: &'static Row,
    pub(crate) value: Value,
    pub(crate) place: Location,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(u64),
    Capabilities(Capabilities),
    Flag(bool),
    Address(SocketAddr),
    Policy(OnFailure),
    /// A profile; none for "none".
    Sandbox(Option<SandboxProfile>),
}

impl Said {
    /// What an earlier version of a file said, with a finding that says why it is in force.
    fn kept(mut self, file: &Path, state: State) -> Self {
        let shown = file.display();
        let (code, what) = match state {
            State::Missing => (Code::SourceRemoved, "was removed"),
            State::Broken | State::Read => (Code::KeptLastGood, "cannot be used"),
        };
        let message = format!("`{shown}` {what}; its last good version stays in force");
        self.findings.push(Diagnostic::new(code, message).at(Location::whole_file(file)));
        self
    }

    fn value(&self, setting: Setting) -> Option<Value> {
        self.values.iter().find(|stated| stated.row.setting == setting).map(|stated| stated.value.clone())
    }

    pub(crate) fn number(&self, setting: Setting) -> Option<u64> {
        match self.value(setting)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn capabilities(&self) -> Option<Capabilities> {
        match self.value(Setting::Capabilities)? {
            Value::Capabilities(capabilities) => Some(capabilities),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, setting: Setting) -> Option<bool> {
        match self.value(setting)? {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub(crate) fn policy(&self, setting: Setting) -> Option<OnFailure> {
        match self.value(setting)? {
            Value::Policy(policy) => Some(policy),
            _ => None,
        }
    }

    /// What processes of a project's hooks may do at most. What a file that cannot be read imposed is unknown, so `guard` is
    /// used.
    pub(crate) fn sandbox_floor(&self) -> Option<SandboxProfile> {
        match self.value(Setting::SandboxFloor) {
            Some(Value::Sandbox(profile)) => profile,
            _ => (self.state == State::Broken).then(SandboxProfile::guard),
        }
    }

    pub(crate) fn address(&self, setting: Setting) -> Option<SocketAddr> {
        match self.value(setting)? {
            Value::Address(address) => Some(address),
            _ => None,
        }
    }
}

/// The last good text of every file that this process has read: a server describes a project anew for each that is opened,
/// and a file that was good stays in force while it is broken or gone.
static LAST_GOOD: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// Reads a file. One that is not there says nothing.
pub(crate) fn read(file: &Path) -> Said {
    let mut last_good = lock(&LAST_GOOD);
    let mut said = Said::default();
    let read = read_file(file);
    match &read {
        Ok(None) => {}
        Ok(Some(text)) => said = parse(file, text),
        Err(problem) => {
            said.state = State::Broken;
            let message = format!("the configuration cannot be read: {problem}");
            let finding = Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(file));
            said.findings.push(finding.hint(LEAST));
        }
    }
    match (read, said.state) {
        (Ok(Some(text)), State::Read) => {
            last_good.insert(file.to_owned(), text);
            said
        }
        (_, state) => match last_good.get(file) {
            Some(text) => Said { findings: said.findings, ..parse(file, text) }.kept(file, state),
            None => said,
        },
    }
}

fn parse(file: &Path, text: &str) -> Said {
    let mut said = Said::default();
    if text.trim().is_empty() {
        said.state = State::Broken;
        let message = "the configuration file is empty, possibly after an interrupted save";
        let finding = Diagnostic::new(Code::FileEmpty, message).at(Location::whole_file(file));
        said.findings.push(finding.hint(format!("remove the file if it is meant to be empty; {LEAST}")));
        return said;
    }
    Reader { file, text, said: &mut said }.document();
    said
}

/// Whether a text can be in force.
pub(crate) fn check(file: &Path, text: &str) -> Result<(), Diagnostic> {
    let said = parse(file, text);
    match (said.state, said.findings.into_iter().next()) {
        (State::Broken, Some(finding)) => Err(finding),
        _ => Ok(()),
    }
}

struct Reader<'r> {
    file: &'r Path,
    text: &'r str,
    said: &'r mut Said,
}

impl Reader<'_> {
    fn document(&mut self) {
        match DeTable::parse(self.text) {
            Ok(document) => {
                self.said.state = State::Read;
                for (name, value) in document.get_ref() {
                    self.section(name.get_ref(), name.span(), value);
                }
                // Tables come in the order of their names; people read from top to bottom.
                let place = |finding: &Diagnostic| finding.location.as_ref().map(|place| place.span.start);
                self.said.findings.sort_by_key(place);
                self.said.values.sort_by_key(|stated| stated.place.span.start);
            }
            Err(error) => {
                self.said.state = State::Broken;
                let end = self.text.len();
                let message = format!("invalid TOML: {}", error.message().lines().next().unwrap_or_default());
                self.find(Code::FileSyntax, message, error.span().unwrap_or(end..end), Some(LEAST.to_owned()));
            }
        }
    }

    fn section(&mut self, name: &str, at: Range<usize>, value: &Spanned<DeValue<'_>>) {
        let Some(section) = SECTIONS.into_iter().find(|known| *known == name) else {
            let hint = suggestion(name, SECTIONS).unwrap_or_else(|| format!("the sections are {}", listed(&SECTIONS)));
            self.find(Code::UnknownKey, format!("unknown section `{name}`"), at, Some(hint));
            return;
        };
        let Some(table) = value.get_ref().as_table() else {
            let message = format!("`{section}` is a section, not {}", described(value.get_ref()));
            self.find(Code::SettingType, message, value.span(), Some(format!("write its keys below `[{section}]`")));
            return;
        };
        for (key, value) in table {
            self.setting(section, key.get_ref(), key.span(), value);
        }
    }

    fn setting(&mut self, section: &'static str, name: &str, at: Range<usize>, value: &Spanned<DeValue<'_>>) {
        let Some(row) = of_section(section).find(|row| row.key == name) else {
            let hint = suggestion(name, of_section(section).map(|row| row.key));
            self.find(Code::UnknownKey, format!("`{section}` has no setting `{name}`"), at, hint);
            return;
        };
        let read = match (row.kind, value.get_ref()) {
            (Kind::Number { least, most, .. }, DeValue::Integer(number)) => {
                whole(number).filter(|number| (least..=most).contains(number)).map(Value::Number)
            }
            (Kind::Flag { .. }, DeValue::Boolean(flag)) => Some(Value::Flag(*flag)),
            (Kind::Address, DeValue::String(text)) => crate::cmd::serve::metrics_address(text).ok().map(Value::Address),
            (Kind::Address, DeValue::Integer(port)) => whole(port)
                .and_then(|port| u16::try_from(port).ok())
                .map(|port| Value::Address(SocketAddr::from(([127, 0, 0, 1], port)))),
            (Kind::Policy, DeValue::String(text)) => Some(Value::Policy(self.policy(name, text, value.span()))),
            (Kind::Sandbox, written @ (DeValue::String(_) | DeValue::Table(_))) => {
                Some(Value::Sandbox(self.sandbox(name, written, value.span())))
            }
            (Kind::Capabilities, DeValue::Array(names)) => Some(Value::Capabilities(self.capabilities(names))),
            (kind, other) => {
                let message = format!("`{name}` must be {}, not {}", kind.expected(), described(other));
                self.find(Code::SettingType, message, value.span(), without_value(kind));
                self.keep_safe(row, value.span());
                return;
            }
        };
        match read {
            Some(value) => self.state(row, value, at),
            None => {
                let message = format!("`{name}` must be {}", row.kind.expected());
                self.find(Code::SettingValue, message, value.span(), without_value(row.kind));
            }
        }
    }

    /// The capabilities of a list. An entry that is malformed allows nothing.
    fn capabilities(&mut self, names: &[Spanned<DeValue<'_>>]) -> Capabilities {
        let mut known = Vec::new();
        for name in names {
            let Some(text) = name.get_ref().as_str() else {
                let message = format!("{} is not a capability", described(name.get_ref()));
                let hint = format!("the capabilities are {}", listed(&CAPABILITY_NAMES));
                self.find(Code::SettingValue, message, name.span(), Some(hint));
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
                    self.find(Code::SettingValue, message, name.span(), Some(hint));
                }
            }
        }
        Capabilities::parse(known).unwrap_or(Capabilities::NONE)
    }

    /// Whoever wanted to take capabilities away and wrote it wrongly must not get all of them.
    fn keep_safe(&mut self, row: &'static Row, at: Range<usize>) {
        match row.setting {
            Setting::Capabilities => self.state(row, Value::Capabilities(Capabilities::READ), at),
            Setting::OnLoadFailure => self.state(row, Value::Policy(OnFailure::Block), at),
            Setting::SandboxFloor => self.state(row, Value::Sandbox(Some(SandboxProfile::guard())), at),
            _ => {}
        }
    }

    /// What a failure does. A file that names this setting asks for failures to have an effect, so an unknown value is read
    /// as the strictest one.
    fn policy(&mut self, name: &str, text: &str, at: Range<usize>) -> OnFailure {
        match text {
            "allow" => OnFailure::Allow,
            "ask" => OnFailure::Ask,
            "block" => OnFailure::Block,
            _ => {
                let message = format!("`{name}` must be {}; it is read as \"block\"", Kind::Policy.expected());
                self.find(Code::SettingValue, message, at, suggestion(text, POLICIES));
                OnFailure::Block
            }
        }
    }

    /// A sandbox profile. A file that names this setting asks for hooks to be restricted, so an unknown value is read as `guard`.
    fn sandbox(&mut self, name: &str, written: &DeValue<'_>, at: Range<usize>) -> Option<SandboxProfile> {
        SandboxProfile::from_json(&json(written)).unwrap_or_else(|problem| {
            let message = format!("`{name}` cannot be used: {problem}; it is read as \"guard\"");
            let hint = format!("write {}", Kind::Sandbox.expected());
            self.find(Code::SandboxInvalid, message, at, Some(hint));
            Some(SandboxProfile::guard())
        })
    }

    fn state(&mut self, row: &'static Row, value: Value, at: Range<usize>) {
        let place = Location::in_text(self.file, self.text, at);
        self.said.values.push(Stated { row, value, place });
    }

    fn find(&mut self, code: Code, message: String, at: Range<usize>, hint: Option<String>) {
        let finding = Diagnostic::new(code, message).at(Location::in_text(self.file, self.text, at));
        self.said.findings.push(match hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        });
    }
}

fn whole(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
}

fn without_value(kind: Kind) -> Option<String> {
    match kind {
        Kind::Number { default: Some(default), .. } => Some(format!("the default of {default} stays in force")),
        Kind::Capabilities => Some(ONLY_READING.to_owned()),
        Kind::Policy => Some("until this is fixed, it is read as \"block\"".to_owned()),
        Kind::Sandbox => Some("until this is fixed, it is read as \"guard\"".to_owned()),
        _ => None,
    }
}

/// The value as JSON. Numbers and dates are no part of a profile, so what they are does not matter.
fn json(value: &DeValue<'_>) -> serde_json::Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Array(elements) => elements.iter().map(|element| json(element.get_ref())).collect(),
        DeValue::Table(table) => {
            table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref()))).collect()
        }
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => serde_json::Value::Null,
    }
}

fn suggestion(written: &str, known: impl IntoIterator<Item = &'static str>) -> Option<String> {
    nearest(written, known).map(|known| format!("did you mean `{known}`?"))
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn described(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

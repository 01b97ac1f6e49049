//! Cases of `hookrail test` from recorded events, and the file that they are added to.
//!
//! A case is the event as it was fired and what was decided. An event from whose record something was removed makes no case:
//! what was there is not guessed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hookrail::{Json, JsonObject};
use hookrail_bridge::Agent;
use hookrail_journal::{Record, RecordKind, Records, Unreadable};
use serde_json::{Map, Value, json};

use super::discover::is_case_file;
use super::read::parse_cases;
use super::refusal::CaseRefusal;
use super::scratch_path::PROJECT;
use crate::failure::Failure;
use crate::folders::home;
use crate::journal::subject_of;
use crate::path_display::PathDisplay;
use crate::temporary_file::write_atomically;

/// Why an event makes no case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// Values were removed from its record.
    Redacted,
    /// Its record has no input, or is of an event that this version does not know.
    NoInput,
    /// Hooks of the user or the system took part.
    OtherHooks,
    /// It is an event of another project.
    OtherProject,
}

impl LeftOut {
    /// Returns the reason in words.
    pub fn told(self) -> &'static str {
        match self {
            Self::Redacted => "something was removed from the record; see `input` in `[journal]`",
            Self::NoInput => "the record has no input; see `input` in `[journal]`",
            Self::OtherHooks => "hooks from outside of the project took part, which a case does not run",
            Self::OtherProject => "of another project; see `--project`",
        }
    }
}

/// What hooks can put in the place of something, beside the tool's input, by its name in an outcome document.
const REWRITES: [&str; 5] = ["toolOutput", "prompt", "llmRequest", "llmResponse", "toolConfig"];

/// A case that was made from a record.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCase {
    pub name: String,
    pub event: &'static str,
    /// The agent whose names tools have.
    agent: Option<&'static str>,
    payload: Value,
    expect: Vec<(&'static str, Value)>,
}

/// Returns an event of the project and what was decided about it as a case.
fn recorded_case(record: &Record<'_>) -> Result<RecordedCase, LeftOut> {
    if record.redacted > 0 {
        return Err(LeftOut::Redacted);
    }
    if !record.is_replayable() {
        return Err(LeftOut::NoInput);
    }
    let kind = record.event_kind().ok_or(LeftOut::NoInput)?;
    let outcome = record.outcome.as_ref().ok_or(LeftOut::NoInput)?;
    let mut payload = record.input.as_ref().and_then(Json::as_object).ok_or(LeftOut::NoInput)?;
    if let Some(session) = record.session.as_deref().filter(|session| !session.is_empty()) {
        payload.set("session_id", Json::string(session));
    }
    let cwd = record.cwd.as_deref().unwrap_or_default();
    if cwd != record.project && Path::new(cwd).starts_with(&*record.project) {
        payload.set("cwd", Json::string(cwd));
    }
    let host = record.host.as_ref().and_then(|host| host.name.strip_prefix("hookrail bridge "));
    // `hookrail test` does not run hooks from outside of the project.
    if record.runs().any(|run| run.layer != "project") {
        return Err(LeftOut::OtherHooks);
    }
    let expect = expectations(&outcome.to_value());
    // What was removed cannot be expected.
    if expect.iter().any(|(_, value)| Json::of(value).is_ok_and(|part| record.is_removed_from(&part))) {
        return Err(LeftOut::Redacted);
    }
    Ok(RecordedCase {
        name: format!("record-{}", record.seq),
        event: kind.name(),
        agent: host.and_then(Agent::from_name).map(Agent::name),
        payload: without_paths(payload.to_json().to_value(), &record.project),
        expect: expect.into_iter().map(|(key, value)| (key, without_paths(value, &record.project))).collect(),
    })
}

fn expectations(outcome: &Value) -> Vec<(&'static str, Value)> {
    let given = |name: &str| outcome.get(name).filter(|value| !value.is_null());
    let mut expect = vec![("decision", given("decision").cloned().unwrap_or_else(|| json!("none")))];
    for (name, key) in [("reason", "reason"), ("additionalContext", "context"), ("toolInput", "rewrite")] {
        if let Some(value) = given(name) {
            expect.push((key, value.clone()));
        }
    }
    if given("stop") == Some(&Value::Bool(true)) {
        expect.push(("stop", Value::Bool(true)));
    }
    let others: Map<String, Value> =
        REWRITES.into_iter().filter_map(|name| Some((name.to_owned(), given(name)?.clone()))).collect();
    if !others.is_empty() {
        expect.push(("outcome", Value::Object(others)));
    }
    expect
}

impl RecordedCase {
    /// Returns the case as one JSON document.
    fn to_json(&self) -> Json {
        let json = |value: &Value| Json::of(value).unwrap_or_else(|_| Json::null());
        let mut case = JsonObject::new();
        case.set("name", Json::string(&self.name));
        case.set("event", Json::string(self.event));
        if let Some(agent) = self.agent {
            case.set("agent", Json::string(agent));
        }
        case.set("payload", json(&self.payload));
        let expect: JsonObject = self.expect.iter().map(|(key, value)| (*key, json(value))).collect();
        case.set("expect", expect.to_json());
        case.to_json()
    }

    /// Returns the case as TOML. What TOML cannot hold, such as null, is written as the text of a JSON object, or left out
    /// of the expectations.
    pub fn to_toml(&self) -> String {
        let text = |text: &str| toml::Value::String(text.to_owned());
        let mut written = format!("[[case]]\nname = {}\nevent = {}\n", text(&self.name), text(self.event));
        if let Some(agent) = self.agent {
            written.push_str(&format!("agent = {}\n", text(agent)));
        }
        let payload = toml::Value::try_from(&self.payload).unwrap_or_else(|_| text(&self.payload.to_string()));
        written.push_str(&format!("payload = {payload}\n"));
        let expect = self.expect.iter().filter_map(|(key, value)| {
            let value = toml::Value::try_from(value).ok()?;
            Some(format!("{key} = {value}"))
        });
        written.push_str(&format!("expect = {{ {} }}\n\n", expect.collect::<Vec<_>>().join(", ")));
        written
    }
}

/// Makes cases of the recorded events of one project, and counts what cannot be one.
pub struct CaseRecorder<'p> {
    project: &'p Path,
    /// The file; none if cases are only returned.
    target: Option<CaseTarget>,
    /// How many cases were written or returned.
    pub written: usize,
    /// How many cases the file had already.
    pub known: usize,
    pub left_out: BTreeMap<LeftOut, usize>,
}

/// What became of cases.
pub enum RecordedCases {
    /// There is no file, and these are to be shown.
    Cases(Vec<RecordedCase>),
    /// The cases that were added to the file: the name, and what the event is about.
    Added(Vec<(String, String)>),
}

impl<'p> CaseRecorder<'p> {
    pub fn new(project: &'p Path, target: Option<CaseTarget>) -> Self {
        Self { project, target, written: 0, known: 0, left_out: BTreeMap::new() }
    }

    /// Returns the recorded events of the project. Those of another project are about other hooks.
    pub fn events_of_project(
        &self,
        records: &mut Records,
        mut unreadable: impl FnMut(&Unreadable),
    ) -> Vec<Record<'static>> {
        let own = self.project.to_string_lossy();
        let mut found = Vec::new();
        for record in records {
            match record {
                Ok(record) if record.kind == RecordKind::Fired && record.project == own => found.push(record),
                Ok(_) => {}
                Err(problem) => unreadable(&problem),
            }
        }
        found
    }

    /// Returns the cases of all events that can be one, and counts the others, those of other projects among them.
    pub fn cases_of_all(&mut self, records: Records, mut unreadable: impl FnMut(&Unreadable)) -> Vec<RecordedCase> {
        let own = self.project.to_string_lossy();
        let mut cases = Vec::new();
        for record in records {
            let case = match &record {
                Ok(record) if record.kind != RecordKind::Fired => continue,
                Ok(record) if record.project == own => recorded_case(record),
                Ok(_) => Err(LeftOut::OtherProject),
                Err(problem) => {
                    unreadable(problem);
                    continue;
                }
            };
            match case {
                Ok(case) => cases.push(case),
                Err(why) => *self.left_out.entry(why).or_default() += 1,
            }
        }
        cases
    }

    /// Makes cases of these records and adds them to the file, all or none.
    pub fn record(&mut self, records: &[Record<'_>]) -> Result<RecordedCases, CaseRefusal> {
        let mut cases: Vec<RecordedCase> = Vec::new();
        let mut about: BTreeMap<String, String> = BTreeMap::new();
        for record in records {
            match recorded_case(record) {
                Ok(case) => {
                    let subject = subject_of(record).unwrap_or_default();
                    about.insert(case.name.clone(), format!("{} {subject}", case.event));
                    cases.push(case);
                }
                Err(why) => *self.left_out.entry(why).or_default() += 1,
            }
        }
        let Some(target) = &mut self.target else {
            self.written += cases.len();
            return Ok(RecordedCases::Cases(cases));
        };
        let written = target.add(&cases)?;
        self.written += written.len();
        self.known += cases.len() - written.len();
        let described = |name: String| {
            let about = about.remove(&name).unwrap_or_default();
            (name, about)
        };
        Ok(RecordedCases::Added(written.into_iter().map(described).collect()))
    }
}

/// Puts the name of the case's project in the place of the project's path, because a case runs elsewhere.
fn without_paths(value: Value, project: &str) -> Value {
    match value {
        Value::String(text) if !project.is_empty() => Value::String(text.replace(project, PROJECT)),
        Value::Array(elements) => elements.into_iter().map(|element| without_paths(element, project)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, without_paths(value, project))).collect()
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Returns a case file with these cases.
pub fn case_file(cases: &[RecordedCase]) -> String {
    let cases: Vec<Value> = cases.iter().map(|case| case.to_json().to_value()).collect();
    format!("{:#}\n", json!({"case": cases}))
}

/// A case file that cases are added to.
pub struct CaseTarget {
    path: PathBuf,
    text: String,
}

impl CaseTarget {
    /// Reads the file. One that does not exist yet is empty; one that cannot be used is refused.
    pub fn open(path: &Path) -> Result<Self, CaseRefusal> {
        if !is_case_file(path) {
            return Err(Failure::new(format!("`{}` is not the name of a case file", path.display()))
                .hint("the names of case files end in `.hooktest.toml` or `.hooktest.json`")
                .into());
        }
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(Failure::new(format!("`{}` cannot be read: {error}", path.display()))
                    .hint("give a file that can be read and written")
                    .into());
            }
        };
        let target = Self { path: path.to_owned(), text };
        if !target.text.trim().is_empty() {
            target.check(&target.text)?;
        }
        Ok(target)
    }

    fn is_json(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "json")
    }

    /// Fails if a text of this file would not be a case file. Returns the names of its cases.
    fn check(&self, text: &str) -> Result<Vec<String>, CaseRefusal> {
        let cases = parse_cases(&self.path, text).map_err(|found| {
            let here = std::env::current_dir().unwrap_or_default();
            CaseRefusal::of_target(&self.path, found, PathDisplay::new(&here, home()))
        })?;
        Ok(cases.into_iter().map(|case| case.name).collect())
    }

    /// Adds cases whose names are not there yet, and returns their names. The file is replaced in one step.
    fn add(&mut self, cases: &[RecordedCase]) -> Result<Vec<String>, CaseRefusal> {
        let known = if self.text.trim().is_empty() { Vec::new() } else { self.check(&self.text)? };
        let new: Vec<&RecordedCase> = cases.iter().filter(|case| !known.contains(&case.name)).collect();
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let text = if self.is_json() { self.json_with(&new)? } else { self.toml_with(&new) };
        self.check(&text)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let path = folder.map_or_else(|| Path::new(".").join(&self.path), |_| self.path.clone());
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        written.and_then(|()| write_atomically(&path, &text, None)).map_err(|error| {
            Failure::new(format!("`{}` cannot be written: {error}", self.path.display()))
                .hint("check that its folder can be written")
        })?;
        self.text = text;
        Ok(new.into_iter().map(|case| case.name.clone()).collect())
    }

    fn toml_with(&self, cases: &[&RecordedCase]) -> String {
        let before = match self.text.trim_end() {
            "" => String::new(),
            text => format!("{text}\n\n"),
        };
        let added: String = cases.iter().map(|case| case.to_toml()).collect();
        format!("{before}{}\n", added.trim_end())
    }

    fn json_with(&self, cases: &[&RecordedCase]) -> Result<String, Failure> {
        let text = if self.text.trim().is_empty() { "{\"case\": []}" } else { &self.text };
        let mut document: Value = serde_json::from_str(text).map_err(|error| {
            Failure::new(format!(
                "nothing was written: `{}` has comments or trailing commas: {error}",
                self.path.display()
            ))
            .hint("remove them, or give a TOML file, which keeps its comments")
        })?;
        if let Some(list) = document.get_mut("case").and_then(Value::as_array_mut) {
            list.extend(cases.iter().map(|case| case.to_json().to_value()));
        }
        Ok(format!("{document:#}\n"))
    }
}

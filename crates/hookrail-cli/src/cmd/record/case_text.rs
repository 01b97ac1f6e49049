//! A recorded event as a case, and the file that cases are added to.

use std::path::{Path, PathBuf};

use hookrail::{EventKind, Json, JsonObject};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::folders::home;
use hookrail_app::path_display::PathDisplay;
use hookrail_app::temporary_file::write_atomically;
use hookrail_bridge::Agent;
use hookrail_journal::Record;
use serde_json::{Map, Value, json};

use crate::cmd::test::{PROJECT_PLACE, case_names, is_case_file};
use crate::render;

/// Why an event makes no case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
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
    pub(crate) fn told(self) -> &'static str {
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
pub(crate) struct RecordedCase {
    pub(crate) name: String,
    pub(crate) event: &'static str,
    /// The agent whose names tools have.
    agent: Option<&'static str>,
    payload: Value,
    expect: Vec<(&'static str, Value)>,
}

/// Returns an event and what was decided about it as a case.
pub(crate) fn recorded_case(record: &Record) -> std::result::Result<RecordedCase, LeftOut> {
    if record.redacted > 0 {
        return Err(LeftOut::Redacted);
    }
    if !record.is_replayable() {
        return Err(LeftOut::NoInput);
    }
    let kind = EventKind::all().find(|kind| kind.name() == record.event).ok_or(LeftOut::NoInput)?;
    let outcome = record.outcome.as_ref().ok_or(LeftOut::NoInput)?;
    let mut payload = record.input.as_ref().and_then(Json::as_object).ok_or(LeftOut::NoInput)?;
    if !record.session.is_empty() {
        payload.set("session_id", Json::string(&record.session));
    }
    if record.cwd != record.project && Path::new(&record.cwd).starts_with(&record.project) {
        payload.set("cwd", Json::string(&record.cwd));
    }
    let host = record.host.as_ref().and_then(|host| host.name.strip_prefix("hookrail bridge "));
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
    pub(super) fn to_toml(&self) -> String {
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

/// Puts the name of the case's project in the place of the project's path, because a case runs elsewhere.
fn without_paths(value: Value, project: &str) -> Value {
    match value {
        Value::String(text) if !project.is_empty() => Value::String(text.replace(project, PROJECT_PLACE)),
        Value::Array(elements) => elements.into_iter().map(|element| without_paths(element, project)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, without_paths(value, project))).collect()
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Returns a case file with these cases.
pub(super) fn case_file(cases: &[RecordedCase]) -> String {
    let cases: Vec<Value> = cases.iter().map(|case| case.to_json().to_value()).collect();
    format!("{:#}\n", json!({"case": cases}))
}

/// A case file that cases are added to.
pub(super) struct CaseTarget {
    path: PathBuf,
    text: String,
}

impl CaseTarget {
    /// Reads the file. One that does not exist yet is empty; one that cannot be used is refused.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if !is_case_file(path) {
            return Err(Failure::new(format!("`{}` is not the name of a case file", path.display()))
                .hint("the names of case files end in `.hooktest.toml` or `.hooktest.json`"));
        }
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(Failure::new(format!("`{}` cannot be read: {error}", path.display()))
                    .hint("give a file that can be read and written"));
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
    fn check(&self, text: &str) -> Result<Vec<String>> {
        case_names(&self.path, text).map_err(|found| {
            let here = std::env::current_dir().unwrap_or_default();
            crate::output::errors(&render::diagnostic::all(&found, &PathDisplay::new(&here, home())));
            Failure::new(format!("nothing was written: `{}` cannot be used", self.path.display()))
                .hint("fix the file, or give another one")
        })
    }

    /// Adds cases whose names are not there yet, and returns their names. The file is replaced in one step.
    pub(super) fn add(&mut self, cases: &[RecordedCase]) -> Result<Vec<String>> {
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

    fn json_with(&self, cases: &[&RecordedCase]) -> Result<String> {
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

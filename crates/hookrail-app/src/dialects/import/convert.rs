//! One entry, member by member.

use std::path::Path;

use hookrail::{DialectId, EventKind};
use hookrail_bridge::{Agent, tools};
use serde_json::{Map, Value, json};

use crate::agent_entries::AgentEntry;

use super::words::{SeenCode, names_in};
use super::{ImportChange, ImportTarget, ImportedEntry, Meaning, target_file};

/// Values that matchers of other events select, and what LLxprt calls them.
const VALUES: [(&str, &str); 1] = [("compact", "compress")];

/// Members of an entry that mean the same in LLxprt.
const SAME_MEMBERS: [&str; 6] = ["type", "command", "args", "name", "description", "statusMessage"];

/// Members of an entry that LLxprt does not have, and what is lost with each.
const LOST_MEMBERS: [(&str, &str); 6] = [
    ("async", "the agent would not wait for the hook; here it waits"),
    ("asyncRewake", "what the hook prints would wake the agent; here it is its answer"),
    ("once", "the hook would run once in a session; here it runs every time"),
    ("if", "the hook would run for some calls alone; here it runs for all that the matcher selects"),
    ("shell", "the hook would run in the shell that it names; here it runs in bash"),
    ("commandWindows", "the command for Windows is left out"),
];

/// Converts one entry.
pub(super) fn entry(agent: Agent, project: &Path, entry: AgentEntry) -> ImportedEntry {
    let AgentEntry { layer, event, group, hook, location } = entry;
    let written = hook.clone().unwrap_or_else(|| group.clone());
    let mut conversion = Conversion { agent, changes: Vec::new() };
    let converted = conversion.convert(project, &event, &group, hook.as_ref());
    let target = converted.map(|(event, group)| ImportTarget { file: target_file(layer, project), event, group });
    ImportedEntry { event, location, entry: written, target, changes: conversion.changes }
}

struct Conversion {
    agent: Agent,
    changes: Vec<ImportChange>,
}

impl Conversion {
    fn kept(&mut self, text: impl Into<String>) {
        self.changes.push(ImportChange { text: text.into(), meaning: Meaning::Kept });
    }

    fn lost(&mut self, text: impl Into<String>) {
        self.changes.push(ImportChange { text: text.into(), meaning: Meaning::Lost });
    }

    /// Returns the event and the group in LLxprt; none if there is nothing that does the same.
    fn convert(
        &mut self,
        project: &Path,
        event: &str,
        group: &Value,
        hook: Option<&Value>,
    ) -> Option<(&'static str, Value)> {
        let title = self.agent.title();
        let Some(hook) = hook.and_then(Value::as_object) else {
            self.lost(format!("the group has no list `hooks`, so {title} runs nothing of it"));
            return None;
        };
        let kind = self.agent.find_event(event).map(|event| event.kind);
        let column = kind.and_then(|kind| kind.spec().column(DialectId::Llxprt));
        let (Some(kind), Some(column)) = (kind, column) else {
            self.lost(format!("LLxprt has no event that is fired where {title} fires `{event}`"));
            return None;
        };
        let is_command = hook.get("type").and_then(Value::as_str).unwrap_or("command") == "command";
        let Some(command) = hook.get("command").and_then(Value::as_str).filter(|_| is_command) else {
            let shown = hook.get("type").and_then(Value::as_str).unwrap_or("no type");
            self.lost(format!("LLxprt runs commands alone, and this is `{shown}`"));
            return None;
        };
        if column.name != event {
            self.kept(format!("`{event}` is called `{}`", column.name));
        }
        if event == "PostToolUseFailure" {
            self.lost("the hook would run after calls that failed alone; here it runs after every call");
        }
        let mut target = Map::new();
        let matcher = group.get("matcher").and_then(Value::as_str).and_then(|matcher| self.matcher(kind, matcher));
        if let Some(matcher) = matcher {
            target.insert("matcher".to_owned(), matcher.into());
        }
        if let Some(sequential) = group.get("sequential") {
            target.insert("sequential".to_owned(), sequential.clone());
        }
        let members = self.members(hook);
        self.meaning(kind, event, &SeenCode::of(project, command, hook.get("args")));
        target.insert("hooks".to_owned(), json!([members]));
        Some((column.name, Value::Object(target)))
    }

    /// The members of the hook.
    fn members(&mut self, hook: &Map<String, Value>) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("type".to_owned(), "command".into());
        for (name, value) in hook {
            match name.as_str() {
                "timeout" => {
                    if let Some(timeout) = self.timeout(value) {
                        members.insert(name.clone(), timeout);
                    }
                }
                "onFailure" => {
                    members.insert(name.clone(), value.clone());
                }
                same if SAME_MEMBERS.contains(&same) => {
                    members.insert(name.clone(), value.clone());
                }
                other => match LOST_MEMBERS.iter().find(|(lost, _)| *lost == other) {
                    Some((_, what)) => self.lost(format!("`{other}` is left out: {what}")),
                    None => self.kept(format!("`{other}` is left out: it has no meaning in LLxprt")),
                },
            }
        }
        if !hook.contains_key("timeout") && self.is_from(DialectId::Codex) {
            members.insert("timeout".to_owned(), json!(600_000));
            self.kept("the usual time of 600 s is written, because LLxprt's is 60 s");
        }
        if !self.is_from(DialectId::Gemini) && !hook.contains_key("args") {
            self.kept("the command is given to bash, not to `/bin/sh`");
        }
        members
    }

    /// Whether the entry belongs to the agent of a dialect.
    fn is_from(&self, dialect: DialectId) -> bool {
        self.agent.name() == dialect.name()
    }

    /// The time in milliseconds.
    fn timeout(&mut self, value: &Value) -> Option<Value> {
        let Some(number) = value.as_f64().filter(|number| *number > 0.0) else {
            self.kept("`timeout` is left out: it is not a positive number");
            return None;
        };
        if self.is_from(DialectId::Gemini) {
            return Some(value.clone());
        }
        let milliseconds =
            value.as_u64().map_or_else(|| json!(number * 1000.0), |whole| json!(whole.saturating_mul(1000)));
        self.kept(format!("`timeout` of {number} s is {milliseconds} ms"));
        Some(milliseconds)
    }

    /// The matcher that selects the same; none for all.
    fn matcher(&mut self, kind: EventKind, matcher: &str) -> Option<String> {
        if matches!(matcher, "" | "*") {
            return None;
        }
        if self.is_from(DialectId::Gemini) {
            return Some(matcher.to_owned());
        }
        let names = plain_list(matcher);
        let is_tool = kind.spec().subject == Some("tool_name");
        let Some(names) = names else {
            if is_tool {
                self.lost(format!("the expression `{matcher}` is compared with the names that LLxprt has for tools"));
            }
            return Some(matcher.to_owned());
        };
        let table = tools::table();
        let translated = |name: &&str| match is_tool {
            true => table.name_in(DialectId::Llxprt, name).unwrap_or(*name).to_owned(),
            false => VALUES.iter().find(|(theirs, _)| theirs == name).map_or(*name, |(_, ours)| *ours).to_owned(),
        };
        let mut ours: Vec<String> = Vec::new();
        for name in names.iter().map(translated) {
            if !ours.contains(&name) {
                ours.push(name);
            }
        }
        let one_name = ours.len() == 1;
        let better = if one_name { format!("^{}$", ours.concat()) } else { format!("^({})$", ours.join("|")) };
        self.kept(format!("the matcher `{matcher}` is `{better}`"));
        Some(better)
    }

    /// What the hook's code would see and say otherwise.
    fn meaning(&mut self, kind: EventKind, event: &str, seen: &SeenCode) {
        let title = self.agent.title();
        if self.is_from(DialectId::Gemini) {
            for word in ["tailToolCallRequest", "clearContext"] {
                if seen.has_word(word) {
                    self.lost(format!("`{word}` in the answer has no meaning in LLxprt"));
                }
            }
            return;
        }
        let is_context = matches!(kind, EventKind::Prompt | EventKind::SessionStart);
        if is_context && !seen.has_word("additionalContext") {
            self.lost(format!("text that the hook prints is context for the model in {title}, and a message here"));
        }
        for (word, what) in names_in(self.agent, event) {
            if seen.has_word(&word) {
                self.lost(format!("the hook's code has `{word}`; {what}"));
            }
        }
        if let Some(program) = &seen.unseen {
            self.lost(format!("what `{program}` looks at cannot be seen; it gets LLxprt's names of events and tools"));
        }
    }
}

/// The names of a matcher that is a plain list of them.
fn plain_list(matcher: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = matcher.split(['|', ',']).map(str::trim).collect();
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
    };
    names.iter().all(is_name).then_some(names)
}

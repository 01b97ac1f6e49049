//! One entry, member by member.

use std::path::Path;

use hookrail::{DialectId, EventKind};
use hookrail_bridge::{Agent, tools};
use serde_json::{Map, Value, json};

use crate::agent_entries::AgentEntry;

use super::words::{SeenCode, names_in};
use super::{Format, ImportChange, ImportTarget, ImportedEntry, Meaning};

/// What the start of a session after a compression is called: in Claude Code and Codex CLI, and in LLxprt and Gemini CLI.
const COMPACT: (&str, &str) = ("compact", "compress");

/// Members of an entry that not every format has, and what is lost with each.
const LOST_MEMBERS: [(&str, &str); 7] = [
    ("args", "the program would get these arguments, without a shell"),
    ("async", "the agent would not wait for the hook; here it waits"),
    ("asyncRewake", "what the hook prints would wake the agent; here it is its answer"),
    ("once", "the hook would run once in a session; here it runs every time"),
    ("if", "the hook would run for some calls alone; here it runs for all that the matcher selects"),
    ("shell", "the hook would run in the shell that it names; here it runs in the usual one"),
    ("commandWindows", "the command for Windows is left out"),
];

/// Converts one entry.
pub(super) fn entry(
    agent: Agent,
    (from, to): (&'static Format, &'static Format),
    project: &Path,
    entry: AgentEntry,
) -> ImportedEntry {
    let AgentEntry { layer, event, group, hook, location } = entry;
    let written = hook.clone().unwrap_or_else(|| group.clone());
    let mut conversion = Conversion { agent, from, to, changes: Vec::new() };
    let converted = conversion.convert(project, &event, &group, hook.as_ref());
    let file = to.file(layer, project, &location.file);
    if converted.is_some() && file.is_none() {
        conversion.lost(format!("{} has no settings file where this one is", to.title()));
    }
    let target = converted.zip(file).map(|((event, group), file)| ImportTarget { file, event, group });
    ImportedEntry { event, location, entry: written, target, changes: conversion.changes }
}

struct Conversion {
    agent: Agent,
    from: &'static Format,
    to: &'static Format,
    changes: Vec<ImportChange>,
}

impl Conversion {
    fn kept(&mut self, text: impl Into<String>) {
        self.changes.push(ImportChange { text: text.into(), meaning: Meaning::Kept });
    }

    fn lost(&mut self, text: impl Into<String>) {
        self.changes.push(ImportChange { text: text.into(), meaning: Meaning::Lost });
    }

    /// Returns the event and the group in the other format; none if there is nothing that does the same.
    fn convert(
        &mut self,
        project: &Path,
        event: &str,
        group: &Value,
        hook: Option<&Value>,
    ) -> Option<(&'static str, Value)> {
        let (title, other) = (self.from.title(), self.to.title());
        let Some(hook) = hook.and_then(Value::as_object) else {
            self.lost(format!("the group has no list `hooks`, so {title} runs nothing of it"));
            return None;
        };
        let kind = self.agent.find_event(event).map(|event| event.kind);
        let column = kind.and_then(|kind| kind.spec().column(self.to.dialect));
        let (Some(kind), Some(column)) = (kind, column) else {
            self.lost(format!("{other} has no event that is fired where {title} fires `{event}`"));
            return None;
        };
        let is_command = hook.get("type").and_then(Value::as_str).unwrap_or("command") == "command";
        let Some(command) = hook.get("command").and_then(Value::as_str).filter(|_| is_command) else {
            let shown = hook.get("type").and_then(Value::as_str).unwrap_or("no type");
            self.lost(format!("commands alone are converted, and this is `{shown}`"));
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
            if self.to.has_sequences {
                target.insert("sequential".to_owned(), sequential.clone());
            } else if *sequential == true {
                self.lost(
                    "`sequential` is left out: the hooks would run one after the other; here they run side by side",
                );
            }
        }
        let members = self.members(kind, hook);
        self.meaning(kind, event, column.name, &SeenCode::of(project, command, hook.get("args")));
        target.insert("hooks".to_owned(), json!([members]));
        Some((column.name, Value::Object(target)))
    }

    /// The members of the hook.
    fn members(&mut self, kind: EventKind, hook: &Map<String, Value>) -> Map<String, Value> {
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
                same if self.to.has_member(same) => {
                    members.insert(name.clone(), value.clone());
                }
                other => match LOST_MEMBERS.iter().find(|(lost, _)| *lost == other) {
                    Some((_, what)) => self.lost(format!("`{other}` is left out: {what}")),
                    None => self.kept(format!("`{other}` is left out: it has no meaning in {}", self.to.title())),
                },
            }
        }
        let usual = |format: &Format| kind.spec().column(format.dialect).map(|column| column.timeout);
        let (before, after) = (usual(self.from), usual(self.to));
        if let Some(time) = before.filter(|time| !hook.contains_key("timeout") && Some(*time) != after) {
            let written = time.as_secs_f64() * f64::from(self.to.in_a_second);
            members.insert("timeout".to_owned(), number(written));
            let other = after.unwrap_or_default().as_secs_f64();
            let (is, title) = (time.as_secs_f64(), self.to.title());
            self.kept(format!("the usual time of {is} s is written, because that of {title} is {other} s"));
        }
        if self.from.shell != self.to.shell && !hook.contains_key("args") {
            self.kept(format!("the command is given to {}, not to {}", self.to.shell, self.from.shell));
        }
        members
    }

    /// The time in the units of the other format.
    fn timeout(&mut self, value: &Value) -> Option<Value> {
        let Some(given) = value.as_f64().filter(|number| *number > 0.0) else {
            self.kept("`timeout` is left out: it is not a positive number");
            return None;
        };
        let (before, after) = (self.from.in_a_second, self.to.in_a_second);
        if before == after {
            return Some(value.clone());
        }
        let unit = |in_a_second: u32| if in_a_second == 1 { "s" } else { "ms" };
        let converted = number(given / f64::from(before) * f64::from(after));
        self.kept(format!("`timeout` of {given} {} is {converted} {}", unit(before), unit(after)));
        Some(converted)
    }

    /// The matcher that selects the same; none for all.
    fn matcher(&mut self, kind: EventKind, matcher: &str) -> Option<String> {
        if matches!(matcher, "" | "*") {
            return None;
        }
        if self.from.dialect == DialectId::Gemini && self.to.dialect == DialectId::Llxprt {
            return Some(matcher.to_owned());
        }
        let table = tools::table();
        let is_tool = kind.spec().subject == Some("tool_name");
        // An expression that selects parts of names may select more than the tools that it names.
        let is_known = |name: &&str| table.name_in(self.from.dialect, name) == Some(*name);
        let is_list = |names: &Vec<&str>| self.from.lists_names || !is_tool || names.iter().all(is_known);
        let Some(names) = plain_list(matcher).filter(is_list) else {
            if is_tool {
                let title = self.to.title();
                self.lost(format!("the expression `{matcher}` is compared with the names that {title} has for tools"));
            }
            return Some(matcher.to_owned());
        };
        let value = |name: &str| match self.to.lists_names {
            true if name == COMPACT.1 => COMPACT.0.to_owned(),
            false if name == COMPACT.0 => COMPACT.1.to_owned(),
            true | false => name.to_owned(),
        };
        let translated = |name: &&str| match is_tool {
            true => table.name_in(self.to.dialect, name).unwrap_or(*name).to_owned(),
            false => value(name),
        };
        let mut ours: Vec<String> = Vec::new();
        for name in names.iter().map(translated) {
            if !ours.contains(&name) {
                ours.push(name);
            }
        }
        let better = match ours.as_slice() {
            names if self.to.lists_names => names.join("|"),
            [name] => format!("^{name}$"),
            names => format!("^({})$", names.join("|")),
        };
        if better != matcher {
            self.kept(format!("the matcher `{matcher}` is `{better}`"));
        }
        Some(better)
    }

    /// What the hook's code would see and say otherwise.
    fn meaning(&mut self, kind: EventKind, event: &str, other_event: &str, seen: &SeenCode) {
        let title = self.from.title();
        if self.from.dialect == DialectId::Gemini {
            for word in ["tailToolCallRequest", "clearContext"] {
                if seen.has_word(word) {
                    self.lost(format!("`{word}` in the answer has no meaning in {}", self.to.title()));
                }
            }
            if self.to.dialect == DialectId::Llxprt {
                return;
            }
        }
        let is_context = (self.from.takes_text.contains(&kind), self.to.takes_text.contains(&kind));
        if is_context.0 != is_context.1 && !seen.has_word("additionalContext") {
            let meaning = |is_context: bool| if is_context { "context for the model" } else { "a message" };
            let (before, after) = (meaning(is_context.0), meaning(is_context.1));
            self.lost(format!("text that the hook prints is {before} in {title}, and {after} here"));
        }
        let writes_files = || tools::table().name_in(self.to.dialect, "write_file").is_none();
        if matches!(kind, EventKind::BeforeTool | EventKind::AfterTool | EventKind::PermissionRequest)
            && writes_files()
            && ["file_path", "content", "Write", "Edit", "write_file", "replace"].iter().any(|word| seen.has_word(word))
        {
            self.lost(format!(
                "{} has patches in the place of file tools: `tool_input.command` is one",
                self.to.title()
            ));
        }
        let renamed = (event != other_event).then_some(event);
        for (word, what) in names_in(self.agent, self.from, self.to, renamed) {
            if seen.has_word(&word) {
                self.lost(format!("the hook's code has `{word}`; {what}"));
            }
        }
        if let Some(program) = &seen.unseen {
            let title = self.to.title();
            self.lost(format!("what `{program}` looks at cannot be seen; it gets the names that {title} has"));
        }
    }
}

/// A number as people write it: without a fraction where it has none.
fn number(value: f64) -> Value {
    let whole = value.round();
    if (value - whole).abs() < 1e-9 && whole.abs() < 1e15 {
        return serde_json::from_str(&format!("{whole:.0}")).unwrap_or_else(|_| json!(value));
    }
    json!(value)
}

/// The names of a matcher that is a plain list of them.
fn plain_list(matcher: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = matcher.split(['|', ',']).map(str::trim).collect();
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
    };
    names.iter().all(is_name).then_some(names)
}

//! The hooks that an agent runs itself, beside those that hookrail runs for it, and what both would run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::hook::{Action, Enablement};
use hookrail::sources::Location;
use hookrail::{EventKind, Hook, HookSystem};
use hookrail_bridge::Agent;
use hookrail_bridge::doctor::DoctorCheck;
use serde_json::Value;

use super::hooks::{AskedHooks, is_run_by_agent};
use crate::agent_entries::{self, AgentEntry};
use crate::lint::{dead_guards, find_problems, hidden_tools};
use crate::text::{counted, one_line, short, visible};

/// How much of a command is shown.
const MOST_LETTERS: usize = 60;

/// One hook that the agent runs itself.
struct OwnHook<'a> {
    kind: Option<EventKind>,
    event: &'a str,
    command: Option<&'a str>,
    location: &'a Location,
}

/// The files with hooks that hookrail leaves to the agent.
pub(super) fn left_files(system: &HookSystem) -> Vec<PathBuf> {
    let snapshot = system.snapshot();
    let left = snapshot.hooks().iter().filter(|hook| is_run_by_agent(hook));
    let mut files: Vec<PathBuf> = left.map(|hook| hook.origin.location.file.to_path_buf()).collect();
    files.sort();
    files.dedup();
    files
}

/// Says which hooks the agent runs itself, and warns about those that hookrail would run too.
pub(super) fn examine(agent: Agent, asked: &AskedHooks) -> Vec<DoctorCheck> {
    let entries: Vec<AgentEntry> = agent_entries::of_agent(agent, &asked.started).entries;
    let mut own: Vec<OwnHook<'_>> = entries.iter().filter_map(|entry| OwnHook::of_entry(agent, entry)).collect();
    // A dialect knows more places than the settings files: plugins, extensions, and files of other agents.
    let is_new = |hook: &&Arc<Hook>| entries.iter().all(|entry| entry.location.file != hook.origin.location.file);
    own.extend(asked.run_by_agent.iter().filter(is_new).map(|hook| OwnHook::of_hook(hook)));
    let mut files: BTreeMap<&Path, usize> = BTreeMap::new();
    for hook in &own {
        *files.entry(&hook.location.file).or_default() += 1;
    }
    let title = agent.title();
    let mut checks = Vec::new();
    for (file, count) in files {
        let text = format!("{title} itself runs {} of `{}`", counted(count, "hook"), file.display());
        checks.push(DoctorCheck::fine("own-hooks", visible(&text)));
    }
    let snapshot = asked.system.snapshot();
    let left = snapshot.hooks().iter().filter(|hook| is_run_by_agent(hook)).count();
    if left > 0 {
        let text = format!("hookrail leaves {} to {title}, which reads the same files", counted(left, "hook"));
        checks.push(DoctorCheck::fine("own-hooks", text));
    }
    let active = |hook: &&Arc<Hook>| hook.enablement == Enablement::Active && hook.trust.allows();
    for hook in snapshot.hooks().iter().filter(active) {
        for entry in own.iter().filter(|entry| entry.is_same(hook)) {
            let (here, there) = (&hook.origin.location, entry.location);
            let text = format!(
                "`{}` runs twice at {}: {title} runs the entry in `{}`, line {}, and hookrail the one in `{}`, line {}",
                short(&one_line(&hook.label), MOST_LETTERS),
                entry.event,
                there.file.display(),
                there.line,
                here.file.display(),
                here.line,
            );
            let fix = "remove one of the two entries";
            checks.push(DoctorCheck::warning("double-run", visible(&text), fix));
        }
    }
    checks
}

impl<'a> OwnHook<'a> {
    /// A group without an inner list has no hook.
    fn of_entry(agent: Agent, entry: &'a AgentEntry) -> Option<Self> {
        let command = entry.hook.as_ref()?.get("command").and_then(Value::as_str);
        let kind = agent.find_event(&entry.event).map(|event| event.kind);
        Some(Self { kind, event: &entry.event, command, location: &entry.location })
    }

    fn of_hook(hook: &'a Hook) -> Self {
        let command = if let Action::Shell(line) = &hook.action { Some(&**line) } else { None };
        let kind = hook.known_event();
        Self { kind, event: kind.map_or("another event", EventKind::name), command, location: &hook.origin.location }
    }

    /// Whether a hook of another place runs the same command for the same event.
    fn is_same(&self, hook: &Hook) -> bool {
        let Action::Shell(line) = &hook.action else { return false };
        self.kind.is_some()
            && hook.known_event() == self.kind
            && self.command.is_some_and(|command| command.trim() == line.trim())
            && hook.origin.location.file != self.location.file
    }
}

/// Warns about guards that never guard, or not every tool of the agent that they name, although they are configured and granted.
pub(super) fn examine_guards(agent: Agent, asked: &AskedHooks) -> Vec<DoctorCheck> {
    let findings = find_problems(&asked.system).into_iter().map(|finding| finding.diagnostic);
    let dead = findings.filter(|found| dead_guards::CODES.contains(&found.code));
    dead.chain(hidden_tools(&asked.system, agent))
        .map(|found| {
            let place = found.location.as_ref().map(|place| asked.place(place)).unwrap_or_default();
            let text = visible(&format!("`{place}`: {}", found.message));
            DoctorCheck::warning("dead-guard", text, found.hint.unwrap_or_default())
        })
        .collect()
}

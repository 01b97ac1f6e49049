//! The hooks that an agent runs itself, beside those that hookrail runs for it, and what both would run.

use std::collections::BTreeMap;
use std::path::Path;

use hookrail::hook::{Action, Enablement};
use hookrail::{EventKind, Hook, HookSystem};
use hookrail_bridge::Agent;
use hookrail_bridge::doctor::DoctorCheck;
use serde_json::Value;

use super::hooks::AskedHooks;
use crate::agent_entries::{self, AgentEntry};
use crate::lint::{dead_guards, find_problems};
use crate::text::{counted, one_line, short, visible};

/// How much of a command is shown.
const MOST_LETTERS: usize = 60;

/// Says which hooks the agent runs itself, and warns about those that hookrail would run too.
pub(super) fn examine(agent: Agent, project: &Path, system: &HookSystem) -> Vec<DoctorCheck> {
    let own: Vec<AgentEntry> = agent_entries::of_agent(agent, project).entries;
    let own: Vec<&AgentEntry> = own.iter().filter(|entry| entry.hook.is_some()).collect();
    let mut files: BTreeMap<&Path, usize> = BTreeMap::new();
    for entry in &own {
        *files.entry(&entry.location.file).or_default() += 1;
    }
    let title = agent.title();
    let mut checks = Vec::new();
    for (file, count) in files {
        let text = format!("{title} itself runs {} of `{}`", counted(count, "hook"), file.display());
        checks.push(DoctorCheck::fine("own-hooks", visible(&text)));
    }
    let snapshot = system.snapshot();
    let left = snapshot.hooks().iter().filter(|hook| hook.enablement == Enablement::RunByAgent).count();
    if left > 0 {
        let text = format!("hookrail leaves {} to {title}, which reads the same files", counted(left, "hook"));
        checks.push(DoctorCheck::fine("own-hooks", text));
    }
    let active = |hook: &&std::sync::Arc<Hook>| hook.enablement == Enablement::Active && hook.trust.allows();
    for hook in snapshot.hooks().iter().filter(active) {
        for entry in own.iter().filter(|entry| is_same(agent, entry, hook)) {
            let (here, there) = (&hook.origin.location, &entry.location);
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

/// Whether a hook runs the command of an entry for the event of the entry.
fn is_same(agent: Agent, entry: &AgentEntry, hook: &Hook) -> bool {
    let kind: Option<EventKind> = agent.find_event(&entry.event).map(|event| event.kind);
    let command = entry.hook.as_ref().and_then(|hook| hook.get("command")).and_then(Value::as_str);
    let line = match &hook.action {
        Action::Shell(line) => &**line,
        _ => return false,
    };
    let is_same_place = *hook.origin.location.file == *entry.location.file;
    kind.is_some()
        && hook.known_event() == kind
        && command.is_some_and(|command| command.trim() == line.trim())
        && !is_same_place
}

/// Warns about guards that never guard although they are configured and granted.
pub(super) fn examine_guards(asked: &AskedHooks) -> Vec<DoctorCheck> {
    let findings = find_problems(&asked.system).into_iter().map(|finding| finding.diagnostic);
    let dead = findings.filter(|found| dead_guards::CODES.contains(&found.code));
    dead.map(|found| {
        let place = found.location.as_ref().map(|place| asked.place(place)).unwrap_or_default();
        let text = visible(&format!("`{place}`: {}", found.message));
        DoctorCheck::warning("dead-guard", text, found.hint.unwrap_or_default())
    })
    .collect()
}

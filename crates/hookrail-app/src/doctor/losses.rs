//! What the hooks at hand could lose in an agent, and what hooks lost in past sessions.

use std::collections::{BTreeMap, BTreeSet};

use hookrail::hook::Enablement;
use hookrail::{EventKind, Hook, HookSystem};
use hookrail_bridge::doctor::DoctorCheck;
use hookrail_bridge::{Agent, NoisyEvents};

use crate::bridge::session_file::SessionFiles;
use crate::text::{counted, visible};

/// The hooks that take part, wait for a grant or are switched off.
fn hooks(system: &HookSystem) -> Vec<(EventKind, std::sync::Arc<Hook>)> {
    let snapshot = system.snapshot();
    let hooks = snapshot.hooks().iter().filter(|hook| hook.enablement != Enablement::OwnBridge);
    hooks.filter_map(|hook| Some((hook.known_event()?, std::sync::Arc::clone(hook)))).collect()
}

/// The events that hooks at hand wait for.
pub(super) fn wanted_events(system: &HookSystem) -> BTreeSet<EventKind> {
    hooks(system).into_iter().map(|(kind, _)| kind).collect()
}

/// Hooks that wait for an event which the agent does not have, and wishes of the others that it cannot honour.
pub(super) fn examine(agent: Agent, system: &HookSystem, noisy: NoisyEvents) -> Vec<DoctorCheck> {
    let is_filtered = |kind: EventKind| noisy == NoisyEvents::Filtered && agent.is_filtered(kind);
    let reaches = |kind: EventKind| agent.fires(kind) && !is_filtered(kind);
    let (reached, unreached): (Vec<_>, Vec<_>) = hooks(system).into_iter().partition(|(kind, _)| reaches(*kind));
    let takes_part = |hook: &Hook| hook.enablement == Enablement::Active && hook.trust.allows();
    let part = reached.iter().filter(|(_, hook)| takes_part(hook)).count();
    let mut checks =
        vec![DoctorCheck::fine("hooks", format!("{} of this project and user can take part", counted(part, "hook")))];
    for (kind, hook) in unreached {
        let waits = format!("hook `{}` waits for {kind}, which {}", visible(&hook.label), agent.title());
        checks.push(if is_filtered(kind) {
            let text = format!("{waits} fires before every model call: the bridge leaves it out");
            let fix = format!("if the hook is to run before every model call, run `hookrail install {agent} --noisy`");
            DoctorCheck::warning("hooks", text, fix)
        } else {
            DoctorCheck::warning("hooks", format!("{waits} does not fire"), instead_of(kind))
        });
    }
    let mut events: BTreeMap<EventKind, (usize, BTreeMap<&'static str, &'static str>)> = BTreeMap::new();
    for (kind, hook) in reached {
        let losses = agent.possible_losses(hook.dialect, kind);
        if losses.is_empty() {
            continue;
        }
        let (count, wishes) = events.entry(kind).or_default();
        *count += 1;
        wishes.extend(losses.iter().map(|loss| (loss.effect.name(), loss.handling.described())));
    }
    for (kind, (count, wishes)) in events {
        let wishes: Vec<String> = wishes.iter().map(|(wish, instead)| format!("`{wish}` ({instead})")).collect();
        let text = format!(
            "{} at {kind} could ask for what {} cannot do: {}",
            counted(count, "hook"),
            agent.title(),
            wishes.join(", ")
        );
        // Every agent lacks something, and most hooks never ask for it; what was lost is a warning.
        checks.push(DoctorCheck::fine("losses", format!("{text}; see `hookrail docs {agent}`")));
    }
    checks
}

/// What to do about an event that the agent does not fire.
fn instead_of(kind: EventKind) -> String {
    match kind {
        EventKind::BeforeModel | EventKind::AfterModel | EventKind::ToolSelection => {
            let titles: Vec<&str> =
                Agent::ALL.into_iter().filter(|agent| agent.fires(kind)).map(Agent::title).collect();
            let (shows, calls) = if titles.len() == 1 { ("shows", "its") } else { ("show", "their") };
            let titles = titles.join(" and ");
            format!("guard the prompt and the tools instead: only {titles} {shows} {calls} model calls to hooks")
        }
        _ => "it never runs in this agent".to_owned(),
    }
}

/// What hooks asked for in past sessions and did not get as they meant it.
pub(super) fn examine_past(agent: Agent) -> Vec<DoctorCheck> {
    let Ok(store) = SessionFiles::of(agent) else { return Vec::new() };
    let losses = store.recorded_losses();
    let check = |(name, count): (String, u64)| {
        let text = format!(
            "{}: {} in past sessions",
            visible(&name),
            counted(usize::try_from(count).unwrap_or(usize::MAX), "time")
        );
        let fix = format!("read in `hookrail docs agents/{agent}` what {} does instead", agent.title());
        DoctorCheck::warning("past-losses", text, fix)
    };
    losses.into_iter().map(check).collect()
}

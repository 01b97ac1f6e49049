//! The events for which an installation makes an agent call the bridge.

use std::path::Path;

use hookrail::EventKind;
use hookrail::hook::Enablement;
use hookrail_bridge::Agent;
use hookrail_bridge::install::{SettingsSyntax, bridge_calls, read_settings};

use super::InstallRequest;
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::text::visible;

/// The events that the bridge takes part in unless others are named. Guards of any project can want each of these, and the
/// bridge itself needs prompts, results and ends to keep what an agent cannot do at once, so a choice by the hooks at hand
/// could lose a guard. The other events cost a process for every model call or turn and are added when a hook at hand wants
/// them.
const EVENTS: [EventKind; 8] = [
    EventKind::SessionStart,
    EventKind::SessionEnd,
    EventKind::Prompt,
    EventKind::BeforeTool,
    EventKind::PermissionRequest,
    EventKind::AfterTool,
    EventKind::AgentEnd,
    EventKind::BeforeCompact,
];

/// Chooses the events: those that the command line names, or else the usual ones, those that hooks at hand wait for, and those
/// that are registered already because another project may have hooks for them.
pub(super) fn choose(
    request: &InstallRequest,
    wanted: &[(EventKind, String)],
    registered: &[EventKind],
) -> Result<Vec<EventKind>> {
    if !request.events.is_empty() {
        return request.events.iter().map(|name| named(request.agent, name)).collect();
    }
    let mut events = EVENTS.to_vec();
    events.extend(wanted.iter().map(|(kind, _)| *kind));
    events.extend(registered);
    // One process for every model call, which the bridge ends without asking a hook.
    events.retain(|kind| request.fires_noisy_events() || !request.agent.is_filtered(*kind));
    Ok(events)
}

/// The event of a name, which is hookrail's or the agent's.
fn named(agent: Agent, name: &str) -> Result<EventKind> {
    let title = agent.title();
    if agent.plugin_template().is_some() {
        return Err(Failure::new(format!("the generated file for {title} always passes on every event"))
            .hint("leave `--events` out"));
    }
    let own = agent.find_event(name).map(|event| event.kind);
    let kind = own.or_else(|| EventKind::all().find(|kind| kind.name() == name));
    kind.filter(|kind| agent.fires(*kind)).ok_or_else(|| {
        let mut known: Vec<&str> = agent.events().iter().map(|event| event.kind.name()).collect();
        known.dedup();
        Failure::new(format!("{title} does not fire `{}`", visible(name)))
            .hint(format!("it fires {}", known.join(", ")))
    })
}

/// The events that hooks at hand wait for, each with a hook that does. Configuration that cannot be read wants nothing: it is
/// reported when it is used.
pub(super) fn wanted_by_hooks(root: &Path) -> Vec<(EventKind, String)> {
    let Ok(builder) = Project::open(root).and_then(|project| project.builder(root)) else { return Vec::new() };
    let snapshot = builder.build().snapshot();
    let hooks = snapshot.hooks().iter().filter(|hook| hook.enablement != Enablement::OwnBridge);
    let mut wanted: Vec<(EventKind, String)> =
        hooks.filter_map(|hook| Some((hook.known_event()?, hook.label.to_string()))).collect();
    wanted.sort_by_key(|(kind, _)| *kind as usize);
    wanted.dedup_by_key(|(kind, _)| *kind);
    wanted
}

/// The events for which a file calls the bridge already.
pub(super) fn registered(agent: Agent, path: &Path) -> Vec<EventKind> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let settings = read_settings(&text, SettingsSyntax::LenientJson).unwrap_or_default();
    let calls = bridge_calls(agent, &settings);
    calls.iter().filter_map(|call| agent.find_event(&call.event)).map(|event| event.kind).collect()
}

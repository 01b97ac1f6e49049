//! Computes the settings with which an agent calls the bridge, and how to remove them.
//!
//! Nothing here touches a file: a function gets the text that a settings file has and returns the text it should have. The
//! command line shows the difference, writes it and records it.

mod agent_folders;
mod author;
mod call;
mod current;
mod edit;
mod entries;
mod groups;
mod layout;
mod remove;
mod syntax;

use hookrail::hook::denies_on_failure;
use serde_json::Value;

use crate::agents::Agent;
use call::BridgeCommand;

pub use crate::settings::{
    AgentFile, AgentFolders, DifferenceEffect, EditError, EntryDifference, FilePlace, FolderStanding, Insertion,
    InstalledCall, MissingProgram, Scope, SettingsSyntax, record_replacement,
};
pub use crate::spec::{FolderTrust, HookConsent, TrustScene};
pub use agent_folders::UnsupportedScope;
pub use author::{FileAuthor, own_file_author};
pub use edit::insert_entries;
pub use entries::{BridgeOption, InstallOptions, SettingsEntry, SettingsFile, settings_files};
pub use groups::{HookGroup, groups_in, insert_groups, insert_member};
pub use remove::{CallPlace, call_places, remove_entries, take_back};
pub use syntax::{read_agent_file, read_settings};

/// Whether a command calls the bridge, for any agent.
#[must_use]
pub fn calls_bridge(command: &str) -> bool {
    BridgeCommand::read(command).is_some()
}

/// Every hook of an agent's settings file that calls the bridge.
#[must_use]
pub fn bridge_calls(agent: Agent, settings: &Value) -> Vec<InstalledCall> {
    let mut calls = Vec::new();
    for ListedHook { event, group, hook } in listed_hooks(settings) {
        let Some((command, called)) = bridge_command(hook) else { continue };
        let timeout = hook.get("timeout").or_else(|| hook.get("timeoutSec")).and_then(Value::as_f64);
        let differences = current::differences_in_file(agent, event, group, hook);
        let missing_program = if denies_on_failure(command) {
            MissingProgram::Denies
        } else {
            (agent.spec().install.missing_program)(hook)
        };
        let (event, command, arguments) = (event.to_owned(), command.to_owned(), called.words());
        let program = called.program;
        calls.push(InstalledCall { event, command, program, arguments, timeout, differences, missing_program });
    }
    calls
}

/// The number of hooks in an agent's settings file that are the agent's own: those that do not call the bridge.
#[must_use]
pub fn count_foreign_hooks(settings: &Value) -> usize {
    let is_hook = |hook: &Value| ["type", "command", "bash"].iter().any(|member| hook.get(member).is_some());
    listed_hooks(settings).filter(|listed| is_hook(listed.hook) && bridge_command(listed.hook).is_none()).count()
}

/// A hook in a settings file, with the group it is in, which is the hook itself if there is none.
struct ListedHook<'s> {
    event: &'s str,
    group: &'s Value,
    hook: &'s Value,
}

fn listed_hooks(settings: &Value) -> impl Iterator<Item = ListedHook<'_>> {
    let events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    events.flat_map(|(event, groups)| {
        groups.as_array().into_iter().flatten().flat_map(move |group| {
            // Some agents list hooks without groups, and name their members `bash` and `timeoutSec`.
            let single = std::slice::from_ref(group);
            let hooks = group.get("hooks").and_then(Value::as_array).map_or(single, Vec::as_slice);
            hooks.iter().map(move |hook| ListedHook { event, group, hook })
        })
    })
}

/// The command of a hook that calls the bridge.
fn bridge_command(hook: &Value) -> Option<(&str, BridgeCommand)> {
    let command = hook.get("command").or_else(|| hook.get("bash")).and_then(Value::as_str)?;
    Some((command, BridgeCommand::read(command)?))
}

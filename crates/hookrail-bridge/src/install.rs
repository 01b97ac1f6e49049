//! Computes the settings with which an agent calls the bridge, and how to remove them.
//!
//! Nothing here touches a file: a function gets the text that a settings file has and returns the text it should have. The
//! command line shows the difference, writes it and records it.

mod author;
mod call;
mod codex_trust;
mod current;
mod edit;
mod entries;
mod groups;
mod layout;
mod places;
mod remove;
mod syntax;

use hookrail::hook::denies_on_failure;
use serde_json::Value;

use call::BridgeCommand;

pub use author::{FileAuthor, own_file_author};
pub use codex_trust::{CodexTrust, TrustState, codex_trust, codex_trust_state, trust_codex_hooks};
pub use current::{DifferenceEffect, EntryDifference};
pub use edit::{EditError, Insertion, insert_entries, record_replacement};
pub use entries::{BridgeOption, InstallOptions, SettingsEntry, SettingsFile, SettingsSyntax, settings_files};
pub use groups::{HookGroup, groups_in, insert_groups, insert_member};
pub use places::{Locations, Scope, UnsupportedScope};
pub use remove::{CallPlace, call_places, remove_entries, take_back};
pub use syntax::{read_agent_file, read_settings};

/// A hook of a settings file that calls the bridge.
#[derive(Clone, Debug, PartialEq)]
pub struct BridgeCall {
    /// The agent's name of the event.
    pub event: String,
    /// The command.
    pub command: String,
    /// The program in it.
    pub program: String,
    /// The words behind the program.
    pub arguments: Vec<String>,
    /// The time that the agent waits, in the agent's unit, if it is written there.
    pub timeout: Option<f64>,
    /// In what the entry is not the one that an installation writes.
    pub differences: Vec<EntryDifference>,
    /// What the agent does if the program of the command cannot be started.
    pub missing_program: MissingProgram,
}

/// What an agent does if it cannot start the program of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingProgram {
    /// It denies what the entry is asked about.
    Denies,
    /// It goes on as if there were no entry.
    Passes,
}

impl MissingProgram {
    fn of(agent: crate::Agent, hook: &Value, command: &str) -> Self {
        use crate::Agent::{Claude, Codex, Copilot, Gemini, OpenCode, Pi, Qwen};
        match agent {
            _ if denies_on_failure(command) => Self::Denies,
            Gemini | Copilot | OpenCode | Pi => Self::Denies,
            Claude if hook.get("onFailure").and_then(Value::as_str) == Some("block") => Self::Denies,
            Claude | Codex | Qwen => Self::Passes,
        }
    }
}

/// Every hook of an agent's settings file that calls the bridge.
#[must_use]
pub fn bridge_calls(agent: crate::Agent, settings: &Value) -> Vec<BridgeCall> {
    let mut calls = Vec::new();
    for ListedHook { event, group, hook } in listed_hooks(settings) {
        let Some((command, called)) = bridge_command(hook) else { continue };
        let timeout = hook.get("timeout").or_else(|| hook.get("timeoutSec")).and_then(Value::as_f64);
        let differences = current::differences_in_file(agent, event, group, hook);
        let missing_program = MissingProgram::of(agent, hook, command);
        let (event, command, arguments) = (event.to_owned(), command.to_owned(), called.words());
        let program = called.program;
        calls.push(BridgeCall { event, command, program, arguments, timeout, differences, missing_program });
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
            // Copilot lists hooks without groups, and names their members `bash` and `timeoutSec`.
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

impl crate::Agent {
    /// The plugin or the extension that is generated for the agent, with placeholders for what an installation fills in.
    #[must_use]
    pub const fn plugin_template(self) -> Option<&'static str> {
        match self {
            Self::OpenCode => Some(OPENCODE_PLUGIN),
            Self::Pi => Some(PI_EXTENSION),
            Self::Claude | Self::Codex | Self::Gemini | Self::Qwen | Self::Copilot => None,
        }
    }
}

/// The plugin for OpenCode, with placeholders for what an installation fills in.
const OPENCODE_PLUGIN: &str = include_str!("../assets/opencode.js");

/// The extension for pi, with placeholders for what an installation fills in.
const PI_EXTENSION: &str = include_str!("../assets/pi.ts");

//! The entries of the bridge in each agent's form.

use std::path::{Path, PathBuf};

use hookrail::EventKind;
use hookrail::hook::denying_on_failure;
use serde_json::{Value, json};

use super::places::{Locations, Scope, UnsupportedScope};
use crate::{Agent, AgentEvent};

/// What the person who installs chose.
#[derive(Clone, Debug)]
pub struct InstallOptions {
    /// The program that the agent calls, as an absolute path.
    pub program: PathBuf,
    /// Whose sessions.
    pub scope: Scope,
    /// The neutral events that hooks want. Session-start is always there: it tells about hooks that are not trusted.
    pub events: Vec<EventKind>,
    /// How long the agent waits for the bridge, in seconds.
    pub timeout_seconds: u32,
    /// What the bridge is told at every call.
    pub bridge: Vec<BridgeOption>,
}

/// An option of `hookrail bridge` that an installation passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BridgeOption {
    /// An `allow` of a hook skips the agent's own permission prompt.
    AllowSkipsPrompt,
    /// A person sits at the agent's terminal and can be asked.
    Attended,
    /// Events are fired that the agent repeats without need.
    Noisy,
    /// Gating events are denied while hooks of the project wait for trust.
    StrictTrust,
}

impl BridgeOption {
    /// The option on the command line.
    #[must_use]
    pub const fn flag(self) -> &'static str {
        match self {
            Self::AllowSkipsPrompt => "--allow-skips-prompt",
            Self::Attended => "--attended",
            Self::Noisy => "--noisy",
            Self::StrictTrust => "--strict-trust",
        }
    }
}

impl InstallOptions {
    /// The bridge answers before the agent stops waiting: every agent lets a tool run when its hook times out.
    fn deadline_ms(&self) -> u64 {
        u64::from(self.timeout_seconds) * 800
    }

    /// The deadline for one event, which is shorter where the agent waits less than its settings say.
    fn deadline_of_event(&self, agent: Agent, event: &AgentEvent) -> u64 {
        let longest = agent.longest_wait_ms(event.kind).map(u64::from);
        longest.map_or(self.deadline_ms(), |wait| self.deadline_ms().min(wait * 4 / 5))
    }

    /// The agent's timeout for one event, in seconds.
    fn seconds(&self, agent: Agent, event: &AgentEvent) -> u32 {
        let longest = agent.longest_wait_ms(event.kind).map(|wait| wait.div_ceil(1000));
        longest.map_or(self.timeout_seconds, |wait| self.timeout_seconds.min(wait))
    }

    fn command(&self, agent: Agent, event: &AgentEvent) -> String {
        let program = shell_quoted(&self.program.to_string_lossy());
        let call = format!(
            "{program} bridge {agent} --event {} --deadline {}",
            event.name,
            self.deadline_of_event(agent, event)
        );
        let call = self.bridge.iter().fold(call, |call, option| format!("{call} {}", option.flag()));
        if denies_failure(event) { denying_on_failure(&call, &failure_sentence(agent)) } else { call }
    }

    fn wanted(&self, agent: Agent) -> impl Iterator<Item = &'static AgentEvent> {
        let wanted = |event: &&AgentEvent| event.kind == EventKind::SessionStart || self.events.contains(&event.kind);
        agent.events().iter().filter(wanted)
    }
}

/// Whether an entry for an event denies when the bridge cannot answer, because its program is gone or the machine lacks memory,
/// descriptors or processes. At the end of an answer status 2 would keep the agent going.
pub(super) fn denies_failure(event: &AgentEvent) -> bool {
    // There is no `/bin/sh` elsewhere.
    cfg!(unix) && event.guards_an_operation()
}

/// What the user reads when the bridge did not answer.
fn failure_sentence(agent: Agent) -> String {
    format!(
        "hookrail: the bridge did not answer, so this is denied. Repair it with: hookrail doctor {agent}. Take it out with: \
         hookrail uninstall {agent}"
    )
}

/// A word that a shell reads as it is.
fn shell_quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// One entry for one event.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsEntry {
    /// The agent's name of the event, which is the key of the list that gets the entry.
    pub event: &'static str,
    /// The entry.
    pub value: Value,
    /// The command in it.
    pub command: String,
}

/// A file that an installation writes.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsFile {
    /// A file that other programs and people write too: entries are added to the lists below `hooks`.
    Shared {
        /// The file.
        path: PathBuf,
        /// The entries.
        entries: Vec<SettingsEntry>,
        /// What the agent accepts in it.
        syntax: SettingsSyntax,
    },
    /// A file that belongs to hookrail alone.
    Own {
        /// The file.
        path: PathBuf,
        /// What it holds.
        text: String,
    },
}

/// What an agent accepts in a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsSyntax {
    /// JSON and nothing else: a comment makes the agent ignore all hooks of the file.
    StrictJson,
    /// JSON with comments. A trailing comma makes the file unreadable.
    JsonWithComments,
    /// JSON with comments, trailing commas and the other liberties of JSON5: for files about whose reader nothing else is
    /// known.
    LenientJson,
}

impl SettingsSyntax {
    /// What an agent accepts in its JSON files.
    #[must_use]
    pub const fn of(agent: Agent) -> Self {
        match agent {
            Agent::Claude | Agent::Codex => Self::StrictJson,
            Agent::Gemini | Agent::Qwen => Self::JsonWithComments,
            Agent::Copilot | Agent::OpenCode | Agent::Pi => Self::LenientJson,
        }
    }
}

impl SettingsFile {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Shared { path, .. } | Self::Own { path, .. } => path,
        }
    }
}

/// The files that make an agent call the bridge.
///
/// # Errors
///
/// The agent has no hooks in this scope.
pub fn settings_files(
    agent: Agent,
    options: &InstallOptions,
    locations: &Locations<'_>,
) -> Result<Vec<SettingsFile>, UnsupportedScope> {
    let path = locations.settings_path(agent, options.scope)?;
    let entries = || entries(agent, options);
    let shared =
        || vec![SettingsFile::Shared { path: path.clone(), entries: entries(), syntax: SettingsSyntax::of(agent) }];
    let own = |text: String| vec![SettingsFile::Own { path: path.clone(), text }];
    Ok(match (agent, options.scope) {
        (Agent::Claude, Scope::System) => own(pretty(&json!({ "hooks": grouped(&entries()) }))),
        (Agent::Claude | Agent::Codex | Agent::Qwen, _) | (Agent::Gemini, Scope::Project | Scope::System) => shared(),
        (Agent::Gemini, Scope::User) => {
            let manifest = json!({ "name": "hookrail", "version": env!("CARGO_PKG_VERSION") });
            let folder = path.parent().and_then(Path::parent).unwrap_or(&path).to_owned();
            let mut files = own(pretty(&json!({ "hooks": grouped(&entries()) })));
            files.push(SettingsFile::Own { path: folder.join("gemini-extension.json"), text: pretty(&manifest) });
            files
        }
        (Agent::Copilot, _) => own(pretty(&json!({ "version": 1, "hooks": grouped(&entries()) }))),
        (Agent::OpenCode, _) => own(plugin_text(super::OPENCODE_PLUGIN, options)),
        (Agent::Pi, _) => own(plugin_text(super::PI_EXTENSION, options)),
    })
}

/// The generated plugin: the asset with the program, the deadline and the options filled in.
fn plugin_text(asset: &str, options: &InstallOptions) -> String {
    let program = Value::from(options.program.to_string_lossy().into_owned());
    let flags: Vec<&str> = options.bridge.iter().map(|option| option.flag()).collect();
    asset
        .replace("\"@PROGRAM@\"", &program.to_string())
        .replace("\"@DEADLINE@\"", &options.deadline_ms().to_string())
        .replace("\"@OPTIONS@\"", &json!(flags).to_string())
}

fn pretty(value: &Value) -> String {
    // A value that was made of texts and numbers can always be written.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn grouped(entries: &[SettingsEntry]) -> Value {
    let mut lists = serde_json::Map::new();
    for entry in entries {
        let list = lists.entry(entry.event).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(entry.value.clone());
        }
    }
    Value::Object(lists)
}

fn entries(agent: Agent, options: &InstallOptions) -> Vec<SettingsEntry> {
    let entry = |event: &AgentEvent| {
        let command = options.command(agent, event);
        let value = entry_value(agent, event, &command, options.seconds(agent, event));
        SettingsEntry { event: event.name, value, command }
    };
    options.wanted(agent).map(entry).collect()
}

pub(super) fn entry_value(agent: Agent, event: &AgentEvent, command: &str, seconds: u32) -> Value {
    match agent {
        Agent::Copilot => json!({ "type": "command", "bash": command, "timeoutSec": seconds }),
        Agent::Gemini => {
            let hook = json!({ "name": "hookrail", "type": "command", "command": command, "timeout": seconds * 1000 });
            json!({ "hooks": [hook] })
        }
        // Claude can be told that a hook which fails blocks; without this word it lets the tool run.
        Agent::Claude if event.guards_an_operation() => {
            json!({ "hooks": [{ "type": "command", "command": command, "timeout": seconds, "onFailure": "block" }] })
        }
        Agent::Claude | Agent::Codex | Agent::Qwen | Agent::OpenCode | Agent::Pi => {
            json!({ "hooks": [{ "type": "command", "command": command, "timeout": seconds }] })
        }
    }
}

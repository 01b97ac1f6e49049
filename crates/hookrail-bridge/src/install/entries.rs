//! The entries of the bridge in each agent's form.

use std::path::{Path, PathBuf};

use hookrail::EventKind;
use hookrail::hook::denying_on_failure;
use serde_json::{Value, json};

use super::agent_folders::UnsupportedScope;
use crate::agents::Agent;
use crate::settings::{AgentFolders, Scope, SettingsLayout, SettingsSyntax};
use crate::spec::AgentEvent;

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
    fn deadline_of_event(&self, event: &AgentEvent) -> u64 {
        let longest = event.longest_wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        longest.map_or(self.deadline_ms(), |wait| self.deadline_ms().min(wait / 5 * 4))
    }

    /// The agent's timeout for one event, in seconds.
    fn seconds(&self, event: &AgentEvent) -> u32 {
        let longest = event.longest_wait.map(|wait| u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX));
        longest.map_or(self.timeout_seconds, |wait| self.timeout_seconds.min(wait))
    }

    fn command(&self, agent: Agent, event: &AgentEvent) -> String {
        let program = shell_quoted(&self.program.to_string_lossy());
        let call =
            format!("{program} bridge {agent} --event {} --deadline {}", event.name, self.deadline_of_event(event));
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

impl SettingsSyntax {
    /// What an agent accepts in its JSON files.
    #[must_use]
    pub const fn of(agent: Agent) -> Self {
        agent.spec().install.syntax
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
    agent_folders: &AgentFolders<'_>,
) -> Result<Vec<SettingsFile>, UnsupportedScope> {
    let path = agent_folders.settings_path(agent, options.scope)?;
    let own_hooks = |path: PathBuf, version: Option<u32>| {
        let mut document = json!({ "hooks": grouped(&entries(agent, options)) });
        if let (Some(version), Some(members)) = (version, document.as_object_mut()) {
            members.insert("version".to_owned(), json!(version));
        }
        SettingsFile::Own { path, text: pretty(&document) }
    };
    Ok(match (agent.spec().install.layout)(options.scope) {
        SettingsLayout::Shared => {
            vec![SettingsFile::Shared { path, entries: entries(agent, options), syntax: SettingsSyntax::of(agent) }]
        }
        SettingsLayout::Own { version } => vec![own_hooks(path, version)],
        SettingsLayout::Extension { manifest } => {
            let text = pretty(&json!({ "name": "hookrail", "version": env!("CARGO_PKG_VERSION") }));
            let folder = path.parent().and_then(Path::parent).unwrap_or(&path).join(manifest);
            vec![own_hooks(path, None), SettingsFile::Own { path: folder, text }]
        }
        SettingsLayout::Plugin(template) => vec![SettingsFile::Own { path, text: plugin_text(template, options) }],
    })
}

/// The generated plugin: the template with the program, the deadline and the options filled in.
fn plugin_text(template: &str, options: &InstallOptions) -> String {
    let program = Value::from(options.program.to_string_lossy().into_owned());
    let flags: Vec<&str> = options.bridge.iter().map(|option| option.flag()).collect();
    template
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
        let value = (agent.spec().install.entry)(event, &command, options.seconds(event));
        SettingsEntry { event: event.name, value, command }
    };
    options.wanted(agent).map(entry).collect()
}

//! The agents that can be bridged. Each has a file with everything that hookrail knows about it, and one word in the list below.

mod claude;
mod codex;
mod copilot;
mod droid;
mod gemini;
mod opencode;
mod pi;
mod qwen;
mod tool_words;

use std::fmt;
use std::path::Path;

use hookrail::tools::ToolColumn;
use hookrail::{DialectId, EventKind};
use serde_json::{Value, json};

use crate::effect::{EffectKind, Handling};
use crate::loss::{self, Loss};
use crate::settings::{Scope, SettingsLayout};
use crate::spec::{AgentEvent, AgentSpec, Repeats};

/// Makes the list of the agents, and a function for each.
macro_rules! agents {
    ($($agent:ident),+ $(,)?) => {
        impl Agent {
            /// Every agent, in the order of the documents.
            pub const ALL: [Self; [$(stringify!($agent)),+].len()] = [$(Self(&$agent::SPEC)),+];

            $(
                #[doc = concat!("The agent `", stringify!($agent), "`.")]
                #[must_use]
                pub const fn $agent() -> Self {
                    Self(&$agent::SPEC)
                }
            )+
        }
    };
}

agents! { claude, codex, gemini, qwen, copilot, opencode, pi, droid }

/// A coding agent whose own hooks can call hookrail.
#[derive(Clone, Copy)]
pub struct Agent(&'static AgentSpec);

/// The session of a sample.
pub const SAMPLE_SESSION: &str = "hookrail-doctor";

impl Agent {
    /// Everything that is known about the agent.
    #[must_use]
    pub const fn spec(self) -> &'static AgentSpec {
        self.0
    }

    /// The agent with a name of the command line.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The name in sentences.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// The name of the agent's program.
    #[must_use]
    pub const fn program(self) -> &'static str {
        self.0.program
    }

    /// The version whose behaviour the tables of this crate describe.
    #[must_use]
    pub const fn tested_version(self) -> &'static str {
        self.0.tested_version
    }

    /// The environment variables that show that a process was started by a tool of the agent.
    #[must_use]
    pub const fn tool_variables(self) -> &'static [&'static str] {
        self.0.tool_variables
    }

    /// The environment variables in which the agent declares its project directory, the most reliable first.
    #[must_use]
    pub const fn project_variables(self) -> &'static [&'static str] {
        self.0.project_variables
    }

    /// The names that the agent has for the tools.
    #[must_use]
    pub const fn tools(self) -> &'static ToolColumn {
        self.0.tools
    }

    /// The events of the agent that hooks can take part in.
    #[must_use]
    pub const fn events(self) -> &'static [AgentEvent] {
        self.0.events
    }

    /// The event with a name of the agent, or with a name of another agent that it also uses.
    #[must_use]
    pub fn find_event(self, name: &str) -> Option<AgentEvent> {
        self.0.events.iter().chain(self.0.other_events).find(|event| event.name == name).copied()
    }

    fn event_of(self, kind: EventKind) -> Option<&'static AgentEvent> {
        self.events().iter().find(|event| event.kind == kind)
    }

    /// Whether the agent fires a neutral event, or its generated plugin does.
    #[must_use]
    pub fn fires(self, kind: EventKind) -> bool {
        self.event_of(kind).is_some()
    }

    /// The name under which the agent fires a neutral event, when it does. Failed tools have an event of their own in some
    /// agents; this is the name for those that worked.
    #[must_use]
    pub fn event_name(self, kind: EventKind) -> Option<&'static str> {
        self.event_of(kind).map(|event| event.name)
    }

    /// Whether the bridge leaves a neutral event of the agent out unless it is told to fire noisy events.
    #[must_use]
    pub fn is_filtered(self, kind: EventKind) -> bool {
        self.event_of(kind).is_some_and(|event| event.repeats == Repeats::Filtered)
    }

    /// Whether the agent fires a neutral event for every piece of a response that it streams.
    #[must_use]
    pub fn streams(self, kind: EventKind) -> bool {
        self.event_of(kind).is_some_and(|event| event.repeats == Repeats::InPieces)
    }

    /// How an effect of an event is expressed in this agent.
    #[must_use]
    pub fn handling(self, event: EventKind, effect: EffectKind) -> Handling {
        (self.0.handling)(event, effect)
    }

    /// How an effect is handled at worst: a response may come in pieces, and all but the last are shown before hooks are
    /// asked.
    fn possible_handling(self, event: EventKind, effect: EffectKind) -> Handling {
        match self.handling(event, effect) {
            Handling::Honoured if effect == EffectKind::ModelResponse && self.streams(event) => {
                Handling::FollowsResponse
            }
            handling => handling,
        }
    }

    /// What hooks of a dialect could ask for at an event and would not get as they mean it. Which of it a hook really asks
    /// for is known only when it answers.
    #[must_use]
    pub fn possible_losses(self, dialect: DialectId, event: EventKind) -> Vec<Loss> {
        let loss = |effect| Loss { event, effect, handling: self.possible_handling(event, effect) };
        loss::wishes(dialect, event).map(loss).filter(|loss| !loss.handling.is_honoured()).collect()
    }

    /// The plugin or the extension that is generated for the agent, with placeholders for what an installation fills in.
    #[must_use]
    pub fn plugin_template(self) -> Option<&'static str> {
        match (self.0.install.layout)(Scope::User) {
            SettingsLayout::Plugin(template) => Some(template),
            SettingsLayout::Shared | SettingsLayout::Own { .. } | SettingsLayout::Extension { .. } => None,
        }
    }

    /// The name of the before-tool event and a payload for it: the agent wants to read a file that does not exist.
    #[must_use]
    pub fn sample_tool_event(self, project: &Path) -> (&'static str, String) {
        let file = project.join("a-file-that-does-not-exist").to_string_lossy().into_owned();
        let sample = (self.0.sample)(&file);
        let mut payload =
            json!({ "session_id": SAMPLE_SESSION, "transcript_path": "", "cwd": project, "tool_use_id": "doctor" });
        if let (Some(members), Some(own)) = (payload.as_object_mut(), sample.members.as_object()) {
            members.extend(own.clone());
        }
        (sample.event, payload.to_string())
    }

    /// The payload of [`Agent::sample_tool_event`] about another call, which is in the words of the agent.
    #[must_use]
    pub fn tool_event(self, project: &Path, tool: &str, input: &Value) -> (&'static str, String) {
        let (event, sample) = self.sample_tool_event(project);
        let mut payload: Value = serde_json::from_str(&sample).unwrap_or_default();
        for (names, value) in [(self.0.members.tool, &Value::from(tool)), (self.0.members.input, input)] {
            for name in names {
                if let Some(member) = payload.get_mut(name) {
                    member.clone_from(value);
                }
            }
        }
        (event, payload.to_string())
    }
}

/// Two agents are the same if they have the same name.
impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Agent {}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Agent({})", self.name())
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_file_passes_on_every_event_of_its_agent() {
        for agent in Agent::ALL {
            let Some(file) = agent.plugin_template() else { continue };
            for event in agent.events() {
                assert!(file.contains(&format!("ask(project, \"{}\"", event.name)), "{agent}: {}", event.name);
            }
        }
    }

    #[test]
    fn every_agent_has_the_name_of_its_word_and_events_of_different_names() {
        for agent in Agent::ALL {
            assert_eq!(Agent::from_name(agent.name()), Some(agent));
            for (at, event) in agent.events().iter().enumerate() {
                assert!(
                    agent.events().iter().take(at).all(|other| other.name != event.name),
                    "{agent}: {}",
                    event.name
                );
                assert_eq!(agent.find_event(event.name), Some(*event));
            }
        }
    }

    fn lost(agent: Agent, dialect: DialectId, event: EventKind) -> Vec<&'static str> {
        agent.possible_losses(dialect, event).iter().map(|loss| loss.effect.name()).collect()
    }

    #[test]
    fn what_hooks_could_lose_depends_on_their_dialect_and_the_agent() {
        let before = EventKind::BeforeTool;
        assert_eq!(lost(Agent::claude(), DialectId::Llxprt, before), ["suppress-output"]);
        assert_eq!(lost(Agent::codex(), DialectId::Llxprt, before), ["ask", "stop", "suppress-output"]);
        assert_eq!(lost(Agent::codex(), DialectId::Xcode, before), Vec::<&str>::new());
        assert_eq!(lost(Agent::qwen(), DialectId::Xcode, before), ["rewrite"]);
        assert_eq!(lost(Agent::qwen(), DialectId::Xcode, EventKind::AfterTool), ["output"]);
        let after = lost(Agent::gemini(), DialectId::Llxprt, EventKind::AfterModel);
        assert!(after.contains(&"model-response"), "{after:?}");
        let before = lost(Agent::gemini(), DialectId::Llxprt, EventKind::BeforeModel);
        assert!(!before.contains(&"model-response"), "{before:?}");
    }
}

//! Losses: effects that an agent cannot carry out as the hook meant them.

use hookrail::event::Abilities;
use hookrail::{DialectId, EventKind};

use crate::Agent;
use crate::effect::{EffectKind, Handling};

/// An effect that did not reach the agent as the hook meant it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The event.
    pub event: EventKind,
    /// The effect.
    pub effect: EffectKind,
    /// What took its place.
    pub handling: Handling,
}

impl Loss {
    /// The stable name, for records and counters: `loss.ask`, `loss.rewrite`, and so on.
    #[must_use]
    pub fn name(&self) -> String {
        format!("loss.{}", self.effect.name())
    }
}

impl Agent {
    /// What hooks of a dialect could ask for at an event and would not get as they mean it. Which of it a hook really asks
    /// for is known only when it answers.
    #[must_use]
    pub fn possible_losses(self, dialect: DialectId, event: EventKind) -> Vec<Loss> {
        let Some(column) = event.spec().column(dialect) else { return Vec::new() };
        let loss = |effect| Loss { event, effect, handling: self.possible_handling(event, effect) };
        let losses = EffectKind::ALL.into_iter().filter(|effect| can_ask_for(dialect, event, column.can, *effect));
        losses.map(loss).filter(|loss| !loss.handling.is_honoured()).collect()
    }
}

impl Agent {
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
}

/// Whether an answer of a dialect can ask for an effect.
fn can_ask_for(dialect: DialectId, event: EventKind, can: Abilities, effect: EffectKind) -> bool {
    let is_llxprt = dialect == DialectId::Llxprt;
    let ability = match effect {
        // Without this effect the agent uses its own permission rules, so nothing that a hook demanded is lost.
        EffectKind::Allow => return false,
        EffectKind::Ask => return is_llxprt && event == EventKind::BeforeTool,
        EffectKind::SystemMessage | EffectKind::SuppressOutput => return is_llxprt,
        // Only closures replace the prompt. The hooks of the other dialects add context or messages to it.
        EffectKind::Prompt => return event == EventKind::Prompt && dialect == DialectId::Native,
        // A module can add entries at any event, whatever it answers, so the columns do not say where it does.
        EffectKind::Entries => return false,
        // Whether an answer comes too late does not depend on what it says.
        EffectKind::LateAnswer => return false,
        // LLxprt itself does not use the context of this event, but the bridge does.
        EffectKind::Context if event == EventKind::BeforeTool && is_llxprt => return true,
        // LLxprt passes the reason of a deny after a tool to the model, although the event is not gating.
        EffectKind::Deny if event == EventKind::AfterTool => return is_llxprt,
        EffectKind::Deny => Abilities::DENY,
        EffectKind::Stop => Abilities::STOP,
        EffectKind::ToolInput => Abilities::REWRITE_TOOL_INPUT,
        EffectKind::ToolOutput => Abilities::REPLACE_TOOL_OUTPUT,
        EffectKind::Context => Abilities::ADD_CONTEXT,
        EffectKind::ClearContext => Abilities::CLEAR_CONTEXT,
        EffectKind::ModelRequest => Abilities::REWRITE_REQUEST,
        EffectKind::ModelResponse => Abilities::GIVE_RESPONSE,
        EffectKind::ToolConfig => Abilities::CHOOSE_TOOLS,
        EffectKind::Messages => Abilities::ADD_MESSAGE,
        EffectKind::Result => Abilities::RESULT,
    };
    can.includes(ability)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(agent: Agent, dialect: DialectId, event: EventKind) -> Vec<&'static str> {
        agent.possible_losses(dialect, event).iter().map(|loss| loss.effect.name()).collect()
    }

    #[test]
    fn what_hooks_could_lose_depends_on_their_dialect_and_the_agent() {
        let before = EventKind::BeforeTool;
        assert_eq!(lost(Agent::Claude, DialectId::Llxprt, before), ["suppress-output"]);
        assert_eq!(lost(Agent::Codex, DialectId::Llxprt, before), ["ask", "stop", "suppress-output"]);
        assert_eq!(lost(Agent::Codex, DialectId::Xcode, before), Vec::<&str>::new());
        assert_eq!(lost(Agent::Qwen, DialectId::Xcode, before), ["rewrite"]);
        assert_eq!(lost(Agent::Qwen, DialectId::Xcode, EventKind::AfterTool), ["output"]);
        let after = lost(Agent::Gemini, DialectId::Llxprt, EventKind::AfterModel);
        assert!(after.contains(&"model-response"), "{after:?}");
        let before = lost(Agent::Gemini, DialectId::Llxprt, EventKind::BeforeModel);
        assert!(!before.contains(&"model-response"), "{before:?}");
    }
}

//! Losses: effects that an agent cannot carry out as the hook meant them.

use hookrail::event::Abilities;
use hookrail::{DialectId, EventKind};

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

/// What hooks of a dialect can ask for at an event.
pub(crate) fn wishes(dialect: DialectId, event: EventKind) -> impl Iterator<Item = EffectKind> {
    let column = event.spec().column(dialect);
    let asked =
        move |effect: &EffectKind| column.is_some_and(|column| can_ask_for(dialect, event, column.can, *effect));
    EffectKind::ALL.into_iter().filter(asked)
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

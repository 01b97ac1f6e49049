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
    let asked = move |effect: &EffectKind| {
        column.is_some_and(|column| abilities(*effect).iter().any(|ability| column.can.includes(*ability)))
    };
    EffectKind::ALL.into_iter().filter(asked)
}

/// The abilities with which an answer asks for an effect.
const fn abilities(effect: EffectKind) -> &'static [Abilities] {
    match effect {
        // Without this effect the agent uses its own permission rules, so nothing that a hook demanded is lost. A module can add
        // entries at any event, whatever it answers. Whether an answer comes too late does not depend on what it says.
        EffectKind::Allow | EffectKind::Entries | EffectKind::LateAnswer => &[],
        EffectKind::Deny => &[Abilities::DENY, Abilities::DENY_RESULT],
        EffectKind::Ask => &[Abilities::ASK],
        EffectKind::Stop => &[Abilities::STOP],
        EffectKind::ToolInput => &[Abilities::REWRITE_TOOL_INPUT],
        EffectKind::ToolOutput => &[Abilities::REPLACE_TOOL_OUTPUT],
        EffectKind::Prompt => &[Abilities::REPLACE_PROMPT],
        EffectKind::Context => &[Abilities::ADD_CONTEXT, Abilities::OFFER_CONTEXT],
        EffectKind::SystemMessage => &[Abilities::TELL_USER],
        EffectKind::SuppressOutput => &[Abilities::HIDE_OUTPUT],
        EffectKind::ClearContext => &[Abilities::CLEAR_CONTEXT],
        EffectKind::ModelRequest => &[Abilities::REWRITE_REQUEST],
        EffectKind::ModelResponse => &[Abilities::GIVE_RESPONSE],
        EffectKind::ToolConfig => &[Abilities::CHOOSE_TOOLS],
        EffectKind::Messages => &[Abilities::ADD_MESSAGE],
        EffectKind::Result => &[Abilities::RESULT],
    }
}

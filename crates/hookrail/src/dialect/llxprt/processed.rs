//! The aggregate with its common fields worked out, as this dialect documents it.

use super::aggregate::AggregatedHookResult;
use crate::outcome::Outcome;

/// What a caller of this dialect asks after an event.
#[derive(Clone, Debug)]
pub struct ProcessedHookResult {
    /// The aggregate itself.
    pub aggregated: AggregatedHookResult,
    /// Whether execution must stop.
    pub should_stop: bool,
    /// Why.
    pub stop_reason: Option<String>,
    /// A message for the conversation.
    pub system_message: Option<String>,
    /// Whether output is hidden from the user.
    pub suppress_output: bool,
}

impl From<&Outcome> for ProcessedHookResult {
    fn from(outcome: &Outcome) -> Self {
        let effects = &outcome.effects;
        Self {
            aggregated: AggregatedHookResult::of(outcome),
            should_stop: effects.stop.is_some(),
            stop_reason: effects.stop.as_ref().map(|stop| stop.reason.clone()),
            system_message: effects.system_message.clone(),
            suppress_output: effects.suppress_output,
        }
    }
}

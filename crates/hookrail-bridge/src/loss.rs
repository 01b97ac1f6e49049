//! What an agent could not be made to do.

use hookrail::EventKind;
use serde::{Deserialize, Serialize};

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

/// A loss as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedLoss {
    /// The stable name.
    pub loss: String,
    /// The neutral event.
    pub event: String,
    /// What took its place.
    pub instead: String,
}

impl From<&Loss> for RecordedLoss {
    fn from(loss: &Loss) -> Self {
        Self { loss: loss.name(), event: loss.event.name().to_owned(), instead: loss.handling.described().to_owned() }
    }
}

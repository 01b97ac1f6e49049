//! Outcomes of events about which no hook is asked, and the details of every dialect, which agree with each outcome.

use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::DialectId;
use crate::event::effects::Effects;
use crate::event::{Event, EventKind};
use crate::outcome::Outcome;

impl Outcome {
    /// The outcome of an event whose hooks could not be run.
    #[must_use]
    pub(crate) fn abandoned(event: EventKind) -> Self {
        let message = "the engine was torn down before the hooks of this event had answered";
        Self::not_asked(event, Code::HookCancelled, message.to_owned())
    }

    /// The outcome of an event that is fired too deep inside hooks of other engines, which ends the recursion.
    #[must_use]
    pub(crate) fn too_deep(event: EventKind, depth: u32) -> Self {
        Self::not_asked(event, Code::TooDeep, format!("hooks are nested {depth} deep; no more are run"))
    }

    /// The outcome of an event about which no hook is asked although some would take part. If it can be denied it is
    /// denied, because no guard has judged it.
    fn not_asked(event: EventKind, code: Code, message: String) -> Self {
        let mut outcome = Self::untouched(event);
        outcome.diagnostics.push(Diagnostic::new(code, message.clone()));
        if event.spec().is_gating() {
            outcome.effects = Effects::deny(message);
            outcome.finalize_details(None);
        }
        outcome
    }

    /// Makes the detail of every dialect agree with the outcome: a caller that knows a single dialect reads nothing else.
    /// `event` is the event as the last hook left it, if hooks ran.
    pub(crate) fn finalize_details(&mut self, event: Option<&Event>) {
        for dialect in DialectId::ORDER {
            dialect.contract().finalize(self, event);
        }
    }
}

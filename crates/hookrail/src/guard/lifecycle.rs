//! Sessions, compaction, sub-agents and notifications: events that mostly tell, and sometimes ask.

use super::Guard;
use super::receipt::Receipt;
use crate::event::EventKind;
use crate::json::Json;
use crate::outcome::{Outcome, Stop};

/// What came of telling hooks something.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Notified {
    /// Text to add for the model.
    pub additional_context: Option<String>,
    /// Messages for the conversation.
    pub system_messages: Vec<String>,
    /// Messages modules want in the conversation.
    pub messages: Vec<Json>,
    /// Entries modules want in the session.
    pub entries: Vec<Json>,
    /// The combined result, for events that have one.
    pub result: Option<Json>,
    /// Whether the agent must stop now.
    pub stop: Option<Stop>,
    /// Why it must not happen, for events that can be cancelled.
    pub cancelled: Option<String>,
    /// What hooks did.
    pub receipt: Receipt,
}

/// What hooks want of a compaction.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CompactionGuard {
    /// It must not happen.
    Cancelled {
        /// Why.
        reason: String,
        /// What hooks did.
        receipt: Receipt,
    },
    /// A hook brings its own compaction, which is used as it is.
    Given {
        /// The compaction.
        compaction: Json,
        /// What hooks did.
        receipt: Receipt,
    },
    /// The host makes the summary, with these extras.
    Summarise {
        /// Extra context, a prompt in place of the host's own, data to preserve.
        extras: Option<Json>,
        /// What hooks did.
        receipt: Receipt,
    },
}

impl Guard {
    /// Tells hooks about an event of the agent's life, with its own fields, and gathers every effect it can have.
    pub async fn tell(&self, kind: EventKind, fields: &[(&str, Json)]) -> Notified {
        let event = fields.iter().fold(self.event(kind), |event, (name, value)| event.with(*name, value.clone()));
        let outcome = self.fire(event).await;
        let cancelled = self.refused(kind.name(), &Json::null(), &outcome.effects).await;
        Notified::of(outcome, cancelled)
    }

    /// Asks hooks about a compaction: whether it may happen, whether one of them brings it, and what the summary needs.
    pub async fn compaction(&self, trigger: &str, preparation: Json, messages: Json) -> CompactionGuard {
        let fields = [("trigger", Json::string(trigger)), ("preparation", preparation)];
        let before = self.tell(EventKind::BeforeCompact, &fields).await;
        let mut receipt = before.receipt;
        if let Some(reason) = before.cancelled {
            return CompactionGuard::Cancelled { reason, receipt };
        }
        let given = before.result.and_then(|result| result.as_object()?.get("compaction").cloned());
        if let Some(compaction) = given {
            return CompactionGuard::Given { compaction, receipt };
        }
        let compacting = self.tell(EventKind::Compacting, &[("messages", messages)]).await;
        receipt.ran.extend(compacting.receipt.ran);
        receipt.skipped.extend(compacting.receipt.skipped);
        CompactionGuard::Summarise { extras: compacting.result, receipt }
    }
}

impl Notified {
    fn of(outcome: Outcome, cancelled: Option<String>) -> Self {
        let mut receipt = Receipt::default();
        receipt.add(&outcome);
        let effects = outcome.effects;
        Self {
            additional_context: effects.additional_context,
            system_messages: effects.system_message.into_iter().collect(),
            messages: effects.messages,
            entries: effects.entries,
            result: effects.result,
            stop: effects.stop,
            cancelled,
            receipt,
        }
    }
}

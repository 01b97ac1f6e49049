//! Sessions, compaction, sub-agents and notifications: events that hooks are told about, some of which they can cancel.

use super::Guard;
use super::approval::Operation;
use super::notes::Notes;
use super::receipt::Receipt;
use crate::event::EventKind;
use crate::json::Json;
use crate::outcome::{Effects, Stop};

/// The result of telling hooks about an event.
#[derive(Clone, Debug)]
pub struct NotificationResult {
    /// Text to add for the model.
    pub additional_context: Option<String>,
    /// What hooks want said or kept.
    pub notes: Notes,
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
pub struct CompactionGuard {
    /// Whether and how it happens.
    pub plan: CompactionPlan,
    /// What hooks want said or kept.
    pub notes: Notes,
    /// Whether the agent must stop now.
    pub stop: Option<Stop>,
    /// What hooks did.
    pub receipt: Receipt,
}

/// Whether and how a compaction happens.
#[derive(Clone, Debug)]
pub enum CompactionPlan {
    /// It must not happen, for this reason.
    Cancelled(String),
    /// A hook brings its own compaction, which is used as it is.
    Given(Json),
    /// The host makes the summary, with these extras: more context, a prompt in place of the host's own, data to
    /// preserve.
    Summarise(Option<Json>),
}

impl Guard {
    /// Tells hooks about an event of the agent's life, with its own fields, and gathers every effect it can have.
    pub async fn tell(&self, kind: EventKind, fields: &[(&str, Json)]) -> NotificationResult {
        let event = fields.iter().fold(self.event(kind), |event, (name, value)| event.with(*name, value.clone()));
        let outcome = self.fire(event).await;
        let cancelled = self.refusal_reason(Operation::named(kind.name()), &Json::null(), &outcome).await;
        let receipt = Receipt::from_outcome(&outcome);
        let notes = Notes::from_effects(&outcome.effects);
        let Effects { additional_context, result, stop, .. } = outcome.effects;
        NotificationResult { additional_context, notes, result, stop, cancelled, receipt }
    }

    /// Asks hooks about a compaction: whether it may happen, whether one of them brings it, and what the summary needs.
    /// `fields` are those of `before-compact` beside its trigger; `messages` is what would be summarised.
    pub async fn compaction(&self, trigger: &str, fields: &[(&str, Json)], messages: Json) -> CompactionGuard {
        let mut all = vec![("trigger", Json::string(trigger))];
        all.extend(fields.iter().cloned());
        let before = self.tell(EventKind::BeforeCompact, &all).await;
        let given = before.result.as_ref().and_then(|result| result.as_object()?.get("compaction").cloned());
        let plan = match (before.cancelled, &before.stop, given) {
            (Some(reason), _, _) => CompactionPlan::Cancelled(reason),
            // An agent that must stop summarises nothing.
            (None, Some(stop), _) => CompactionPlan::Cancelled(stop.reason.clone()),
            (None, None, Some(compaction)) => CompactionPlan::Given(compaction),
            (None, None, None) => CompactionPlan::Summarise(None),
        };
        let mut guard = CompactionGuard { plan, notes: before.notes, stop: before.stop, receipt: before.receipt };
        if matches!(guard.plan, CompactionPlan::Summarise(_)) {
            let compacting = self.fire(self.event(EventKind::Compacting).with("messages", messages)).await;
            guard.receipt.add(&compacting);
            guard.notes.add(&compacting.effects);
            guard.plan = CompactionPlan::Summarise(compacting.effects.result);
        }
        guard
    }
}

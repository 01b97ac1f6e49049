//! Hooks that are not enforced. Each is a firing of its own, with the event as it was fired, so that nothing it does can
//! reach the event's own outcome: what it comes to is a verdict and nothing more.

use std::sync::Arc;
use std::time::Duration;

use super::plan::{PartPlan, Plan};
use super::state::Firing;
use crate::dialect::snapshot::Snapshot;
use crate::event::Event;
use crate::hook::Hook;
use crate::outcome::skips::Skips;
use crate::outcome::{EndKind, Health, HookRun, Outcome, ShadowRun};

/// One hook that is not enforced, about to be driven.
pub(crate) struct ShadowFiring {
    pub(crate) hook: Arc<Hook>,
    /// The time it has.
    pub(crate) timeout: Duration,
    pub(crate) firing: Box<Firing>,
}

impl ShadowFiring {
    /// The firings of all hooks of an event that are not enforced, in plan order, and then those of the calls that it carries.
    pub(crate) fn of_event(snapshot: &Arc<Snapshot>, plan: &Plan, event: &Event) -> Vec<Self> {
        let alone = |part: &PartPlan| {
            let only = part.hooks.first()?;
            let plan = Plan {
                event: plan.event,
                parts: vec![part.clone()],
                shadow: Vec::new(),
                skipped: Skips::default(),
                diagnostics: Vec::new(),
                calls: Vec::new(),
                notes: Vec::new(),
                tool: plan.tool,
                meaning: plan.meaning,
            };
            let firing = Firing::of_shadow(Arc::clone(snapshot), Arc::new(plan), event.clone());
            Some(Self { hook: Arc::clone(&only.hook), timeout: only.timeout, firing: Box::new(firing) })
        };
        let own = plan.shadow.iter().filter_map(alone);
        let carried = plan.of_carried_calls(snapshot, event).into_iter();
        own.chain(carried.flat_map(|(call, plan)| Self::of_event(snapshot, &plan, &call))).collect()
    }

    /// What the hook would have done, from the outcome of its firing.
    pub(crate) fn verdict(hook: &Arc<Hook>, outcome: Outcome) -> ShadowRun {
        let Outcome { runs, effects, .. } = outcome;
        let first = runs.into_iter().next();
        let run = first.unwrap_or_else(|| HookRun::not_asked(0, hook, EndKind::Unusable, Health::Failed));
        // A deny has no effect in an event that cannot be denied.
        ShadowRun { run: HookRun { decision: effects.decision, ..run }, effects }
    }
}

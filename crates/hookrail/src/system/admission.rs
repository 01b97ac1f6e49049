//! What happens to an event before anything runs: its outcome is known, or hooks have to be asked.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::options::Detached;
use super::recording::{PendingRecord, RecordedOutcome};
use super::shadow::{ImmediateOutcome, ShadowStart};
use super::{DEEPEST, HookSystem, plans};
use crate::dialect::DialectId;
use crate::event::{Event, EventKind};
use crate::firing::{Firing, PlannedHook, ShadowFiring, Step, TOOL_INPUT};
use crate::json::Json;
use crate::outcome::Outcome;
use crate::rules::Purpose;

impl HookSystem {
    /// The outcome of an event about a tool, if it is known before the event is made: its plan is cached and runs no
    /// hook.
    pub(super) fn known_outcome(&self, kind: EventKind, tool: &str, input: &Json) -> Option<Outcome> {
        if self.inner.load_again.load(Ordering::Relaxed) || self.inner.shut_down.load(Ordering::Relaxed) {
            return None;
        }
        // A recorder wants the whole event.
        if self.parts().recording.is_some() {
            return None;
        }
        let in_force = self.inner.in_force.load();
        if in_force.snapshot.protection.is_active() {
            return None;
        }
        let plan = in_force.cached_plan(kind, tool).filter(|plan| plan.is_empty())?;
        Some(Firing::without_hooks(&in_force.snapshot, &plan, Some(input), None))
    }

    /// Plans an event, unless its outcome is known without asking a hook. Such an outcome is recorded here.
    pub(super) fn admit(&self, event: Event, detached: Detached) -> ControlFlow<RecordedOutcome, Box<Firing>> {
        self.load_before_event();
        if !self.used_by.may_fire(event.kind()) {
            return ControlFlow::Break(Outcome::untouched(event.kind()).into());
        }
        let in_force = self.inner.in_force.load();
        let Some(recording) = &self.parts().recording else {
            return self.plan(&in_force, event, detached).map_break(|ImmediateOutcome { outcome, shadows }| {
                if !shadows.is_empty() {
                    self.start_shadows(self.parts().notify.next_id(), shadows);
                }
                outcome.into()
            });
        };
        let id = self.parts().notify.next_id();
        let pending = PendingRecord::new(recording, Arc::clone(&in_force.snapshot), event.clone(), id);
        match self.plan(&in_force, event, detached) {
            ControlFlow::Break(ImmediateOutcome { outcome, shadows }) if shadows.is_empty() => {
                ControlFlow::Break(pending.record_untouched(outcome))
            }
            ControlFlow::Break(ImmediateOutcome { outcome, shadows }) => {
                let outcome = pending.record_outcome(outcome);
                self.start_shadows(id, shadows);
                ControlFlow::Break(outcome)
            }
            ControlFlow::Continue(firing) => {
                // The event is recorded by what drives it.
                pending.give_up();
                ControlFlow::Continue(firing)
            }
        }
    }

    fn plan(
        &self,
        in_force: &plans::ActiveConfiguration,
        event: Event,
        detached: Detached,
    ) -> ControlFlow<ImmediateOutcome, Box<Firing>> {
        let kind = event.kind();
        if self.inner.shut_down.load(Ordering::Relaxed) {
            // After a shutdown no guard answers, and that must not count as an allow.
            return ControlFlow::Break(Outcome::abandoned(kind).into());
        }
        let plan = in_force.plan(&event, Purpose::Event);
        let protection = &in_force.snapshot.protection;
        let judged = protection.judge_call(&in_force.snapshot.tools, &event, plan.meaning);
        if let Some(judged) = &judged {
            protection.remember_question(&event, judged);
        }
        let depth = self.parts().world.depth;
        // If no hook would run there is no recursion to end, and a shadow hook is left out there.
        let shadow_start = match detached {
            _ if depth >= DEEPEST => ShadowStart::LeftOut,
            Detached::LeftOut => ShadowStart::LeftOut,
            Detached::LeftAlone => ShadowStart::Started,
            Detached::Awaited if plan.shadow.is_empty() => ShadowStart::LeftOut,
            Detached::Awaited => ShadowStart::Awaited,
        };
        let deliver = |outcome: &mut Outcome| {
            if detached != Detached::LeftOut {
                self.parts().late_words.deliver(&in_force.snapshot, &event, outcome);
            }
        };
        if plan.parts.is_empty() && shadow_start != ShadowStart::Awaited && !plan.carries_calls() {
            let mut outcome = Firing::without_hooks(&in_force.snapshot, &plan, event.field(TOOL_INPUT), judged);
            deliver(&mut outcome);
            let shadows = match shadow_start {
                ShadowStart::Started => ShadowFiring::of_event(&in_force.snapshot, &plan, &event),
                ShadowStart::LeftOut | ShadowStart::Awaited => Vec::new(),
            };
            return ControlFlow::Break(ImmediateOutcome { outcome, shadows });
        }
        // Rules answer at once, so nothing has to be started or handed to another thread.
        let is_rule = |planned: &PlannedHook| planned.rule.is_some();
        if plan.hooks().all(|(_, planned)| is_rule(planned))
            && shadow_start != ShadowStart::Awaited
            && !plan.carries_calls()
        {
            let mut firing =
                Firing::planned(Arc::clone(&in_force.snapshot), Arc::clone(&plan), event.clone(), judged.clone());
            let shadows = match shadow_start {
                ShadowStart::Started => firing.shadows(),
                ShadowStart::LeftOut | ShadowStart::Awaited => Vec::new(),
            };
            if let Step::Done(mut outcome) = firing.step() {
                deliver(&mut outcome);
                return ControlFlow::Break(ImmediateOutcome { outcome: *outcome, shadows });
            }
        }
        if depth >= DEEPEST {
            // Without a hook to ask about the calls that it carries the outcome is there at once.
            if plan.parts.is_empty()
                && let Step::Done(outcome) = Firing::planned(Arc::clone(&in_force.snapshot), plan, event, judged).step()
            {
                return ControlFlow::Break((*outcome).into());
            }
            let mut outcome = Outcome::too_deep(kind, depth);
            let effects = outcome.effects.clone();
            for dialect in DialectId::ORDER {
                dialect.contract().record_refusal(&mut outcome, &effects);
            }
            return ControlFlow::Break(outcome.into());
        }
        ControlFlow::Continue(Box::new(Firing::planned(Arc::clone(&in_force.snapshot), plan, event, judged)))
    }

    /// Remembers an approval, if the event says that a tool ran about which the engine had asked.
    pub(super) fn remember_approval(&self, event: &Event) {
        if event.kind() == EventKind::AfterTool {
            let in_force = self.inner.in_force.load();
            in_force.snapshot.protection.remember_approval(&in_force.snapshot.tools, event);
            let settings = in_force.snapshot.rule_settings.as_ref();
            if let Some(settings) = settings.filter(|_| in_force.snapshot.rules_ask_about_sessions()) {
                settings.remember(event, &in_force.snapshot.tools);
            }
        }
    }
}

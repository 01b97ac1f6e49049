//! A tool that carries calls of other tools, such as `batch` of OpenCode: hooks are asked about each of them as about a call of
//! its own, after the call itself. The strictest answer counts, and a rewrite is put back into its place.

use std::sync::Arc;

use super::{Firing, Step, TOOL_INPUT, add_judgement, before_any_hook};
use crate::dialect::snapshot::Snapshot;
use crate::dialect_id::DialectId;
use crate::event::{Event, EventKind};
use crate::firing::{CarriedCallPlan, Plan};
use crate::outcome::{Effects, Outcome};
use crate::tools::{ToolAccess, ToolMeaning};

/// The calls that a call carries, while hooks are asked about them.
#[derive(Default)]
pub(super) struct CarriedCalls {
    /// The position of the call that comes next.
    next: usize,
    /// The call that hooks are asked about.
    firing: Option<Box<Firing>>,
}

impl Plan {
    /// Whether the event is a call that carries others.
    pub(crate) fn carries_calls(&self) -> bool {
        let is_carrier = matches!(self.meaning, ToolMeaning::Known(tool) if tool.access == ToolAccess::Calls);
        is_carrier && self.event == EventKind::BeforeTool
    }

    /// The calls that the call of an event with this plan carries, and their plans.
    pub(crate) fn of_carried_calls(&self, snapshot: &Arc<Snapshot>, event: &Event) -> Vec<(Event, Self)> {
        if !self.carries_calls() {
            return Vec::new();
        }
        let planned = |call| {
            let plan = Self::new(snapshot, &call);
            (call, plan)
        };
        snapshot.tools.carried_calls(event).into_iter().map(planned).collect()
    }

    /// The plan with those of the calls that the event's call carries, and of those that they carry.
    pub(crate) fn with_carried_calls(mut self, snapshot: &Arc<Snapshot>, event: &Event) -> Self {
        let explained = |(call, plan): (Event, Self)| CarriedCallPlan {
            tool: call.text("tool_name").unwrap_or_default(),
            plan: plan.with_carried_calls(snapshot, &call),
        };
        self.calls = self.of_carried_calls(snapshot, event).into_iter().map(explained).collect();
        self
    }
}

impl Firing {
    /// A call that another one carries. Its runs are counted from that number.
    fn of_carried(snapshot: Arc<Snapshot>, event: Event, first_run: usize) -> Self {
        let plan = Arc::new(Plan::new(&snapshot, &event));
        let judged = snapshot.protection.judge_call(&snapshot.tools, &event, plan.meaning);
        let mut outcome = before_any_hook(&snapshot, &plan);
        add_judgement(&mut outcome, judged);
        let mut firing = Self::begin(snapshot, plan, event, outcome, first_run);
        firing.refuse_repeated_keys(0);
        firing
    }

    /// The call that hooks are asked about now, if this call carries it.
    pub(super) fn carried(&mut self) -> Option<&mut Self> {
        self.carried.as_mut()?.firing.as_deref_mut()
    }

    /// What to do next about the calls that this call carries; none once they are over.
    pub(super) fn step_carried(&mut self) -> Option<Step> {
        while self.plan.carries_calls() {
            let carried = self.carried.as_mut()?;
            let at = carried.next;
            if let Some(firing) = &mut carried.firing {
                let outcome = match firing.step() {
                    Step::Done(outcome) => outcome,
                    step @ (Step::Run(_) | Step::Wait) => return Some(step),
                };
                self.next_run = firing.next_run;
                *carried = CarriedCalls { next: at + 1, firing: None };
                self.take_carried(at, *outcome);
                continue;
            }
            if self.outcome.is_denied() {
                return None;
            }
            let call = self.snapshot.tools.carried_call(&self.event, at)?;
            let firing = Self::of_carried(Arc::clone(&self.snapshot), call, self.next_run);
            self.carried = Some(CarriedCalls { next: at, firing: Some(Box::new(firing)) });
        }
        None
    }

    /// Adds the outcome of the call that is carried at a position.
    fn take_carried(&mut self, at: usize, mut carried: Outcome) {
        if let Some(input) = carried.effects.tool_input.take()
            && let Err(lost) = self.snapshot.tools.put_carried_input(&mut self.event, at, input)
        {
            carried.effects.absorb(Effects::deny(lost.to_string()));
        }
        for dialect in DialectId::ORDER {
            dialect.contract().take_carried(&mut self.outcome, &carried);
        }
        let Outcome { effects, runs, skipped, diagnostics, refusal, in_force, .. } = carried;
        let outcome = &mut self.outcome;
        outcome.effects.absorb(effects);
        outcome.runs.extend(runs);
        outcome.skipped.append(&skipped);
        for diagnostic in diagnostics {
            if !outcome.diagnostics.contains(&diagnostic) {
                outcome.diagnostics.push(diagnostic);
            }
        }
        outcome.refusal = outcome.refusal.or(refusal);
        outcome.in_force = outcome.in_force.take().or(in_force);
        if outcome.is_denied() {
            outcome.withdraw_rewrites();
        } else if self.event.field(TOOL_INPUT) != self.original.field(TOOL_INPUT) {
            outcome.effects.tool_input = self.event.field(TOOL_INPUT).cloned();
        }
        self.outcome.finalize_details(Some(&self.event));
    }
}

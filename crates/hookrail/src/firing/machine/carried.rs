//! A tool that carries calls of other tools, such as `batch` of OpenCode: hooks are asked about each of them as about a call of
//! its own, after the call itself. The strictest answer counts, and a rewrite is put back into its place.

use std::sync::Arc;

use super::{Firing, Step, TOOL_INPUT, add_judgement, before_any_hook};
use crate::dialect::registry::DialectId;
use crate::event::{Event, EventKind};
use crate::firing::Plan;
use crate::outcome::{Effects, Outcome};
use crate::snapshot::Snapshot;
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
        self.carried.firing.as_deref_mut()
    }

    /// What to do next about the calls that this call carries; none once they are over.
    pub(super) fn step_carried(&mut self) -> Option<Step> {
        while self.plan.carries_calls() {
            if let Some(firing) = &mut self.carried.firing {
                let outcome = match firing.step() {
                    Step::Done(outcome) => outcome,
                    step @ (Step::Run(_) | Step::Wait) => return Some(step),
                };
                self.next_run = firing.next_run;
                self.carried.firing = None;
                self.take_carried(*outcome);
                self.carried.next += 1;
            }
            if self.outcome.is_denied() {
                return None;
            }
            let call = self.snapshot.tools.carried_call(&self.event, self.carried.next)?;
            let firing = Self::of_carried(Arc::clone(&self.snapshot), call, self.next_run);
            self.carried.firing = Some(Box::new(firing));
        }
        None
    }

    /// Adds the outcome of a carried call.
    fn take_carried(&mut self, mut carried: Outcome) {
        if let Some(input) = carried.effects.tool_input.take()
            && let Err(lost) = self.snapshot.tools.put_carried_input(&mut self.event, self.carried.next, input)
        {
            carried.effects.absorb(Effects::deny(lost.to_string()));
        }
        for dialect in DialectId::ORDER {
            dialect.contract().take_carried(&mut self.outcome, &carried);
        }
        let Outcome { effects, runs, shadow, skipped, diagnostics, refusal, in_force, .. } = carried;
        let outcome = &mut self.outcome;
        outcome.effects.absorb(effects);
        outcome.runs.extend(runs);
        outcome.shadow.extend(shadow);
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
        self.outcome.settle_details(Some(&self.event));
    }
}

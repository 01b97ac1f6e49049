//! After the last part: the rewrites of the system layer are applied again, and guards are asked about an input that they have not
//! judged.

use super::patch_files::PatchFiles;
use super::{Firing, PartInTurn, Phase};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect_id::DialectId;
use crate::event::Stage;
use crate::firing::AskedAbout;
use crate::firing::part::PartEnd;
use crate::firing::plan::{PartPlan, Plan};
use crate::firing::rules::MatchedRules;
use crate::hook::OnFailure;
use crate::json::Json;
use crate::outcome::{Decision, Effects};
use crate::rules::Purpose;
use crate::tools::View;

impl Firing {
    /// Applies the system layer's rewrites last, and asks guards again about an input that they have not judged.
    pub(super) fn after_last_part(&mut self) {
        if self.files != PatchFiles::InTurn {
            self.add_files();
            return;
        }
        // Most events have no guard above the project, so nothing was judged that could have changed.
        let rules = self.rules_for_final_input();
        let has_judged = self.parts.iter().any(|in_turn| in_turn.part.has_judged());
        if matches!(self.phase, Phase::SecondLook(_)) || !has_judged && rules.is_none() {
            self.finish();
            return;
        }
        if let Err(why) = self.reapply_floor() {
            self.refuse(self.parts.len(), Diagnostic::new(Code::PatchUnusable, why), "a rewrite cannot be applied");
            return;
        }
        let first = self.parts.len();
        let rules = rules.map(|part| (part, View::Call));
        let again: Vec<(PartPlan, View)> = rules.into_iter().chain(self.unjudged()).collect();
        if again.is_empty() {
            self.finish();
            return;
        }
        self.settled = self.event.clone();
        for (plan, view) in again {
            self.add_part(&plan, view, |_| true);
        }
        self.phase = Phase::SecondLook(first);
    }

    /// The rules that deny the final input or ask about it, if hooks have changed the input that rules have judged.
    fn rules_for_final_input(&self) -> Option<PartPlan> {
        let field = self.event.kind().spec().guarded()?;
        if matches!(self.phase, Phase::SecondLook(_)) || self.event.field(field) == self.original.field(field) {
            return None;
        }
        let rules = MatchedRules::of(&self.snapshot, &self.event, Purpose::Event);
        if rules.is_empty() {
            return None;
        }
        let plan = Plan::about_tool(&self.snapshot, &self.event, self.plan.meaning, rules);
        let mut parts = plan.parts.into_iter();
        let mut part = parts.find(|part| part.hooks.iter().any(|planned| planned.rule.is_some()))?;
        part.hooks.retain(|planned| planned.on_failure != OnFailure::Allow);
        (!part.hooks.is_empty()).then_some(part)
    }

    /// Applies the rewrites of the system layer again, so that they come last.
    fn reapply_floor(&mut self) -> Result<(), String> {
        for PartInTurn { dialect, view, part, .. } in &self.parts {
            let shown = self.snapshot.tools.show(*dialect, self.plan.tool, *view, &mut self.event);
            let shown = shown.map_err(|why| why.to_string())?;
            part.reapply_floor(&mut self.event);
            shown.restore_event(&mut self.event).map_err(|unfit| unfit.to_string())?;
        }
        Ok(())
    }

    /// The guards that have not judged what the event has now, each as a part of its own.
    fn unjudged(&self) -> Vec<(PartPlan, View)> {
        let mut again = Vec::new();
        for (at, PartInTurn { dialect, view, part, .. }) in self.parts.iter().enumerate() {
            let mut in_their_words = self.event.clone();
            // What cannot be shown is not what was judged, so the event as it is stands for it.
            let _ = self.snapshot.tools.show(*dialect, self.plan.tool, *view, &mut in_their_words);
            let later = self.parts.iter().skip(at + 1).filter_map(|in_turn| in_turn.part.least_changing()).min();
            for planned in part.unjudged(&in_their_words, later) {
                let about = AskedAbout::Event;
                let plan = PartPlan { dialect: *dialect, stage: Stage::Chain, about, hooks: vec![planned] };
                again.push((plan, *view));
            }
        }
        again
    }

    /// Applies the result of asking guards again. It can only restrict: a rewrite becomes a deny, and is undone.
    pub(super) fn take_second_look(&mut self, dialect: DialectId, mut end: PartEnd, is_unfit: bool) {
        let Some(field) = self.event.kind().spec().guarded() else { return };
        // A hook that adds context to a prompt a second time does not demand a change.
        let can_demand = self.event.kind().spec().rewritable.is_some();
        let demands_change = can_demand && (is_unfit || !is_same(self.event.field(field), self.settled.field(field)));
        self.event = self.settled.clone();
        let folded = std::mem::take(&mut end.folded);
        // Destructured: whether a new effect restricts has to be decided here.
        let Effects {
            decision,
            reason,
            stop,
            suppress_output,
            system_message: _,
            clear_context: _,
            additional_context: _,
            tool_input: _,
            tool_output: _,
            prompt: _,
            messages: _,
            entries: _,
            llm_request: _,
            llm_response: _,
            tool_config: _,
            result: _,
        } = folded.effects;
        let mut effects = Effects { decision, reason, stop, suppress_output, ..Effects::default() };
        if demands_change && let Some(run) = end.runs.first() {
            let message =
                format!("guard `{}` wants to change an input that was changed after it had answered", run.hook);
            let location = run.hook.origin.location.clone();
            end.diagnostics.push(Diagnostic::new(Code::RewriteAfterGuard, message.clone()).at(location));
            effects = Effects { decision: Some(Decision::Deny), reason: Some(message), ..effects };
        }
        end.diagnostics.extend(folded.diagnostics);
        if let Some(second) = folded.detail {
            second.amend(&mut self.outcome, &effects);
        }
        end.folded.effects = effects;
        self.take_part(dialect, end, false);
    }
}

/// Whether two values mean the same. An answer that only formats the input differently demands no change.
fn is_same(one: Option<&Json>, two: Option<&Json>) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => one.same_as(two),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

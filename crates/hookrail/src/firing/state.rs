//! The state machine of one fired event.

mod carried;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::carried::CarriedCalls;
use super::part::{AnyPart, PartEnd, part_of};
use super::plan::{AskedAbout, PartPlan, Plan, PlannedHook};
use super::rules::MatchedRules;
use super::shadow::ShadowFiring;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::snapshot::{Snapshot, Switch};
use crate::dialect_id::DialectId;
use crate::event::{Event, EventKind, Stage};
use crate::hook::OnFailure;
use crate::json::Json;
use crate::outcome::skips::{SkipReason, Skipped};
use crate::outcome::{Decision, Effects, HookRun, Outcome};
use crate::payload::{ModelResponse, request_with_changes, response_with_changes, response_with_only_text};
use crate::run::{PlannedRun, RunEnd, RunId};
use crate::tools::{ShownTool, View};
use crate::trust::protect::OwnJudgement;

/// The field with the arguments of a tool call.
pub(crate) const TOOL_INPUT: &str = "tool_input";

/// One event while hooks are asked about it.
pub struct Firing {
    snapshot: Arc<Snapshot>,
    plan: Arc<Plan>,
    original: Event,
    event: Event,
    /// How the event is shown to the current part, while it is.
    shown: Option<ShownTool>,
    /// The tool's input before the current part.
    before_part: Option<Json>,
    /// The event after all parts. A second look at the final input must leave it unchanged.
    settled: Event,
    parts: Vec<PartInTurn>,
    files: Files,
    phase: Phase,
    waiting: BTreeSet<RunId>,
    outcome: Outcome,
    next_run: usize,
    /// None if hooks are asked about the call itself only.
    carried: Option<CarriedCalls>,
}

/// One part of the event, and what its hooks are shown.
struct PartInTurn {
    dialect: DialectId,
    stage: Stage,
    view: View,
    part: Box<dyn AnyPart>,
}

/// The files of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Files {
    /// Hooks are asked about them after the patch itself; those that match both are asked about what is named here.
    Ahead(AskedAbout),
    /// There are none, or their parts are among the others.
    InTurn,
}

/// The state of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The part with this index runs.
    Part(usize),
    /// Guards are asked again about the final input; those parts follow the planned ones.
    SecondLook(usize),
    Done,
}

impl Phase {
    /// The index of the current part.
    fn part(self) -> Option<usize> {
        match self {
            Self::Part(at) | Self::SecondLook(at) => Some(at),
            Self::Done => None,
        }
    }
}

/// What to do next.
#[derive(Debug)]
pub enum Step {
    /// Run these, and give every end to [`Firing::ended`].
    Run(Batch),
    /// Ends are still outstanding.
    Wait,
    /// The event is over.
    Done(Box<Outcome>),
}

/// Runs that may run side by side.
#[derive(Debug)]
pub struct Batch {
    /// How they are related. For a detached batch the caller may call [`Firing::detach`] instead of giving the end.
    pub stage: Stage,
    /// What to run.
    pub requests: Vec<PlannedRun>,
}

impl Firing {
    /// Plans an event.
    #[must_use]
    pub fn new(snapshot: Arc<Snapshot>, event: Event) -> Self {
        let plan = Arc::new(Plan::new(&snapshot, &event));
        let judged = snapshot.protection.judge_call(&snapshot.tools, &event, plan.meaning);
        Self::planned(snapshot, plan, event, judged)
    }

    /// Starts an event with a plan that was made for it, or for an event that a plan cannot distinguish from it.
    /// `judged` is what the engine itself says about it.
    pub(crate) fn planned(
        snapshot: Arc<Snapshot>,
        plan: Arc<Plan>,
        event: Event,
        judged: Option<OwnJudgement>,
    ) -> Self {
        let mut outcome = before_any_hook(&snapshot, &plan);
        add_judgement(&mut outcome, judged);
        let mut firing = Self::begin(snapshot, plan, event, outcome, 0);
        firing.refuse_repeated_keys(0);
        firing
    }

    /// The event as a hook sees it that is not enforced. What the engine itself says about the event is no part of what the
    /// hook would have done.
    pub(crate) fn of_shadow(snapshot: Arc<Snapshot>, plan: Arc<Plan>, event: Event) -> Self {
        let outcome = Outcome::untouched(plan.event);
        // What the call carries are firings of their own.
        Self { carried: None, ..Self::begin(snapshot, plan, event, outcome, 0) }
    }

    fn begin(snapshot: Arc<Snapshot>, plan: Arc<Plan>, event: Event, outcome: Outcome, first_run: usize) -> Self {
        let files = Files::of(&snapshot, &plan, &event);
        let mut firing = Self {
            snapshot,
            plan,
            original: event.clone(),
            settled: event.clone(),
            event,
            shown: None,
            before_part: None,
            parts: Vec::new(),
            files,
            phase: Phase::Part(0),
            waiting: BTreeSet::new(),
            outcome,
            next_run: first_run,
            carried: Some(CarriedCalls::default()),
        };
        let plan = Arc::clone(&firing.plan);
        for part in &plan.parts {
            let view = match part.about {
                AskedAbout::Event => View::Call,
                AskedAbout::Patch => View::Patch,
                AskedAbout::EachFile => continue,
            };
            firing.add_part(part, view, |planned| {
                planned.file_tools.is_empty() || files != Files::Ahead(AskedAbout::EachFile)
            });
        }
        firing
    }

    /// Adds a part with those of its hooks that are wanted.
    fn add_part(&mut self, plan: &PartPlan, view: View, is_wanted: impl Fn(&PlannedHook) -> bool) {
        let PartPlan { dialect, stage, .. } = *plan;
        let (part, count) = if plan.hooks.iter().all(&is_wanted) {
            (part_of(dialect, plan, self.next_run), plan.hooks.len())
        } else {
            let hooks: Vec<PlannedHook> = plan.hooks.iter().filter(|planned| is_wanted(planned)).cloned().collect();
            let count = hooks.len();
            (part_of(dialect, &PartPlan { hooks, ..*plan }, self.next_run), count)
        };
        if count > 0 {
            self.next_run += count;
            self.parts.push(PartInTurn { dialect, stage, view, part });
        }
    }

    /// The hooks that are asked about the files of a patch, part by part.
    fn asked_about_files(&self) -> Vec<(PartPlan, Vec<PlannedHook>)> {
        let Files::Ahead(both) = self.files else { return Vec::new() };
        let is_asked = |part: &PartPlan| match part.about {
            AskedAbout::EachFile => true,
            AskedAbout::Event => both == AskedAbout::EachFile,
            AskedAbout::Patch => false,
        };
        let asked = |part: &PartPlan| {
            let hooks: Vec<PlannedHook> =
                part.hooks.iter().filter(|planned| !planned.file_tools.is_empty()).cloned().collect();
            (part.clone(), hooks)
        };
        let parts = self.plan.parts.iter().filter(|part| is_asked(part)).map(asked);
        parts.filter(|(_, hooks)| !hooks.is_empty()).collect()
    }

    /// Adds a part for each file of the patch, as hooks that were asked about the patch itself left it.
    fn add_files(&mut self) {
        let asked = self.asked_about_files();
        self.files = Files::InTurn;
        if asked.is_empty() {
            return;
        }
        let files = match self.snapshot.tools.files_of_patch(&self.event) {
            Ok(files) => files,
            Err(unreadable) => {
                let why = unreadable.to_string();
                for planned in asked.iter().flat_map(|(_, hooks)| hooks) {
                    self.outcome.skipped.extend([Skipped::new(&planned.hook, SkipReason::ChainEnded, why.as_str())]);
                }
                self.refuse(self.parts.len(), Diagnostic::new(Code::PatchUnusable, why), "the patch cannot be read");
                return;
            }
        };
        for (part, hooks) in asked {
            let part = PartPlan { hooks, ..part };
            for (at, tool) in files.tools.iter().enumerate() {
                self.add_part(&part, View::File(at), |planned| planned.file_tools.contains(tool));
            }
        }
    }

    /// The outcome of an event for which no hook runs. It is computed without a machine, because most events of a
    /// session concern no hook.
    pub(crate) fn without_hooks(
        snapshot: &Snapshot,
        plan: &Plan,
        tool_input: Option<&Json>,
        judged: Option<OwnJudgement>,
    ) -> Outcome {
        let mut outcome = before_any_hook(snapshot, plan);
        add_judgement(&mut outcome, judged);
        outcome.diagnostics.extend(tool_input.and_then(Json::repeated_key).map(repeated_key_finding));
        outcome.skipped.append(&plan.skipped);
        if outcome.effects.decision.is_some() {
            outcome.finalize_details(None);
        }
        outcome
    }

    /// The configuration under which the event was planned.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    /// The event as the host fired it.
    pub(crate) fn original(&self) -> &Event {
        &self.original
    }

    /// The firings of the hooks that run beside this event without an effect, in plan order.
    pub(crate) fn shadows(&self) -> Vec<ShadowFiring> {
        ShadowFiring::of_event(&self.snapshot, &self.plan, &self.original)
    }

    /// Whether hooks run beside this event without an effect.
    pub(crate) fn has_shadows(&self) -> bool {
        !self.plan.shadow.is_empty() || self.plan.carries_calls() && !self.shadows().is_empty()
    }

    /// What would happen.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What to do next. After [`Step::Done`] there is nothing more to do.
    pub fn step(&mut self) -> Step {
        // The engine has denied the event itself. If guards are missing, asking the others cannot make up for them.
        if self.phase == Phase::Part(0) && self.waiting.is_empty() && self.outcome.is_denied() {
            self.end_early(0, "the engine denied the event");
        }
        while self.waiting.is_empty()
            && let Some(at) = self.phase.part()
        {
            let Some(PartInTurn { dialect, stage, view, part }) = self.parts.get_mut(at) else {
                self.after_last_part();
                continue;
            };
            if self.shown.is_none() {
                self.before_part = self.event.field(TOOL_INPUT).cloned();
                match self.snapshot.tools.show(*dialect, self.plan.tool, *view, &mut self.event) {
                    Ok(shown) => self.shown = Some(shown),
                    Err(why) => {
                        self.cannot_show(at, &why.to_string());
                        continue;
                    }
                }
            }
            let requests = part.next(&mut self.event);
            let stage = *stage;
            if requests.is_empty() {
                self.finish_part(at);
                continue;
            }
            self.waiting.extend(requests.iter().map(|request| request.id));
            return Step::Run(Batch { stage, requests });
        }
        if self.phase != Phase::Done {
            return Step::Wait;
        }
        if let Some(step) = self.step_carried() {
            return step;
        }
        let mut outcome = std::mem::replace(&mut self.outcome, Outcome::untouched(self.event.kind()));
        outcome.in_force = self.plan.hooks().next().map(|_| self.snapshot.in_force()).or(outcome.in_force);
        Step::Done(Box::new(outcome))
    }

    /// Takes the end of a run. Ends may come in any order; an end of a run that is not outstanding is ignored.
    pub fn ended(&mut self, run: RunId, end: &RunEnd) {
        if let Some(carried) = self.carried() {
            carried.ended(run, end);
            return;
        }
        if !self.waiting.remove(&run) {
            return;
        }
        if let Some(returned) = end.module() {
            self.outcome.effects.messages.extend(returned.messages.iter().cloned());
            self.outcome.effects.entries.extend(returned.entries.iter().cloned());
        }
        if let Some(in_turn) = self.phase.part().and_then(|at| self.parts.get_mut(at)) {
            in_turn.part.ended(run, end, &mut self.event, self.shown.as_ref());
        }
    }

    /// Stops waiting for a run of a detached batch: the event continues without its end.
    pub fn detach(&mut self, run: RunId) {
        if let Some(carried) = self.carried() {
            carried.detach(run);
            return;
        }
        if !self.waiting.remove(&run) {
            return;
        }
        if let Some(in_turn) = self.phase.part().and_then(|at| self.parts.get_mut(at)) {
            in_turn.part.left_out(run);
        }
    }

    /// Leaves out a part whose hooks cannot be shown the call, and denies what they could have denied.
    fn cannot_show(&mut self, at: usize, why: &str) {
        if let Some(in_turn) = self.parts.get(at) {
            self.outcome.skipped.extend(in_turn.part.skip(why));
        }
        self.phase = match self.phase {
            Phase::SecondLook(_) => Phase::SecondLook(at + 1),
            Phase::Part(_) | Phase::Done => Phase::Part(at + 1),
        };
        self.refuse(at + 1, Diagnostic::new(Code::PatchUnusable, why), "a hook could not be shown the call");
    }

    /// Denies the event because of a finding of the engine itself, if it can be denied.
    fn refuse(&mut self, from: usize, finding: Diagnostic, why: &str) {
        let message = finding.message.clone();
        self.outcome.diagnostics.push(finding);
        if !self.event.kind().spec().is_gating() {
            return;
        }
        let effects = Effects::deny(message);
        for dialect in DialectId::ORDER {
            dialect.contract().record_refusal(&mut self.outcome, &effects);
        }
        self.outcome.effects.absorb(effects);
        self.end_early(from, why);
    }

    fn finish_part(&mut self, at: usize) {
        let before = self.before_part.take();
        let Some(PartInTurn { dialect, part, .. }) = self.parts.get_mut(at) else { return };
        let dialect = *dialect;
        let end = part.finish(&mut self.event, &self.snapshot);
        let restored = self.shown.take().map_or(Ok(()), |shown| shown.restore_event(&mut self.event));
        if let Phase::SecondLook(_) = self.phase {
            self.take_second_look(dialect, end, restored.is_err());
            self.phase = Phase::SecondLook(at + 1);
            return;
        }
        let is_first = !self.parts.iter().take(at).any(|earlier| earlier.dialect == dialect);
        self.take_part(dialect, end, is_first);
        self.phase = Phase::Part(at + 1);
        if self.outcome.is_denied() {
            self.end_early(at + 1, "an earlier hook denied the event");
        } else if let Err(unfit) = restored {
            let finding = Diagnostic::new(Code::PatchUnusable, unfit.to_string());
            self.refuse(at + 1, finding, "a rewrite cannot be put back into the patch");
        } else if self.event.field(TOOL_INPUT) != before.as_ref() {
            self.refuse_repeated_keys(at + 1);
        }
    }

    /// Denies a tool call whose input has a key twice, if a guard is asked about it: the guard may read one of the
    /// values and the tool the other.
    fn refuse_repeated_keys(&mut self, from: usize) {
        let Some(key) = self.event.field(TOOL_INPUT).and_then(Json::repeated_key) else { return };
        let kind = self.event.kind();
        let finding = repeated_key_finding(key);
        if self.plan.hooks().any(|(_, planned)| planned.guards(kind)) {
            self.refuse(from, finding, "the tool input has a key twice");
        } else {
            self.outcome.diagnostics.push(finding);
        }
    }

    /// Records the result of a part. A dialect has several if its hooks are asked about several files.
    fn take_part(&mut self, dialect: DialectId, mut end: PartEnd, is_first: bool) {
        if !self.event.kind().spec().gated_by(dialect) {
            self.without_effect(dialect, &mut end.folded.effects, &end.runs);
        }
        self.outcome.runs.extend(end.runs);
        self.outcome.skipped.extend(end.skipped);
        self.outcome.diagnostics.extend(end.diagnostics);
        self.outcome.diagnostics.extend(end.folded.diagnostics);
        match end.folded.detail {
            Some(detail) if is_first => detail.record(&mut self.outcome),
            Some(detail) => detail.amend(&mut self.outcome, &end.folded.effects),
            None => {}
        }
        self.outcome.effects.absorb(end.folded.effects);
    }

    /// Keeps a deny visible in an event that cannot be denied, without effect.
    fn without_effect(&mut self, dialect: DialectId, effects: &mut Effects, runs: &[HookRun]) {
        if effects.decision == Some(Decision::Deny) {
            let reason = effects.reason.as_deref().unwrap_or("no reason given");
            let denies = runs.iter().find(|run| run.decision == Some(Decision::Deny)).map(|run| &run.hook);
            let who = denies.map_or_else(|| "a hook".to_owned(), |hook| format!("hook `{hook}`"));
            let message = format!("{} cannot be denied; {who} tried to: {reason}", self.event.kind());
            let instead = dialect.contract().instead_of_deny(self.event.kind());
            let hint = instead.unwrap_or_else(|| "deny in an event before the operation".to_owned());
            let finding = Diagnostic::new(Code::DenyWithoutEffect, message).hint(hint);
            self.outcome.diagnostics.push(match denies {
                Some(hook) => finding.at(hook.origin.location.clone()),
                None => finding,
            });
        }
        effects.decision = None;
    }

    /// Records the parts that have not started as not run, once the event is denied.
    fn end_early(&mut self, from: usize, why: &str) {
        for in_turn in self.parts.iter().skip(from) {
            self.outcome.skipped.extend(in_turn.part.skip(why));
        }
        for planned in self.asked_about_files().iter().flat_map(|(_, hooks)| hooks) {
            self.outcome.skipped.extend([Skipped::new(&planned.hook, SkipReason::ChainEnded, why)]);
        }
        self.finish();
    }

    /// Applies the system layer's rewrites last, and asks guards again about an input that they have not judged.
    fn after_last_part(&mut self) {
        if self.files != Files::InTurn {
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
        let rules = MatchedRules::of(&self.snapshot, &self.event);
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
    fn take_second_look(&mut self, dialect: DialectId, mut end: PartEnd, is_unfit: bool) {
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

    /// Determines what was rewritten between the first and the last part, and ends the event.
    fn finish(&mut self) {
        self.outcome.skipped.append(&self.plan.skipped);
        self.phase = Phase::Done;
        self.judge_rewritten_call();
        self.finalize_rewrites();
        self.outcome.finalize_details(Some(&self.event));
    }

    /// Judges a call whose input hooks have changed.
    fn judge_rewritten_call(&mut self) {
        if !self.outcome.is_denied() && self.event.field(TOOL_INPUT) != self.original.field(TOOL_INPUT) {
            let Snapshot { protection, tools, .. } = &*self.snapshot;
            let judged = protection.judge_call(tools, &self.event, self.plan.meaning);
            add_judgement(&mut self.outcome, judged);
        }
    }

    fn finalize_rewrites(&mut self) {
        let changed = |field: &str| {
            let now = self.event.field(field)?;
            (self.original.field(field) != Some(now)).then(|| now.clone())
        };
        let effects = &mut self.outcome.effects;
        if effects.decision == Some(Decision::Deny) {
            effects.tool_input = None;
            effects.prompt = None;
            effects.llm_request = None;
            return;
        }
        effects.tool_input = changed("tool_input");
        effects.llm_request = changed("llm_request");
        effects.prompt = changed("prompt").and_then(|prompt| prompt.as_str());
        if let Some(response) = changed("llm_response") {
            effects.llm_response = Some(response);
        }
        self.outcome.native_request = native(&self.original, "llm_request", "contents")
            .zip(effects.llm_request.as_ref())
            .map(|(base, changed)| request_with_changes(changed, base));
        self.outcome.native_response = native(&self.original, "llm_response", "candidates")
            .zip(effects.llm_response.as_ref())
            .map(|(base, changed)| response_with_changes(changed, base));
        // After a stop nothing of the model's response may be used but the reason: no text and no tool call.
        if self.event.kind() == EventKind::AfterModel
            && let Some(stop) = &effects.stop
        {
            self.outcome.native_response = native(&self.original, "llm_response", "candidates")
                .map(|base| response_with_only_text(base, &stop.reason));
            effects.llm_response = Some(ModelResponse::of_text(&stop.reason).to_json());
        }
    }
}

impl Files {
    /// Whether hooks are asked about files of a patch, and about what those are asked that match the patch and the files: where
    /// the patch itself names files, about them.
    fn of(snapshot: &Snapshot, plan: &Plan, event: &Event) -> Self {
        if !plan.hooks().any(|(_, planned)| !planned.file_tools.is_empty()) {
            return Self::InTurn;
        }
        let in_parts = snapshot.tools.files_of_patch(event).is_ok_and(|files| files.is_in_parts);
        Self::Ahead(if in_parts { AskedAbout::EachFile } else { AskedAbout::Event })
    }
}

/// A document of the host in the form of its provider, which is recognised by that member.
fn native<'e>(event: &'e Event, field: &str, member: &str) -> Option<&'e Json> {
    event.field(field).filter(|document| document.as_object().is_some_and(|members| members.get(member).is_some()))
}

/// The diagnostics about an event before any hook is asked.
fn before_any_hook(snapshot: &Snapshot, plan: &Plan) -> Outcome {
    let mut outcome = Outcome::untouched(plan.event);
    outcome.diagnostics.extend(plan.diagnostics.iter().cloned());
    if let Switch::SystemOnly(why) = &snapshot.switch {
        outcome.diagnostics.push(Diagnostic::new(Code::HooksDisabled, why.to_string()));
    }
    outcome.diagnostics.extend(snapshot.standing.iter().cloned());
    if let Some(refused) = snapshot.refusal.as_ref().filter(|_| plan.event.spec().is_gating()) {
        outcome.refusal = Some(refused.refusal);
        outcome.effects.decision = Some(refused.refusal.decision());
        outcome.effects.reason = Some(refused.reason.to_string());
    }
    outcome
}

/// Adds what the engine itself says about a tool call.
fn add_judgement(outcome: &mut Outcome, judged: Option<OwnJudgement>) {
    if let Some(judged) = judged
        && !outcome.diagnostics.contains(&judged.finding)
    {
        outcome.effects.absorb(judged.effects());
        outcome.diagnostics.push(judged.finding);
    }
}

fn repeated_key_finding(key: String) -> Diagnostic {
    let message = format!("duplicate key `{key}` in the tool input; a hook and the tool may read different values");
    Diagnostic::new(Code::InputDuplicateKey, message).hint("write every key once")
}

/// Whether two values mean the same. An answer that only formats the input differently demands no change.
fn is_same(one: Option<&Json>, two: Option<&Json>) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => one.same_as(two),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

//! The state machine of one fired event.

mod carried;
mod patch_files;
mod rewrites;
mod second_look;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::carried::CarriedCalls;
use self::patch_files::PatchFiles;
use super::part::{AnyPart, PartEnd, part_of};
use super::plan::{PartPlan, Plan, PlannedHook};
use super::shadow::ShadowFiring;
use super::subject::AskedAbout;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::snapshot::{Snapshot, Switch};
use crate::dialect_id::DialectId;
use crate::event::{Event, Stage};
use crate::json::Json;
use crate::outcome::skips::{SkipReason, Skipped};
use crate::outcome::{Decision, Effects, HookRun, Outcome};
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
    files: PatchFiles,
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
        let files = PatchFiles::of(&snapshot, &plan, &event);
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
                planned.file_tools.is_empty() || files != PatchFiles::Ahead(AskedAbout::EachFile)
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

    /// The firings of the shadow hooks of this event, in plan order.
    pub(crate) fn shadows(&self) -> Vec<ShadowFiring> {
        ShadowFiring::of_event(&self.snapshot, &self.plan, &self.original)
    }

    /// Whether this event has shadow hooks.
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

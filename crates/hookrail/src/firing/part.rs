//! One dialect's part of a fired event: how parallel stages, chains and detached stages run. All dialects share this
//! code.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use super::plan::{PartPlan, PlannedHook};
use super::state::TOOL_INPUT;
use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::dialect::snapshot::Snapshot;
use crate::dialect::{Flow, FoldContext, Folded, Launch, Protocol, ProtocolVisitor, Reply};
use crate::dialect_id::DialectId;
use crate::event::{Event, Stage};
use crate::hook::{Action, Authority, Hook, OnFailure, Trust};
use crate::json::Json;
use crate::outcome::skips::{SkipReason, Skipped};
use crate::outcome::{Decision, EndKind, Health, HookRun};
use crate::run::sentences;
use crate::run::{AnswerWait, HookRole, NativeEnd, PlannedRun, RawEnd, RunEnd, RunId, RunInput};
use crate::tools::ShownTool;
use crate::trust::HookEdit;

/// A part of any dialect, with the dialect's type erased.
pub(super) trait AnyPart: Send + Sync {
    /// What to run next; nothing when the part is over.
    fn next(&mut self, event: &mut Event) -> Vec<PlannedRun>;
    /// Takes the end of a run. `shown` is how the event is shown to the part's hooks.
    fn ended(&mut self, run: RunId, end: &RunEnd, event: &mut Event, shown: Option<&ShownTool>);
    /// Records that the host does not wait for a run.
    fn left_out(&mut self, run: RunId);
    /// Folds the part.
    fn finish(&mut self, event: &mut Event, snapshot: &Snapshot) -> PartEnd;
    /// Records that the part does not run at all.
    fn skip(&self, why: &str) -> Vec<Skipped>;
    /// Whether a guard of the part may have to be asked again, or its rewrite to be applied again.
    fn has_judged(&self) -> bool;
    /// Applies the system layer's rewrites again, so that they come last.
    fn reapply_floor(&self, event: &mut Event);
    /// The least authority among the hooks whose answers changed the field that guards judge.
    fn least_changing(&self) -> Option<Authority>;
    /// The guards that judged another value than the event has now and must be asked again, given the least authority
    /// that changed it in later parts.
    fn unjudged(&self, event: &Event, later: Option<Authority>) -> Vec<PlannedHook>;
}

/// The result of a part.
#[derive(Default)]
pub(super) struct PartEnd {
    pub(crate) folded: Folded,
    pub(crate) runs: Vec<HookRun>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A planned hook and its run.
struct Slot {
    planned: PlannedHook,
    run: Option<HookRun>,
    /// The event as the hook received it, kept for guards that are asked again if others change it.
    judged: Option<Event>,
    /// Whether its answer changes the field that guards judge.
    changes_input: bool,
    left_out: Option<LeftOut>,
    /// The field that it judged, for the receipt.
    asked_about: Option<Json>,
    /// The diagnostics about it. They are reported in plan order, independent of when it ended.
    diagnostics: Vec<Diagnostic>,
}

/// Why a planned hook has no run.
enum LeftOut {
    ChainEnded(Arc<str>),
    ContentChanged,
}

/// A field that a guard judged: the value that it received, and the value that it left.
struct Accepted {
    judged: Json,
    after: Json,
}

/// The part of one dialect.
struct Part<D: Protocol> {
    stage: Stage,
    slots: Vec<Slot>,
    first_run: usize,
    next: usize,
    /// Replies by index; a chain fills them from the front.
    replies: Vec<Option<Reply<D::Answer>>>,
    /// The replies of a chain so far, which the next hook receives.
    chain: Vec<Reply<D::Answer>>,
    before: Option<Event>,
    /// The input that all hooks receive, if it is the same for all. It is dropped when the last one has been handed
    /// out.
    common_input: Option<RunInput>,
}

/// The part of a dialect, as planned. Its runs are numbered from `first_run`.
pub(super) fn part_of(dialect: DialectId, plan: &PartPlan, first_run: usize) -> Box<dyn AnyPart> {
    struct MakePart<'p>(&'p PartPlan, usize);

    impl ProtocolVisitor for MakePart<'_> {
        type Output = Box<dyn AnyPart>;

        fn visit<D: Protocol>(self) -> Self::Output {
            Box::new(Part::<D>::new(self.0, self.1))
        }
    }

    dialect.with_protocol(MakePart(plan, first_run))
}

impl<D: Protocol> Part<D> {
    const GUARD_WAIT: &'static AnswerWait = &AnswerWait { meaning: D::exit_meaning, role: HookRole::Guard };
    const OTHER_WAIT: &'static AnswerWait = &AnswerWait { meaning: D::exit_meaning, role: HookRole::Other };

    pub(crate) fn new(plan: &PartPlan, first_run: usize) -> Self {
        let slots: Vec<Slot> = plan
            .hooks
            .iter()
            .map(|planned| Slot {
                planned: planned.clone(),
                run: None,
                judged: None,
                changes_input: false,
                left_out: None,
                asked_about: None,
                diagnostics: Vec::new(),
            })
            .collect();
        let replies = slots.iter().map(|_| None).collect();
        Self {
            stage: plan.stage,
            slots,
            first_run,
            next: 0,
            replies,
            chain: Vec::new(),
            before: None,
            common_input: None,
        }
    }

    fn request(&mut self, at: usize, planned: &PlannedHook, launch: Launch, event: &Event) -> PlannedRun {
        let answer_wait = if planned.guards(event.kind()) { Self::GUARD_WAIT } else { Self::OTHER_WAIT };
        PlannedRun {
            id: RunId(self.first_run + at),
            event: Arc::new(event.clone()),
            hook: Arc::clone(&planned.hook),
            input: self.input(planned, event),
            timeout: planned.timeout,
            grace: D::GRACE,
            cancel_grace: D::CANCEL_GRACE,
            drain: D::drain(event.kind()),
            command: launch.command,
            folders: launch.folders,
            cwd: event.cwd().to_owned(),
            variables: launch.variables,
            answer_wait,
            shell: launch.shell,
            sandbox: None,
        }
    }

    /// The input of a hook. Outside a chain nothing changes between one hook and the next, so if all hooks of the
    /// dialect receive the same input, it is serialized once.
    fn input(&mut self, planned: &PlannedHook, event: &Event) -> RunInput {
        if let Some(input) = &self.common_input {
            return input.clone();
        }
        let input = D::input(&planned.hook, event, &self.chain);
        if D::SAME_INPUT_FOR_ALL && self.stage != Stage::Chain {
            self.common_input = Some(input.clone());
        }
        input
    }

    /// Takes the next hook of the plan: returns its request, or nothing if it cannot be asked and has ended already.
    fn start(&mut self, event: &mut Event) -> Option<PlannedRun> {
        let at = self.next;
        self.next += 1;
        let slot = self.slots.get_mut(at)?;
        if slot.left_out.is_some() {
            return None;
        }
        slot.asked_about = event.kind().spec().judged.and_then(|field| event.field(field).cloned());
        if let Some(how) = cannot_be_asked(&slot.planned) {
            self.accept_end(at, &RunEnd::NotRun(how), event, None);
            return None;
        }
        if let Some(end) = rule_end(&slot.planned) {
            self.accept_end(at, &end, event, None);
            return None;
        }
        let planned = slot.planned.clone();
        let launch = D::launch(&planned.hook, event);
        if let Some(why) = launch.refused {
            self.accept_end(at, &RunEnd::NotRun(RawEnd::ValueRefused(why)), event, None);
            return None;
        }
        // Kept for asking again about changes of hooks with less authority. No layer has less than the project, so its
        // own guards are not asked again.
        if planned.authority > Authority::Project && planned.guards(event.kind()) {
            slot.judged = Some(event.clone());
        }
        Some(self.request(at, &planned, launch, event))
    }

    /// Takes the end of the run at an index.
    fn accept_end(&mut self, at: usize, end: &RunEnd, event: &mut Event, shown: Option<&ShownTool>) {
        let (failed, mut end) = (OnceCell::new(), end);
        let Some(slot) = self.slots.get_mut(at) else { return };
        if *end.how() == RawEnd::ContentChanged && !slot.planned.guards(event.kind()) {
            slot.left_out = Some(LeftOut::ContentChanged);
            return;
        }
        let hook = &slot.planned.hook;
        let mut reply = D::read(hook, policy_for(&slot.planned, end), event.kind(), end);
        reply.authority = slot.planned.authority;
        // Merged once, against the input that the hook was sent: later the answer may be laid over another one.
        if let (Some(shown), Some(sent), Some(answer)) = (shown, event.field(TOOL_INPUT), &mut reply.answer) {
            let contradiction = OnceCell::new();
            D::merge_tool_input(answer, &|answered| match shown.merge_input(sent, answered) {
                Ok(merged) => merged,
                Err(why) => {
                    let _ = contradiction.set(why);
                    None
                }
            });
            if let Some(why) = contradiction.into_inner().filter(|_| reply.decision != Some(Decision::Deny)) {
                end = failed.get_or_init(|| end.failed_as(RawEnd::Contradicted(why.to_string())));
                reply = D::read(hook, policy_for(&slot.planned, end), event.kind(), end);
                reply.authority = slot.planned.authority;
            }
        }
        let mut reported = sentences::about_end(hook, reply.health, reply.end, end);
        if event.kind().spec().gated_by(D::ID) {
            sentences::add_exit_hint(&mut reported, D::EXIT_STATUS_HINT);
        }
        reply.failure = reported.first().map(|diagnostic| diagnostic.message.clone());
        slot.diagnostics.extend(reported);
        slot.diagnostics.append(&mut reply.diagnostics);
        if self.stage == Stage::Detached {
            slot.diagnostics.extend(D::drain(event.kind()).and_then(|most| too_slow_for_a_host(hook, most, end)));
        }
        let guarded = event.kind().spec().guarded();
        slot.changes_input = guarded.is_some_and(|field| D::changes(event, self.stage, &reply, field));
        let (judged, rewrites) = (slot.asked_about.take(), slot.changes_input);
        let number = self.first_run + at;
        let rule = slot.planned.rule.clone();
        slot.run = Some(HookRun { number, judged, rewrites, rule, ..run_record(&reply, end) });
        if self.stage == Stage::Chain {
            let wants_an_end = D::apply_answer(event, self.stage, &reply) == Flow::End;
            // A deny that cannot block the event does not end the chain.
            if wants_an_end && event.kind().spec().gated_by(reply.hook.dialect) {
                let ended_by: Arc<str> = Arc::from(format!("hook `{}` ended the chain", reply.hook));
                for later in self.slots.iter_mut().skip(at + 1) {
                    later.left_out = Some(LeftOut::ChainEnded(Arc::clone(&ended_by)));
                }
            }
            self.chain.push(reply);
        } else if let Some(place) = self.replies.get_mut(at) {
            *place = Some(reply);
        }
    }

    /// The least authority that changed the field after the guard at this index was asked. Outside a chain all hooks
    /// are asked at once, so every change comes after that.
    fn least_changing_after(&self, at: usize) -> Option<Authority> {
        let is_later = |other: usize| if self.stage == Stage::Chain { other > at } else { other != at };
        let slots = self.slots.iter().enumerate().filter(|(other, slot)| is_later(*other) && slot.changes_input);
        slots.map(|(_, slot)| slot.planned.authority).min()
    }

    /// The field as the guard left it: the value that it judged, or its own rewrite.
    fn accepted(&self, at: usize, slot: &Slot, field: &str) -> Option<Accepted> {
        let judged = slot.judged.as_ref()?;
        let reply = self.chain.iter().find(|reply| Arc::ptr_eq(&reply.hook, &slot.planned.hook));
        let mut after = judged.clone();
        if let Some(reply) = reply.or(self.replies.get(at).and_then(Option::as_ref)) {
            D::apply_answer(&mut after, self.stage, reply);
        }
        Some(Accepted { judged: value(judged, field), after: value(&after, field) })
    }

    fn slot_index(&self, run: RunId) -> Option<usize> {
        run.index().checked_sub(self.first_run)
    }
}

impl<D: Protocol> AnyPart for Part<D> {
    fn next(&mut self, event: &mut Event) -> Vec<PlannedRun> {
        if self.before.is_none() {
            self.before = Some(event.clone());
        }
        let mut requests = Vec::new();
        while self.next < self.slots.len() {
            requests.extend(self.start(event));
            if self.stage == Stage::Chain && !requests.is_empty() {
                break;
            }
        }
        self.common_input = None;
        requests
    }

    fn ended(&mut self, run: RunId, end: &RunEnd, event: &mut Event, shown: Option<&ShownTool>) {
        if let Some(at) = self.slot_index(run) {
            self.accept_end(at, end, event, shown);
        }
    }

    fn left_out(&mut self, run: RunId) {
        let Some(slot) = self.slot_index(run).and_then(|at| self.slots.get_mut(at)) else { return };
        slot.run = Some(HookRun::not_asked(run.index(), &slot.planned.hook, EndKind::Detached, Health::Well));
    }

    fn finish(&mut self, event: &mut Event, snapshot: &Snapshot) -> PartEnd {
        let mut end = PartEnd::default();
        let before = self.before.clone().unwrap_or_else(|| event.clone());
        if self.stage != Stage::Chain {
            self.chain = self.replies.iter_mut().filter_map(Option::take).collect();
        }
        let context =
            FoldContext { stage: self.stage, policy: &snapshot.policy, tools: &snapshot.tools, before: &before };
        end.folded = D::fold(&context, event, &self.chain);
        for slot in &mut self.slots {
            end.diagnostics.append(&mut slot.diagnostics);
            let hook = &slot.planned.hook;
            match slot.left_out.take() {
                Some(LeftOut::ChainEnded(why)) => {
                    end.skipped.push(Skipped::new(hook, SkipReason::ChainEnded, &*why));
                }
                Some(LeftOut::ContentChanged) => {
                    let edit = HookEdit::of(hook);
                    let message = format!("hook `{hook}` {edit}, so it was not run");
                    let found = Diagnostic::new(Code::TrustChanged, message).at(hook.origin.location.clone());
                    end.diagnostics.push(found.hint(HookEdit::HINT));
                    let detail = format!("it {edit}, while this program ran");
                    end.skipped.push(Skipped::new(hook, SkipReason::Untrusted, detail));
                }
                None => end.runs.extend(slot.run.take()),
            }
        }
        end
    }

    fn skip(&self, why: &str) -> Vec<Skipped> {
        self.slots.iter().map(|slot| Skipped::new(&slot.planned.hook, SkipReason::ChainEnded, why)).collect()
    }

    fn has_judged(&self) -> bool {
        self.slots.iter().any(|slot| slot.judged.is_some())
    }

    fn reapply_floor(&self, event: &mut Event) {
        let Some(field) = event.kind().spec().rewritable else { return };
        let of_system = |(_, slot): &(usize, &Slot)| slot.planned.authority == Authority::System;
        for (at, slot) in self.slots.iter().enumerate().filter(of_system) {
            let Some(Accepted { judged, after }) = self.accepted(at, slot, field) else { continue };
            // Only a hook's own rewrite is applied again; a hook that rewrote nothing has nothing to apply.
            if judged != after
                && value(event, field) != after
                && let Some(reply) = self.chain.iter().find(|reply| Arc::ptr_eq(&reply.hook, &slot.planned.hook))
            {
                D::apply_answer(event, self.stage, reply);
            }
        }
    }

    fn least_changing(&self) -> Option<Authority> {
        self.slots.iter().filter(|slot| slot.changes_input).map(|slot| slot.planned.authority).min()
    }

    fn unjudged(&self, event: &Event, later: Option<Authority>) -> Vec<PlannedHook> {
        let Some(field) = event.kind().spec().guarded() else { return Vec::new() };
        let now = value(event, field);
        // A hook that rewrote what it judged has not accepted the original, even if later hooks restored it.
        let changed =
            |at: usize, slot: &Slot| self.accepted(at, slot, field).is_some_and(|accepted| now != accepted.after);
        // The system layer judges the final input, whichever hook changed it; other guards judge the changes of less
        // authoritative hooks.
        let must_judge_again = |at: usize, slot: &Slot| {
            let least = [later, self.least_changing_after(at)].into_iter().flatten().min();
            let guard = slot.planned.authority;
            guard == Authority::System || least.is_some_and(|least| least < guard)
        };
        self.slots
            .iter()
            .enumerate()
            .filter(|(at, slot)| must_judge_again(*at, slot) && changed(*at, slot))
            .map(|(_, slot)| slot.planned.clone())
            .collect()
    }
}

/// The failure policy for this end. A guard of the system layer that was never asked denies, whatever its policy says:
/// the policy is for guards that were asked and failed.
fn policy_for(planned: &PlannedHook, end: &RunEnd) -> OnFailure {
    match planned.authority {
        Authority::System if end.how().was_never_asked() => OnFailure::Block,
        Authority::System | Authority::User | Authority::Project => planned.on_failure,
    }
}

/// The end of a planned hook that is not asked because its entry is broken or is not what was granted.
fn cannot_be_asked(planned: &PlannedHook) -> Option<RawEnd> {
    match (&planned.hook.action, &planned.hook.trust) {
        (_, Trust::Changed(_)) => Some(RawEnd::ContentChanged),
        (Action::Unusable(why), _) => Some(RawEnd::Unusable(Arc::clone(why))),
        (Action::Missing(guard), _) => Some(RawEnd::Missing(Arc::clone(guard))),
        (
            Action::Shell(_)
            | Action::Program(_)
            | Action::Module(_)
            | Action::Native(_)
            | Action::Remote(_)
            | Action::Http(_)
            | Action::Rule(_)
            | Action::NotExecutable(_),
            Trust::NotNeeded | Trust::ForThisRun(_) | Trust::Granted(_) | Trust::Never(_),
        ) => None,
    }
}

/// The end of a rule, which answers without being run.
fn rule_end(planned: &PlannedHook) -> Option<RunEnd> {
    let Action::Rule(rule) = &planned.hook.action else { return None };
    let how = match (rule.problem(), &planned.rule) {
        (Some(why), _) => return Some(RunEnd::NotRun(RawEnd::Unusable(Arc::clone(why)))),
        (None, Some(found)) => RawEnd::Decided(Box::new(found.effects())),
        (None, None) => RawEnd::Decided(Box::default()),
    };
    Some(RunEnd::Native(NativeEnd { how, duration: Duration::ZERO }))
}

/// Warns about a detached hook that took longer than a host waits at its end.
fn too_slow_for_a_host(hook: &Hook, most: Duration, end: &RunEnd) -> Option<Diagnostic> {
    if end.duration() <= most {
        return None;
    }
    let (took, most) = (end.duration().as_millis(), most.as_millis());
    let message = format!("hook `{hook}` took {took} ms; an agent that ends waits {most} ms for it and then ends it");
    let finding = Diagnostic::new(Code::HookCancelled, message).at(hook.origin.location.clone());
    Some(Diagnostic { level: Level::Warning, ..finding }.hint("let a background process do the slow part of the work"))
}

fn value(event: &Event, field: &str) -> Json {
    event.field(field).cloned().unwrap_or_else(Json::null)
}

fn run_record<A>(reply: &Reply<A>, end: &RunEnd) -> HookRun {
    HookRun {
        number: 0,
        hook: Arc::clone(&reply.hook),
        end: reply.end,
        health: reply.health,
        exit_code: end.how().exit_code(),
        signal: end.how().signal(),
        decision: reply.decision,
        start: None,
        duration: reply.duration,
        stdout: end.stdout().lossy(),
        stderr: end.stderr().lossy(),
        judged: None,
        rewrites: false,
        rule: None,
    }
}

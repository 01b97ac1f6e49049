//! One dialect's part of a fired event: the mechanics of parallel stages, chains and detached stages, once for all
//! dialects.

use std::sync::Arc;

use super::failure;
use super::plan::{PartPlan, PlannedHook};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::{Dialect, Flow, FoldContext, Folded, Health, Reply};
use crate::event::{Event, Stage};
use crate::hook::{Action, Authority};
use crate::json::Json;
use crate::outcome::{EndKind, HookRun};
use crate::run::{How, RunEnd, RunId, RunInput, RunRequest, SharedInput};
use crate::skips::{SkipReason, Skipped};
use crate::snapshot::Policy;

/// A part whose dialect is not known any more.
pub(crate) trait AnyPart: Send + Sync {
    /// What to run next; nothing when the part is over.
    fn next(&mut self, event: &mut Event) -> Vec<RunRequest>;
    /// Takes the end of a run.
    fn ended(&mut self, run: RunId, end: &RunEnd, event: &mut Event);
    /// Records that the host does not wait for a run.
    fn left_out(&mut self, run: RunId);
    /// Folds the part.
    fn finish(&mut self, event: &mut Event, policy: &Policy) -> PartEnd;
    /// Records that the part does not run at all.
    fn skip(&self, why: &str) -> Vec<Skipped>;
    /// Applies the system layer's rewrites once more, so that they come last.
    fn reapply_floor(&self, event: &mut Event);
    /// The system hooks that judged something else than the event as it is now.
    fn unjudged(&self, event: &Event) -> Vec<PlannedHook>;
}

/// What a part came to.
#[derive(Default)]
pub(crate) struct PartEnd {
    pub(crate) folded: Folded,
    pub(crate) runs: Vec<HookRun>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A place in the plan and what became of it.
struct Slot {
    planned: PlannedHook,
    run: Option<HookRun>,
    /// The event as the hook was asked about it, kept for hooks of the system layer only.
    judged: Option<Event>,
    left_out: Option<LeftOut>,
    /// The field it was asked about, for the receipt.
    asked_about: Option<Json>,
    /// What there is to say about it, told in plan order whenever it ended.
    diagnostics: Vec<Diagnostic>,
}

/// Why a planned hook has no run.
enum LeftOut {
    ChainEnded(Arc<str>),
    ContentChanged,
}

/// The part of one dialect.
pub(crate) struct Part<D: Dialect> {
    stage: Stage,
    slots: Vec<Slot>,
    first_run: usize,
    next: usize,
    /// Replies by place; in a chain they are filled from the front.
    replies: Vec<Option<Reply<D::Answer>>>,
    /// The replies of a chain so far, for the next link to see.
    chain: Vec<Reply<D::Answer>>,
    before: Option<Event>,
    /// What every hook receives, where that is the same for all; let go when all have been handed out.
    common_input: Option<(RunInput, SharedInput)>,
}

impl<D: Dialect> Part<D> {
    pub(crate) fn new(plan: &PartPlan, first_run: usize) -> Self {
        let slots: Vec<Slot> = plan
            .hooks
            .iter()
            .map(|planned| Slot {
                planned: planned.clone(),
                run: None,
                judged: None,
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

    fn request(&mut self, at: usize, planned: &PlannedHook, event: &Event) -> RunRequest {
        let launch = D::launch(&planned.hook, event);
        let (input, shared_input) = self.input(planned, event);
        RunRequest {
            id: RunId(self.first_run + at),
            event: Arc::new(event.clone()),
            hook: Arc::clone(&planned.hook),
            input,
            shared_input,
            timeout: planned.timeout,
            grace: D::GRACE,
            cancel_grace: D::CANCEL_GRACE,
            drain: D::drain(event.kind()),
            command: launch.command,
            folders: launch.folders,
            cwd: event.cwd().to_owned(),
            variables: launch.variables,
        }
    }

    /// What a hook receives. Outside of a chain nothing changes between one hook and the next, so where all hooks of the
    /// dialect receive the same it is written once.
    fn input(&mut self, planned: &PlannedHook, event: &Event) -> (RunInput, SharedInput) {
        if let Some((bytes, shared)) = &self.common_input {
            return (bytes.clone(), shared.clone());
        }
        let input = (D::input(&planned.hook, event, &self.chain), SharedInput::default());
        if D::SAME_INPUT_FOR_ALL && self.stage != Stage::Chain {
            self.common_input = Some(input.clone());
        }
        input
    }

    /// Takes the next place of the plan: a request, or nothing when its entry is broken and has ended already.
    fn start(&mut self, event: &mut Event) -> Option<RunRequest> {
        let at = self.next;
        self.next += 1;
        let slot = self.slots.get_mut(at)?;
        if slot.left_out.is_some() {
            return None;
        }
        slot.asked_about = super::floor::judged_field(event.kind()).and_then(|field| event.field(field).cloned());
        if slot.planned.authority == Authority::System {
            slot.judged = Some(event.clone());
        }
        if let Action::Unusable(why) = &slot.planned.hook.action {
            let end = RunEnd::new(How::Unusable(Arc::clone(why)), std::time::Duration::ZERO);
            self.take(at, &end, event);
            return None;
        }
        let planned = slot.planned.clone();
        Some(self.request(at, &planned, event))
    }

    /// Takes the end of the run at a place.
    fn take(&mut self, at: usize, end: &RunEnd, event: &mut Event) {
        let Some(slot) = self.slots.get_mut(at) else { return };
        if end.how == How::ContentChanged {
            slot.left_out = Some(LeftOut::ContentChanged);
            return;
        }
        let hook = &slot.planned.hook;
        let mut reply = D::read(hook, slot.planned.on_failure, event.kind(), end);
        reply.authority = slot.planned.authority;
        let reported = failure::report(hook, reply.health, reply.end, end);
        reply.failure = reported.first().map(|diagnostic| diagnostic.message.clone());
        slot.diagnostics.extend(reported);
        slot.diagnostics.append(&mut reply.diagnostics);
        slot.run = Some(HookRun { judged: slot.asked_about.take(), ..run_record(&reply, end) });
        if self.stage == Stage::Chain {
            if D::pass_on(event, self.stage, &reply) == Flow::Over {
                let ended_by: Arc<str> = Arc::from(format!("hook `{}` ended the chain", reply.hook));
                // Where the event goes on in spite of a deny, nobody takes the system's word away by ending the chain.
                let goes_on = !event.kind().spec().gated_by(reply.hook.dialect);
                let spared = |later: &Slot| goes_on && later.planned.authority == Authority::System;
                for later in self.slots.iter_mut().skip(at + 1).filter(|later| !spared(later)) {
                    later.left_out = Some(LeftOut::ChainEnded(Arc::clone(&ended_by)));
                }
            }
            self.chain.push(reply);
        } else if let Some(place) = self.replies.get_mut(at) {
            *place = Some(reply);
        }
    }

    /// The field a system hook guards, as the hook left it: what it judged, or its own rewrite of that.
    fn accepted(&self, at: usize, slot: &Slot, field: &str) -> Option<(Json, Json)> {
        let judged = slot.judged.as_ref()?;
        let reply = self.chain.iter().find(|reply| Arc::ptr_eq(&reply.hook, &slot.planned.hook));
        let mut after = judged.clone();
        if let Some(reply) = reply.or(self.replies.get(at).and_then(Option::as_ref)) {
            D::pass_on(&mut after, self.stage, reply);
        }
        Some((value(judged, field), value(&after, field)))
    }

    fn local(&self, run: RunId) -> Option<usize> {
        run.index().checked_sub(self.first_run)
    }
}

impl<D: Dialect> AnyPart for Part<D> {
    fn next(&mut self, event: &mut Event) -> Vec<RunRequest> {
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

    fn ended(&mut self, run: RunId, end: &RunEnd, event: &mut Event) {
        if let Some(at) = self.local(run) {
            self.take(at, end, event);
        }
    }

    fn left_out(&mut self, run: RunId) {
        let Some(slot) = self.local(run).and_then(|at| self.slots.get_mut(at)) else { return };
        slot.run = Some(HookRun {
            hook: Arc::clone(&slot.planned.hook),
            end: EndKind::Detached,
            health: Health::Well,
            exit_code: None,
            signal: None,
            decision: None,
            duration: std::time::Duration::ZERO,
            stdout: String::new(),
            stderr: String::new(),
            judged: None,
        });
    }

    fn finish(&mut self, event: &mut Event, policy: &Policy) -> PartEnd {
        let mut end = PartEnd::default();
        let before = self.before.clone().unwrap_or_else(|| event.clone());
        if self.stage != Stage::Chain {
            self.chain = self.replies.iter_mut().filter_map(Option::take).collect();
        }
        let context = FoldContext { stage: self.stage, policy, before: &before };
        end.folded = D::fold(&context, event, &self.chain);
        for slot in &mut self.slots {
            end.diagnostics.append(&mut slot.diagnostics);
            let hook = &slot.planned.hook;
            match slot.left_out.take() {
                Some(LeftOut::ChainEnded(why)) => {
                    end.skipped.push(Skipped::new(hook, SkipReason::ChainEnded, &*why));
                }
                Some(LeftOut::ContentChanged) => {
                    let message = format!("hook `{hook}` is not what was trusted any more and was not run");
                    let hint = "look at the change, then run `hookrail trust grant`";
                    let location = hook.origin.location.clone();
                    end.diagnostics.push(Diagnostic::new(Code::TrustChanged, message).at(location).hint(hint));
                    let detail = "its content changed between loading and running";
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

    fn reapply_floor(&self, event: &mut Event) {
        let Some(field) = super::floor::rewritten_field(event.kind()) else { return };
        for (at, slot) in self.slots.iter().enumerate() {
            let Some((judged, after)) = self.accepted(at, slot, field) else { continue };
            // Only what the hook itself rewrote is put back; a hook that merely looked has nothing to put back.
            if judged != after
                && value(event, field) != after
                && let Some(reply) = self.chain.iter().find(|reply| Arc::ptr_eq(&reply.hook, &slot.planned.hook))
            {
                D::pass_on(event, self.stage, reply);
            }
        }
    }

    fn unjudged(&self, event: &Event) -> Vec<PlannedHook> {
        let Some(field) = super::floor::guarded_field(event.kind()) else { return Vec::new() };
        let now = value(event, field);
        // A hook that rewrote what it judged has not accepted that, even where the event has come back to it.
        let changed = |at: usize, slot: &Slot| self.accepted(at, slot, field).is_some_and(|(_, after)| now != after);
        self.slots
            .iter()
            .enumerate()
            .filter(|(at, slot)| changed(*at, slot))
            .map(|(_, slot)| slot.planned.clone())
            .collect()
    }
}

fn value(event: &Event, field: &str) -> Json {
    event.field(field).cloned().unwrap_or_else(Json::null)
}

fn run_record<A>(reply: &Reply<A>, end: &RunEnd) -> HookRun {
    let (exit_code, signal) = match end.how {
        How::Exited(code) => (Some(code), None),
        How::Signalled(signal) => (None, Some(signal)),
        _ => (None, None),
    };
    HookRun {
        hook: Arc::clone(&reply.hook),
        end: reply.end,
        health: reply.health,
        exit_code,
        signal,
        decision: reply.decision,
        duration: reply.duration,
        stdout: end.stdout.lossy(),
        stderr: end.stderr.lossy(),
        judged: None,
    }
}

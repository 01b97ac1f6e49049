//! Answers of agents' own hooks as effects: what a hook said, how its failure counts, and how several answers become one.
//!
//! A dialect reads the end of a process into a [`Reading`]; what is the same for every such dialect is here.

use std::sync::Arc;

use super::CommandDialect;
use super::answer::{Provenance, discarded_decision};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::{Flow, FoldContext, Folded, Reply, failure_effects, strict_answer};
use crate::event::{Abilities, Event, EventKind, Stage};
use crate::hook::{Authority, Hook, OnFailure};
use crate::json::Json;
use crate::outcome::{Decision, Effects, EndKind, Health, join};
use crate::run::{RawEnd, RunEnd};

/// What a hook answered, and where that comes from.
#[derive(Clone, Debug)]
pub(crate) struct AgentAnswer {
    pub(crate) effects: Effects,
    pub(crate) provenance: Provenance,
}

/// What the end of a hook says, as its agent reads it.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) end: EndKind,
    pub(crate) answer: Option<AgentAnswer>,
    /// What the hook decided, whether that has an effect on the event or not.
    pub(crate) decision: Option<Decision>,
    pub(crate) found: Vec<Diagnostic>,
    /// Why the output is no answer of a hook that has to answer strictly.
    pub(crate) unreadable: Option<String>,
    /// What can be recognised in output that is no answer.
    pub(crate) recognised: Effects,
}

impl Reading {
    /// A hook that said nothing.
    pub(crate) fn silent() -> Self {
        Self {
            end: EndKind::Silent,
            answer: None,
            decision: None,
            found: Vec::new(),
            unreadable: None,
            recognised: Effects::default(),
        }
    }

    /// A hook that said this.
    pub(crate) fn answered(effects: Effects, provenance: Provenance) -> Self {
        let decision = effects.decision;
        let answer = Some(AgentAnswer { effects, provenance });
        Self { end: EndKind::Answered, answer, decision, ..Self::silent() }
    }

    /// Output that is no answer, for this reason.
    pub(crate) fn unreadable(why: impl Into<String>) -> Self {
        let why = why.into();
        let found = vec![Diagnostic::new(Code::BadOutput, format!("its output is no answer: {why}"))];
        Self { end: EndKind::BadOutput, found, unreadable: Some(why), ..Self::silent() }
    }

    /// The same with what was noticed.
    pub(crate) fn with(mut self, found: impl IntoIterator<Item = Diagnostic>) -> Self {
        self.found.extend(found);
        self
    }
}

/// Makes a reply of the end of a hook. `heard` reads the ends in which the agent listens to the hook, and gives nothing for others,
/// which are failures.
pub(crate) fn reply<D: CommandDialect>(
    hook: &Arc<Hook>,
    on_failure: OnFailure,
    can: Abilities,
    end: &RunEnd,
    heard: impl FnOnce() -> Option<Reading>,
) -> Reply<AgentAnswer> {
    let failed = |kind: EndKind| failure_effects(hook, on_failure, kind, end.how()).map(made_of_failure);
    let decided = |effects: &Effects| match *effects == Effects::default() {
        true => Reading::silent(),
        false => Reading::answered(effects.clone(), Provenance::Explicit),
    };
    let reading = match end.how() {
        RawEnd::Decided(effects) => Some(decided(effects)),
        _ => heard(),
    };
    let Some(mut reading) = reading else {
        let kind = end.failure().unwrap_or(EndKind::BadOutput);
        let found = if end.stdout().is_truncated() { None } else { discarded_decision::<D>(end) };
        let answer = failed(kind);
        let decision = answer.as_ref().and_then(|answer| answer.effects.decision);
        let diagnostics = found.into_iter().map(|found| attributed(hook, found)).collect();
        return Reply { diagnostics, ..Reply::new(hook, end, kind, decision, answer) };
    };
    let mut diagnostics = Vec::new();
    let is_judged = reading.end == EndKind::BadOutput || *end.how() == RawEnd::Exited(0);
    let must_answer = is_judged && strict_answer::is_required(on_failure, can);
    if let Some(why) = reading.unreadable.take().filter(|_| must_answer) {
        diagnostics.push(strict_answer::finding(hook, &why));
        reading.end = EndKind::BadOutput;
        reading.answer = stricter(failed(EndKind::BadOutput), &reading.recognised);
        reading.decision = reading.answer.as_ref().and_then(|answer| answer.effects.decision);
    }
    diagnostics.extend(reading.found.into_iter().map(|found| attributed(hook, found)));
    let mut reply = Reply { diagnostics, ..Reply::new(hook, end, reading.end, reading.decision, reading.answer) };
    // A status that denies is a deliberate answer and not a failure.
    if *end.how() == RawEnd::Exited(2) && reply.answer.is_some() {
        reply.health = Health::Well;
    }
    reply
}

fn made_of_failure(effects: Effects) -> AgentAnswer {
    AgentAnswer { effects, provenance: Provenance::Failure }
}

/// A failure, or what could be recognised in the output if that is as strict.
fn stricter(failure: Option<AgentAnswer>, recognised: &Effects) -> Option<AgentAnswer> {
    let policy = failure.as_ref().and_then(|failure| failure.effects.decision);
    let mut answer = match recognised.decision.is_some() && recognised.decision >= policy {
        true => Some(AgentAnswer { effects: recognised.clone(), provenance: Provenance::Explicit }),
        false => failure,
    };
    if let (Some(answer), Some(stop)) = (&mut answer, &recognised.stop) {
        answer.effects.stop = Some(stop.clone());
    }
    answer
}

/// A finding about an answer, with the hook's name and place.
fn attributed(hook: &Hook, found: Diagnostic) -> Diagnostic {
    Diagnostic { message: format!("hook `{hook}`: {}", found.message), ..found }.at(hook.origin.location.clone())
}

/// How the rewrite of a value is laid over the value that the event has.
pub(crate) type LayOver = fn(&Event, &'static str, &Json) -> Option<Json>;

/// Lets the rewrites of an answer flow on to the next hook. No deny ends a chain of agents' own hooks: the agents ask them all.
pub(crate) fn apply_agent_answer(event: &mut Event, reply: &Reply<AgentAnswer>, lay_over: LayOver) -> Flow {
    let Some(answer) = &reply.answer else { return Flow::Continue };
    for (field, rewrite) in REWRITES {
        let value = rewrite(&answer.effects).and_then(|value| lay_over(event, field, value));
        // A rewrite to the same value is ignored, so that an unchanged value keeps its bytes.
        let Some(value) = value.filter(|value| event.field(field).is_none_or(|now| !now.same_as(value))) else {
            continue;
        };
        match field {
            "llm_request" => event.set_request(value),
            // The response that stands in the place of a call is no rewrite of one.
            "llm_response" if event.kind() != EventKind::AfterModel => {}
            _ => event.set(field, value),
        }
    }
    Flow::Continue
}

/// Folds answers in plan order: the strictest decision counts, texts are joined, and of two rewrites of one value the later one
/// counts whole; those of the system layer come last.
pub(crate) fn agent_fold(
    context: &FoldContext<'_>,
    event: &mut Event,
    replies: &[Reply<AgentAnswer>],
    lay_over: LayOver,
) -> Folded {
    let mut folded = Folded::default();
    if context.stage != Stage::Chain {
        let is_system = |reply: &&Reply<AgentAnswer>| reply.authority == Authority::System;
        let others = replies.iter().filter(|reply| !is_system(reply));
        let ordered: Vec<&Reply<AgentAnswer>> = others.chain(replies.iter().filter(is_system)).collect();
        folded.diagnostics = conflicts(context.before, &ordered);
        for reply in ordered {
            apply_agent_answer(event, reply, lay_over);
        }
    }
    for effects in replies.iter().filter_map(|reply| reply.answer.as_ref()).map(|answer| &answer.effects) {
        let mut effects = effects.clone();
        if let (Some(before), Some(next)) = (&folded.effects.tool_output, &effects.tool_output) {
            effects.tool_output = Some(joined_outputs(before, next));
        }
        folded.effects.absorb(effects);
    }
    // The engine takes rewrites from the event.
    folded.effects.tool_input = None;
    folded.effects.llm_request = None;
    folded
}

/// Several hooks replace one result: the model reads all of them.
fn joined_outputs(before: &Json, next: &Json) -> Json {
    let (Some(before), Some(next_text)) = (before.as_str(), next.as_str()) else { return next.clone() };
    let mut text = Some(before);
    join(&mut text, Some(next_text), "\n");
    Json::string(&text.unwrap_or_default())
}

/// Reports hooks that ran side by side and rewrote one value differently.
fn conflicts(before: &Event, ordered: &[&Reply<AgentAnswer>]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (field, rewrite) in REWRITES.into_iter().filter(|(field, _)| *field != "tool_output") {
        let mut last: Option<(Json, &Reply<AgentAnswer>)> = None;
        for reply in ordered {
            let value = reply.answer.as_ref().and_then(|answer| rewrite(&answer.effects));
            let Some(value) = value.filter(|value| before.field(field).is_none_or(|sent| !sent.same_as(value))) else {
                continue;
            };
            if let Some((earlier, by)) = &last
                && !earlier.same_as(value)
            {
                found.push(conflict(field, by, reply));
            }
            last = Some((value.clone(), reply));
        }
    }
    found
}

/// What an answer rewrites of an event, by the name of the field.
type Rewrite = fn(&Effects) -> Option<&Json>;

/// The values that an answer can rewrite.
const REWRITES: [(&str, Rewrite); 4] = [
    ("tool_input", |effects| effects.tool_input.as_ref()),
    ("tool_output", |effects| effects.tool_output.as_ref()),
    ("llm_request", |effects| effects.llm_request.as_ref()),
    ("llm_response", |effects| effects.llm_response.as_ref()),
];

fn conflict(field: &str, one: &Reply<AgentAnswer>, two: &Reply<AgentAnswer>) -> Diagnostic {
    let message = format!("hooks `{}` and `{}` both rewrote `{field}`; the last one counts", one.hook, two.hook);
    Diagnostic::new(Code::RewriteConflict, message).at(two.hook.origin.location.clone())
}

impl AgentAnswer {
    /// Brings the several names of one argument in step in the tool input of the answer.
    pub(crate) fn merge_tool_input(&mut self, merge: &dyn Fn(&Json) -> Option<Json>) {
        if let Some(merged) = self.effects.tool_input.as_ref().and_then(merge) {
            self.effects.tool_input = Some(merged);
        }
    }
}

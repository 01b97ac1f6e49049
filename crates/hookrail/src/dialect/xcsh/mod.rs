//! Hooks that are modules: what their handlers receive and how their results combine.
//!
//! The handlers of one module run inside one call of its runner; this part sees one result per module.

mod load;

pub(crate) use load::load;

use std::sync::Arc;
use std::time::Duration;

use super::{Dialect, DialectId, Flow, FoldContext, Folded, Health, Reply};
use crate::event::{Event, EventKind, Fold, Stage};
use crate::hook::{Authority, Hook, OnFailure};
use crate::json::{Json, JsonObject};
use crate::outcome::{Decision, EndKind};
use crate::run::{How, RunEnd};

/// The dialect.
pub(crate) struct Xcsh;

/// What a module returned, or what its failure means.
pub(crate) struct Answer {
    result: JsonObject,
}

impl Dialect for Xcsh {
    type Answer = Answer;

    const GRACE: Duration = Duration::ZERO;

    fn input(_hook: &Hook, event: &Event, _before: &[Reply<Answer>]) -> Arc<[u8]> {
        payload(event).to_json().text().as_bytes().into()
    }

    fn read(hook: &Arc<Hook>, _on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Answer> {
        let (kind_of_end, result) = match &end.how {
            How::Returned(Some(value)) if is_truthy(value) => (EndKind::Answered, value.as_object()),
            How::Returned(_) => (EndKind::Silent, None),
            How::Threw(message) => (EndKind::Threw, failed_closed(kind, message)),
            How::TimedOut(_) => (EndKind::TimedOut, failed_closed(kind, "it took too long")),
            How::OverLimit(limit) => (EndKind::Limit, failed_closed(kind, limit)),
            How::SpawnFailed(why) => (EndKind::SpawnFailed, failed_closed(kind, &why.to_string())),
            How::Unusable(why) => (EndKind::Unusable, failed_closed(kind, why)),
            _ => (EndKind::Cancelled, failed_closed(kind, "it was cancelled")),
        };
        let denies = result.as_ref().is_some_and(|result| blocks(kind, result));
        Reply {
            hook: Arc::clone(hook),
            end: kind_of_end,
            decision: denies.then_some(Decision::Deny),
            answer: result.map(|result| Answer { result }),
            health: Health::of(kind_of_end),
            authority: Authority::Ordinary,
            duration: end.duration,
            failure: None,
            diagnostics: Vec::new(),
        }
    }

    fn pass_on(_event: &mut Event, _stage: Stage, reply: &Reply<Answer>) -> Flow {
        if reply.decision == Some(Decision::Deny) { Flow::Over } else { Flow::On }
    }

    fn fold(_context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Answer>]) -> Folded {
        let mut folded = Folded::default();
        let Some(column) = event.kind().spec().column(DialectId::Xcsh) else { return folded };
        let effects = &mut folded.effects;
        effects.decision = replies.iter().filter_map(|reply| reply.decision).max();
        let last = replies.iter().rev().find_map(|reply| reply.answer.as_ref()).map(|answer| &answer.result);
        if effects.decision == Some(Decision::Deny) {
            effects.reason = last.and_then(|result| result.get("reason")?.as_str());
        }
        match (column.fold, event.kind()) {
            (Fold::LastResult, EventKind::AfterTool) => {
                effects.tool_output = last.map(|result| {
                    let kept =
                        ["content", "details"].into_iter().filter_map(|key| Some((key, result.get(key)?.clone())));
                    kept.collect::<JsonObject>().to_json()
                });
            }
            (Fold::FirstBlock, EventKind::BeforeTool) | (Fold::Ignore, _) => {}
            (Fold::FirstBlock | Fold::LastResult, _) => effects.result = last.map(JsonObject::to_json),
            (Fold::FirstMessage, _) => {
                let first = replies.iter().find_map(|reply| reply.answer.as_ref()?.result.get("message").cloned());
                effects.messages.extend(first);
            }
            _ => {}
        }
        folded
    }
}

fn payload(event: &Event) -> JsonObject {
    let Some(column) = event.kind().spec().column(DialectId::Xcsh) else { return JsonObject::new() };
    let mut payload = JsonObject::new();
    payload.set("type", Json::string(column.name));
    for field in column.fields {
        let Some(value) = event.field_or_empty(field) else { continue };
        match field.name {
            "tool_name" => payload.set("toolName", value),
            "tool_call_id" => payload.set("toolCallId", value),
            "tool_input" => payload.set("input", value),
            name => payload.set(name, value),
        }
    }
    payload
}

/// A guard of tool calls that fails blocks; everywhere else a failure is reported and the next handler runs.
fn failed_closed(kind: EventKind, why: &str) -> Option<JsonObject> {
    (kind == EventKind::BeforeTool).then(|| {
        let reason = Json::string(&format!("a module hook failed, which blocks the tool: {why}"));
        [("block", Json::boolean(true)), ("reason", reason)].into_iter().collect()
    })
}

fn blocks(kind: EventKind, result: &JsonObject) -> bool {
    let key = if kind == EventKind::BeforeTool { "block" } else { "cancel" };
    result.get(key).is_some_and(is_truthy)
}

/// What JavaScript takes for true.
fn is_truthy(value: &Json) -> bool {
    !matches!(value.text(), "null" | "false" | "0" | "-0" | "\"\"")
}

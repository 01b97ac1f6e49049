//! Combines the results of several modules.

use super::{ModuleAnswer, conversation, is_truthy, payload};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::{DialectId, Flow, FoldContext, Folded, Reply};
use crate::event::{Event, EventKind, MergeRule};
use crate::json::{Json, JsonObject};
use crate::outcome::Decision;

/// The text of a block without a reason.
const BLOCKED: &str = "Tool execution was blocked by a hook";

/// A block or a cancel ends the chain; a list of messages is what the next module receives.
pub(super) fn apply_answer(event: &mut Event, reply: &Reply<ModuleAnswer>) -> Flow {
    if event.kind() == EventKind::BeforeModel
        && let Some(answer) = &reply.answer
        && let Some(messages) = answer.result.get("messages").and_then(Json::as_array)
    {
        conversation::set_messages(event, &messages);
    }
    if reply.decision == Some(Decision::Deny) { Flow::End } else { Flow::Continue }
}

pub(super) fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<ModuleAnswer>]) -> Folded {
    let mut folded = Folded::default();
    let Some(column) = event.kind().spec().column(DialectId::Xcsh) else { return folded };
    let effects = &mut folded.effects;
    effects.decision = replies.iter().filter_map(|reply| reply.decision).max();
    let last = replies.iter().rev().find_map(|reply| reply.answer.as_ref()).map(|answer| &answer.result);
    if effects.decision == Some(Decision::Deny) {
        effects.reason = Some(deny_reason(event.kind(), last));
    }
    match (column.fold, event.kind()) {
        (MergeRule::LastResult, EventKind::AfterTool) => match last {
            // A tool that failed keeps its error, because xcsh throws the original one again.
            Some(_) if payload::tool_failed(event) => {
                let message = "a module replaced the result of a tool that failed, which has no effect";
                folded.diagnostics.push(Diagnostic::new(Code::AnswerIgnored, message));
            }
            Some(result) => {
                folded.diagnostics.extend(discarded_content(replies));
                let output = tool_output(event, result);
                event.set("tool_output", output.clone());
                effects.tool_output = Some(output);
            }
            None => {}
        },
        (MergeRule::FirstBlock, EventKind::BeforeTool) | (MergeRule::Ignore, _) => {}
        (MergeRule::FirstBlock | MergeRule::LastResult, _) => effects.result = last.map(JsonObject::to_json),
        (MergeRule::FirstMessage, _) => effects.messages.extend(first_message(replies)),
        (MergeRule::ChainMessages, _) => {
            let (before, after) = (conversation::messages(context.before), conversation::messages(event));
            if before != after {
                let messages = Json::of(&after).unwrap_or_else(|_| Json::null());
                effects.result = Some([("messages", messages)].into_iter().collect::<JsonObject>().to_json());
            }
        }
        // No event of this dialect folds this way.
        (
            MergeRule::AnyDenies
            | MergeRule::FieldReplacement
            | MergeRule::ToolUnion
            | MergeRule::LastWins
            | MergeRule::Stack,
            _,
        ) => {}
    }
    folded
}

/// Warns when the content of one module's result is dropped because a later module returned another result without content:
/// what the first one removed is then read by the model.
fn discarded_content(replies: &[Reply<ModuleAnswer>]) -> Option<Diagnostic> {
    let has_content = |result: &JsonObject| result.get("content").is_some_and(|content| content.text() != "null");
    let mut answers = replies.iter().rev().filter_map(|reply| Some((&reply.hook, &reply.answer.as_ref()?.result)));
    let (last, result) = answers.next()?;
    if has_content(result) {
        return None;
    }
    let (hook, _) = answers.find(|(_, result)| has_content(result))?;
    let message =
        format!("the content that `{hook}` gave is dropped, because `{last}` returned a result without content");
    Some(Diagnostic::new(Code::ContentDropped, message).hint("return the `content` of the event beside `details`"))
}

/// Uses the first message of a module and ignores later ones.
fn first_message(replies: &[Reply<ModuleAnswer>]) -> Option<Json> {
    replies.iter().filter_map(|reply| reply.answer.as_ref()?.result.get("message")).find(|it| is_truthy(it)).cloned()
}

/// What is replaced, beside what is not: null keeps the original.
fn tool_output(event: &Event, result: &JsonObject) -> Json {
    let given = |key: &str| result.get(key).filter(|value| value.text() != "null").cloned();
    let mut output = JsonObject::new();
    output.set("content", given("content").unwrap_or_else(|| payload::tool_content(event)));
    if let Some(details) = given("details").or_else(|| payload::tool_details(event)) {
        output.set("details", details);
    }
    output.to_json()
}

fn deny_reason(kind: EventKind, result: Option<&JsonObject>) -> String {
    let given = result.and_then(|result| result.get("reason")).filter(|reason| is_truthy(reason));
    match given {
        Some(reason) => reason.as_str().unwrap_or_else(|| reason.text().to_owned()),
        None if kind == EventKind::BeforeTool => BLOCKED.to_owned(),
        None => format!("a hook cancelled {kind}"),
    }
}

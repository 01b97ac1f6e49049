//! The rewrites of answers, and how they reach the event: passed on in a chain, merged after a parallel stage.

use super::model;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::command_hooks::{Answer, HookOutput};
use crate::dialect::{Flow, Reply};
use crate::event::{Event, EventKind, Stage};
use crate::hook::Authority;
use crate::json::Json;
use crate::outcome::{Decision, EndKind};
use crate::payload::request_with_contents;

/// Applies one answer's rewrite to the event the hook was asked about.
pub(super) fn apply_answer(event: &mut Event, stage: Stage, reply: &Reply<Answer>) -> Flow {
    if let Some(output) = rewriting(reply) {
        let sent = event.clone();
        rewrite(event, &sent, stage, output);
    }
    if reply.decision == Some(Decision::Deny) { Flow::End } else { Flow::Continue }
}

/// The output of a hook that may rewrite: only one that exited with zero.
fn rewriting(reply: &Reply<Answer>) -> Option<&HookOutput> {
    reply.answer.as_ref().filter(|_| reply.end == EndKind::Answered).map(|answer| &answer.output)
}

/// Applies an answer to the current event. Only the differences from the event that the hook received are applied.
fn rewrite(event: &mut Event, sent: &Event, stage: Stage, output: &HookOutput) {
    let or_empty = |event: &Event, field: &str| event.field(field).cloned().unwrap_or_else(Json::empty_object);
    match event.kind() {
        EventKind::BeforeTool => {
            let Some(change) = output.specific("tool_input") else { return };
            // In a chain the answer is merged over the current arguments; after a parallel stage it replaces them.
            let new = match (stage, event.field("tool_input").and_then(Json::as_object), change.as_object()) {
                (Stage::Chain, Some(mut current), Some(change)) => {
                    current.merge(&change);
                    current.to_json()
                }
                _ => change.clone(),
            };
            // A rewrite to the same value is ignored, so that an unchanged value keeps its bytes.
            if event.field("tool_input").is_none_or(|current| !current.same_as(&new)) {
                event.set("tool_input", new);
            }
        }
        EventKind::BeforeModel => {
            let Some(answer) = output.specific("llm_request") else { return };
            let change = model::request_change(&or_empty(sent, "llm_request"), answer);
            let current = or_empty(event, "llm_request");
            if let Some(request) = change.apply(&current) {
                event.set_request(request_with_contents(request, &current));
            }
        }
        EventKind::AfterModel => {
            let Some(answer) = output.specific("llm_response") else { return };
            if let Some(response) = model::apply_to_response(&or_empty(sent, "llm_response"), answer) {
                event.set("llm_response", response);
            }
        }
        EventKind::Prompt => {
            if let Some(context) = output.get_additional_context().filter(|text| !text.is_empty()) {
                let prompt = event.text("prompt").unwrap_or_default();
                event.set("prompt", Json::string(&format!("{prompt}\n\n{context}")));
            }
        }
        _ => {}
    }
}

/// Applies the rewrites of hooks that ran side by side: the last in plan order wins, the system layer's come after
/// all others, and a conflict is reported.
pub(super) fn side_by_side(event: &mut Event, sent: &Event, replies: &[Reply<Answer>]) -> Vec<Diagnostic> {
    let is_system = |reply: &&Reply<Answer>| reply.authority == Authority::System;
    let ordered = replies.iter().filter(|reply| !is_system(reply)).chain(replies.iter().filter(is_system));
    let mut found = Vec::new();
    let mut rewritten: Vec<(String, Json, &Reply<Answer>)> = Vec::new();
    for reply in ordered {
        let Some(output) = rewriting(reply) else { continue };
        for (field, value) in changed_fields(sent, output) {
            match rewritten.iter_mut().find(|(known, ..)| *known == field) {
                Some((_, earlier, by)) => {
                    if !earlier.same_as(&value) {
                        found.push(conflict(&field, by, reply));
                    }
                    (*earlier, *by) = (value, reply);
                }
                None => rewritten.push((field, value, reply)),
            }
        }
        found.extend(removed_arguments(sent, output, reply));
        rewrite(event, sent, Stage::Parallel, output);
    }
    found
}

/// Reports arguments of a tool that an answer leaves out. Outside a chain the answer replaces all arguments, and an
/// author who wrote only the changed ones did not mean to remove the others.
fn removed_arguments(sent: &Event, output: &HookOutput, reply: &Reply<Answer>) -> Option<Diagnostic> {
    if sent.kind() != EventKind::BeforeTool {
        return None;
    }
    let answered = output.specific("tool_input")?.as_object()?;
    let given = sent.field("tool_input")?.as_object()?;
    let removed: Vec<String> = given
        .iter()
        .map(|(name, _)| name)
        .filter(|name| answered.get(name).is_none())
        .map(|name| format!("`{name}`"))
        .collect();
    if removed.is_empty() {
        return None;
    }
    let message = format!(
        "the `tool_input` of hook `{}` replaces all arguments of the tool, and {} {} missing in it",
        reply.hook,
        removed.join(", "),
        if removed.len() == 1 { "is" } else { "are" },
    );
    Some(
        Diagnostic::new(Code::ArgumentsRemoved, message)
            .at(reply.hook.origin.location.clone())
            .hint("answer with every argument, or make the group `sequential`, where an answer is merged"),
    )
}

fn conflict(field: &str, one: &Reply<Answer>, two: &Reply<Answer>) -> Diagnostic {
    let message = format!("hooks `{}` and `{}` both rewrote `{field}`; the last one counts", one.hook, two.hook);
    Diagnostic::new(Code::RewriteConflict, message)
        .at(two.hook.origin.location.clone())
        .hint("make the group `sequential` so that each hook sees the rewrite before it")
}

/// The fields that an answer changes, with their values. A request is compared field by field, its settings key by key.
fn changed_fields(sent: &Event, output: &HookOutput) -> Vec<(String, Json)> {
    let whole = |field: &str| {
        let value = output.specific(field).filter(|value| sent.field(field).is_none_or(|sent| !sent.same_as(value)));
        value.map(|value| (field.to_owned(), value.clone())).into_iter().collect()
    };
    match sent.kind() {
        EventKind::BeforeTool => whole("tool_input"),
        EventKind::AfterModel => whole("llm_response"),
        EventKind::BeforeModel => match (output.specific("llm_request"), sent.field("llm_request")) {
            (Some(answer), Some(sent)) => model::request_change(sent, answer).fields(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

//! Several answers become one: the strictest decision, all texts, and of rewrites the last in plan order.

use super::events::column;
use super::tool_result;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::command_hooks::{Answer, Provenance};
use crate::dialect::{FoldContext, Folded, Reply};
use crate::event::{Abilities, Event, EventKind};
use crate::hook::{Authority, HookDelivery};
use crate::json::Json;
use crate::outcome::{Decision, EndKind, Stop, join};

/// Combines all answers into one.
pub(super) fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Answer>]) -> Folded {
    let mut folded = Folded::default();
    let Some(column) = column(event.kind()) else { return folded };
    let heard = || replies.iter().filter(|reply| reply.hook.delivery == HookDelivery::Awaited);
    let effects = &mut folded.effects;
    let mut text_for_model = None;
    for reply in heard() {
        let Some(answer) = &reply.answer else { continue };
        let output = &answer.output;
        if reply.decision > effects.decision {
            effects.decision = reply.decision;
            effects.reason = None;
        }
        if reply.decision == effects.decision && reply.decision.is_some() {
            join(&mut effects.reason, output.effective_reason(), "\n");
        }
        join(&mut effects.system_message, output.system_message.clone(), "\n");
        join(&mut text_for_model, output.get_additional_context(), "\n");
        let objects = event.kind() == EventKind::AfterTool && output.is_blocking_decision();
        if objects && answer.provenance != Provenance::Failure {
            join(&mut text_for_model, output.effective_reason(), "\n");
        }
        if output.should_stop_execution() && column.can.includes(Abilities::STOP) {
            let reason = output.stop_reason.clone().or_else(|| output.effective_reason());
            let reason = reason.filter(|text| !text.is_empty());
            let stop = Stop { reason: reason.unwrap_or_else(|| "a hook asked the agent to stop".to_owned()) };
            effects.stop.get_or_insert(stop);
        }
    }
    if effects.decision == Some(Decision::Deny) && effects.reason.is_none() && column.gates {
        effects.reason = Some("blocked by a hook, which gave no reason".to_owned());
    }
    if event.kind() == EventKind::AgentEnd {
        go_on_with(&mut folded, text_for_model);
        return folded;
    }
    let effects = &mut folded.effects;
    if column.can.includes(Abilities::ADD_CONTEXT) {
        if let Some(text) = text_for_model.as_ref().filter(|_| event.kind() == EventKind::Prompt) {
            let prompt = event.text("prompt").unwrap_or_default();
            event.set("prompt", Json::string(&format!("{prompt}\n\n{text}")));
        }
        effects.additional_context = text_for_model;
    }
    if column.can.includes(Abilities::REPLACE_TOOL_OUTPUT) {
        let (output, found) = replaced_output(event, replies);
        folded.effects.tool_output = output;
        folded.diagnostics.extend(found);
    }
    folded.diagnostics.extend(rewrites(context, event, replies));
    folded
}

/// Text for the model at the end of an answer makes the agent go on with it.
fn go_on_with(folded: &mut Folded, text: Option<String>) {
    let Some(text) = text else { return };
    let effects = &mut folded.effects;
    if effects.decision == Some(Decision::Deny) {
        join(&mut effects.reason, Some(text), "\n");
    } else {
        effects.decision = Some(Decision::Deny);
        effects.reason = Some(text);
    }
}

/// The whole new input that an answer gives.
pub(super) fn rewritten(reply: &Reply<Answer>) -> Option<&Json> {
    let is_heard = reply.end == EndKind::Answered && reply.hook.delivery == HookDelivery::Awaited;
    reply.answer.as_ref().filter(|_| is_heard)?.output.specific("updatedInput")
}

/// Applies the rewrites of hooks that ran side by side: the last in plan order counts whole, the system layer's come after all
/// others, and a conflict is reported.
fn rewrites(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Answer>]) -> Vec<Diagnostic> {
    let is_system = |reply: &&Reply<Answer>| reply.authority == Authority::System;
    let ordered = replies.iter().filter(|reply| !is_system(reply)).chain(replies.iter().filter(is_system));
    let mut found = Vec::new();
    let mut last: Option<(&Reply<Answer>, &Json)> = None;
    let sent = context.before.field("tool_input");
    for reply in ordered {
        let Some(input) = rewritten(reply).filter(|input| sent.is_none_or(|sent| !sent.same_as(input))) else {
            continue;
        };
        if let Some((earlier, value)) = last
            && !value.same_as(input)
        {
            let message =
                format!("hooks `{}` and `{}` both rewrote `tool_input`; the last one counts", earlier.hook, reply.hook);
            let finding = Diagnostic::new(Code::RewriteConflict, message);
            found.push(finding.at(reply.hook.origin.location.clone()));
        }
        last = Some((reply, input));
    }
    if let Some((_, input)) = last {
        event.set("tool_input", input.clone());
    }
    found
}

/// What replaces the result of the tool, for the model. A result that does not have the shape of the tool's own has no effect.
fn replaced_output(event: &Event, replies: &[Reply<Answer>]) -> (Option<Json>, Vec<Diagnostic>) {
    let mut output = None;
    let mut found = Vec::new();
    for reply in replies.iter().filter(|reply| reply.end == EndKind::Answered) {
        if reply.hook.delivery != HookDelivery::Awaited {
            continue;
        }
        let Some(answer) = &reply.answer else { continue };
        let is_mcp = super::payload::tool_name(event).starts_with("mcp__");
        let of_mcp = answer.output.specific("updatedMCPToolOutput").filter(|_| is_mcp);
        let Some(replaced) = answer.output.specific("updatedToolOutput").or(of_mcp) else { continue };
        let text = tool_result::text_of(replaced).or_else(|| of_mcp.and_then(Json::as_str));
        match text.filter(|_| of_mcp.is_some() || tool_result::fits(event, replaced)) {
            Some(text) => output = Some(Json::string(&text)),
            None => {
                let message = format!(
                    "hook `{}` replaces the result of `{}` with another shape than the tool's; it has no effect",
                    reply.hook,
                    super::payload::tool_name(event)
                );
                let finding = Diagnostic::new(Code::AnswerIgnored, message).at(reply.hook.origin.location.clone());
                found.push(finding.hint("give the members of `tool_response`, such as `stdout`"));
            }
        }
    }
    (output, found)
}

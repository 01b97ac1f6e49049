//! Several answers become one. Four strategies, chosen by the event table; plan order only, never completion order.

use super::{aggregate, rewrite, tools};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::command_hooks::{Answer, HookDecision, HookOutput, NO_REASON, Provenance};
use crate::dialect::snapshot::ModelDecisions;
use crate::dialect::{DialectId, FoldContext, Folded, Reply};
use crate::event::{Abilities, Event, EventKind, MergeRule, Stage};
use crate::hook::Authority;
use crate::json::{Json, JsonObject};
use crate::outcome::{Decision, Effects, Stop, join};

/// Combines all answers into one.
pub(super) fn fold(context: &FoldContext<'_>, event: &mut Event, replies: &[Reply<Answer>]) -> Folded {
    let Some(column) = event.kind().spec().column(DialectId::Llxprt) else { return Folded::default() };
    let mut diagnostics = Vec::new();
    if context.stage != Stage::Chain {
        diagnostics.extend(rewrite::side_by_side(event, context.before, replies));
    }
    let answers: Vec<&Answer> = replies.iter().filter_map(|reply| reply.answer.as_ref()).collect();
    let mut merged = match column.fold {
        MergeRule::FieldReplacement | MergeRule::LastWins => last_write_wins(&answers),
        MergeRule::ToolUnion => tools::with_union(any_denies(&answers), context, replies),
        MergeRule::AnyDenies
        | MergeRule::Stack
        | MergeRule::FirstBlock
        | MergeRule::LastResult
        | MergeRule::ChainMessages
        | MergeRule::FirstMessage
        | MergeRule::Ignore => any_denies(&answers),
    };
    if column.fold == MergeRule::FieldReplacement {
        diagnostics.extend(finalize_decision(&mut merged, context, replies));
        merged.hook_specific_output.get_or_insert_default();
    }
    let mut effects = effects(event.kind(), column.can, &merged, replies);
    if column.fold == MergeRule::FieldReplacement && effects.decision.is_some() {
        effects.decision = merged.decision.map(HookDecision::decision);
    }
    if effects.decision == Some(Decision::Deny)
        && effects.reason.is_none()
        && event.kind().spec().gated_by(DialectId::Llxprt)
    {
        merged.reason = Some(NO_REASON.to_owned());
        effects.reason.clone_from(&merged.reason);
    }
    if context.stage == Stage::Chain {
        accumulate(&mut merged, event);
    }
    agree(&mut merged, &effects);
    let aggregated = aggregate::aggregate(replies, &answers, &merged);
    Folded { effects, detail: Some(Box::new(aggregated)), diagnostics }
}

/// Combines so that any block blocks; reasons, messages and contexts are joined; flags are or-ed.
fn any_denies(answers: &[&Answer]) -> HookOutput {
    let mut merged = HookOutput { r#continue: Some(true), suppress_output: Some(false), ..HookOutput::default() };
    let mut contexts: Option<String> = None;
    let mut strongest: Option<HookDecision> = None;
    for answer in answers {
        let output = &answer.output;
        if let Some(word) = output.effective_decision()
            && strongest.is_none_or(|so_far| word.decision() >= so_far.decision())
        {
            strongest = Some(word);
        }
        join(&mut merged.reason, output.effective_reason(), "\n");
        join(&mut merged.system_message, output.system_message.clone(), "\n");
        join(&mut merged.stop_reason, output.stop_reason.clone(), "\n");
        join(&mut contexts, output.get_additional_context(), "\n");
        if output.should_stop_execution() {
            merged.r#continue = Some(false);
        }
        if output.suppress_output == Some(true) {
            merged.suppress_output = Some(true);
        }
        if let Some(specific) = &output.hook_specific_output {
            merge_specific(merged.hook_specific_output.get_or_insert_default(), specific);
        }
    }
    if let (Some(context), Some(specific)) = (contexts, &mut merged.hook_specific_output) {
        specific.set("additionalContext", Json::string(&context));
    }
    let stops = merged.should_stop_execution();
    merged.decision = match strongest {
        Some(word) if word.decision() == Decision::Allow => (!stops).then_some(HookDecision::Allow),
        Some(word) => Some(word),
        None => (!stops).then_some(HookDecision::Allow),
    };
    merged
}

/// Merges by key: the last value replaces earlier ones whole, except that a request to clear the context stays.
fn merge_specific(into: &mut JsonObject, specific: &JsonObject) {
    let clear = into.get("clearContext").and_then(Json::as_bool) == Some(true);
    into.merge(specific);
    if clear {
        into.set("clearContext", Json::boolean(true));
    }
}

/// Merges so that a later field replaces an earlier one. Answers that the engine made from plain text or a failure
/// never replace fields of answers that hooks gave.
fn last_write_wins(answers: &[&Answer]) -> HookOutput {
    let mut merged = HookOutput::default();
    let explicit = |answer: &&&Answer| answer.provenance.is_the_hooks_own();
    for answer in answers.iter().filter(|answer| !explicit(answer)).chain(answers.iter().filter(explicit)) {
        let output = &answer.output;
        // A stop and a request to hide output stay: no hook may lift what another hook asked for.
        if !merged.should_stop_execution() || output.should_stop_execution() {
            merged.stop_reason = output.stop_reason.clone().or(merged.stop_reason);
        }
        merged.r#continue = sticky(merged.r#continue, output.r#continue, false);
        merged.suppress_output = sticky(merged.suppress_output, output.suppress_output, true);
        merged.system_message = output.system_message.clone().or(merged.system_message);
        merged.decision = output.effective_decision().or(merged.decision);
        merged.reason = output.effective_reason().or(merged.reason);
        if let Some(specific) = &output.hook_specific_output {
            merge_specific(merged.hook_specific_output.get_or_insert_default(), specific);
        }
    }
    merged
}

/// The later decision, unless the earlier one must stay.
fn sticky(earlier: Option<bool>, later: Option<bool>, stays: bool) -> Option<bool> {
    if earlier == Some(stays) { earlier } else { later.or(earlier) }
}

/// Whether a decision must not be overridden by a later one: exit code 2, a failed guard, a decision of the system
/// layer, and, if the settings say so, any deny.
fn finalize_decision(merged: &mut HookOutput, context: &FoldContext<'_>, replies: &[Reply<Answer>]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let is_strict = |reply: &Reply<Answer>| match context.policy.model_decisions {
        ModelDecisions::LastWins => false,
        ModelDecisions::StrictInProject => reply.authority == Authority::Project,
        ModelDecisions::Strict => true,
    };
    for reply in replies {
        let Some(answer) = &reply.answer else { continue };
        let Some(word) = answer.output.effective_decision() else { continue };
        let now = merged.decision.map(HookDecision::decision);
        if word.decision() == Decision::Allow || Some(word.decision()) <= now {
            continue;
        }
        let stands = is_strict(reply)
            || matches!(answer.provenance, Provenance::Failure | Provenance::ExitCode)
            || reply.authority == Authority::System;
        if stands {
            merged.decision = Some(word);
            merged.reason = answer.output.effective_reason();
        } else if word.decision() == Decision::Deny {
            let message = format!("the deny of hook `{}` was replaced by a later hook's answer", reply.hook);
            let diagnostic = Diagnostic::new(Code::DecisionOverridden, message).at(reply.hook.origin.location.clone());
            found.push(diagnostic.hint("set `hooksConfig.modelDecisions` to \"strict\" to make deny win"));
        }
    }
    found
}

/// The effects for the host.
fn effects(kind: EventKind, can: Abilities, merged: &HookOutput, replies: &[Reply<Answer>]) -> Effects {
    let mut effects = Effects {
        decision: replies.iter().filter_map(|reply| reply.decision).max(),
        reason: merged.reason.clone().filter(|text| !text.is_empty()),
        stop: stop(replies),
        system_message: merged.system_message.clone().filter(|text| !text.is_empty()),
        suppress_output: merged.suppress_output == Some(true),
        clear_context: merged.should_clear_context(kind),
        ..Effects::default()
    };
    if can.includes(Abilities::ADD_CONTEXT) {
        effects.additional_context = merged.get_additional_context().filter(|text| !text.is_empty());
    }
    if kind == EventKind::AfterTool {
        effects.additional_context = context_with_objections(replies);
    }
    if can.includes(Abilities::CHOOSE_TOOLS) {
        effects.tool_config = merged.specific("toolConfig").cloned();
    }
    if kind == EventKind::BeforeModel {
        effects.llm_response = synthetic_response(merged, replies);
    }
    effects
}

/// The context of all answers, with the reasons of those that deny: the operation has happened and cannot be blocked,
/// but the model can be told what is wrong. An answer that the engine made from a failure is not for the model.
fn context_with_objections(replies: &[Reply<Answer>]) -> Option<String> {
    let mut context = None;
    for reply in replies {
        let Some(answer) = &reply.answer else { continue };
        let said = answer.output.get_additional_context().filter(|text| !text.is_empty());
        join(&mut context, said, "\n");
        if answer.provenance.is_the_hooks_own() && answer.output.is_blocking_decision() {
            join(&mut context, answer.output.effective_reason(), "\n");
        }
    }
    context
}

/// The response that replaces the model's. That of the system layer comes first; if the system layer denied, no other
/// layer may supply a response.
fn synthetic_response(merged: &HookOutput, replies: &[Reply<Answer>]) -> Option<Json> {
    let system = || replies.iter().filter(|reply| reply.authority == Authority::System);
    let given = |reply: &Reply<Answer>| reply.answer.as_ref()?.output.specific("llm_response").cloned();
    let response = match system().rev().find_map(given) {
        Some(response) => Some(response),
        None if system().any(|reply| reply.decision == Some(Decision::Deny)) => None,
        None => merged.specific("llm_response").cloned(),
    };
    crate::payload::answered_response(&response?)
}

/// The stop of any answer, with the reasons of all that stop.
fn stop(replies: &[Reply<Answer>]) -> Option<Stop> {
    let outputs = replies.iter().filter_map(|reply| reply.answer.as_ref()).map(|answer| &answer.output);
    let stopping: Vec<&HookOutput> = outputs.filter(|output| output.should_stop_execution()).collect();
    if stopping.is_empty() {
        return None;
    }
    let mut reasons = None;
    for output in stopping {
        let given = [output.stop_reason.clone(), output.effective_reason()];
        join(&mut reasons, given.into_iter().flatten().find(|text| !text.is_empty()), "\n");
    }
    Some(Stop { reason: reasons.unwrap_or_else(|| "a hook asked the agent to stop".to_owned()) })
}

/// Makes the merged output agree with the effects, because callers of this dialect read nothing else.
fn agree(merged: &mut HookOutput, effects: &Effects) {
    if let Some(stop) = &effects.stop {
        merged.r#continue = Some(false);
        merged.stop_reason.get_or_insert_with(|| stop.reason.clone());
    }
    // The older spelling of a decision belongs to a single hook; the merged output has one decision.
    if let Some(specific) = &mut merged.hook_specific_output
        && specific.remove("permissionDecision").is_some()
    {
        specific.remove("permissionDecisionReason");
        if let Some(word) = merged.decision {
            specific.set("permissionDecision", Json::string(word.word()));
            if let Some(reason) = &merged.reason {
                specific.set("permissionDecisionReason", Json::string(reason));
            }
        }
    }
}

/// In a chain the final value is the accumulated one, not the last hook's part alone.
fn accumulate(merged: &mut HookOutput, event: &Event) {
    let Some(specific) = &mut merged.hook_specific_output else { return };
    for field in ["tool_input", "llm_request", "llm_response"] {
        if specific.get(field).is_some()
            && let Some(value) = event.field(field)
        {
            specific.set(field, value.clone());
        }
    }
}

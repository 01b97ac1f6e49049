//! The aggregate of an event, in the shape this dialect documents.

use crate::dialect::Reply;
use crate::dialect::command_hooks::{Answer, HookOutput};
use crate::json::Json;
use crate::outcome::{Aggregated, Decision, Effects, EndKind};

pub(super) fn aggregate(replies: &[Reply<Answer>], answers: &[&Answer], merged: &HookOutput) -> Aggregated {
    Aggregated {
        success: replies.iter().all(|reply| exited_with_zero(reply.end)),
        final_output: (!answers.is_empty()).then(|| merged.to_json()),
        all_outputs: answers.iter().map(|answer| answer.to_json()).collect(),
        errors: replies.iter().filter(|reply| is_error(reply.end)).filter_map(|reply| reply.failure.clone()).collect(),
        total_duration: replies.iter().map(|reply| reply.duration).sum(),
    }
}

/// Adds a second look at the final input: its outputs, and its verdict where it has one.
pub(crate) fn amend_aggregate(first: &mut Aggregated, second: Aggregated, effects: &Effects) {
    first.success &= second.success;
    first.all_outputs.extend(second.all_outputs);
    first.errors.extend(second.errors);
    first.total_duration += second.total_duration;
    let mut output = first.final_output.as_ref().and_then(Json::as_object).unwrap_or_default();
    // Several guards may look again, and a later one takes nothing back that an earlier one refused.
    let said = output.get("decision").and_then(|said| said.as_str());
    let is_denied = matches!(said.as_deref(), Some("deny" | "block"));
    if let Some(decision @ (Decision::Deny | Decision::Ask)) = effects.decision
        && (decision == Decision::Deny || !is_denied)
    {
        output.set("decision", Json::string(decision.name()));
        if let Some(reason) = &effects.reason {
            output.set("reason", Json::string(reason));
        }
    }
    if let Some(stop) = &effects.stop {
        output.set("continue", Json::boolean(false));
        output.set("stopReason", Json::string(&stop.reason));
    }
    if !output.is_empty() {
        first.final_output = Some(output.to_json());
    }
}

fn exited_with_zero(end: EndKind) -> bool {
    matches!(end, EndKind::Answered | EndKind::Silent | EndKind::BadOutput)
}

/// An exit code is an answer of a kind and not an error; everything that kept a hook from answering is one.
fn is_error(end: EndKind) -> bool {
    !exited_with_zero(end) && end != EndKind::Exited
}

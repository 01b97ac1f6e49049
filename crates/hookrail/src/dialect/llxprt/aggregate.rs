//! The aggregate of an event, in the shape this dialect documents.

use crate::dialect::command_hooks::{Answer, HookOutput};
use crate::dialect::{OutcomeDetail, Reply};
use crate::json::{Json, JsonObject};
use crate::outcome::{Aggregated, Decision, Effects, EndKind, Outcome};

pub(super) fn aggregate(replies: &[Reply<Answer>], answers: &[&Answer], merged: &HookOutput) -> Aggregated {
    Aggregated {
        success: replies.iter().all(|reply| exited_with_zero(reply.end)),
        final_output: (!answers.is_empty()).then(|| merged.to_json()),
        all_outputs: answers.iter().map(|answer| answer.to_json()).collect(),
        errors: replies.iter().filter(|reply| is_error(reply.end)).filter_map(|reply| reply.failure.clone()).collect(),
        total_duration: replies.iter().map(|reply| reply.duration).sum(),
    }
}

impl OutcomeDetail for Aggregated {
    fn record(self: Box<Self>, outcome: &mut Outcome) {
        outcome.aggregated = *self;
    }

    fn amend(self: Box<Self>, outcome: &mut Outcome, effects: &Effects) {
        amend(&mut outcome.aggregated, *self, effects);
    }
}

/// The aggregate as this dialect documents it.
pub(super) fn document(aggregated: &Aggregated) -> Json {
    let mut members = JsonObject::new();
    members.set("success", Json::boolean(aggregated.success));
    if let Some(output) = &aggregated.final_output {
        members.set("finalOutput", output.clone());
    }
    members.set("allOutputs", Json::of(&aggregated.all_outputs).unwrap_or_else(|_| Json::null()));
    let errors = aggregated.errors.iter().map(|message| serde_json::json!({ "message": message }));
    members.set("errors", Json::from(serde_json::Value::from_iter(errors)));
    members.set("totalDuration", Json::milliseconds(aggregated.total_duration));
    members.to_json()
}

/// Adds a second look at the final input: its outputs, and its verdict where it has one.
fn amend(first: &mut Aggregated, second: Aggregated, effects: &Effects) {
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

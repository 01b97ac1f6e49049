//! The aggregate of an event, in the shape this dialect documents.

use super::answer::Answer;
use super::output::HookOutput;
use crate::dialect::Reply;
use crate::outcome::{Aggregated, EndKind};

pub(super) fn aggregate(replies: &[Reply<Answer>], answers: &[&Answer], merged: &HookOutput) -> Aggregated {
    Aggregated {
        success: replies.iter().all(|reply| exited_with_zero(reply.end)),
        final_output: (!answers.is_empty()).then(|| merged.to_json()),
        all_outputs: answers.iter().map(|answer| answer.to_json()).collect(),
        errors: replies.iter().filter(|reply| is_error(reply.end)).filter_map(|reply| reply.failure.clone()).collect(),
        total_duration: replies.iter().map(|reply| reply.duration).sum(),
    }
}

fn exited_with_zero(end: EndKind) -> bool {
    matches!(end, EndKind::Answered | EndKind::Silent | EndKind::BadOutput)
}

/// An exit code is an answer of a kind and not an error; everything that kept a hook from answering is one.
fn is_error(end: EndKind) -> bool {
    !exited_with_zero(end) && end != EndKind::Exited
}

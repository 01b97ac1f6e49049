//! Asks the host's user for approval.

use super::Guard;
use crate::hook::host::HostFuture;
use crate::json::Json;
use crate::outcome::{Decision, Outcome};
use crate::record::{AnsweredEntry, PersonAnswer};

/// The answer of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// The operation may happen, with exactly the input that was shown.
    Granted,
    /// The operation must not happen, for this reason.
    Refused(String),
    /// There is no user who could be asked.
    Unavailable,
}

/// Asks the host's user. The output of a hook never counts as the user's answer.
pub trait Approver: Send + Sync {
    /// Asks whether an operation may happen, and shows the final input.
    fn approve<'a>(&'a self, operation: &'a str, input: &'a Json, reason: Option<&'a str>) -> HostFuture<'a, Approval>;
}

/// The approver of a host without a user: if approval is required, the operation is denied.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoApprover;

impl Approver for NoApprover {
    fn approve<'a>(
        &'a self,
        _operation: &'a str,
        _input: &'a Json,
        _reason: Option<&'a str>,
    ) -> HostFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Unavailable))
    }
}

/// An operation that is about to happen.
#[derive(Clone, Copy)]
pub(super) struct Operation<'o> {
    pub(super) name: &'o str,
    /// The reason of a deny for which a hook gave none.
    pub(super) denied: &'static str,
}

impl<'o> Operation<'o> {
    pub(super) fn named(name: &'o str) -> Self {
        Self { name, denied: "a hook denied this" }
    }
}

impl Guard {
    /// Returns why an operation must not happen. Asks the user first if hooks require approval.
    pub(super) async fn refusal_reason(&self, what: Operation<'_>, input: &Json, outcome: &Outcome) -> Option<String> {
        let reason = outcome.effects.reason.as_deref();
        match outcome.effects.decision {
            Some(Decision::Deny) => Some(reason.unwrap_or(what.denied).to_owned()),
            Some(Decision::Ask) => {
                let approval = self.approver.approve(what.name, input, reason).await;
                let answer = match &approval {
                    Approval::Granted => PersonAnswer::Granted,
                    Approval::Refused(why) => PersonAnswer::Refused(why),
                    Approval::Unavailable => PersonAnswer::Unavailable,
                };
                let entry = AnsweredEntry {
                    fire: outcome.recorded_as.as_deref(),
                    session: &self.session_id,
                    event: outcome.event,
                    operation: what.name,
                    input,
                    reason,
                    answer,
                };
                // An approved operation is refused too if its answer had to be recorded and could not be.
                let unrecorded = self.hooks.record_answer(entry).await;
                refusal_from_approval(approval, reason).or(unrecorded)
            }
            Some(Decision::Allow) | None => None,
        }
    }
}

/// Returns the reason of the deny that follows from the user's answer, or `None` if the user approved.
fn refusal_from_approval(approval: Approval, reason: Option<&str>) -> Option<String> {
    let asked = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    match approval {
        Approval::Granted => None,
        Approval::Refused(why) if why.is_empty() => Some(format!("the user refused{asked}")),
        Approval::Refused(why) => Some(format!("the user refused: {why}")),
        Approval::Unavailable => Some(format!("approval required, but no user can be asked{asked}")),
    }
}

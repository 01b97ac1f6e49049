//! Asking the host's user.

use super::Guard;
use crate::json::Json;
use crate::outcome::{Decision, Effects};
use crate::system::host::HostFuture;

/// What the user said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Go on, with exactly the input that was shown.
    Granted,
    /// Do not, for this reason.
    Refused(String),
    /// There is nobody to ask.
    NobodyThere,
}

/// Asks the host's user. Nothing a hook prints is ever taken for their answer.
pub trait Approver: Send + Sync {
    /// Asks whether an operation may go on, with the final input in front of the user.
    fn approve<'a>(&'a self, operation: &'a str, input: &'a Json, reason: Option<&'a str>) -> HostFuture<'a, Approval>;
}

/// Where nobody can be asked, a question is a deny.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Approver for Nobody {
    fn approve<'a>(
        &'a self,
        _operation: &'a str,
        _input: &'a Json,
        _reason: Option<&'a str>,
    ) -> HostFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::NobodyThere))
    }
}

/// What is about to happen.
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
    /// Why an operation must not happen, after the user was asked where hooks want that.
    pub(super) async fn refused(&self, what: Operation<'_>, input: &Json, effects: &Effects) -> Option<String> {
        let reason = effects.reason.as_deref();
        match effects.decision {
            Some(Decision::Deny) => Some(reason.unwrap_or(what.denied).to_owned()),
            Some(Decision::Ask) => refusal(self.approver.approve(what.name, input, reason).await, reason),
            Some(Decision::Allow) | None => None,
        }
    }
}

/// The reason of a deny that stands for a question nobody could answer, or that was answered with no.
fn refusal(approval: Approval, reason: Option<&str>) -> Option<String> {
    let asked = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    match approval {
        Approval::Granted => None,
        Approval::Refused(why) if why.is_empty() => Some(format!("the user said no{asked}")),
        Approval::Refused(why) => Some(format!("the user said no: {why}")),
        Approval::NobodyThere => Some(format!("a hook wants the user to be asked, and nobody can be{asked}")),
    }
}

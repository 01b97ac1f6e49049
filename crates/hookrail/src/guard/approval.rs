//! Asking the host's user.

use std::future::Future;
use std::pin::Pin;

use crate::json::Json;

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
    fn approve<'a>(
        &'a self,
        operation: &'a str,
        input: &'a Json,
        reason: Option<&'a str>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>>;
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
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        Box::pin(std::future::ready(Approval::NobodyThere))
    }
}

/// The reason of a deny that stands for a question nobody could answer, or that was answered with no.
pub(super) fn refusal(approval: Approval, reason: Option<&str>) -> Option<String> {
    let asked = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    match approval {
        Approval::Granted => None,
        Approval::Refused(why) if why.is_empty() => Some(format!("the user said no{asked}")),
        Approval::Refused(why) => Some(format!("the user said no: {why}")),
        Approval::NobodyThere => Some(format!("a hook wants the user to be asked, and nobody can be{asked}")),
    }
}

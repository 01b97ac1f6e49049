//! What a plugin's hook says: nothing, or one JSON object with `decision` exactly `allow`, `deny` or `modify`.

use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::{DialectId, Health, Reply, failure_reason};
use crate::event::{Abilities, EventKind};
use crate::hook::{Authority, Hook, OnFailure};
use crate::json::{Json, JsonObject};
use crate::outcome::{Decision, EndKind};
use crate::run::{How, RunEnd};

/// A parsed answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(super) verdict: Verdict,
    pub(super) reason: Option<String>,
    pub(super) args: Option<Json>,
    pub(super) output: Option<Json>,
    pub(super) context: Option<String>,
}

/// The three words there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    Deny,
    Modify,
}

/// Makes an answer of a raw end. Exit codes have no special values: anything but zero is a failure.
pub(super) fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Answer> {
    let mut diagnostics = Vec::new();
    let (kind_of_end, answer) = match &end.how {
        How::Exited(0) if end.stdout.is_truncated() => failed(hook, on_failure, EndKind::OutputLimit),
        How::Exited(0) => match said(&end.stdout.lossy()) {
            Ok(Some(answer)) => (EndKind::Answered, Some(answer)),
            Ok(None) => (EndKind::Silent, None),
            Err(why) => {
                let message = format!("hook `{hook}` gave no valid decision and counts as allow: {why}");
                diagnostics.push(Diagnostic::new(Code::BadOutput, message).at(hook.origin.location.clone()));
                (EndKind::BadOutput, None)
            }
        },
        How::Exited(_) | How::StatusUnknown => {
            if let Ok(Some(Answer { verdict: Verdict::Deny, .. })) = said(&end.stdout.lossy()) {
                let message = format!("hook `{hook}` said `deny` but exited with an error, so that does not count");
                diagnostics.push(Diagnostic::new(Code::DecisionDiscarded, message).at(hook.origin.location.clone()));
            }
            failed(hook, on_failure, EndKind::Exited)
        }
        How::Signalled(_) => failed(hook, on_failure, EndKind::Signalled),
        How::TimedOut(_) => failed(hook, on_failure, EndKind::TimedOut),
        How::OutputLimit => failed(hook, on_failure, EndKind::OutputLimit),
        How::SpawnFailed(_) => failed(hook, on_failure, EndKind::SpawnFailed),
        How::Unusable(_) => failed(hook, on_failure, EndKind::Unusable),
        _ => failed(hook, on_failure, EndKind::Cancelled),
    };
    let decides = kind.spec().column(DialectId::Xcode).is_some_and(|column| column.can != Abilities::NONE);
    let decision = answer.as_ref().filter(|_| decides).map(|answer| match answer.verdict {
        Verdict::Deny => Decision::Deny,
        Verdict::Allow | Verdict::Modify => Decision::Allow,
    });
    Reply {
        hook: Arc::clone(hook),
        end: kind_of_end,
        decision,
        answer: answer.filter(|_| decides),
        health: Health::of(kind_of_end),
        authority: Authority::Ordinary,
        duration: end.duration,
        failure: None,
        diagnostics,
    }
}

fn failed(hook: &Hook, on_failure: OnFailure, end: EndKind) -> (EndKind, Option<Answer>) {
    let answer = (on_failure == OnFailure::Block).then(|| Answer {
        verdict: Verdict::Deny,
        reason: Some(failure_reason(hook, on_failure, end)),
        args: None,
        output: None,
        context: None,
    });
    (end, answer)
}

/// The answer in trimmed standard output, nothing, or why it is none.
fn said(stdout: &str) -> Result<Option<Answer>, String> {
    let text = stdout.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let object: JsonObject = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let word = object.get("decision").and_then(Json::as_str).unwrap_or_default();
    let verdict = match word.as_str() {
        "allow" => Verdict::Allow,
        "deny" => Verdict::Deny,
        "modify" => Verdict::Modify,
        _ => return Err("`decision` must be `allow`, `deny` or `modify`".to_owned()),
    };
    let modifies = verdict == Verdict::Modify;
    Ok(Some(Answer {
        verdict,
        reason: object.get("reason").and_then(Json::as_str),
        args: object.get("args").filter(|args| modifies && args.as_object().is_some()).cloned(),
        output: object.get("output").filter(|output| modifies && output.as_str().is_some()).cloned(),
        context: object.get("context").and_then(Json::as_str),
    }))
}

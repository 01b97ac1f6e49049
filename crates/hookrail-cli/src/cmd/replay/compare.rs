//! The outcome of an event when it was recorded, and now.

use hookrail::hook::Action;
use hookrail::{Decision, Effects, EndKind, Json, Outcome};
use hookrail_journal::Record;

/// How an event that was fired again compares with its record.
pub(super) enum Comparison {
    /// The same was decided and rewritten.
    Same,
    /// A command hook could not be run in the sandbox, so nothing can be said.
    CommandNotRun,
    Differs(Change),
}

/// A difference, in words: the verdict then and now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) before: String,
    pub(super) after: String,
}

/// What an event comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Allowed,
    ApprovalRequired,
    Stopped,
    Denied,
    /// The record was written by a version that knows another decision.
    Unknown,
}

impl Verdict {
    /// The verdict of a record.
    fn recorded(decision: Option<&str>, stops: bool) -> Self {
        let known = |name: &str| Decision::ALL.into_iter().find(|decision| decision.name() == name);
        match decision.map(known) {
            None => Self::new(None, stops),
            Some(Some(decision)) => Self::new(Some(decision), stops),
            Some(None) => Self::Unknown,
        }
    }

    fn new(decision: Option<Decision>, stops: bool) -> Self {
        match (decision, stops) {
            (Some(Decision::Deny), _) => Self::Denied,
            (None | Some(Decision::Allow | Decision::Ask), true) => Self::Stopped,
            (Some(Decision::Ask), false) => Self::ApprovalRequired,
            (None | Some(Decision::Allow), false) => Self::Allowed,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::ApprovalRequired => "approval required",
            Self::Stopped => "stopped",
            Self::Denied => "denied",
            Self::Unknown => "decided in a way that this version does not know",
        }
    }
}

/// What hooks can put in the place of something, by its name in an outcome document.
const REWRITES: [&str; 6] = ["toolInput", "toolOutput", "prompt", "llmRequest", "llmResponse", "toolConfig"];

/// What a record says about the outcome of its event.
pub(super) struct RecordedOutcome {
    verdict: Verdict,
    /// In the order of [`REWRITES`]; none if something was removed from the record, which cannot be compared and is not
    /// guessed.
    rewrites: Option<[Option<Json>; 6]>,
}

impl RecordedOutcome {
    pub(super) fn of(record: &Record) -> Self {
        let recorded = record.outcome.as_ref().and_then(Json::as_object).unwrap_or_default();
        let stopped = recorded.get("stop").and_then(Json::as_bool) == Some(true);
        let is_whole = record.outcome.as_ref().is_some_and(|outcome| !outcome.text().contains("{\"redacted\":"));
        let rewrite = |name| recorded.get(name).filter(|value| value.text() != "null").cloned();
        Self {
            verdict: Verdict::recorded(record.decision.as_deref(), stopped),
            rewrites: is_whole.then(|| REWRITES.map(rewrite)),
        }
    }
}

/// Compares an outcome with what was recorded of the same event.
pub(super) fn compare(recorded: &RecordedOutcome, outcome: &Outcome) -> Comparison {
    let is_command = |action: &Action| matches!(action, Action::Shell(_) | Action::Program(_) | Action::Remote(_));
    if outcome.runs.iter().any(|run| run.end == EndKind::SpawnFailed && is_command(&run.hook.action)) {
        return Comparison::CommandNotRun;
    }
    let RecordedOutcome { verdict: before, rewrites: then } = recorded;
    let after = Verdict::new(outcome.effects.decision, outcome.effects.stop.is_some());
    let now = then.is_some().then(|| rewrites(&outcome.effects));
    let same = |(then, now): (&Option<Json>, &Option<Json>)| match (then, now) {
        (Some(then), Some(now)) => then.same_as(now),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    if *before == after && then.iter().flatten().zip(now.iter().flatten()).all(same) {
        return Comparison::Same;
    }
    let described =
        |verdict: Verdict, rewrites: &Option<[Option<Json>; 6]>| match rewrites.iter().flatten().any(Option::is_some) {
            true => format!("{}, rewritten", verdict.name()),
            false => verdict.name().to_owned(),
        };
    let mut change = Change { before: described(*before, then), after: described(after, &now) };
    if change.before == change.after {
        change.after.push_str(" differently");
    }
    Comparison::Differs(change)
}

/// Returns what an outcome rewrites, in the order of [`REWRITES`].
fn rewrites(effects: &Effects) -> [Option<Json>; 6] {
    let prompt = effects.prompt.as_ref().map(|prompt| Json::string(prompt));
    let Effects { tool_input, tool_output, llm_request, llm_response, tool_config, .. } = effects;
    [tool_input, tool_output, &prompt, llm_request, llm_response, tool_config].map(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    /// A decision that is not known must not pass as an allow.
    #[test]
    fn a_recorded_decision_is_one_that_is_known_or_unknown() {
        assert_eq!(Verdict::recorded(None, false), Verdict::Allowed);
        assert_eq!(Verdict::recorded(Some("ask"), false), Verdict::ApprovalRequired);
        assert_eq!(Verdict::recorded(Some("ask"), true), Verdict::Stopped);
        assert_eq!(Verdict::recorded(Some("deny"), true), Verdict::Denied);
        assert_eq!(Verdict::recorded(Some("quarantine"), false), Verdict::Unknown);
    }
}

//! The outcome of an event when it was recorded, and now.

use hookrail::plan::SkipReason;
use hookrail::{Code, Decision, Effects, EndKind, Health, HookRun, Json, Outcome};
use hookrail_journal::{Record, RecordedRun};
use serde::Deserialize;

/// How an event that was fired again compares with its record.
pub(super) enum Comparison {
    /// The same was decided and rewritten.
    Same,
    /// The same was decided. What was rewritten is not in the record.
    RewriteRemoved,
    /// A hook did not do its work, so what it would have decided is not known.
    NotAsked(NotAsked),
    Differs(ReplayChange),
}

/// Why a hook did not do its work in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotAsked {
    /// It was not started: the sandbox cannot be enforced here, or it is answered elsewhere.
    NotRun,
    /// It failed in the sandbox, or was refused something there, and had not failed so when the event was recorded.
    FailedInSandbox,
    /// It waits for a grant.
    NotTrusted,
}

/// A difference, in words: the verdict then and now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReplayChange {
    pub before: String,
    pub after: String,
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

/// What hooks put in the place of something: the tool's input and output, the prompt, the request to a model, its response,
/// and the tools that it is offered.
type Rewrites = [Option<Json>; 6];

/// The members of an outcome document that are compared. To read the others takes longer than to fire a module.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ComparedMembers {
    stop: bool,
    tool_input: Option<Json>,
    tool_output: Option<Json>,
    prompt: Option<Json>,
    llm_request: Option<Json>,
    llm_response: Option<Json>,
    tool_config: Option<Json>,
}

/// What a record says about the outcome of its event.
pub(super) struct RecordedOutcome {
    verdict: Verdict,
    /// None if something was removed from the record, which cannot be compared and is not guessed.
    rewrites: Option<Rewrites>,
}

impl RecordedOutcome {
    pub(super) fn of(record: &Record<'_>) -> Self {
        let read = record.outcome.as_ref().and_then(|outcome| serde_json::from_str(outcome.text()).ok());
        let has_outcome = read.is_some();
        let ComparedMembers { stop, tool_input, tool_output, prompt, llm_request, llm_response, tool_config } =
            read.unwrap_or_default();
        let rewrites = [tool_input, tool_output, prompt, llm_request, llm_response, tool_config];
        let is_whole = has_outcome && !rewrites.iter().flatten().any(|part| record.is_removed_from(part));
        Self { verdict: Verdict::recorded(record.decision.as_deref(), stop), rewrites: is_whole.then_some(rewrites) }
    }
}

/// How the hooks of a replay run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// In a sandbox, where a failure may be due to the sandbox.
    Sandbox,
    /// As they are.
    None,
}

/// Returns why a hook of an outcome did not do its work, if that leaves the outcome unknown.
pub(super) fn not_asked(line: &str, outcome: &Outcome, isolation: Isolation) -> Option<NotAsked> {
    let denies = |run: &HookRun| run.health == Health::Well && run.decision == Some(Decision::Deny);
    // A deny stays a deny, whatever another hook says.
    if outcome.runs.iter().any(denies) {
        return None;
    }
    if isolation == Isolation::Sandbox && outcome.runs.iter().any(|run| run.health == Health::Failed) {
        let recorded = Record::parse(line).ok().and_then(|record| record.hooks).unwrap_or_default();
        let is_as_recorded = |run: &HookRun| {
            let decision = run.decision.map(Decision::name);
            let is_same = |then: &RecordedRun<'_>| {
                *then.hook == *run.hook.label && then.end == run.end.name() && then.decision.as_deref() == decision
            };
            recorded.iter().any(is_same)
        };
        let failed = outcome.runs.iter().find(|run| run.health == Health::Failed && !is_as_recorded(run));
        if let Some(run) = failed {
            return Some(match run.end {
                EndKind::SpawnFailed => NotAsked::NotRun,
                _ => NotAsked::FailedInSandbox,
            });
        }
    }
    let refused = outcome.diagnostics.iter().any(|found| found.code == Code::CapabilityRefused);
    if isolation == Isolation::Sandbox && refused {
        return Some(NotAsked::FailedInSandbox);
    }
    let waits = outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::Untrusted && !skipped.hook.is_shadow());
    waits.then_some(NotAsked::NotTrusted)
}

/// Compares an outcome with what was recorded of the same event, whose line is given.
pub(super) fn compare(recorded: &RecordedOutcome, line: &str, outcome: &Outcome, isolation: Isolation) -> Comparison {
    if let Some(why) = not_asked(line, outcome, isolation) {
        return Comparison::NotAsked(why);
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
        return if then.is_some() { Comparison::Same } else { Comparison::RewriteRemoved };
    }
    let described = |verdict: Verdict, rewrites: &Option<Rewrites>| match rewrites.iter().flatten().any(Option::is_some)
    {
        true => format!("{}, rewritten", verdict.name()),
        false => verdict.name().to_owned(),
    };
    let mut change = ReplayChange { before: described(*before, then), after: described(after, &now) };
    if change.before == change.after {
        change.after.push_str(" differently");
    }
    Comparison::Differs(change)
}

/// Returns what an outcome rewrites.
fn rewrites(effects: &Effects) -> Rewrites {
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

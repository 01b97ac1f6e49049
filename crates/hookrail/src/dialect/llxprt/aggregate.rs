//! The aggregate of an event, in the shape this dialect documents.

use std::time::Duration;

use super::output::{
    AfterModelHookOutput, BeforeModelHookOutput, BeforeToolHookOutput, BeforeToolSelectionHookOutput, DefaultHookOutput,
};
use crate::dialect::command_hooks::{Answer, HookDecision, HookOutput};
use crate::dialect::{OutcomeDetail, Reply};
use crate::event::{Event, EventKind};
use crate::json::{Json, JsonObject};
use crate::outcome::{Decision, Effects, EndKind, Outcome};

/// The combined result of this dialect's hooks in one event, as its documentation defines it.
///
/// ```
/// use hookrail::dialect::llxprt::AggregatedHookResult;
/// use hookrail::{Environment, EventKind, HookSystem};
///
/// let hooks = HookSystem::builder(std::env::temp_dir()).environment(Environment::new()).build();
/// let outcome = hooks.fire_blocking(hooks.event(EventKind::BeforeTool));
/// let aggregated = AggregatedHookResult::from_outcome(&outcome);
/// assert!(aggregated.success && aggregated.all_outputs.is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct AggregatedHookResult {
    /// Whether every hook exited with zero. This is about health, not about permission.
    pub success: bool,
    /// The merged output; none if no hook had anything to say.
    pub final_output: Option<DefaultHookOutput>,
    /// Every single output, in plan order.
    pub all_outputs: Vec<HookOutput>,
    /// What prevented a hook from answering: how it failed, with the last text it wrote.
    pub errors: Vec<String>,
    /// The sum of the hooks' times.
    pub total_duration: Duration,
}

impl AggregatedHookResult {
    /// The aggregate of an outcome; that of no hooks if none of this dialect took part.
    #[must_use]
    pub fn from_outcome(outcome: &Outcome) -> Self {
        outcome.detail().cloned().unwrap_or_else(Self::empty)
    }

    /// The aggregate of no hooks.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            success: true,
            final_output: None,
            all_outputs: Vec::new(),
            errors: Vec::new(),
            total_duration: Duration::ZERO,
        }
    }

    /// The merged output, with the methods for BeforeTool.
    #[must_use]
    pub fn before_tool(&self) -> Option<BeforeToolHookOutput> {
        self.final_output.clone().map(BeforeToolHookOutput)
    }

    /// The merged output, with the methods for BeforeModel.
    #[must_use]
    pub fn before_model(&self) -> Option<BeforeModelHookOutput> {
        self.final_output.clone().map(BeforeModelHookOutput)
    }

    /// The merged output, with the methods for BeforeToolSelection.
    #[must_use]
    pub fn before_tool_selection(&self) -> Option<BeforeToolSelectionHookOutput> {
        self.final_output.clone().map(BeforeToolSelectionHookOutput)
    }

    /// The merged output, with the methods for AfterModel.
    #[must_use]
    pub fn after_model(&self) -> Option<AfterModelHookOutput> {
        self.final_output.clone().map(AfterModelHookOutput)
    }

    /// The aggregate as JSON, with the names of the documentation.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let Self { success, final_output, all_outputs, errors, total_duration } = self;
        let mut members = JsonObject::new();
        members.set("success", Json::boolean(*success));
        if let Some(output) = final_output {
            members.set("finalOutput", output.to_json());
        }
        let outputs: Vec<Json> = all_outputs.iter().map(HookOutput::to_json).collect();
        members.set("allOutputs", Json::of(&outputs).unwrap_or_else(|_| Json::null()));
        let errors = errors.iter().map(|message| serde_json::json!({ "message": message }));
        members.set("errors", Json::from(serde_json::Value::from_iter(errors)));
        members.set("totalDuration", Json::milliseconds(*total_duration));
        members.to_json()
    }

    /// Adds the result of asking guards again about the final input: its outputs, and its decision if there is one.
    fn amend(&mut self, second: Self, effects: &Effects) {
        let Self { success, final_output: _, all_outputs, errors, total_duration } = second;
        self.success &= success;
        self.all_outputs.extend(all_outputs);
        self.errors.extend(errors);
        self.total_duration += total_duration;
        let mut output = self.final_output.take().unwrap_or_default();
        // Several guards may be asked again, and a later one must not lift what an earlier one refused.
        let is_denied = matches!(output.decision, Some(HookDecision::Deny | HookDecision::Block));
        let word = match effects.decision {
            Some(Decision::Deny) => Some(HookDecision::Deny),
            Some(Decision::Ask) => (!is_denied).then_some(HookDecision::Ask),
            Some(Decision::Allow) | None => None,
        };
        if word.is_some() {
            output.decision = word;
            output.reason = effects.reason.clone().or(output.reason);
        }
        if let Some(stop) = &effects.stop {
            output.r#continue = Some(false);
            output.stop_reason = Some(stop.reason.clone());
        }
        self.final_output = (output != HookOutput::default()).then_some(output);
    }
}

/// The questions that a caller of this dialect asks after an event.
#[derive(Clone, Debug)]
pub struct ProcessedHookResult {
    /// The aggregate itself.
    pub aggregated: AggregatedHookResult,
    /// Whether execution must stop.
    pub should_stop: bool,
    /// Why.
    pub stop_reason: Option<String>,
    /// A message for the conversation.
    pub system_message: Option<String>,
    /// Whether output is hidden from the user.
    pub suppress_output: bool,
}

impl From<&Outcome> for ProcessedHookResult {
    fn from(outcome: &Outcome) -> Self {
        let effects = &outcome.effects;
        Self {
            aggregated: AggregatedHookResult::from_outcome(outcome),
            should_stop: effects.stop.is_some(),
            stop_reason: effects.stop.as_ref().map(|stop| stop.reason.clone()),
            system_message: effects.system_message.clone(),
            suppress_output: effects.suppress_output,
        }
    }
}

pub(super) fn aggregate(replies: &[Reply<Answer>], answers: &[&Answer], merged: &HookOutput) -> AggregatedHookResult {
    // A hook that blocks with exit code 2 did its work, so it has no failure to report.
    let failed = replies.iter().filter(|reply| !exited_with_zero(reply.end));
    AggregatedHookResult {
        success: replies.iter().all(|reply| exited_with_zero(reply.end)),
        final_output: (!answers.is_empty()).then(|| merged.clone()),
        all_outputs: answers.iter().map(|answer| answer.output.clone()).collect(),
        errors: failed.filter_map(|reply| reply.failure.clone()).collect(),
        total_duration: replies.iter().map(|reply| reply.duration).sum(),
    }
}

impl OutcomeDetail for AggregatedHookResult {
    fn record(self: Box<Self>, outcome: &mut Outcome) {
        outcome.set_detail(*self);
    }

    fn amend(self: Box<Self>, outcome: &mut Outcome, effects: &Effects) {
        let mut first = Self::from_outcome(outcome);
        AggregatedHookResult::amend(&mut first, *self, effects);
        outcome.set_detail(first);
    }
}

/// Adds the results of a call that the event's call carries.
pub(super) fn take_carried(outcome: &mut Outcome, carried: &Outcome) {
    let mut first = AggregatedHookResult::from_outcome(outcome);
    first.amend(AggregatedHookResult::from_outcome(carried), &carried.effects);
    outcome.set_detail(first);
}

fn exited_with_zero(end: EndKind) -> bool {
    matches!(end, EndKind::Answered | EndKind::Silent | EndKind::BadOutput)
}

/// Makes the merged output agree with the final effects of the event: hooks of other dialects run later, and layers
/// with more authority decide last. Callers of this dialect read nothing else, so an event that only others decided
/// has a merged output too. `event` is the event as the last hook left it, if hooks ran.
pub(super) fn finalize(outcome: &mut Outcome, event: Option<&Event>) {
    let mut aggregated = AggregatedHookResult::from_outcome(outcome);
    let effects = &outcome.effects;
    let is_restricted = matches!(effects.decision, Some(Decision::Deny | Decision::Ask)) || effects.stop.is_some();
    if aggregated.final_output.is_none() && !is_restricted && rewrites(effects).next().is_none() {
        return;
    }
    let output = aggregated.final_output.get_or_insert_default();
    let weaker = output.effective_decision().map(HookDecision::decision) < effects.decision;
    match effects.decision.filter(|_| weaker) {
        Some(Decision::Deny) => output.decision = Some(HookDecision::Deny),
        Some(Decision::Ask) => output.decision = Some(HookDecision::Ask),
        Some(Decision::Allow) | None => {}
    }
    if weaker {
        output.reason = effects.reason.clone().or(output.reason.take());
    }
    if let Some(stop) = &effects.stop {
        output.r#continue = Some(false);
        output.stop_reason = Some(stop.reason.clone());
    }
    if let Some(specific) = &mut output.hook_specific_output {
        let is_denied = effects.decision == Some(Decision::Deny);
        let unchanged = event.and_then(|event| event.field("tool_input")).filter(|_| !is_denied);
        for field in rewritten_fields(outcome.event) {
            // An answer that changes nothing, whose change was taken back, or whose operation is denied rewrites nothing.
            let answered = specific.remove(field);
            // Arguments replace the original ones whole, so those that came out unchanged are told as they are.
            if let (Some(_), "tool_input", Some(input)) = (answered, *field, unchanged) {
                specific.set("tool_input", input.clone());
            }
        }
    }
    for (key, value) in rewrites(effects) {
        output.hook_specific_output.get_or_insert_default().set(key, value);
    }
    outcome.set_detail(aggregated);
}

/// The members of `hookSpecificOutput` that rewrite something in this event. Those of other events mean nothing in it.
fn rewritten_fields(event: EventKind) -> &'static [&'static str] {
    match event {
        EventKind::BeforeTool => &["tool_input"],
        EventKind::BeforeModel => &["llm_request", "llm_response"],
        EventKind::AfterModel => &["llm_response"],
        _ => &[],
    }
}

/// The rewrites and the context among the effects, with the names that they have in an output.
fn rewrites(effects: &Effects) -> impl Iterator<Item = (&'static str, Json)> {
    let values = [
        ("tool_input", effects.tool_input.clone()),
        ("llm_request", effects.llm_request.clone()),
        ("llm_response", effects.llm_response.clone()),
        ("toolConfig", effects.tool_config.clone()),
        ("additionalContext", effects.additional_context.as_deref().map(Json::string)),
    ];
    values.into_iter().filter_map(|(key, value)| Some((key, value?)))
}

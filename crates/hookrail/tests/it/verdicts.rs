//! What an answer may do to the others: over random plans of every dialect, no failed, made-up or later answer turns a
//! deny into an allow where the rules do not say so, and what a hook said is found again in the outcome.

use crate::plans::{
    Scripted, dialects, document, failures, fire, fire_beside, fire_strictly, kinds, place, plans, scripted,
};
use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::document::outcome_document;
use hookrail::hook::GroupOrder;
use hookrail::plan::SkipReason;
use hookrail::process::{RawEnd, RunEnd};
use hookrail::sources::SourceKind;
use hookrail::{Code, Decision, DialectId, Effects, EndKind, EventKind, HookRun, Json, OnFailure, Outcome};
use proptest::prelude::*;
use serde_json::Value;

/// Whether a plugin's hook denied before a signal ended it: such a deny counts.
fn is_deny_before_a_signal(dialect: DialectId, end: &RunEnd) -> bool {
    let denied = matches!(end, RunEnd::Process(process) if process.stdout.lossy().contains("\"deny\""));
    dialect == DialectId::Xcode && matches!(end.how(), RawEnd::Signalled(_)) && denied
}

/// The events whose operation every dialect's deny stops.
fn gates() -> impl Strategy<Value = EventKind> {
    prop::sample::select(vec![EventKind::BeforeTool, EventKind::Prompt, EventKind::BeforeModel])
}

/// Whether a later answer may replace this one: only a word that a hook below the system really said about a model call.
fn is_replaceable(kind: EventKind, run: &HookRun) -> bool {
    kind == EventKind::BeforeModel
        && run.hook.dialect == DialectId::Llxprt
        && run.end == EndKind::Answered
        && run.hook.origin.kind != SourceKind::System
}

/// A deny that is not in the outcome was one that may be replaced, and that it was is told.
fn was_replaced(kind: EventKind, denied: &Outcome, outcome: &Outcome) -> bool {
    let mut denying = denied.runs.iter().filter(|run| run.decision == Some(Decision::Deny));
    denying.all(|run| is_replaceable(kind, run))
        && outcome.diagnostics.iter().any(|found| found.code == Code::DecisionOverridden)
}

fn is_chain(plan: &[Scripted], dialect: DialectId) -> bool {
    let sequential = |one: &Scripted| one.dialect == DialectId::Llxprt && one.order == GroupOrder::Sequential;
    dialect != DialectId::Llxprt || plan.iter().any(sequential)
}

/// The plan with one more hook, which is not what makes the event a chain.
fn with(plan: &[Scripted], at: prop::sample::Index, one: Scripted) -> (usize, Vec<Scripted>) {
    let order = if is_chain(plan, DialectId::Llxprt) { GroupOrder::Sequential } else { GroupOrder::Parallel };
    let at = at.index(plan.len() + 1);
    let mut more = plan.to_vec();
    more.insert(at, Scripted { order, ..one });
    (at, more)
}

/// The plan without what is asked a second time.
fn without_system(plan: Vec<Scripted>) -> Vec<Scripted> {
    let of_user = |mut one: Scripted| {
        one.layer = SourceKind::User;
        one
    };
    plan.into_iter().filter(|one| one.layer != SourceKind::System).map(of_user).collect()
}

/// The plan with the hooks whose dialect has the event.
fn of_dialects_with(kind: EventKind, plan: Vec<Scripted>) -> Vec<Scripted> {
    let has = |one: &Scripted| one.dialect == DialectId::Native || kind.spec().column(one.dialect).is_some();
    plan.into_iter().filter(has).collect()
}

/// What command hooks of settings files said as JSON, in plan order.
fn said(outcome: &Outcome) -> Vec<Value> {
    let answered = |run: &&HookRun| run.end == EndKind::Answered || run.exit_code == Some(2);
    let runs = outcome.runs.iter().filter(|run| run.hook.dialect == DialectId::Llxprt).filter(answered);
    runs.filter_map(|run| serde_json::from_str::<Value>(&run.stdout).ok()).filter(Value::is_object).collect()
}

fn strength(word: Option<&str>) -> usize {
    match word {
        Some("deny" | "block") => 2,
        Some("ask") => 1,
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn a_deny_of_any_run_denies_where_the_event_can_be_denied(kind in gates(), plan in plans()) {
        let outcome = fire(kind, &plan, None);
        let denies = outcome.runs.iter().any(|run| run.decision == Some(Decision::Deny));
        prop_assert!(!denies || outcome.is_denied() || was_replaced(kind, &outcome, &outcome), "{}", document(&outcome));
    }

    #[test]
    fn where_it_is_set_so_any_deny_of_a_model_call_denies(plan in plans()) {
        let outcome = fire_strictly(EventKind::BeforeModel, &plan);
        let denies = outcome.runs.iter().any(|run| run.decision == Some(Decision::Deny));
        prop_assert!(!denies || outcome.is_denied(), "{}", document(&outcome));
    }

    #[test]
    fn only_a_deny_that_counts_denies(kind in kinds(), plan in plans()) {
        let outcome = fire(kind, &plan, None);
        let gates = |run: &HookRun| kind.spec().gated_by(run.hook.dialect);
        let denies = outcome.runs.iter().any(|run| run.decision == Some(Decision::Deny) && gates(run));
        // A system guard that wants another change in its second look denies without a word of its own.
        let demands = outcome.diagnostics.iter().any(|found| found.code == Code::RewriteAfterGuard);
        prop_assert!(!outcome.is_denied() || denies || demands, "{}", document(&outcome));
    }

    #[test]
    fn no_further_hook_turns_a_deny_into_anything_else(
        kind in gates(),
        plan in plans(),
        further in scripted(),
        at in any::<prop::sample::Index>(),
    ) {
        let before = fire(kind, &plan, None);
        let mut more = plan;
        more.insert(at.index(more.len() + 1), further);
        let after = fire(kind, &more, None);
        let stands = !before.is_denied() || after.is_denied() || was_replaced(kind, &before, &after);
        prop_assert!(stands, "{}\n{}", document(&before), document(&after));
    }

    #[test]
    fn hooks_that_are_not_enforced_change_nothing(
        kind in kinds(),
        plan in plans(),
        beside in prop::collection::vec((scripted(), any::<prop::sample::Index>()), 1..5),
        seed in any::<Option<u64>>(),
    ) {
        let without = fire(kind, &plan, seed);
        let (with, shadow) = fire_beside(kind, &plan, &beside, seed);
        prop_assert_eq!(document(&without), document(&with));
        prop_assert_eq!(&without.effects, &with.effects);
        prop_assert_eq!(shadow, beside.len(), "every one of them is planned");
    }

    #[test]
    fn a_failure_alone_never_allows_and_never_hides_a_deny(
        kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::BeforeModel]),
        plan in plans(),
        dialect in dialects(),
        failure in failures(),
        at in any::<prop::sample::Index>(),
    ) {
        let before = fire(kind, &plan, None);
        let on_failure = OnFailure::Allow;
        let outlives_its_signal = is_deny_before_a_signal(dialect, &failure);
        let failing = Scripted { dialect, layer: SourceKind::User, order: GroupOrder::Parallel, on_failure, end: failure };
        let after = fire(kind, &with(&plan, at, failing).1, None);
        prop_assert!(after.effects.decision >= before.effects.decision, "{}\n{}", document(&before), document(&after));
        // A guard module blocks when it fails, and a plugin's deny outlives a signal; no other hook decides anything by failing.
        if dialect != DialectId::Xcsh && !outlives_its_signal {
            prop_assert_eq!(after.effects.decision, before.effects.decision);
            prop_assert_eq!(after.effects.tool_input, before.effects.tool_input);
        }
    }

    #[test]
    fn what_a_failure_does_is_its_policy_whatever_else_there_is(
        kind in gates(),
        plan in plans(),
        failing in (scripted(), dialects(), failures()),
        at in any::<prop::sample::Index>(),
    ) {
        let (one, dialect, end) = failing;
        let (at, plan) = with(&plan, at, Scripted { dialect, end, ..one });
        let outcome = fire(kind, &plan, None);
        // A guard of the system layer that was not asked denies, whatever its policy is.
        let not_asked = matches!(
            plan[at].end.how(),
            RawEnd::SpawnFailed(_) | RawEnd::Unusable(_) | RawEnd::Cancelled | RawEnd::Exited(126 | 127)
        );
        let is_system = dialect == DialectId::Llxprt && plan[at].layer == SourceKind::System;
        let policy = if is_system && not_asked { OnFailure::Block } else { plan[at].on_failure };
        let expected = match (dialect, policy) {
            (DialectId::Xcsh, _) => (kind == EventKind::BeforeTool).then_some(Decision::Deny),
            // There are no plugin hooks for a model call.
            (DialectId::Xcode, _) if kind == EventKind::BeforeModel => None,
            (_, OnFailure::Allow) if !is_deny_before_a_signal(dialect, &plan[at].end) => None,
            (DialectId::Xcode, _) | (_, OnFailure::Block) => Some(Decision::Deny),
            _ => Some(Decision::Ask),
        };
        for run in outcome.runs.iter().filter(|run| place(&run.hook) == at) {
            prop_assert_eq!(run.decision, expected, "{}", document(&outcome));
            prop_assert!(outcome.effects.decision >= expected, "{}", document(&outcome));
        }
    }

    #[test]
    fn plain_text_never_replaces_what_a_hook_said(
        kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::BeforeModel, EventKind::AfterModel]),
        plan in plans(),
        at in any::<prop::sample::Index>(),
    ) {
        let end = crate::common::exited(0, "words", "");
        let (layer, order, on_failure) = (SourceKind::User, GroupOrder::Parallel, OnFailure::Allow);
        let talking = Scripted { dialect: DialectId::Llxprt, layer, order, on_failure, end };
        let (before, after) = (fire(kind, &plan, None), fire(kind, &with(&plan, at, talking).1, None));
        prop_assert_eq!(after.effects.decision.max(Some(Decision::Allow)), before.effects.decision.max(Some(Decision::Allow)));
        let message = |outcome: &Outcome| outcome.effects.system_message.clone();
        let explicit = said(&before).iter().any(|answer| answer["systemMessage"].is_string());
        if explicit && kind != EventKind::BeforeTool {
            prop_assert_eq!(message(&after), message(&before));
        }
    }

    #[test]
    fn what_a_hook_printed_before_it_failed_rewrites_nothing(kind in kinds(), plan in plans()) {
        let mut silent = plan.clone();
        let failed = |one: &&mut Scripted| {
            matches!(one.end.how(), RawEnd::Exited(1..) | RawEnd::Signalled(_)) && !is_deny_before_a_signal(one.dialect, &one.end)
        };
        for one in silent.iter_mut().filter(failed) {
            one.end = crate::common::process_end(one.end.how().clone(), "", "words");
        }
        let (talking, silent) = (fire(kind, &plan, None).effects, fire(kind, &silent, None).effects);
        // An answer for the model is no rewrite, and a hook that blocks may give one. A stop brings a response of its own.
        let compares_response = kind == EventKind::AfterModel && talking.stop == silent.stop;
        let rewrites = |effects: Effects| {
            let response = effects.llm_response.filter(|_| compares_response);
            (effects.tool_input, effects.llm_request, response, effects.tool_output, effects.decision)
        };
        prop_assert_eq!(rewrites(talking), rewrites(silent));
    }

    #[test]
    fn what_is_denied_is_not_rewritten_and_goes_no_further(kind in gates(), plan in plans()) {
        let plan = without_system(plan);
        let outcome = fire(kind, &plan, None);
        if !outcome.is_denied() {
            return Ok(());
        }
        let effects = &outcome.effects;
        let rewrites = [&effects.tool_input, &effects.llm_request, &effects.prompt.as_deref().map(Json::string)];
        prop_assert!(rewrites.iter().all(|rewrite| rewrite.is_none()), "{}", document(&outcome));
        let denies = |run: &HookRun| run.decision == Some(Decision::Deny) && kind.spec().gated_by(run.hook.dialect);
        let first = outcome.runs.iter().position(denies).unwrap();
        let dialect = outcome.runs[first].hook.dialect;
        let later = &outcome.runs[first + 1..];
        let ran_too = |run: &HookRun| run.hook.dialect == dialect && !is_chain(&plan, dialect);
        // A deny that a later hook replaced did not end anything.
        let replaced = is_replaceable(kind, &outcome.runs[first]);
        prop_assert!(replaced || later.iter().all(ran_too), "{}", document(&outcome));
    }

    #[test]
    fn where_the_system_denied_no_hook_below_answers_for_the_model(plan in plans()) {
        let outcome = fire(EventKind::BeforeModel, &plan, None);
        let of_system = |run: &&HookRun| run.hook.origin.kind == SourceKind::System;
        let denied = outcome.runs.iter().filter(of_system).any(|run| run.decision == Some(Decision::Deny));
        let answered = outcome.runs.iter().filter(of_system).any(|run| run.stdout.contains("llm_response"));
        prop_assert!(!denied || answered || outcome.effects.llm_response.is_none(), "{}", document(&outcome));
    }

    #[test]
    fn the_merged_output_says_what_the_effects_say(kind in gates(), plan in plans()) {
        let outcome = fire(kind, &of_dialects_with(kind, plan), None);
        let told = outcome_document(&outcome).to_value();
        let merged = &told["aggregated"]["finalOutput"];
        prop_assert_eq!(strength(merged["decision"].as_str()), strength(told["decision"].as_str()), "{}", told);
        prop_assert_eq!(merged["continue"] == false, told["stop"] == true, "{}", told);
        if told["stop"] == true {
            prop_assert_eq!(&merged["stopReason"], &told["stopReason"], "{}", told);
        }
        let rewritten = match kind {
            EventKind::BeforeTool => [("toolInput", "tool_input")].as_slice(),
            EventKind::BeforeModel => &[("llmRequest", "llm_request"), ("llmResponse", "llm_response")],
            _ => &[],
        };
        for (field, in_output) in rewritten {
            // Arguments that came out unchanged may be told.
            if !told[field].is_null() || told["decision"] == "deny" {
                prop_assert_eq!(&merged["hookSpecificOutput"][in_output], &told[field], "{}", told);
            }
        }
    }

    #[test]
    fn every_question_is_heard_whichever_dialect_it_is_from(plan in plans()) {
        let outcome = fire(EventKind::BeforeTool, &without_system(plan), None);
        if outcome.effects.decision != Some(Decision::Ask) {
            return Ok(());
        }
        let reason = outcome.effects.reason.clone().unwrap_or_default();
        for run in outcome.runs.iter().filter(|run| run.decision == Some(Decision::Ask)) {
            let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
            let words = match (run.end, run.hook.dialect) {
                (EndKind::Answered, DialectId::Native) => "native",
                (EndKind::Answered, _) => answer["reason"].as_str().unwrap_or_default(),
                _ => "failed (",
            };
            prop_assert!(reason.contains(words), "{} in {}", words, document(&outcome));
        }
    }

    #[test]
    fn every_stop_and_every_context_is_heard_in_plan_order(
        kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::AfterTool, EventKind::Prompt]),
        plan in plans(),
    ) {
        let outcome = fire(kind, &without_system(plan), None);
        let text = |answer: &Value, key: &str| answer[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let stopping = said(&outcome).into_iter().filter(|answer| answer["continue"] == false).collect::<Vec<_>>();
        let reasons: Vec<String> =
            stopping.iter().filter_map(|answer| text(answer, "stopReason").or_else(|| text(answer, "reason"))).collect();
        let stop = outcome.effects.stop.as_ref();
        prop_assert_eq!(stop.is_some(), !stopping.is_empty(), "{}", document(&outcome));
        if !reasons.is_empty() && said(&outcome).len() == outcome.runs.iter().filter(|run| run.hook.dialect == DialectId::Llxprt).count() {
            prop_assert_eq!(&stop.unwrap().reason, &reasons.join("\n"));
        }
        if kind == EventKind::Prompt {
            let contexts = said(&outcome).into_iter().filter_map(|answer| text(&answer["hookSpecificOutput"], "additionalContext"));
            let heard = outcome.effects.additional_context.clone().unwrap_or_default();
            prop_assert!(heard.starts_with(&contexts.collect::<Vec<_>>().join("\n")), "{}", document(&outcome));
        }
    }

    /// Also on model events, where a later word replaces an earlier one in all else.
    #[test]
    fn a_stop_and_a_wish_to_hide_output_stand_on_every_event(kind in kinds(), plan in plans()) {
        let outcome = fire(kind, &of_dialects_with(kind, plan), None);
        let said = said(&outcome);
        let stops = said.iter().any(|answer| answer["continue"] == false);
        prop_assert!(!stops || outcome.effects.stop.is_some(), "{}", document(&outcome));
        let hides = said.iter().any(|answer| answer["suppressOutput"] == true);
        prop_assert!(!hides || outcome.effects.suppress_output, "{}", document(&outcome));
        let merged = AggregatedHookResult::from_outcome(&outcome).final_output.map(|output| output.to_json().to_value()).unwrap_or_default();
        prop_assert!(!stops || merged["continue"] == false, "{}", document(&outcome));
        prop_assert!(!hides || merged["suppressOutput"] == true, "{}", document(&outcome));
    }

    #[test]
    fn only_a_deny_that_counts_ends_a_chain(kind in kinds(), plan in plans()) {
        let outcome = fire(kind, &of_dialects_with(kind, plan), None);
        let ended = outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::ChainEnded);
        prop_assert!(!ended || outcome.is_denied(), "{}", document(&outcome));
    }
}

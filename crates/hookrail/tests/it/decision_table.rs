//! The decision table, enumerated: every way a hook can end × everything it can print × every failure policy × every
//! event, against an oracle that is written as tables of words and shares nothing with the engine.

use std::time::Duration;

use crate::common::{drive, exited, hook, json, process_end};
use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::hook::GroupOrder;
use hookrail::process::{RawEnd, RunEnd, SpawnFailure};
use hookrail::sources::SourceKind;
use hookrail::{Code, Decision, DialectId, Event, EventKind, Hook, OnFailure, Outcome};

/// What a hook prints: a name, the text, and what the text decides on exit 0.
const OUTPUTS: &[(&str, &str, &str)] = &[
    ("nothing", "", "-"),
    ("blanks", " \n\t ", "-"),
    ("text", "hello", "allow"),
    ("empty object", "{}", "-"),
    ("deny", r#"{"decision":"deny","reason":"R"}"#, "deny"),
    ("block", r#"{"decision":"block","reason":"R"}"#, "deny"),
    ("allow", r#"{"decision":"allow"}"#, "allow"),
    ("approve", r#"{"decision":"approve"}"#, "allow"),
    ("ask", r#"{"decision":"ask","reason":"R"}"#, "ask"),
    ("null decision", r#"{"decision":null}"#, "-"),
    ("shouted", r#"{"decision":"DENY"}"#, "-"),
    ("wrong type", r#"{"decision":7,"reason":"R"}"#, "-"),
    ("deny among wrong fields", r#"{"decision":"deny","reason":1,"continue":"x","hookSpecificOutput":"y"}"#, "deny"),
    ("permission deny", r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#, "deny"),
    ("permission ask", r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#, "ask"),
    (
        "allow over permission deny",
        r#"{"decision":"allow","hookSpecificOutput":{"permissionDecision":"deny"}}"#,
        "deny",
    ),
    (
        "deny over permission allow",
        r#"{"decision":"deny","hookSpecificOutput":{"permissionDecision":"allow"}}"#,
        "deny",
    ),
    ("text then deny", "log\n{\"decision\":\"deny\"}", "allow"),
    ("half a document", r#"{"decision":"deny""#, "broken"),
    ("two documents", r#"{"decision":"deny"}{"decision":"allow"}"#, "broken"),
    ("encoded twice", r#""{\"decision\":\"deny\"}""#, "deny"),
    ("null", "null", "-"),
    ("list", "[1]", "allow"),
    ("number", "42", "allow"),
];

/// The ways to end, apart from exit 0: a name, the end, and its name in the outcome.
fn other_ends() -> Vec<(&'static str, RawEnd, &'static str)> {
    vec![
        ("exit 1", RawEnd::Exited(1), "exited"),
        ("exit 127", RawEnd::Exited(127), "exited"),
        ("exit 255", RawEnd::Exited(255), "exited"),
        ("signal", RawEnd::Signalled(9), "signalled"),
        ("status unknown", RawEnd::StatusUnknown, "exited"),
        ("timeout", RawEnd::TimedOut(Duration::from_millis(5)), "timed-out"),
        ("cancelled", RawEnd::Cancelled, "cancelled"),
        ("too much", RawEnd::OutputLimit, "output-limit"),
        ("no program", RawEnd::SpawnFailed(SpawnFailure::NotFound("x".into())), "spawn-failed"),
    ]
}

/// Outputs that are no answer of a hook with a failure policy, and the decision that can be recognised in them.
const UNREADABLE: &[(&str, &str)] = &[
    ("text", "-"),
    ("shouted", "-"),
    ("wrong type", "-"),
    ("deny among wrong fields", "deny"),
    ("text then deny", "deny"),
    ("half a document", "deny"),
    ("two documents", "deny"),
    ("encoded twice", "deny"),
    ("null", "-"),
    ("list", "-"),
    ("number", "-"),
];

const POLICIES: [(OnFailure, &str); 3] = [(OnFailure::Allow, "-"), (OnFailure::Ask, "ask"), (OnFailure::Block, "deny")];

/// The events, and whether a deny counts there.
const EVENTS: [(EventKind, bool); 5] = [
    (EventKind::BeforeTool, true),
    (EventKind::AfterTool, false),
    (EventKind::BeforeModel, true),
    (EventKind::AfterModel, false),
    (EventKind::ToolSelection, false),
];

fn event(kind: EventKind) -> Event {
    Event::new(kind, "/p")
        .with_text("tool_name", "t")
        .with("tool_input", json("{}"))
        .with("tool_response", json("{}"))
        .with("llm_request", json(r#"{"messages":[{"role":"user","content":"u"}]}"#))
        .with("llm_response", json(r#"{"text":"t"}"#))
}

fn word(decision: Option<Decision>) -> &'static str {
    decision.map_or("-", Decision::name)
}

fn one_hook(kind: EventKind, policy: OnFailure, end: &RunEnd) -> Outcome {
    let mut guard = hook(kind, "guard", SourceKind::User);
    guard.on_failure = policy;
    drive(vec![guard], event(kind), |_| end.clone())
}

fn check(label: &str, outcome: &Outcome, gating: bool, end: &str, decision: &str) {
    assert_eq!(outcome.runs.len(), 1, "{label}");
    assert_eq!(outcome.runs[0].end.name(), end, "{label}: end");
    assert_eq!(word(outcome.runs[0].decision), decision, "{label}: the run's decision");
    let expected = if gating { decision } else { "-" };
    assert_eq!(word(outcome.effects.decision), expected, "{label}: the outcome's decision");
    let noticed = outcome.diagnostics.iter().any(|found| found.code == Code::DenyWithoutEffect);
    assert_eq!(noticed, !gating && decision == "deny", "{label}: a deny without effect is reported");
}

#[test]
fn exit_0_means_what_standard_output_says() {
    for (name, text, meaning) in OUTPUTS {
        for (kind, gating) in EVENTS {
            for (policy, on_failure) in POLICIES {
                for stderr in ["", "noise"] {
                    let outcome = one_hook(kind, policy, &exited(0, text, stderr));
                    let unreadable = UNREADABLE.iter().find(|(unreadable, _)| unreadable == name);
                    let is_strict = gating && policy != OnFailure::Allow;
                    let (end, decision) = match *meaning {
                        _ if is_strict && unreadable == Some(&(name, "deny")) => ("bad-output", "deny"),
                        _ if is_strict && unreadable.is_some() => ("bad-output", on_failure),
                        "broken" => ("bad-output", if on_failure == "-" { "allow" } else { on_failure }),
                        "-" if text.trim().is_empty() || *text == "null" => ("silent", "-"),
                        decision => ("answered", decision),
                    };
                    let label = format!("{name} / {kind} / {policy:?}");
                    check(&label, &outcome, gating, end, decision);
                    let reported = outcome.diagnostics.iter().any(|found| found.code == Code::UnreadableAnswer);
                    assert_eq!(reported, is_strict && unreadable.is_some(), "{label}");
                    assert!(AggregatedHookResult::from_outcome(&outcome).success, "{name}");
                }
            }
        }
    }
}

#[test]
fn exit_2_blocks_whatever_else_there_is() {
    for (name, text, _) in OUTPUTS {
        for (kind, gating) in EVENTS {
            for (policy, _) in POLICIES {
                for stderr in ["", "E"] {
                    let label = format!("{name} / {kind} / {policy:?} / {stderr}");
                    let outcome = one_hook(kind, policy, &exited(2, text, stderr));
                    check(&label, &outcome, gating, "exited", "deny");
                    assert_eq!(outcome.runs[0].exit_code, Some(2), "{label}");
                    assert!(!AggregatedHookResult::from_outcome(&outcome).success, "{label}");
                    let output = AggregatedHookResult::from_outcome(&outcome).all_outputs[0].to_json().to_value();
                    let reason = output["reason"].as_str().unwrap();
                    // Reason of the JSON, else standard error, else plain text, else a default; never nothing.
                    let is_json = text.starts_with('{') && json_is_whole(text) || *name == "encoded twice";
                    let expected = match (stderr, is_json) {
                        _ if text.contains(r#""reason":"R""#) => "R",
                        ("E", _) => "E",
                        (_, false) if !text.trim().is_empty() => text.trim(),
                        _ => "the hook blocked this with exit code 2 and gave no reason",
                    };
                    assert_eq!(reason, expected, "{label}");
                }
            }
        }
    }
}

fn json_is_whole(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

#[test]
fn every_other_end_is_a_failure_and_only_its_policy_decides() {
    for (name, how, end_name) in other_ends() {
        for (_, text, _) in OUTPUTS {
            for (kind, gating) in EVENTS {
                for (policy, on_failure) in POLICIES {
                    let end = process_end(how.clone(), text, "stderr");
                    let outcome = one_hook(kind, policy, &end);
                    check(&format!("{name} / {text} / {kind} / {policy:?}"), &outcome, gating, end_name, on_failure);
                    assert!(!AggregatedHookResult::from_outcome(&outcome).success);
                    assert_eq!(
                        outcome.effects.system_message, None,
                        "{name}: a failure never reaches the conversation"
                    );
                    let named = outcome.diagnostics.iter().any(|found| found.message.contains("guard"));
                    assert!(named, "{name}: the failure is reported with the hook's name");
                }
            }
        }
    }
}

#[test]
fn a_deny_that_does_not_count_is_reported_whatever_kept_it_from_counting() {
    let plugin = |policy| {
        let mut hook = crate::common::plugin_hook(EventKind::BeforeTool, "guard");
        hook.on_failure = policy;
        hook
    };
    for (name, how, _) in other_ends() {
        let end = process_end(how, r#"{"decision":"deny"}"#, "");
        for (policy, _) in POLICIES {
            let settings = one_hook(EventKind::BeforeTool, policy, &end);
            let plugin = drive(vec![plugin(policy)], event(EventKind::BeforeTool), |_| end.clone());
            for outcome in [settings, plugin] {
                let dialect = outcome.runs[0].hook.dialect;
                let said = outcome.diagnostics.iter().any(|found| found.code == Code::DecisionDiscarded);
                // A plugin's deny outlives the signal that ends the hook.
                let counts = dialect == DialectId::Xcode && matches!(end.how(), RawEnd::Signalled(_));
                assert_eq!(said, !counts, "{name} / {policy:?} / {dialect:?}");
                assert!(!counts || outcome.is_denied(), "{name} / {policy:?}");
            }
        }
    }
}

#[test]
fn only_the_first_unknown_fields_of_an_answer_are_named() {
    let fields: String = (0..1000).map(|number| format!(r#","{}{number}":1"#, "k".repeat(200))).collect();
    let answer = format!(r#"{{"decision":"deny"{fields}}}"#);
    let outcome = one_hook(EventKind::BeforeTool, OnFailure::Allow, &exited(0, &answer, ""));
    assert!(outcome.is_denied());
    assert_eq!(outcome.diagnostics.len(), 9);
    assert!(outcome.diagnostics.iter().all(|found| found.message.len() < 200), "{:?}", outcome.diagnostics);
}

/// What several hooks can each say.
const WORDS: [(&str, &str, &str); 5] = [
    ("silence", "", "-"),
    ("allow", r#"{"decision":"allow"}"#, "allow"),
    ("ask", r#"{"decision":"ask"}"#, "ask"),
    ("deny", r#"{"decision":"deny"}"#, "deny"),
    ("text", "hello", "text"),
];

fn strength(word: &str) -> usize {
    ["-", "text", "allow", "ask", "deny"].iter().position(|known| *known == word).unwrap()
}

fn three_hooks(kind: EventKind, order: GroupOrder, layers: [SourceKind; 3]) -> Vec<Hook> {
    let names = ["0", "1", "2"];
    let mut hooks: Vec<Hook> = names.iter().zip(layers).map(|(name, layer)| hook(kind, name, layer)).collect();
    hooks.iter_mut().for_each(|hook| hook.order = order);
    hooks
}

fn all_triples() -> impl Iterator<Item = [(&'static str, &'static str, &'static str); 3]> {
    WORDS.into_iter().flat_map(|a| WORDS.into_iter().flat_map(move |b| WORDS.into_iter().map(move |c| [a, b, c])))
}

#[test]
fn of_three_tool_guards_the_strongest_word_counts_and_a_chain_ends_at_the_first_deny() {
    for triple in all_triples() {
        for order in [GroupOrder::Parallel, GroupOrder::Sequential] {
            let hooks = three_hooks(EventKind::BeforeTool, order, [SourceKind::User; 3]);
            let outcome = drive(hooks, event(EventKind::BeforeTool), |request| {
                let at: usize = request.hook.label.parse().unwrap();
                exited(0, triple[at].1, "")
            });
            let label = format!("{:?} {order:?}", triple.map(|(name, ..)| name));
            let first_deny = triple.iter().position(|(.., word)| *word == "deny");
            let ran = match (order, first_deny) {
                (GroupOrder::Sequential, Some(at)) => at + 1,
                _ => 3,
            };
            assert_eq!(outcome.runs.len(), ran, "{label}");
            assert_eq!(outcome.skipped.len(), 3 - ran, "{label}");
            let strongest = triple[..ran].iter().map(|(.., word)| *word).max_by_key(|word| strength(word)).unwrap();
            let expected = if strongest == "text" { "allow" } else { strongest };
            assert_eq!(word(outcome.effects.decision), expected, "{label}");
        }
    }
}

#[test]
fn of_three_model_guards_the_last_explicit_word_counts_but_never_over_the_system_layer() {
    let user = [SourceKind::User; 3];
    let system_first = [SourceKind::System, SourceKind::Extension, SourceKind::Extension];
    for triple in all_triples() {
        for layers in [user, system_first] {
            let hooks = three_hooks(EventKind::BeforeModel, GroupOrder::Parallel, layers);
            let outcome = drive(hooks, event(EventKind::BeforeModel), |request| {
                let at: usize = request.hook.label.parse().unwrap();
                exited(0, triple[at].1, "")
            });
            let label = format!("{:?} {layers:?}", triple.map(|(name, ..)| name));
            let mut explicit = triple.iter().map(|(.., word)| *word).filter(|word| !matches!(*word, "-" | "text"));
            let said_text = triple.iter().any(|(.., word)| *word == "text");
            let mut expected = explicit.next_back().unwrap_or(if said_text { "allow" } else { "-" });
            let mut overridden = triple.iter().any(|(.., word)| *word == "deny") && expected != "deny";
            if layers == system_first && strength(triple[0].2) > strength(expected) && triple[0].2 != "text" {
                expected = triple[0].2;
                overridden = expected != "deny" && triple[1..].iter().any(|(.., word)| *word == "deny");
            }
            assert_eq!(word(outcome.effects.decision), expected, "{label}");
            let warned = outcome.diagnostics.iter().any(|found| found.code == Code::DecisionOverridden);
            assert_eq!(warned, overridden, "{label}");
        }
    }
}

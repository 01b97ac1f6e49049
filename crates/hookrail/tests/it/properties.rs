//! Laws that hold for every plan and every set of answers.

use std::sync::Arc;

use crate::common::{drive, drive_arranged, ended, exited, hook, json, stdin, tool_call};
use hookrail::dialect::llxprt::AnyHookInput;
use hookrail::document::outcome_document;
use hookrail::event::FieldKind;
use hookrail::hook::GroupOrder;
use hookrail::matcher::{Language, MatchScope, Matcher, OnInvalid};
use hookrail::plan::{Plan, Snapshot};
use hookrail::process::{RawEnd, RunEnd};
use hookrail::sources::SourceKind;
use hookrail::{Code, Decision, DialectId, Event, EventKind, Hook, Json, JsonObject, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json as value};

/// A hook and how it ends.
#[derive(Clone, Debug)]
struct Scripted {
    layer: SourceKind,
    order: GroupOrder,
    end: RunEnd,
}

fn layers() -> impl Strategy<Value = SourceKind> {
    prop_oneof![
        Just(SourceKind::Project),
        Just(SourceKind::User),
        Just(SourceKind::System),
        Just(SourceKind::Extension)
    ]
}

fn answers() -> impl Strategy<Value = String> {
    let decision = prop_oneof![
        Just(Value::Null),
        Just(value!("allow")),
        Just(value!("ask")),
        Just(value!("deny")),
        Just(value!("block"))
    ];
    let input = prop::option::of(prop::collection::btree_map("[a-c]", 0..3, 0..3));
    let list = prop::option::of(prop::collection::vec("[a-d]", 0..3));
    (decision, input, list, any::<Option<bool>>(), prop::option::of("[a-z]{1,4}")).prop_map(
        |(decision, input, list, goes_on, text)| {
            let mut answer = value!({"decision": decision, "hookSpecificOutput": {}});
            if let Some(input) = input {
                answer["hookSpecificOutput"]["tool_input"] = value!(input);
                answer["hookSpecificOutput"]["llm_request"] = value!({"config": input});
            }
            if let Some(list) = list {
                answer["hookSpecificOutput"]["toolConfig"] = value!({"allowedFunctionNames": list});
            }
            if let Some(goes_on) = goes_on {
                answer["continue"] = value!(goes_on);
            }
            if let Some(text) = text {
                answer["reason"] = value!(text);
                answer["systemMessage"] = value!(text);
                answer["hookSpecificOutput"]["additionalContext"] = value!(text);
            }
            answer.to_string()
        },
    )
}

fn ends() -> impl Strategy<Value = RunEnd> {
    prop_oneof![
        6 => answers().prop_map(|answer| exited(0, &answer, "")),
        1 => Just(exited(0, "plain text", "")),
        1 => Just(exited(0, "", "")),
        1 => Just(exited(1, r#"{"decision":"deny"}"#, "oops")),
        1 => Just(exited(2, "", "no")),
        1 => Just(ended(RawEnd::TimedOut(std::time::Duration::from_millis(1)))),
        1 => Just(ended(RawEnd::Signalled(11))),
    ]
}

fn scripts() -> impl Strategy<Value = Vec<Scripted>> {
    let order = prop_oneof![4 => Just(GroupOrder::Parallel), 1 => Just(GroupOrder::Sequential)];
    let scripted = (layers(), order, ends()).prop_map(|(layer, order, end)| Scripted { layer, order, end });
    prop::collection::vec(scripted, 0..6)
}

fn matchers() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "*",
        "write_file",
        "write_*",
        "*_file",
        "write|edit",
        "^run",
        "file$",
        "^edit$",
        "w.*e",
        "(?!edit)",
        "[ae]",
        "a{1,2}",
        "(",
        "mcp__.*",
    ])
    .prop_map(str::to_owned)
}

fn kinds() -> impl Strategy<Value = EventKind> {
    let kinds: Vec<EventKind> =
        EventKind::all().filter(|kind| kind.spec().column(DialectId::Llxprt).is_some()).collect();
    prop::sample::select(kinds)
}

fn sample(kind: EventKind) -> Event {
    tool_call(r#"{"a":1.0,"big":9007199254740993}"#)
        .fields()
        .iter()
        .fold(Event::new(kind, "/p").at_time("t"), |event, (name, value)| event.with(name, value.clone()))
        .with("tool_response", json("{}"))
        .with("llm_request", json(r#"{"messages":[{"role":"user","content":"u"}]}"#))
        .with("llm_response", json(r#"{"text":"t"}"#))
        .with_text("prompt", "p")
}

fn hooks(kind: EventKind, scripts: &[Scripted]) -> Vec<Hook> {
    let mut hooks = Vec::new();
    for (at, script) in scripts.iter().enumerate() {
        let mut made = hook(kind, &at.to_string(), script.layer);
        made.order = script.order;
        hooks.push(made);
    }
    hooks
}

fn end_of(scripts: &[Scripted], label: &str) -> RunEnd {
    scripts[label.parse::<usize>().unwrap()].end.clone()
}

fn fire(kind: EventKind, scripts: &[Scripted]) -> Outcome {
    drive(hooks(kind, scripts), sample(kind), |request| end_of(scripts, &request.hook.label))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn completion_order_never_matters(kind in kinds(), scripts in scripts(), seed in any::<u64>()) {
        let in_order = fire(kind, &scripts);
        let mut seed = seed;
        let shuffled = drive_arranged(
            hooks(kind, &scripts),
            sample(kind),
            |request| end_of(&scripts, &request.hook.label),
            |requests| {
                for at in (1..requests.len()).rev() {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    requests.swap(at, (seed >> 33) as usize % (at + 1));
                }
            },
        );
        let (a, b) = (outcome_document(&in_order).to_value(), outcome_document(&shuffled).to_value());
        for part in ["decision", "reason", "stop", "stopReason", "systemMessage", "suppressOutput", "additionalContext",
            "toolInput", "prompt", "llmRequest", "llmResponse", "toolConfig", "aggregated", "runs", "skipped"] {
            prop_assert_eq!(&a[part], &b[part], "{}", part);
        }
    }

    /// Planning finds hooks by their matchers all at once, and the reasons of the others are worked out one by one.
    #[test]
    fn a_hook_is_planned_or_has_a_reason(patterns in prop::collection::vec(matchers(), 0..40), tool in "(write|edit|run|a)(_file|_b)?") {
        let hooks = patterns.iter().enumerate().map(|(at, pattern)| {
            let mut made = hook(EventKind::BeforeTool, &at.to_string(), SourceKind::User);
            made.matcher = Matcher::compile(pattern, Language::GlobOrRegex, MatchScope::Anywhere, OnInvalid::Literal).matcher;
            made
        });
        let snapshot = Arc::new(Snapshot::new(hooks.collect(), Vec::new()));
        let event = Event::new(EventKind::BeforeTool, "/p").with_text("tool_name", &tool);
        let plan = Plan::new(&snapshot, &event);
        let mut seen: Vec<(&str, bool)> = plan.hooks().map(|(_, planned)| (&*planned.hook.label, true)).collect();
        seen.extend(plan.skipped.iter().map(|skipped| (&*skipped.hook.label, false)));
        seen.sort_unstable();
        let mut expected: Vec<(&str, bool)> =
            snapshot.hooks().iter().map(|hook| (&*hook.label, hook.matcher.test(&tool).is_match())).collect();
        expected.sort_unstable();
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn every_hook_ends_in_exactly_one_way(kind in kinds(), scripts in scripts()) {
        let outcome = fire(kind, &scripts);
        let mut seen: Vec<&str> = outcome.skipped.iter().map(|skipped| &*skipped.hook.label).collect();
        // A system hook may be asked a second time, so a hook counts once however often it ran.
        let mut ran: Vec<&str> = outcome.runs.iter().map(|run| &*run.hook.label).collect();
        ran.sort_unstable();
        ran.dedup();
        seen.extend(ran);
        seen.sort_unstable();
        let expected: Vec<String> = (0..scripts.len()).map(|at| at.to_string()).collect();
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn a_failed_hook_never_weakens_what_others_said(
        kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::BeforeModel]),
        scripts in scripts(),
        at in any::<prop::sample::Index>(),
        code in prop::sample::select(vec![1, 3, 126, 127, 255]),
    ) {
        let without = fire(kind, &scripts);
        let mut with = scripts;
        let order = if with.iter().any(|script| script.order == GroupOrder::Sequential) { GroupOrder::Sequential } else { GroupOrder::Parallel };
        let failing = Scripted { layer: SourceKind::User, order, end: exited(code, r#"{"decision":"allow"}"#, "x") };
        with.insert(at.index(with.len() + 1), failing);
        let after = fire(kind, &with);
        prop_assert_eq!(without.effects.decision, after.effects.decision);
        // Hooks are called by their number here, and those behind the new one have another.
        let unnumbered = |reason: Option<String>| reason.map(|reason| reason.replace(char::is_numeric, "#"));
        prop_assert_eq!(unnumbered(without.effects.reason), unnumbered(after.effects.reason));
        prop_assert_eq!(without.effects.tool_input, after.effects.tool_input);
        prop_assert_eq!(without.effects.llm_request, after.effects.llm_request);
        prop_assert_eq!(without.effects.system_message, after.effects.system_message);
    }

    #[test]
    fn any_explicit_deny_denies_the_tool_in_every_order(scripts in scripts()) {
        let outcome = fire(EventKind::BeforeTool, &scripts);
        let denied = outcome.runs.iter().any(|run| run.decision == Some(Decision::Deny));
        // A system guard that wants another change in its second look denies without a word of its own.
        let demanded = outcome.diagnostics.iter().any(|found| found.code == Code::RewriteAfterGuard);
        prop_assert_eq!(outcome.is_denied(), denied || demanded);
    }

    #[test]
    fn a_system_deny_stands_whatever_comes_after(kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::BeforeModel]), scripts in scripts(), at in any::<prop::sample::Index>()) {
        let mut with = scripts;
        let guard = Scripted { layer: SourceKind::System, order: GroupOrder::Parallel, end: exited(2, "", "never") };
        let place = at.index(with.len() + 1);
        with.insert(place, guard);
        let outcome = fire(kind, &with);
        let asked = outcome.runs.iter().any(|run| *run.hook.label == place.to_string());
        prop_assert!(!asked || outcome.is_denied());
    }

    #[test]
    fn a_chain_accumulates_and_keeps_the_keys_that_no_hook_touched(rewrites in prop::collection::vec(prop::collection::btree_map("[a-e]", 0..9, 0..4), 1..5)) {
        let mut made: Vec<Hook> = (0..rewrites.len()).map(|at| hook(EventKind::BeforeTool, &at.to_string(), SourceKind::User)).collect();
        made[0].order = GroupOrder::Sequential;
        let mut expected = value!({"kept": 1.5, "a": "original"});
        let mut seen = Vec::new();
        let outcome = drive(made, tool_call(r#"{"kept":1.5,"a":"original"}"#), |request| {
            seen.push(stdin(request)["tool_input"].clone());
            let at: usize = request.hook.label.parse().unwrap();
            exited(0, &value!({"hookSpecificOutput": {"tool_input": rewrites[at]}}).to_string(), "")
        });
        for (at, rewrite) in rewrites.iter().enumerate() {
            prop_assert_eq!(&seen[at], &expected, "what hook {} saw", at);
            for (key, number) in rewrite {
                expected[key] = value!(number);
            }
        }
        let result = outcome.effects.tool_input.map(|input| input.to_value());
        prop_assert_eq!(result.unwrap_or_else(|| value!({"kept": 1.5, "a": "original"})), expected);
    }

    #[test]
    fn payload_to_event_to_payload_is_the_identity(kind in kinds(), texts in prop::collection::vec("\\PC{0,8}", 12)) {
        let column = kind.spec().column(DialectId::Llxprt).unwrap();
        let mut texts = texts.into_iter();
        let mut event = Event::new(kind, format!("/{}", texts.next().unwrap()))
            .session(texts.next().unwrap()).transcript(texts.next().unwrap()).at_time("2025-02-18T16:30:00.000Z");
        for field in column.fields {
            let text = texts.next().unwrap();
            event = event.with(field.name, match (field.name, field.kind) {
                ("llm_request", _) => json(&value!({"model": "m", "messages": [{"role": "user", "content": text}], "config": {"topK": 1.0}}).to_string()),
                ("llm_response", _) => json(&value!({"text": text}).to_string()),
                (_, FieldKind::Object) => json(&format!(r#"{{"z":1.0,"big":123456789012345678901,"a":{}}}"#, Json::string(&text).text())),
                (_, FieldKind::Flag) => Json::boolean(true),
                _ => Json::string(&text),
            });
        }
        let payload = AnyHookInput::of_event(&event).unwrap().to_json();
        let again = AnyHookInput::parse(&payload).unwrap().unwrap().to_json();
        prop_assert_eq!(payload.text(), again.text());
    }

    #[test]
    fn what_no_hook_changed_keeps_its_bytes(number in "-?[1-9][0-9]{0,30}(\\.[0-9]{1,20})?", keys in prop::collection::hash_set("[a-z]{1,6}", 0..6)) {
        let mut input = JsonObject::new();
        for key in keys {
            input.set(key, json(&number));
        }
        let text = input.to_json().text().to_owned();
        let mut seen = String::new();
        let outcome = drive(vec![hook(EventKind::BeforeTool, "h", SourceKind::User)], tool_call(&text), |request| {
            seen = String::from_utf8(request.input.to_vec()).unwrap();
            exited(0, &format!(r#"{{"hookSpecificOutput":{{"tool_input":{text}}}}}"#), "")
        });
        prop_assert!(seen.contains(&text));
        prop_assert_eq!(outcome.effects.tool_input, None, "an echo is no change");
    }
}

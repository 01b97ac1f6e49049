//! A key that stands twice means two things to two parsers: of an answer the stricter one is used, and a tool input that
//! has one is denied where a guard is asked.

use crate::common::{drive, exited, hook, json, module_end, module_hook, plugin_hook, skipped, tool_call};
use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::process::RawEnd;
use hookrail::sources::SourceKind;
use hookrail::{Code, Decision, Event, EventKind, Hook, OnFailure, Outcome};

const KIND: EventKind = EventKind::BeforeTool;

fn reports(outcome: &Outcome, code: Code) -> bool {
    outcome.diagnostics.iter().any(|found| found.code == code)
}

fn answered(kind: EventKind, made: Hook, answer: &str) -> Outcome {
    let event = tool_call("{}")
        .fields()
        .iter()
        .fold(Event::new(kind, "/p"), |event, (name, value)| event.with(name, value.clone()));
    drive(vec![made], event, |_| exited(0, answer, ""))
}

#[test]
fn of_two_decisions_in_one_answer_the_stricter_one_is_used() {
    for (answer, expected) in [
        (r#"{"decision":"deny","decision":"allow"}"#, Decision::Deny),
        (r#"{"decision":"allow","decision":"block"}"#, Decision::Deny),
        (r#"{"decision":"ask","decision":"allow"}"#, Decision::Ask),
        (r#"{"decision":"deny","d\u0065cision":"allow"}"#, Decision::Deny),
        (r#"{"decision":"deny","decision":null}"#, Decision::Deny),
        (r#"{"decision":"deny","decision":"nonsense"}"#, Decision::Deny),
        (r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecision":"allow"}}"#, Decision::Deny),
        (r#"{"hookSpecificOutput":{"permissionDecision":"deny"},"hookSpecificOutput":{}}"#, Decision::Deny),
        (r#"{"hookSpecificOutput":{"permissionDecision":"ask"},"hookSpecificOutput":null}"#, Decision::Ask),
        (r#""{\"decision\":\"deny\",\"decision\":\"allow\"}""#, Decision::Deny),
        (r#"{"decision":"allow","reason":"a","reason":"b"}"#, Decision::Allow),
    ] {
        let outcome = answered(KIND, hook(KIND, "h", SourceKind::User), answer);
        assert_eq!(outcome.effects.decision, Some(expected), "{answer}");
        assert_eq!(outcome.runs[0].decision, Some(expected), "{answer}");
        assert!(reports(&outcome, Code::AnswerDuplicateKey), "{answer}");
    }
}

#[test]
fn of_two_words_about_going_on_the_stop_is_used() {
    let answer =
        r#"{"continue":false,"stopReason":"enough","continue":true,"suppressOutput":true,"suppressOutput":false}"#;
    let outcome = answered(EventKind::AfterTool, hook(EventKind::AfterTool, "h", SourceKind::User), answer);
    assert_eq!(outcome.effects.stop.unwrap().reason, "enough");
    assert!(outcome.effects.suppress_output);
}

#[test]
fn exit_code_2_blocks_whatever_is_written_twice() {
    let outcome = drive(vec![hook(KIND, "h", SourceKind::User)], tool_call("{}"), |_| {
        exited(2, r#"{"decision":"allow","decision":"allow"}"#, "no")
    });
    assert!(outcome.is_denied() && reports(&outcome, Code::AnswerDuplicateKey));
}

#[test]
fn of_two_decisions_of_a_plugin_a_deny_is_used() {
    for answer in [
        r#"{"decision":"deny","reason":"no","decision":"allow"}"#,
        r#"{"decision":"allow","decision":"deny"}"#,
        r#"{"decision":"deny","decision":"nonsense"}"#,
        r#"{"decision":"deny","decision":"modify","args":{}}"#,
    ] {
        let outcome = answered(KIND, plugin_hook(KIND, "p"), answer);
        assert!(outcome.is_denied(), "{answer}");
        assert!(reports(&outcome, Code::AnswerDuplicateKey), "{answer}");
    }
    let once = answered(KIND, plugin_hook(KIND, "p"), r#"{"decision":"allow"}"#);
    assert!(!reports(&once, Code::AnswerDuplicateKey));
}

const TWICE: [&str; 3] =
    [r#"{"path":"a","path":"/etc"}"#, r#"{"edits":[{"path":"a","p\u0061th":"b"}]}"#, r#"{"a":{"b":{"c":1,"c":1}}}"#];

fn guards() -> Vec<Hook> {
    let mut blocks = hook(KIND, "blocks", SourceKind::User);
    blocks.on_failure = OnFailure::Block;
    let mut asks = hook(KIND, "asks", SourceKind::Project);
    asks.on_failure = OnFailure::Ask;
    let mut plugin = plugin_hook(KIND, "plugin");
    plugin.on_failure = OnFailure::Block;
    vec![blocks, asks, plugin, module_hook(KIND, "module"), hook(KIND, "system", SourceKind::System)]
}

#[test]
fn an_input_with_a_key_twice_is_denied_where_a_guard_is_asked_and_no_hook_runs() {
    for input in TWICE {
        for guard in guards() {
            let name = guard.label.to_string();
            let outcome = drive(vec![guard], tool_call(input), |request| panic!("{} ran", request.hook));
            assert!(outcome.is_denied(), "{name}: {input}");
            assert!(reports(&outcome, Code::InputDuplicateKey));
            assert_eq!(skipped(&outcome), [(name, "chain-ended")]);
            let merged = AggregatedHookResult::from_outcome(&outcome).final_output.unwrap().to_json().to_value();
            assert_eq!(merged["decision"], "deny", "callers of the settings dialect look at nothing else");
        }
    }
}

#[test]
fn without_a_guard_it_is_reported_and_reaches_the_hook_byte_for_byte() {
    for input in TWICE {
        let mut seen = Vec::new();
        let outcome = drive(vec![hook(KIND, "h", SourceKind::User)], tool_call(input), |request| {
            seen.push(String::from_utf8(request.input.to_vec()).unwrap());
            exited(0, "", "")
        });
        assert!(!outcome.is_denied() && reports(&outcome, Code::InputDuplicateKey));
        assert!(seen[0].contains(input), "{}", seen[0]);
    }
    let once = drive(vec![hook(KIND, "h", SourceKind::System)], tool_call(r#"{"a":{"a":1}}"#), |_| exited(0, "", ""));
    assert!(!reports(&once, Code::InputDuplicateKey));
}

#[test]
fn an_event_that_cannot_be_denied_is_only_reported() {
    let kind = EventKind::AfterTool;
    let event = Event::new(kind, "/p").with_text("tool_name", "t").with("tool_input", json(TWICE[0]));
    let outcome = drive(vec![hook(kind, "h", SourceKind::System)], event, |_| exited(0, "", ""));
    assert!(!outcome.is_denied() && outcome.runs.len() == 1 && reports(&outcome, Code::InputDuplicateKey));
}

#[test]
fn a_rewrite_that_brings_a_key_twice_is_denied_where_a_guard_is_asked() {
    let answer = |request: &hookrail::process::PlannedRun| match &*request.hook.label {
        "rewrites" => exited(0, r#"{"hookSpecificOutput":{"tool_input":{"x":{"path":"a","path":"b"}}}}"#, ""),
        "module" => module_end(RawEnd::Returned(None)),
        _ => exited(0, "", ""),
    };
    let rewrites = || hook(KIND, "rewrites", SourceKind::User);
    let outcome = drive(vec![rewrites(), module_hook(KIND, "module")], tool_call("{}"), answer);
    assert!(outcome.is_denied() && reports(&outcome, Code::InputDuplicateKey));
    assert_eq!(skipped(&outcome), [("module".to_owned(), "chain-ended")]);
    let outcome = drive(vec![rewrites()], tool_call("{}"), answer);
    assert!(!outcome.is_denied() && reports(&outcome, Code::InputDuplicateKey));
}

/// The outcome of an event that is over when it is fired.
fn at_once(mut fire: hookrail::Fire) -> Outcome {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(&mut fire).poll(&mut context) {
        std::task::Poll::Ready(outcome) => outcome,
        std::task::Poll::Pending => panic!("no hook runs"),
    }
}

/// Most events concern no hook, so the engine does not make a machine for those. It must come to the same outcome.
#[test]
fn an_event_that_no_hook_matches_ends_as_the_machine_would_end_it() {
    let dir = tempfile::tempdir().unwrap();
    let matching_nothing = || {
        let mut made = hook(KIND, "h", SourceKind::User);
        made.matcher = hookrail::matcher::Matcher::compile(
            "^another_tool$",
            hookrail::matcher::Language::GlobOrRegex,
            hookrail::matcher::MatchScope::Anywhere,
            hookrail::matcher::OnInvalid::Literal,
        )
        .matcher;
        made
    };
    let environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    let system = hookrail::HookSystem::builder(dir.path()).environment(environment).hook(matching_nothing()).build();
    for input in ["{}", r#"{"a":1,"a":2}"#] {
        let event = tool_call(input);
        let fired = system.fire_blocking(event.clone());
        let mut machine = hookrail::plan::Firing::new(system.snapshot(), event);
        let hookrail::plan::Step::Done(expected) = machine.step() else { panic!("no hook runs") };
        assert_eq!(format!("{fired:?}"), format!("{expected:?}"));
        assert_eq!(fired.skipped.len(), 1);
        assert_eq!(reports(&fired, Code::InputDuplicateKey), input != "{}");
        // The plan is known by now, so this makes not even the event.
        let tool = tool_call(input).text("tool_name").unwrap();
        assert_eq!(format!("{:?}", at_once(system.fire_before_tool(&tool, json(input)))), format!("{expected:?}"));
    }
    system.shutdown_blocking();
    let tool = tool_call("{}").text("tool_name").unwrap();
    assert!(at_once(system.fire_before_tool(&tool, json("{}"))).is_denied(), "silence must not pass for consent");
}

#[test]
fn keys_are_found_behind_long_texts_and_among_many() {
    for length in [0, 1, 31, 32, 33, 64, 100] {
        let text = "x".repeat(length);
        let twice = json(&format!(r#"{{"a":"{text}","b":"{text}\"","a":1}}"#));
        assert_eq!(twice.repeated_key().as_deref(), Some("a"), "{length}");
        assert_eq!(json(&format!(r#"{{"a":"{text}\\","{text}\"":"a"}}"#)).repeated_key(), None, "{length}");
    }
    let many = |last: &str| {
        let keys: Vec<String> = (0..40).map(|number| format!("\"k{number}\":0")).collect();
        json(&format!("{{{},\"{last}\":0}}", keys.join(","))).repeated_key()
    };
    assert_eq!(many("k0").as_deref(), Some("k0"));
    assert_eq!(many("k39").as_deref(), Some("k39"));
    assert_eq!(many("k40"), None);
}

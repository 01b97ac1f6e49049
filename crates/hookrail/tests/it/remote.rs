//! Hooks that are answered by workers elsewhere: their answers count like those of commands, and every way not to get one is a
//! typed failure under the hook's own policy.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hookrail::document::{explain_document, list_document, outcome_document};
use hookrail::host::HostFuture;
use hookrail::plan::SkipReason;
use hookrail::remote::{RemoteClient, RemoteFailure, RemoteQuestion};
use hookrail::{Code, Decision, Effects, EndKind, Environment, Event, EventKind, HookSystem, Json, Outcome};
use serde_json::{Value, json};

use crate::granting::World;

/// A client that gives prepared answers and remembers what it was asked.
#[derive(Default)]
struct FakeClient {
    asked: Mutex<Vec<RemoteQuestion>>,
    /// The answers, the last of which is given again and again.
    answers: Mutex<Vec<FakeAnswer>>,
}

#[derive(Clone)]
enum FakeAnswer {
    Now(Result<Json, RemoteFailure>),
    Never,
}

impl FakeClient {
    fn new(answers: impl IntoIterator<Item = FakeAnswer>) -> Arc<Self> {
        Arc::new(Self { asked: Mutex::default(), answers: Mutex::new(answers.into_iter().collect()) })
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl RemoteClient for FakeClient {
    fn ask<'a>(&'a self, question: &'a RemoteQuestion) -> HostFuture<'a, Result<Json, RemoteFailure>> {
        self.asked.lock().unwrap().push(question.clone());
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
        Box::pin(async {
            match answer {
                FakeAnswer::Now(answer) => answer,
                FakeAnswer::Never => std::future::pending().await,
            }
        })
    }
}

fn failing(failure: RemoteFailure) -> FakeAnswer {
    FakeAnswer::Now(Err(failure))
}

/// The answer of a worker whose hooks had these effects.
fn answering(effects: Effects) -> FakeAnswer {
    let mut outcome = Outcome::untouched(EventKind::BeforeTool);
    outcome.effects = effects;
    FakeAnswer::Now(Ok(outcome_document(&outcome)))
}

/// A world whose user has that hook for an event.
fn world_with(event: &str, hook: &Value) -> World {
    let world = World::empty();
    let settings = json!({"tools": {"enableHooks": true}, "hooks": {event: [{"hooks": [hook]}]}});
    world.write("home/.llxprt/settings.json", &settings.to_string());
    std::fs::create_dir_all(world.path("project")).unwrap();
    world
}

fn remote(on_failure: &str) -> Value {
    json!({"type": "remote", "group": "guards", "timeout": 60, "onFailure": on_failure})
}

fn fire(system: &HookSystem, kind: EventKind) -> Outcome {
    let event = match kind {
        EventKind::BeforeTool => system
            .event(kind)
            .session("session-1")
            .with_text("tool_name", "write_file")
            .with("tool_input", Json::parse(r#"{"path":"a"}"#).unwrap()),
        _ => system
            .event(kind)
            .with_text("tool_name", "write_file")
            .with("tool_input", Json::parse(r#"{"path":"a"}"#).unwrap())
            .with("tool_response", Json::parse(r#"{"llmContent":"done"}"#).unwrap()),
    };
    system.fire_blocking(event)
}

/// Every way not to get an answer, its end, its diagnostic, and how often it is asked with one retry.
fn failures() -> Vec<(FakeAnswer, EndKind, Code, usize)> {
    let nonsense = |text: &str| FakeAnswer::Now(Ok(Json::parse(text).unwrap()));
    vec![
        (failing(RemoteFailure::NotConnected("down".into())), EndKind::NotConnected, Code::RemoteNotConnected, 2),
        (failing(RemoteFailure::NoResponders), EndKind::NoResponders, Code::RemoteNoResponders, 2),
        (failing(RemoteFailure::Overloaded("busy".into())), EndKind::Overloaded, Code::RemoteOverloaded, 2),
        (FakeAnswer::Never, EndKind::TimedOut, Code::HookTimedOut, 2),
        (failing(RemoteFailure::Refused("unknown".into())), EndKind::Refused, Code::RemoteRefused, 1),
        (failing(RemoteFailure::NotUnderstood("no JSON".into())), EndKind::BadOutput, Code::BadOutput, 1),
        (nonsense("{}"), EndKind::BadOutput, Code::BadOutput, 1),
        (nonsense("[1]"), EndKind::BadOutput, Code::BadOutput, 1),
        (nonsense(r#"{"event":"before-tool","decision":"perhaps"}"#), EndKind::BadOutput, Code::BadOutput, 1),
    ]
}

#[test]
fn every_failure_has_a_type_and_the_policy_of_the_hook_applies() {
    let policies = [("allow", None), ("ask", Some(Decision::Ask)), ("block", Some(Decision::Deny))];
    for (name, kind) in [("BeforeTool", EventKind::BeforeTool), ("AfterTool", EventKind::AfterTool)] {
        for (policy, decision) in policies {
            let command = json!({"type": "command", "command": "exit 1", "onFailure": policy});
            let of_command = fire(&world_with(name, &command).builder().build(), kind);
            let world = world_with(name, &remote(policy));
            for (answer, end, code, attempts) in failures() {
                let client = FakeClient::new([answer]);
                let system = world.builder().remote_client(Arc::clone(&client)).build();
                let outcome = fire(&system, kind);
                let run = &outcome.runs[0];
                assert_eq!((run.end, run.decision), (end, decision), "{name} {policy}: {outcome:?}");
                // Exactly as with a command that failed, also on an event that cannot be denied.
                assert_eq!(run.decision, of_command.runs[0].decision, "{name} {policy} {end:?}");
                assert_eq!(outcome.effects.decision, of_command.effects.decision, "{name} {policy} {end:?}");
                assert!(outcome.diagnostics.iter().any(|found| found.code == code), "{:?}", outcome.diagnostics);
                assert_eq!(client.count(), attempts, "{end:?}");
            }
        }
    }
}

#[test]
fn a_program_without_a_client_fails_visibly_and_the_policy_applies() {
    for (policy, decision) in [("allow", None), ("ask", Some(Decision::Ask)), ("block", Some(Decision::Deny))] {
        let world = world_with("BeforeTool", &remote(policy));
        let system = world.builder().build();
        let loaded = system.snapshot();
        assert!(loaded.diagnostics().iter().any(|found| found.code == Code::RemoteNoClient), "known before any event");
        let outcome = fire(&system, EventKind::BeforeTool);
        assert_eq!((outcome.runs[0].end, outcome.effects.decision), (EndKind::SpawnFailed, decision));
        let failed = outcome.diagnostics.iter().find(|found| found.code == Code::SpawnFailed).unwrap();
        assert!(failed.message.contains("cannot ask remote hooks"), "{}", failed.message);
    }
}

#[test]
fn the_decision_of_a_worker_is_the_answer_of_the_hook() {
    let world = world_with("BeforeTool", &remote("block"));
    let client = FakeClient::new([answering(Effects::deny("not from here").with_context("ask first"))]);
    let system = world.builder().remote_client(Arc::clone(&client)).build();
    let outcome = fire(&system, EventKind::BeforeTool);
    assert!(outcome.is_denied());
    assert_eq!(outcome.effects.reason.as_deref(), Some("not from here"));
    assert_eq!(outcome.runs[0].end, EndKind::Answered);
    assert!(outcome.runs[0].stdout.contains("not from here"), "the answer is kept for the journal");
    assert!(outcome.diagnostics.iter().all(|found| found.code != Code::DecisionDiscarded), "{:?}", outcome.diagnostics);
    let asked = client.asked.lock().unwrap();
    assert_eq!((asked[0].group.as_str(), asked[0].event_name), ("guards", "BeforeTool"));
    let input = asked[0].input.to_value();
    assert_eq!((&input["tool_name"], &input["tool_input"]), (&json!("write_file"), &json!({"path": "a"})));
    assert_eq!(input["session_id"], "session-1");
}

#[test]
fn a_worker_may_rewrite_ask_stop_or_have_nothing_to_say() {
    let world = world_with("BeforeTool", &remote("block"));
    let fired = |effects: Effects| {
        let system = world.builder().remote_client(FakeClient::new([answering(effects)])).build();
        fire(&system, EventKind::BeforeTool)
    };
    let rewritten = fired(Effects::none().with_tool_input(Json::parse(r#"{"path":"b"}"#).unwrap()));
    assert_eq!(rewritten.effects.tool_input.unwrap().text(), r#"{"path":"b"}"#);
    assert_eq!(fired(Effects::ask("sure?")).effects.decision, Some(Decision::Ask));
    assert_eq!(fired(Effects::allow()).effects.decision, Some(Decision::Allow));
    assert_eq!(fired(Effects::none().and_stop("enough")).effects.stop.unwrap().reason, "enough");
    let silent = fired(Effects::none());
    assert_eq!((silent.runs[0].end, silent.effects.decision), (EndKind::Silent, None));
    let prompt = Effects { prompt: Some("other".to_owned()), ..Effects::none() };
    assert!(fired(prompt).diagnostics.iter().any(|found| found.code == Code::AnswerIgnored));
}

#[test]
fn a_lost_answer_is_asked_for_again_under_the_same_name_and_within_the_time_of_the_hook() {
    let hook = json!({"type": "remote", "group": "guards", "timeout": 400, "onFailure": "block"});
    let world = world_with("BeforeTool", &hook);
    for first in
        [FakeAnswer::Never, failing(RemoteFailure::NoResponders), failing(RemoteFailure::Overloaded("b".into()))]
    {
        let client = FakeClient::new([first, answering(Effects::allow())]);
        let system = world.builder().remote_client(Arc::clone(&client)).build();
        assert_eq!(fire(&system, EventKind::BeforeTool).effects.decision, Some(Decision::Allow));
        let asked = client.asked.lock().unwrap();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0].correlation_id, asked[1].correlation_id);
        assert!(asked[0].timeout <= Duration::from_millis(200), "half of the time is left for the retry");
    }
    let never = FakeClient::new([FakeAnswer::Never]);
    let system = world.builder().remote_client(Arc::clone(&never)).build();
    let began = Instant::now();
    let outcome = fire(&system, EventKind::BeforeTool);
    assert!(outcome.is_denied() && began.elapsed() < Duration::from_secs(20), "it does not hang");
    assert_eq!(
        outcome.effects.reason.as_deref(),
        Some("hook `guards` failed (no answer within 400 ms) and its failure policy is `block`")
    );
    let once = json!({"type": "remote", "group": "guards", "timeout": 50, "retries": 0});
    let never = FakeClient::new([FakeAnswer::Never]);
    let system = world_with("BeforeTool", &once).builder().remote_client(Arc::clone(&never)).build();
    assert_eq!(fire(&system, EventKind::BeforeTool).effects.decision, None);
    assert_eq!(never.count(), 1);
}

#[test]
fn the_hooks_of_a_rehearsal_ask_no_worker() {
    let world = world_with("BeforeTool", &remote("block"));
    let client = FakeClient::new([answering(Effects::allow())]);
    let system = world.builder().remote_client(Arc::clone(&client)).rehearse().build();
    let outcome = fire(&system, EventKind::BeforeTool);
    assert_eq!((outcome.runs[0].end, client.count()), (EndKind::SpawnFailed, 0));
    assert!(outcome.is_denied());
}

#[test]
fn a_hook_of_a_project_asks_only_after_a_grant_that_covers_what_it_asks() {
    let world = World::empty();
    let configure = |hook: &Value| {
        let settings = json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": [hook]}]}});
        world.write("project/.llxprt/settings.json", &settings.to_string());
    };
    configure(&remote("block"));
    let client = FakeClient::new([answering(Effects::allow())]);
    let fired = || fire(&world.builder().remote_client(Arc::clone(&client)).build(), EventKind::BeforeTool);
    let outcome = fired();
    assert_eq!((client.count(), outcome.runs.len()), (0, 0), "nothing leaves the machine");
    assert!(outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::Untrusted));
    world.grant();
    assert_eq!(fired().effects.decision, Some(Decision::Allow));
    assert_eq!(client.count(), 1);
    let changes = [
        json!({"type": "remote", "group": "others", "timeout": 60, "onFailure": "block"}),
        json!({"type": "remote", "group": "guards", "timeout": 60, "onFailure": "block", "retries": 3}),
        json!({"type": "remote", "group": "guards", "timeout": 61, "onFailure": "block"}),
        json!({"type": "remote", "group": "guards", "timeout": 60, "onFailure": "allow"}),
    ];
    for change in changes {
        configure(&change);
        let outcome = fired();
        assert_eq!(client.count(), 1, "{change}");
        assert!(outcome.is_denied(), "a guard that changed fails as it was granted: {change}: {outcome:?}");
    }
}

#[test]
fn a_remote_hook_of_the_system_layer_blocks_unless_its_entry_says_otherwise() {
    let policies = [(None, Some(Decision::Deny)), (Some("ask"), Some(Decision::Ask)), (Some("allow"), None)];
    for (policy, decision) in policies {
        let mut hook = json!({"type": "remote", "group": "guards"});
        if let Some(policy) = policy {
            hook["onFailure"] = json!(policy);
        }
        let world = World::empty();
        let settings = json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": [hook]}]}});
        world.write("system.json", &settings.to_string());
        let client = FakeClient::new([failing(RemoteFailure::NoResponders)]);
        let environment = Environment::new()
            .with("HOME", world.path("home"))
            .with("LLXPRT_SYSTEM_SETTINGS_PATH", world.path("system.json"));
        let builder = || world.builder().environment(environment.clone());
        let outcome = fire(&builder().remote_client(Arc::clone(&client)).build(), EventKind::BeforeTool);
        assert_eq!((outcome.effects.decision, client.count()), (decision, 2), "{policy:?}: {outcome:?}");
        let without_client = fire(&builder().build(), EventKind::BeforeTool);
        assert!(without_client.is_denied(), "a guard of the system that cannot be started denies: {policy:?}");
    }
}

#[test]
fn an_entry_is_checked_and_a_guard_that_cannot_be_used_stays_one() {
    let broken = [
        (json!({"type": "remote", "onFailure": "block"}), "needs a `group`"),
        (json!({"type": "remote", "group": 7, "onFailure": "block"}), "must be a string"),
        (json!({"type": "remote", "group": "a.>", "onFailure": "block"}), "cannot be used"),
    ];
    for (hook, message) in broken {
        let world = world_with("BeforeTool", &hook);
        let client = FakeClient::new([answering(Effects::allow())]);
        let system = world.builder().remote_client(Arc::clone(&client)).build();
        let found = system.snapshot().diagnostics().to_vec();
        assert!(
            found.iter().any(|found| found.code == Code::HookCommand && found.message.contains(message)),
            "{found:?}"
        );
        let outcome = fire(&system, EventKind::BeforeTool);
        assert_eq!((outcome.is_denied(), client.count()), (true, 0), "{hook}");
    }
    let odd = json!({"type": "remote", "group": "guards", "command": "true", "retries": 9, "sandbox": "guard"});
    let system = world_with("BeforeTool", &odd).builder().remote_client(FakeClient::new([FakeAnswer::Never])).build();
    let snapshot = system.snapshot();
    let keys = ["`command` has no effect", "`sandbox` has no effect", "`retries` must be a whole number from 0 to 3"];
    for key in keys {
        assert!(snapshot.diagnostics().iter().any(|found| found.message.contains(key)), "{key}");
    }
    let command = json!({"type": "command", "command": "true", "group": "guards"});
    let snapshot = world_with("BeforeTool", &command).builder().build().snapshot();
    assert!(snapshot.diagnostics().iter().any(|found| found.message.contains("`group` has no effect here")));
}

#[test]
fn lists_and_plans_show_what_is_asked() {
    let world = world_with("BeforeTool", &json!({"type": "remote", "group": "guards", "onFailure": "ask"}));
    let system = world.builder().remote_client(FakeClient::new([FakeAnswer::Never])).build();
    let expected = json!({"group": "guards", "retries": 1, "timeoutMs": 500, "onFailure": "ask"});
    let same = |shown: &Value| {
        assert_eq!(shown["timeoutMs"].as_f64(), Some(500.0));
        assert_eq!(
            (&shown["group"], &shown["retries"], &shown["onFailure"]),
            (&expected["group"], &expected["retries"], &expected["onFailure"])
        );
    };
    let listed = list_document(&system.snapshot()).to_value();
    assert_eq!(listed["hooks"][0]["hook"], "guards");
    same(&listed["hooks"][0]["remote"]);
    let event = Event::new(EventKind::BeforeTool, world.path("project")).with_text("tool_name", "x");
    let plan = explain_document(&system.explain(&event)).to_value();
    same(&plan["plan"][0]["remote"]);
}

#[test]
fn the_same_question_is_asked_once() {
    let world = World::empty();
    let hooks = json!([remote("block"), remote("block"), {"type": "remote", "group": "others", "timeout": 60}]);
    let settings = json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}});
    world.write("home/.llxprt/settings.json", &settings.to_string());
    let client = FakeClient::new([answering(Effects::none())]);
    let outcome = fire(&world.builder().remote_client(Arc::clone(&client)).build(), EventKind::BeforeTool);
    assert_eq!((client.count(), outcome.runs.len()), (2, 2), "{outcome:?}");
}

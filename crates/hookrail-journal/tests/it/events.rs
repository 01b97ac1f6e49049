//! Events of a hook system, as they are recorded.

use std::path::Path;

use hookrail::recorder::{Interest, OnRecordFailure};
use hookrail::{Builder, Decision, Effects, Environment, Event, EventKind, Hook, HookSystem, Json, NativeHook};
use hookrail_journal::{Filter, InputPolicy, Journal, JournalOptions, Record, RecordKind, SyncPolicy};
use serde_json::Value;

use super::{place, records};

fn builder(journal: &Journal) -> Builder {
    let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
    let prompt = Hook::native(EventKind::Prompt, "reads", NativeHook::new(|_| Effects::none()));
    HookSystem::builder(std::env::temp_dir())
        .environment(Environment::new())
        .host_identity("test host", "1.2")
        .hook(guard)
        .hook(prompt)
        .recorder(journal.clone())
}

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

fn call(input: &str) -> Event {
    Event::new(EventKind::BeforeTool, "/p")
        .session("s1")
        .with_text("tool_name", "shell")
        .with("tool_input", json(input))
}

fn recorded(folder: &Path, input: InputPolicy, event: Event) -> Record<'static> {
    let journal = Journal::new(JournalOptions::new(folder).input(input));
    builder(&journal).build().fire_blocking(event);
    records(&journal).pop().unwrap()
}

#[test]
fn an_event_is_recorded_with_all_that_is_known() {
    let (_dir, folder) = place();
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let event = call(r#"{"command":"ls","big":12345678901234567890123,"one":1.0}"#).variable("TRACEPARENT", trace);
    let record = recorded(&folder, InputPolicy::Redacted, event);
    assert_eq!(record.kind, RecordKind::Fired);
    assert_eq!((record.session.as_deref(), record.event.as_deref()), (Some("s1"), Some("before-tool")));
    assert_eq!((record.tool.as_deref(), record.decision.as_deref()), (Some("shell"), Some("deny")));
    assert_eq!(record.trace.as_deref(), Some(trace));
    assert_eq!(record.host.as_ref().map(|host| (&*host.name, &*host.version)), Some(("test host", "1.2")));
    assert_eq!((record.cwd.as_deref(), record.config.as_ref().map(String::len)), (Some("/p"), Some(64)));
    let run = &record.hooks.as_ref().unwrap()[0];
    assert_eq!((&*run.hook, &*run.layer, &*run.end), ("guard", "user", "answered"));
    assert!(run.start.is_some() && run.fingerprint.len() == 64 && run.id.len() == 16);
    // What stays keeps its bytes.
    let input = record.input.as_ref().unwrap().as_object().unwrap();
    let expected = r#"{"command":"ls","big":12345678901234567890123,"one":1.0}"#;
    assert_eq!(input.get("tool_input").unwrap().text(), expected);
    let outcome: Value = serde_json::from_str(record.outcome.as_ref().unwrap().text()).unwrap();
    assert_eq!((&outcome["decision"], &outcome["reason"]), (&"deny".into(), &"not today".into()));
    assert!(record.is_replayable());
}

#[test]
fn secrets_and_prompts_are_removed_and_stay_comparable() {
    let (_dir, folder) = place();
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ";
    let input = format!(
        r#"{{"command":"curl -H 'Authorization: Bearer {token}' https://x/\n{token}","path":"/etc/app.conf","password":"hunter22","max_tokens":100}}"#
    );
    let first = recorded(&folder, InputPolicy::Redacted, call(&input));
    let second = recorded(&folder, InputPolicy::Redacted, call(&input));
    assert!(!first.line.contains(token) && !first.line.contains("hunter22"), "{}", first.line);
    assert!(first.line.contains("curl -H 'Authorization: Bearer [redacted "), "{}", first.line);
    assert!(first.line.contains("/etc/app.conf") && first.line.contains("\"max_tokens\":100"));
    assert_eq!((first.input.as_ref().map(Json::text), first.redacted), (second.input.as_ref().map(Json::text), 3));
    assert!(!first.is_replayable());
    let prompt = Event::new(EventKind::Prompt, "/p").with_text("prompt", "my private plan");
    let record = recorded(&folder, InputPolicy::Redacted, prompt);
    assert!(!record.line.contains("private plan"), "{}", record.line);
    let input: Value = serde_json::from_str(record.input.unwrap().text()).unwrap();
    assert_eq!(input["prompt"]["bytes"], 15);
    assert_eq!(input["prompt"]["redacted"].as_str().unwrap().len(), 32);
    // Another machine has another key.
    let (_other, elsewhere) = place();
    let other = recorded(&elsewhere, InputPolicy::Redacted, call(r#"{"password":"hunter22"}"#));
    let same = recorded(&folder, InputPolicy::Redacted, call(r#"{"password":"hunter22"}"#));
    assert_ne!(other.input.unwrap().text(), same.input.unwrap().text());
}

#[test]
fn the_input_is_kept_whole_or_not_at_all_if_that_is_wanted() {
    let (_dir, folder) = place();
    let record = recorded(&folder, InputPolicy::Full, call(r#"{"password":"hunter22"}"#));
    assert!(record.line.contains("hunter22") && record.is_replayable());
    let record = recorded(&folder, InputPolicy::None, call(r#"{"password":"hunter22","path":"/x"}"#));
    assert!(!record.line.contains("hunter22") && !record.line.contains("/x"));
    assert!(record.input.is_none() && record.outcome.is_none() && !record.is_replayable());
    assert_eq!(record.decision.as_deref(), Some("deny"));
}

#[test]
fn a_filter_finds_what_it_says() {
    let (_dir, folder) = place();
    let journal = Journal::new(JournalOptions { events: Interest::All, ..JournalOptions::new(&folder) });
    let system = builder(&journal).build();
    system.fire_blocking(call("{}"));
    system.fire_blocking(call("{}").session("s2"));
    system.fire_blocking(Event::new(EventKind::AfterTool, "/p").session("s1"));
    let count = |filter: Filter| journal.read(filter).unwrap().map(Result::unwrap).count();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(count(Filter::default()), 3);
    assert_eq!(count(Filter { decision: text("deny"), ..Filter::default() }), 2);
    assert_eq!(count(Filter { session: text("s1"), ..Filter::default() }), 2);
    assert_eq!(count(Filter { event: text("after-tool"), ..Filter::default() }), 1);
    assert_eq!(count(Filter { hook: text("guard"), session: text("s2"), ..Filter::default() }), 1);
    assert_eq!(count(Filter { hook: text("gua"), ..Filter::default() }), 0);
    assert_eq!(count(Filter { after: Some(2), ..Filter::default() }), 1);
    assert_eq!(count(Filter { since: text("2999-01-01T00:00:00.000Z"), ..Filter::default() }), 0);
    assert_eq!(count(Filter { until: text("2999-01-01T00:00:00.000Z"), ..Filter::default() }), 3);
    assert_eq!(count(Filter { kind: Some(RecordKind::Late), ..Filter::default() }), 0);
}

#[test]
fn events_share_a_wait_for_the_disk() {
    let (_dir, folder) = place();
    let journal = Journal::new(JournalOptions::new(&folder).sync(SyncPolicy::Each));
    let system = builder(&journal).build();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let fires: Vec<_> = (0..50).map(|_| tokio::spawn(system.fire(call("{}")))).collect();
        for fire in fires {
            assert!(fire.await.unwrap().recorded_as.is_some());
        }
    });
    assert_eq!(journal.verify(None).unwrap().records, 50);
}

#[test]
fn a_journal_that_cannot_be_written_warns_or_blocks() {
    let (dir, folder) = place();
    std::fs::write(dir.path().join("state"), "no folder").unwrap();
    let journal = Journal::new(JournalOptions::new(&folder));
    let prompt = || Event::new(EventKind::Prompt, "/p").with_text("prompt", "p");
    let outcome = builder(&journal).build().fire_blocking(prompt());
    assert_eq!(outcome.effects.decision, None);
    assert_eq!(outcome.diagnostics[0].code.name(), "record-failed");
    let outcome = builder(&journal).on_record_failure(OnRecordFailure::Block).build().fire_blocking(prompt());
    assert_eq!(outcome.effects.decision, Some(Decision::Deny));
}

//! What arrives at a collector that decodes it with the published definitions.

use std::sync::Mutex;

use hookrail::recorder::Recorder as _;
use hookrail::{Effects, Environment, EventKind, Hook, HookSystem, NativeHook};
use hookrail_journal::{Filter, Journal, JournalOptions};
use hookrail_otel::{InputExport, Signals, Telemetry, TelemetryEnd};
use hookrail_testkit::{HANG, OtlpReceiver, PARENT, TRACE, traceparent, wait_until};
use serde_json::{Value, json};

use crate::support::{fire, options, system, tool_call};

fn named<'v>(values: &'v [Value], name: &str) -> &'v Value {
    values.iter().find(|value| value["name"] == name).unwrap_or_else(|| panic!("no {name} in {values:?}"))
}

#[test]
fn an_event_is_a_span_under_that_of_the_host_with_a_child_for_each_hook_a_log_record_and_numbers() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let telemetry = Telemetry::start(options(&collector.endpoint).resource("service.name", "tests")).unwrap();
    let system = system(telemetry.clone());
    let event = tool_call(&system, "write_file").variable("TRACEPARENT", traceparent());
    assert!(system.fire_blocking(event).is_denied());
    let report = telemetry.shutdown(HANG);
    assert_eq!((report.end, report.dropped), (TelemetryEnd::Flushed, 0));

    let spans = collector.wait_for("spans", 3);
    let (fire, guard) = (named(&spans, "hookrail.fire before-tool"), named(&spans, "hookrail.hook guard"));
    assert_eq!(spans.len(), 3);
    assert_eq!((&fire["trace"], &fire["parent"], &fire["flags"]), (&json!(TRACE), &json!(PARENT), &json!(1)));
    for child in [guard, named(&spans, "hookrail.hook looks on")] {
        assert_eq!((&child["trace"], &child["parent"]), (&fire["trace"], &fire["span"]));
        let time = |span: &Value, side: &str| span[side].as_u64().unwrap();
        assert!(time(fire, "start") <= time(child, "start") && time(child, "start") <= time(child, "end"), "{spans:?}");
    }
    let mut attributes = fire["attributes"].clone();
    let id = attributes.as_object_mut().unwrap().remove("hookrail.fire.id").unwrap();
    assert_eq!(
        attributes,
        json!({
            "hookrail.event": "before-tool", "hookrail.decision": "deny", "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "write_file", "gen_ai.tool.call.id": "call-7", "gen_ai.conversation.id": "session-1",
        })
    );
    let about = &guard["attributes"];
    assert_eq!(
        (&about["hookrail.hook.name"], &about["hookrail.hook.end"], &about["hookrail.decision"]),
        (&json!("guard"), &json!("answered"), &json!("deny"))
    );
    assert!(about["hookrail.hook.layer"].is_string() && about["hookrail.hook.id"].is_string(), "{about}");

    let logs = collector.wait_for("logs", 1);
    assert_eq!((&logs[0]["name"], &logs[0]["severity"]), (&json!("hookrail.decision"), &json!("WARN")));
    assert_eq!((&logs[0]["trace"], &logs[0]["span"]), (&fire["trace"], &fire["span"]));
    assert_eq!(logs[0]["body"], "before-tool write_file: deny");
    assert_eq!(logs[0]["attributes"]["hookrail.fire.id"], id);

    let metrics = collector.wait_for("metrics", 3);
    let labels = json!({"hookrail.event": "before-tool", "hookrail.decision": "deny"});
    let decisions = &named(&metrics, "hookrail.decisions")["points"][0];
    assert_eq!((&decisions["value"], &decisions["attributes"]), (&json!(1), &labels));
    let duration = named(&metrics, "hookrail.fire.duration");
    let point = &duration["points"][0];
    assert_eq!((&duration["unit"], &duration["cumulative"], &point["count"]), (&json!("s"), &json!(true), &json!(1)));
    assert_eq!(point["buckets"].as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>(), 1);
    assert_eq!(point["buckets"].as_array().unwrap().len(), point["bounds"].as_array().unwrap().len() + 1);
    assert_eq!(collector.requests()[0]["resource"]["service.name"], "tests");
    // Neither the input nor the reason leaves the machine unless the user says so.
    assert!(!json!(collector.requests()).to_string().contains("secret"));
}

#[test]
fn inputs_and_reasons_are_exported_when_the_user_says_so() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let telemetry = Telemetry::start(options(&collector.endpoint).inputs(InputExport::On)).unwrap();
    fire(&telemetry, 1);
    assert_eq!(telemetry.shutdown(HANG).end, TelemetryEnd::Flushed);
    let spans = collector.wait_for("spans", 3);
    let about = &named(&spans, "hookrail.fire before-tool")["attributes"];
    assert_eq!(about["hookrail.reason"], "the reason is a secret");
    assert!(about["hookrail.input"].as_str().unwrap().contains("the input is a secret"), "{about}");
    assert_eq!(collector.wait_for("logs", 1)[0]["attributes"]["hookrail.reason"], "the reason is a secret");
}

#[test]
fn a_trace_that_is_not_sampled_has_no_spans_and_still_counts() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let telemetry = Telemetry::start(options(&collector.endpoint).sample_percent(0)).unwrap();
    let system = system(telemetry.clone());
    system.fire_blocking(tool_call(&system, "write_file"));
    let unsampled = traceparent().replace("-01", "-00");
    system.fire_blocking(tool_call(&system, "write_file").variable("TRACEPARENT", unsampled));
    // The decision of the host comes before the percentage.
    system.fire_blocking(tool_call(&system, "shell").variable("TRACEPARENT", traceparent()));
    assert_eq!(telemetry.shutdown(HANG).end, TelemetryEnd::Flushed);
    let spans = collector.wait_for("spans", 3);
    assert_eq!(spans.len(), 3);
    assert!(spans.iter().all(|span| span["trace"] == TRACE), "{spans:?}");
    assert_eq!(collector.wait_for("logs", 3).len(), 3);
    let metrics = collector.wait_for("metrics", 3);
    let points = named(&metrics, "hookrail.decisions")["points"].as_array().unwrap().clone();
    let of = |decision: &str| {
        points.iter().find(|point| point["attributes"]["hookrail.decision"] == decision).map(|point| &point["value"])
    };
    assert_eq!((of("deny"), of("none")), (Some(&json!(2)), Some(&json!(1))));
}

#[test]
fn only_the_kinds_that_are_wanted_are_exported() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let signals = Signals { traces: true, logs: false, metrics: false };
    let telemetry = Telemetry::start(options(&collector.endpoint).signals(signals)).unwrap();
    fire(&telemetry, 1);
    let report = telemetry.shutdown(HANG);
    assert_eq!((report.end, report.dropped), (TelemetryEnd::Flushed, 0));
    assert_eq!(collector.wait_for("spans", 3).len(), 3);
    assert_eq!(collector.requests().len(), 1);
}

#[test]
fn the_journal_and_telemetry_record_the_same_events() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(JournalOptions::new(folder.path().join("journal")));
    let telemetry = Telemetry::start(options(&collector.endpoint)).unwrap();
    let of_closure = journal.clone();
    let recorder = telemetry.after(journal.interest(), move |entry| {
        of_closure.record_numbered(entry).map(|(recorded, number)| (recorded, Some(number)))
    });
    let system = system(recorder);
    for _ in 0..3 {
        let outcome = system.fire_blocking(tool_call(&system, "write_file"));
        assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
    }
    assert_eq!(telemetry.shutdown(HANG).end, TelemetryEnd::Flushed);
    let logs = collector.wait_for("logs", 3);
    let exported = logs.iter().map(|log| {
        let about = &log["attributes"];
        (about["hookrail.journal.seq"].as_u64().unwrap(), about["hookrail.fire.id"].as_str().unwrap().to_owned())
    });
    let mut exported: Vec<(u64, String)> = exported.collect();
    exported.sort();
    let records = journal.read(Filter::default()).unwrap().flatten();
    let recorded: Vec<(u64, String)> = records.map(|record| (record.seq, record.fire.unwrap().into_owned())).collect();
    assert_eq!(exported, recorded);
    assert_eq!(recorded.len(), 3);
}

#[test]
fn a_hook_without_an_effect_that_ends_later_is_a_child_of_its_event() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let telemetry = Telemetry::start(options(&collector.endpoint)).unwrap();
    let (go, waiting) = std::sync::mpsc::channel();
    let waiting = Mutex::new(waiting);
    let slow = Hook::native(
        EventKind::BeforeTool,
        "slow",
        NativeHook::new(move |_| {
            let () = waiting.lock().unwrap().recv_timeout(HANG).unwrap();
            Effects::deny("would be denied")
        }),
    );
    let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::default()));
    let system = HookSystem::builder(std::env::temp_dir())
        .environment(Environment::new())
        .hook(guard)
        .hook(slow.shadow())
        .recorder(telemetry.clone())
        .build();
    let event = tool_call(&system, "write_file").variable("TRACEPARENT", traceparent());
    assert!(!system.fire_blocking(event).is_denied());
    go.send(()).unwrap();
    system.shutdown_blocking();
    assert_eq!(telemetry.shutdown(HANG).end, TelemetryEnd::Flushed);
    let spans = collector.wait_for("spans", 3);
    let (fire, slow) = (named(&spans, "hookrail.fire before-tool"), named(&spans, "hookrail.hook slow"));
    assert_eq!((&slow["trace"], &slow["parent"]), (&fire["trace"], &fire["span"]));
    assert_eq!(slow["attributes"]["hookrail.hook.shadow"], true);
    assert_eq!(slow["attributes"]["hookrail.decision"], "deny");
    assert_eq!(fire["attributes"]["hookrail.decision"], "none");
}

#[test]
fn what_does_not_fit_into_the_queue_is_counted_and_never_delays_an_event() {
    let Some(collector) = OtlpReceiver::start() else { return };
    let telemetry = Telemetry::start(options(&collector.endpoint).queue(4)).unwrap();
    fire(&telemetry, 3000);
    let report = telemetry.shutdown(HANG);
    assert_eq!(report.end, TelemetryEnd::Flushed);
    assert!(report.dropped > 0);
    // The metrics are exported last. They count every event, and every record is either there or counted as dropped.
    let last = |name: &str, place: usize| {
        let mut metrics = collector.received("metrics").into_iter();
        metrics.rfind(|metric| metric["name"] == name).map(|metric| metric["points"][place].clone()).unwrap_or_default()
    };
    let queue_full = || last("hookrail.telemetry.dropped", 0);
    assert!(wait_until(|| queue_full()["value"] == report.dropped, HANG), "{report:?} {}", queue_full());
    assert_eq!(queue_full()["attributes"], json!({"hookrail.drop.reason": "queue_full"}));
    assert_eq!(last("hookrail.decisions", 0)["value"], 3000);
    let arrived = collector.received("spans").len() + collector.received("logs").len();
    assert_eq!(arrived as u64 + report.dropped, 3000 * 4);
}

//! Collectors that are away, silent or refuse: events are unaffected, losses are counted, and the end comes in time.

use std::time::{Duration, Instant};

use hookrail_otel::{CollectorHeaders, Telemetry, TelemetryEnd};
use hookrail_testkit::{HANG, SilentCollector, wait_until};

use crate::support::{ScriptedCollector, fire, options};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// The records of one event: its span, two of hooks, and a log record.
const RECORDS: u64 = 4;

#[test]
fn a_collector_that_is_away_is_reported_at_once() {
    let telemetry = Telemetry::start(options(&SilentCollector::absent())).unwrap();
    fire(&telemetry, 10);
    let report = telemetry.shutdown(HANG);
    assert!(matches!(report.end, TelemetryEnd::CollectorAway { .. }), "{report:?}");
    assert_eq!(report.dropped, 10 * RECORDS);
    // A second shutdown has the same result.
    assert_eq!(telemetry.shutdown(HANG), report);
}

#[test]
fn a_silent_collector_takes_no_longer_than_the_limit() {
    let collector = SilentCollector::new();
    let telemetry = Telemetry::start(options(&collector.endpoint)).unwrap();
    fire(&telemetry, 10);
    let began = Instant::now();
    let report = telemetry.shutdown(Duration::from_millis(200));
    assert_eq!((report.end, report.dropped), (TelemetryEnd::TimedOut, 10 * RECORDS));
    assert!(began.elapsed() < HANG / 2);
}

#[test]
fn a_request_that_is_on_its_way_does_not_delay_the_end() {
    let collector = SilentCollector::new();
    let telemetry = Telemetry::start(options(&collector.endpoint).queue(2).request_timeout(HANG)).unwrap();
    fire(&telemetry, 1);
    // The connection shows that the exporting thread waits for an answer that it will not get.
    assert!(wait_until(|| collector.was_reached(), HANG));
    let began = Instant::now();
    let report = telemetry.shutdown(Duration::from_millis(200));
    assert_eq!((report.end, report.dropped), (TelemetryEnd::TimedOut, RECORDS));
    assert!(began.elapsed() < HANG / 2);
}

#[test]
fn many_events_are_decided_while_the_collector_is_away_or_silent() {
    let silent = SilentCollector::new();
    for endpoint in [&silent.endpoint, &SilentCollector::absent()] {
        let telemetry = Telemetry::start(options(endpoint).queue(64)).unwrap();
        // `fire` asserts that every event is denied.
        fire(&telemetry, 2000);
        let report = telemetry.shutdown(Duration::from_millis(200));
        assert_ne!(report.end, TelemetryEnd::Flushed);
        assert_eq!(report.dropped, 2000 * RECORDS, "{endpoint}");
    }
}

#[test]
fn what_a_collector_refuses_is_dropped_and_counted() {
    let collector = ScriptedCollector::start(&["HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n", OK]);
    let telemetry = Telemetry::start(options(&collector.endpoint)).unwrap();
    fire(&telemetry, 1);
    let report = telemetry.shutdown(HANG);
    // The spans were refused, the log record and the metrics were not.
    assert_eq!((report.end, report.dropped), (TelemetryEnd::CollectorRefused { status: 500 }, RECORDS - 1));
    let paths: Vec<String> = collector.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/traces", "/v1/logs", "/v1/metrics"]);
}

#[test]
fn a_busy_collector_gets_the_same_request_again() {
    let busy = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n";
    let away = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
    let answers = Vec::leak(vec![busy, away, OK]);
    let collector = ScriptedCollector::start(answers);
    let quick = options(&collector.endpoint).interval(Duration::from_millis(5));
    let telemetry = Telemetry::start(quick).unwrap();
    fire(&telemetry, 1);
    let is_there = || collector.requests().iter().any(|request| request.path == "/v1/metrics");
    assert!(wait_until(is_there, HANG), "{:?}", collector.requests());
    let report = telemetry.shutdown(HANG);
    assert_eq!((report.end, report.dropped), (TelemetryEnd::Flushed, 0));
    let requests = collector.requests();
    assert_eq!(requests[0], requests[1]);
    assert_eq!(requests[1], requests[2]);
    assert_eq!(requests[3].path, "/v1/logs");
}

#[test]
fn what_a_connection_lost_is_sent_over_the_next_one() {
    let collector = ScriptedCollector::start(&["", OK]);
    let quick = options(&collector.endpoint).interval(Duration::from_millis(5));
    let telemetry = Telemetry::start(quick).unwrap();
    fire(&telemetry, 1);
    let is_there = || collector.requests().iter().any(|request| request.path == "/v1/metrics");
    assert!(wait_until(is_there, HANG), "{:?}", collector.requests());
    let report = telemetry.shutdown(HANG);
    assert_eq!((report.end, report.dropped), (TelemetryEnd::Flushed, 0));
    let requests = collector.requests();
    assert_eq!(requests[0], requests[1]);
}

#[test]
fn a_collector_that_stays_busy_gets_a_batch_six_times() {
    let collector =
        ScriptedCollector::start(&["HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n"]);
    let quick = options(&collector.endpoint).interval(Duration::from_millis(5));
    let telemetry = Telemetry::start(quick).unwrap();
    fire(&telemetry, 1);
    assert!(wait_until(|| telemetry.dropped() == RECORDS, HANG));
    let traces = collector.requests().into_iter().filter(|request| request.path == "/v1/traces").count();
    assert_eq!(traces, 6);
}

#[test]
fn a_part_that_the_collector_rejects_is_counted() {
    // A partial success with two rejected spans.
    let partial = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\u{a}\u{2}\u{8}\u{2}";
    let collector = ScriptedCollector::start(Vec::leak(vec![partial, OK]));
    let telemetry = Telemetry::start(options(&collector.endpoint)).unwrap();
    fire(&telemetry, 1);
    let report = telemetry.shutdown(HANG);
    assert_eq!((report.end, report.dropped), (TelemetryEnd::Flushed, 2));
}

#[test]
fn headers_of_the_file_are_sent_and_redirections_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headers");
    std::fs::write(&file, "authorization: Bearer secret\n").unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let elsewhere = ScriptedCollector::start(&[OK]);
    let redirect =
        format!("HTTP/1.1 302 Found\r\nlocation: {}/v1/traces\r\ncontent-length: 0\r\n\r\n", elsewhere.endpoint);
    let collector = ScriptedCollector::start(Vec::leak(vec![redirect.leak(), OK]));
    let headers = CollectorHeaders::read(&file).unwrap();
    let telemetry = Telemetry::start(options(&collector.endpoint).headers(headers)).unwrap();
    fire(&telemetry, 1);
    let report = telemetry.shutdown(HANG);
    assert_eq!(report.end, TelemetryEnd::CollectorRefused { status: 302 });
    let sent = collector.requests();
    assert!(
        sent.iter().all(|request| request.headers.contains(&"authorization: bearer secret".to_owned())),
        "{sent:?}"
    );
    assert_eq!(elsewhere.requests(), []);
}

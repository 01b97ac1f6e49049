//! The thread that exports, seen from outside: the only test of its process, because threads are counted.

#![cfg(target_os = "linux")]

use std::time::Duration;

use hookrail_otel::{CollectorEndpoint, Telemetry, TelemetryOptions};
use hookrail_testkit::wait_until;

#[test]
fn a_telemetry_that_is_dropped_ends_its_thread() {
    let endpoint = CollectorEndpoint::parse("http://127.0.0.1:9").unwrap();
    let telemetry = Telemetry::start(TelemetryOptions::new(endpoint)).unwrap();
    drop(telemetry);
    let is_gone = || {
        let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
        !names.map(|name| name.trim().to_owned()).any(|name| name == "hookrail-otel")
    };
    assert!(wait_until(is_gone, Duration::from_secs(60)));
}

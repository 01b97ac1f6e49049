//! Measures what telemetry costs an event: `cargo run --release -p hookrail-otel --example cost`.
//!
//! An engine with one hook in this process fires events. The time of each call of the recorder is taken; nothing is exported
//! meanwhile. Then everything is exported to a collector in this process that answers at once, and that is measured too.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails has no result")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hookrail::recorder::{Entry, RecordError, Recorded, Recorder};
use hookrail::{Effects, Environment, EventKind, Hook, HookSystem, Json, NativeHook};
use hookrail_otel::{CollectorEndpoint, Telemetry, TelemetryOptions};

const EVENTS: usize = 20_000;

/// Takes the time of every call.
struct Timed {
    telemetry: Telemetry,
    times: Arc<Mutex<Vec<Duration>>>,
}

impl Recorder for Timed {
    fn record(&self, entry: &Entry<'_>) -> Result<Recorded, RecordError> {
        let began = Instant::now();
        let recorded = self.telemetry.record(entry);
        self.times.lock().unwrap().push(began.elapsed());
        recorded
    }
}

fn answer_everything(stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(number) = line.strip_prefix("content-length: ") {
                length = number.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    }
}

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = CollectorEndpoint::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer_everything));

    let options = TelemetryOptions::new(endpoint).queue(4 * EVENTS).interval(Duration::from_secs(3600));
    let began = Instant::now();
    let telemetry = Telemetry::start(options).unwrap();
    let start = began.elapsed();

    let times = Arc::new(Mutex::new(Vec::with_capacity(EVENTS)));
    let guard = Hook::native(EventKind::BeforeTool, "guard", NativeHook::new(|_| Effects::deny("not today")));
    let hooks = HookSystem::builder(std::env::temp_dir())
        .environment(Environment::new())
        .hook(guard)
        .recorder(Timed { telemetry: telemetry.clone(), times: Arc::clone(&times) })
        .build();
    for number in 0..EVENTS {
        let event = hooks
            .event(EventKind::BeforeTool)
            .session("session-1")
            .variable("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
            .with_text("tool_name", "write_file")
            .with_text("tool_call_id", &format!("call-{number}"))
            .with("tool_input", Json::parse(r#"{"path": "a.txt"}"#).unwrap());
        hooks.fire_blocking(event);
    }
    let began = Instant::now();
    let report = telemetry.shutdown(Duration::from_secs(60));
    let export = began.elapsed();

    let mut times = times.lock().unwrap().clone();
    times.sort_unstable();
    let place = |share: usize| times.get(times.len() * share / 1000).copied().unwrap_or_default();
    println!("start: {start:?}");
    println!("one event, 2 spans, 1 log record, 2 metrics: {:?} (median), {:?} (p99)", place(500), place(990));
    println!("export of {EVENTS} events: {export:?}, {} dropped, {}", report.dropped, report.end);
}

//! An engine with hooks in this process, and collectors that misbehave.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookrail::recorder::Recorder;
use hookrail::{Effects, Environment, Event, EventKind, Hook, HookSystem, Json, NativeHook};
use hookrail_otel::{CollectorEndpoint, Telemetry, TelemetryOptions};

/// Options that export only when the queue is half full or at the end.
pub(crate) fn options(endpoint: &str) -> TelemetryOptions {
    TelemetryOptions::new(CollectorEndpoint::parse(endpoint).unwrap()).interval(Duration::from_secs(3600))
}

/// A hook that looks on, and then a guard that denies `write_file` and has no opinion of other tools.
pub(crate) fn system(recorder: impl Recorder + 'static) -> HookSystem {
    let guard = Hook::native(
        EventKind::BeforeTool,
        "guard",
        NativeHook::new(|call| match call.event.text("tool_name").as_deref() {
            Some("write_file") => Effects::deny("the reason is a secret"),
            _ => Effects::default(),
        }),
    );
    let looks_on = Hook::native(EventKind::BeforeTool, "looks on", NativeHook::new(|_| Effects::default()));
    HookSystem::builder(std::env::temp_dir())
        .environment(Environment::new())
        .hook(looks_on)
        .hook(guard)
        .recorder(recorder)
        .build()
}

/// A tool call with an input that must not leave the machine.
pub(crate) fn tool_call(system: &HookSystem, tool: &str) -> Event {
    system
        .event(EventKind::BeforeTool)
        .session("session-1")
        .with_text("tool_name", tool)
        .with_text("tool_call_id", "call-7")
        .with("tool_input", Json::parse(r#"{"path": "the input is a secret"}"#).unwrap())
}

/// Fires tool calls with nothing but a collector.
pub(crate) fn fire(telemetry: &Telemetry, count: usize) {
    let system = system(telemetry.clone());
    for _ in 0..count {
        assert!(system.fire_blocking(tool_call(&system, "write_file")).is_denied());
    }
}

/// A collector that reads requests and answers them with these statuses and bodies, the last one for all further
/// requests. An empty answer closes the connection.
pub(crate) struct ScriptedCollector {
    pub(crate) endpoint: String,
    pub(crate) requests: Arc<Mutex<Vec<ScriptedRequest>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScriptedRequest {
    pub(crate) path: String,
    pub(crate) headers: Vec<String>,
    pub(crate) body: Vec<u8>,
}

impl ScriptedCollector {
    pub(crate) fn start(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let of_thread = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let requests = Arc::clone(&of_thread);
                std::thread::spawn(move || serve(stream, answers, &requests));
            }
        });
        Self { endpoint, requests }
    }

    pub(crate) fn requests(&self) -> Vec<ScriptedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, answers: &[&str], requests: &Mutex<Vec<ScriptedRequest>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            headers.push(line);
        }
        let length = headers.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        let path = headers[0].split(' ').nth(1).unwrap().to_owned();
        let answer = {
            let mut requests = requests.lock().unwrap();
            requests.push(ScriptedRequest { path, headers, body });
            answers.get(requests.len() - 1).or(answers.last()).unwrap().to_owned()
        };
        if answer.is_empty() {
            return;
        }
        stream.write_all(answer.as_bytes()).unwrap();
    }
}

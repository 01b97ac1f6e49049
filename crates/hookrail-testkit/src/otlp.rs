//! A collector for telemetry that decodes what it gets with the published definitions of OTLP.

#![expect(clippy::unwrap_used, reason = "a test without its collector can only fail")]

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::processes::wait_until;
use crate::running::{HANG, RunningProgram};

/// The collector. It is ended when this is dropped.
pub struct OtlpReceiver {
    _program: RunningProgram,
    /// Its base address.
    pub endpoint: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl OtlpReceiver {
    /// The folder with the Python package `opentelemetry-proto`, which `scripts/otlp-receiver --install` makes in the
    /// target folder; empty if it is missing.
    #[must_use]
    pub fn packages() -> PathBuf {
        let test = std::env::current_exe().unwrap_or_default();
        let mut folders = test.ancestors().map(|folder| folder.join("otlp-receiver"));
        folders.find(|folder| folder.is_dir()).unwrap_or_default()
    }

    /// Whether the collector can be started here. A test that needs it returns if not.
    ///
    /// # Panics
    /// With `HOOKRAIL_REQUIRE_ALL=1`, if it cannot.
    #[must_use]
    pub fn is_here() -> bool {
        let mut python = Command::new("python3");
        python.args(["-c", "import opentelemetry.proto.trace.v1.trace_pb2"]).env("PYTHONPATH", Self::packages());
        let found = python.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        if !found {
            let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
            assert!(!required, "HOOKRAIL_REQUIRE_ALL=1, and `scripts/otlp-receiver --install` was not run");
            eprintln!("skipped: the Python package `opentelemetry-proto` is missing");
        }
        found
    }

    /// Starts a collector; none if it cannot be started here.
    ///
    /// # Panics
    /// If it does not answer, or as [`OtlpReceiver::is_here`] does.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::is_here().then(|| Self::start_with("http://127.0.0.1", &[]))
    }

    /// The same over TLS, at the name `localhost`, with the files of a certificate and its key.
    ///
    /// # Panics
    /// As [`OtlpReceiver::start`].
    #[must_use]
    pub fn start_tls(certificate: &Path, key: &Path) -> Option<Self> {
        Self::is_here().then(|| Self::start_with("https://localhost", &[certificate, key]))
    }

    fn start_with(base: &str, certificate: &[&Path]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("receiver/otlp_receiver.py");
        let mut command = Command::new("python3");
        command
            .arg(script)
            .arg("0")
            .args(certificate)
            .env("PYTHONPATH", Self::packages())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let mut program = RunningProgram::start(command.stdin(Stdio::null()).stdout(Stdio::piped()));
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let endpoint = format!("{base}:{}", first.get("port").unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let of_thread = Arc::clone(&requests);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                of_thread.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Self { _program: program, endpoint, requests }
    }

    /// Everything that was received so far.
    ///
    /// # Panics
    /// If something was received that is not OTLP.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        let requests = self.requests.lock().unwrap().clone();
        let problem = requests.iter().find(|request| request.get("problem").is_some());
        assert!(problem.is_none(), "the collector could not decode a request: {problem:?}");
        requests
    }

    /// What was received so far of one kind: `spans`, `logs` or `metrics`.
    #[must_use]
    pub fn received(&self, kind: &str) -> Vec<Value> {
        let lists = self.requests().into_iter().filter_map(|request| request.get(kind)?.as_array().cloned());
        lists.flatten().collect()
    }

    /// Waits until that many of one kind were received, and returns them.
    ///
    /// # Panics
    /// If they do not arrive.
    #[must_use]
    pub fn wait_for(&self, kind: &str, count: usize) -> Vec<Value> {
        let arrived = wait_until(|| self.received(kind).len() >= count, HANG);
        assert!(arrived, "fewer than {count} {kind} arrived: {:?}", self.requests());
        self.received(kind)
    }
}

/// The trace of a host that exports its spans.
pub const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// The span of that host.
pub const PARENT: &str = "00f067aa0ba902b7";

/// The trace context of that host.
#[must_use]
pub fn traceparent() -> String {
    format!("00-{TRACE}-{PARENT}-01")
}

/// A collector that accepts connections and never answers.
pub struct SilentCollector {
    listener: TcpListener,
    connections: RefCell<Vec<TcpStream>>,
    /// Its base address.
    pub endpoint: String,
}

impl SilentCollector {
    /// A collector on a port of its own.
    ///
    /// # Panics
    /// If there is no port.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it takes a port of the machine")]
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        Self { listener, connections: RefCell::default(), endpoint }
    }

    /// The address of a collector that has gone.
    #[must_use]
    pub fn absent() -> String {
        Self::new().endpoint
    }

    /// Whether a program has connected since the last call. The kernel completes connections by itself, so that one that
    /// was made is here. It stays open.
    ///
    /// # Panics
    /// If the port cannot be asked.
    #[must_use]
    pub fn was_reached(&self) -> bool {
        match self.listener.accept() {
            Ok((connection, _)) => {
                self.connections.borrow_mut().push(connection);
                true
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                false
            }
        }
    }
}

//! Counters and durations as Prometheus text, and the smallest server that can be asked for them.
//!
//! Nothing leaves the machine by itself: somebody has to ask, at an address the user named.

use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use hookrail::{EventKind, Outcome};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::error::BusError;

type Labels = [(&'static str, &'static str); 1];
type Counters = Family<Labels, Counter>;

/// What a bus counts.
pub struct Metrics {
    registry: Mutex<Registry>,
    requests: Counters,
    errors: Counters,
    hooks: Counters,
    queue: Histogram,
    duration: Histogram,
    pub(crate) in_flight: Gauge<i64, AtomicI64>,
    pub(crate) connections: Gauge<i64, AtomicI64>,
    closed: Counters,
}

/// From a tenth of a millisecond to a minute: a hook is one process at least.
const BUCKETS: [f64; 16] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("hookrail_bus");
        let metrics = Self {
            requests: Family::default(),
            errors: Family::default(),
            hooks: Family::default(),
            queue: Histogram::new(BUCKETS),
            duration: Histogram::new(BUCKETS),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            closed: Family::default(),
            registry: Mutex::default(),
        };
        registry.register("requests", "Requests for an event that exists", metrics.requests.clone());
        registry.register("errors", "Messages that were refused, by code", metrics.errors.clone());
        registry.register("hooks", "Hooks that ran, by how they ended", metrics.hooks.clone());
        registry.register("queue_seconds", "How long requests waited for their turn", metrics.queue.clone());
        registry.register("request_seconds", "How long the hooks of a request took", metrics.duration.clone());
        registry.register("in_flight", "Requests that have no answer yet", metrics.in_flight.clone());
        registry.register("connections", "Clients that are connected", metrics.connections.clone());
        registry.register("connections_closed", "Connections that ended, by why", metrics.closed.clone());
        Self { registry: Mutex::new(registry), ..metrics }
    }

    /// Everything as Prometheus text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry.lock().unwrap_or_else(PoisonError::into_inner));
        text
    }

    pub(crate) fn requested(&self, event: EventKind) {
        self.requests.get_or_create(&[("event", event.name())]).inc();
    }

    pub(crate) fn refused(&self, error: &BusError) {
        let code = error.known().map_or("other", |code| code.name());
        self.errors.get_or_create(&[("code", code)]).inc();
    }

    pub(crate) fn executed(&self, outcome: &Outcome, queued: Duration, took: Duration) {
        self.queue.observe(queued.as_secs_f64());
        self.duration.observe(took.as_secs_f64());
        for run in &outcome.runs {
            self.hooks.get_or_create(&[("end", run.end.name())]).inc();
        }
    }

    pub(crate) fn closed(&self, why: &'static str) {
        self.closed.get_or_create(&[("why", why)]).inc();
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Answers `GET /metrics` and nothing else.
#[derive(Debug)]
pub struct MetricsServer {
    listener: TcpListener,
}

/// What a request may have before its body, and how long it may take to come and to be answered.
const HEAD_LIMIT: usize = 8 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);
/// How many are served at once; more wait.
const AT_ONCE: usize = 16;

impl MetricsServer {
    /// Listens at an address.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await? })
    }

    /// Where it listens; the port is a real one even if zero was asked for.
    ///
    /// # Errors
    /// When the operating system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is dropped.
    pub async fn serve(self, metrics: std::sync::Arc<Metrics>) {
        let mut serving = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if serving.len() < AT_ONCE => match accepted {
                    Ok((stream, _)) => {
                        let metrics = std::sync::Arc::clone(&metrics);
                        serving.spawn(async move {
                            let _ = tokio::time::timeout(PATIENCE, answer(stream, &metrics)).await;
                        });
                    }
                    // Out of descriptors, most likely; that passes.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                },
                Some(_) = serving.join_next() => {}
            }
        }
    }
}

async fn answer(mut stream: TcpStream, metrics: &Metrics) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD_LIMIT || stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, body) = match (method, target.split(|byte| *byte == b'?').next().unwrap_or_default()) {
        (b"GET" | b"HEAD", b"/metrics") => ("200 OK", metrics.text()),
        (b"GET" | b"HEAD", _) => ("404 Not Found", "only /metrics is here\n".to_owned()),
        _ => ("405 Method Not Allowed", "only GET is possible\n".to_owned()),
    };
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let length = body.len();
    let mut text =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    if method != b"HEAD" {
        text.push_str(&body);
    }
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

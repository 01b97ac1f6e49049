//! A minimal HTTP server for metrics and health checks.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Metrics;

/// Answers `GET /metrics`, `/healthz` and `/readyz`. At an address of this machine alone, it answers requests for that address or
/// `localhost` only: a page in a browser can make a name of its own lead here.
#[derive(Debug)]
pub struct MetricsServer {
    listener: TcpListener,
}

/// The largest head of a request in bytes, and the time in which a request must arrive and be answered.
const HEAD_LIMIT: usize = 8 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);
/// The number of requests that are served at once; others wait.
const AT_ONCE: usize = 16;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

impl MetricsServer {
    /// Listens at an address.
    ///
    /// # Errors
    /// If the address cannot be used.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await? })
    }

    /// Returns the address; if port 0 was requested, it has the port that the system chose.
    ///
    /// # Errors
    /// If the system cannot report the address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is dropped.
    pub async fn serve(self, metrics: std::sync::Arc<Metrics>) {
        let mut serving = tokio::task::JoinSet::new();
        let Ok(address) = self.address() else { return };
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if serving.len() < AT_ONCE => match accepted {
                    Ok((stream, _)) => {
                        let metrics = std::sync::Arc::clone(&metrics);
                        serving.spawn(async move {
                            let _ = tokio::time::timeout(PATIENCE, answer(stream, address, &metrics)).await;
                        });
                    }
                    // Most likely the process has no descriptor left, which changes when a connection ends.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                },
                Some(_) = serving.join_next() => {}
            }
        }
    }
}

async fn answer(mut stream: TcpStream, address: SocketAddr, metrics: &Metrics) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD_LIMIT || stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, kind, body) = match (method, target.split(|byte| *byte == b'?').next().unwrap_or_default()) {
        _ if !is_meant_for(&head, address) => {
            ("421 Misdirected Request", PLAIN, "this server answers to its own address only\n".to_owned())
        }
        (b"GET" | b"HEAD", b"/metrics") => ("200 OK", OPEN_METRICS, metrics.text()),
        // The runtime that serves requests also answers this, so an answer shows that it is not blocked.
        (b"GET" | b"HEAD", b"/healthz") => ("200 OK", PLAIN, "ok\n".to_owned()),
        (b"GET" | b"HEAD", b"/readyz") => match metrics.unready_reason() {
            None => ("200 OK", PLAIN, "ready\n".to_owned()),
            Some(why) => ("503 Service Unavailable", PLAIN, format!("not ready: {why}\n")),
        },
        (b"GET" | b"HEAD", _) => {
            ("404 Not Found", PLAIN, "not found; this server has /metrics, /healthz and /readyz\n".to_owned())
        }
        _ => ("405 Method Not Allowed", PLAIN, "only GET and HEAD are supported\n".to_owned()),
    };
    let length = body.len();
    let mut text =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    if method != b"HEAD" {
        text.push_str(&body);
    }
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

/// Whether a request names the address at which it arrived. Names of other machines lead to an address that others can reach.
fn is_meant_for(head: &[u8], address: SocketAddr) -> bool {
    if !address.ip().is_loopback() {
        return true;
    }
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    let mut hosts = lines.filter_map(|line| {
        let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let port = format!(":{}", address.port());
    let name = match host.strip_suffix(&port) {
        Some(name) => name,
        // The port of HTTP itself is left out.
        None if address.port() == 80 => host,
        None => return false,
    };
    let own = address.to_string();
    name.eq_ignore_ascii_case("localhost") || Some(name) == own.strip_suffix(&port)
}

//! Prometheus text at an address, for whoever asks for it.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

mod support;

use hookrail_bus::MetricsServer;
use serde_json::json;
use support::{Raw, Sandbox, tool, within};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

async fn get(address: std::net::SocketAddr, head: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("{head} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut text = String::new();
    within(stream.read_to_string(&mut text)).await.unwrap();
    text
}

#[tokio::test]
async fn requests_errors_hooks_and_durations_are_counted() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let bus = sandbox.bus();
    let server = MetricsServer::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = server.address().unwrap();
    tokio::spawn(server.serve(bus.metrics()));
    let mut client = Raw::new(&bus);
    client.ask(json!({"eventName": "PreToolUse", "input": tool("x")})).await;
    client.ask(json!({"eventName": "Nonsense", "input": {}})).await;
    let text = get(address, "GET /metrics").await;
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    for line in [
        "hookrail_bus_requests_total{event=\"before-tool\"} 1",
        "hookrail_bus_errors_total{code=\"unsupported_event\"} 1",
        "hookrail_bus_hooks_total{end=\"exited\"} 1",
        "hookrail_bus_request_seconds_count 1",
        "hookrail_bus_queue_seconds_count 1",
        "hookrail_bus_connections 1",
        "hookrail_bus_in_flight 0",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(get(address, "GET /").await.starts_with("HTTP/1.1 404 "));
    assert!(get(address, "POST /metrics").await.starts_with("HTTP/1.1 405 "));
}

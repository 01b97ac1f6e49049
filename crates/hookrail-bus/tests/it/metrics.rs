//! Prometheus text over HTTP.

#![cfg(unix)]

use crate::support::{Raw, Sandbox, tool, within};
use hookrail_bus::MetricsServer;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

async fn get(address: std::net::SocketAddr, head: &str) -> String {
    send(address, &format!("{head} HTTP/1.1\r\nHost: {address}\r\n\r\n")).await
}

async fn send(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
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
        "hookrail_bus_decisions_total{event=\"before-tool\",decision=\"deny\"} 1",
        "hookrail_bus_hook_runs_total{hook=\"sample\",result=\"deny\"} 1",
        "hookrail_bus_configuration_loads_total{trigger=\"open\",result=\"loaded\"} 1",
        "hookrail_bus_watch{mode=\"events\"} 1",
        "hookrail_bus_watch{mode=\"polling\"} 0",
        concat!("hookrail_bus_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let project = sandbox.project.display();
    for gauge in
        ["configuration_revision", "configuration_age_seconds", "configuration_kept_sources", "system_unusable"]
    {
        let line = format!("hookrail_bus_{gauge}{{project=\"{project}\"}} ");
        assert!(text.contains(&line), "{line} in {text}");
    }
    assert!(get(address, "GET /").await.starts_with("HTTP/1.1 404 "));
    assert!(get(address, "POST /metrics").await.starts_with("HTTP/1.1 405 "));
}

#[tokio::test]
async fn a_failed_hook_is_told_from_one_that_denies_and_a_stop_is_counted() {
    let sandbox = Sandbox::new();
    let hook =
        |name: &str, command: &str| json!({"type": "command", "name": name, "command": command, "onFailure": "block"});
    sandbox.hooks(json!({"BeforeTool": [{"hooks": [
        hook("denies", "exit 2"),
        hook("crashes", "exit 1"),
        hook("asks", r#"printf '{"decision":"ask"}'"#),
        hook("silent", "true"),
        hook("stops", r#"printf '{"continue":false}'"#),
    ]}]}));
    let bus = sandbox.bus();
    let mut client = Raw::new(&bus);
    let response = client.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await;
    let text = bus.metrics().text();
    for (hook, result) in [("denies", "deny"), ("crashes", "failed"), ("asks", "ask"), ("silent", "none")] {
        let line = format!("hookrail_bus_hook_runs_total{{hook=\"{hook}\",result=\"{result}\"}} 1");
        assert!(text.contains(&line), "{line} in {text} for {response}");
    }
    assert!(text.contains("hookrail_bus_stops_total{event=\"before-tool\"} 1"), "{text}");
}

#[tokio::test]
async fn only_so_many_hooks_have_a_name_of_their_own() {
    let sandbox = Sandbox::new();
    let hooks: Vec<_> = (0..130)
        .map(|at| json!({"type": "command", "name": format!("h{at}"), "command": format!("true {at}")}))
        .collect();
    sandbox.hooks(json!({"BeforeTool": [{"hooks": hooks}]}));
    let bus = sandbox.bus();
    let mut client = Raw::new(&bus);
    client.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await;
    let text = bus.metrics().text();
    let labels = text.lines().filter(|line| line.starts_with("hookrail_bus_hook_runs_total{")).count();
    assert_eq!(labels, 101, "{text}");
    assert!(text.contains("hookrail_bus_hook_runs_total{hook=\"other\",result=\"none\"} 30"), "{text}");
}

#[tokio::test]
async fn a_server_is_ready_when_its_configuration_is_loaded_and_until_it_shuts_down() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let bus = sandbox.bus();
    let server = MetricsServer::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = server.address().unwrap();
    tokio::spawn(server.serve(bus.metrics()));
    let ready = async || get(address, "GET /readyz").await;
    assert!(get(address, "GET /healthz").await.starts_with("HTTP/1.1 200 "));
    let early = ready().await;
    assert!(early.starts_with("HTTP/1.1 503 ") && early.contains("is not loaded"), "{early}");
    within(bus.open()).await.unwrap();
    assert!(ready().await.starts_with("HTTP/1.1 200 "));
    within(bus.drain()).await;
    let late = ready().await;
    assert!(late.starts_with("HTTP/1.1 503 ") && late.contains("shutting down"), "{late}");
    assert!(get(address, "GET /healthz").await.starts_with("HTTP/1.1 200 "));
}

/// A page can make a name of its own lead to this machine; it then sends that name.
#[tokio::test]
async fn requests_for_other_names_of_this_machine_are_misdirected() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let bus = sandbox.bus();
    let server = MetricsServer::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = server.address().unwrap();
    tokio::spawn(server.serve(bus.metrics()));
    let port = address.port();
    let with_host = async |lines: &str| send(address, &format!("GET /metrics HTTP/1.1\r\n{lines}\r\n")).await;
    for own in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("LocalHost:{port}")] {
        let text = with_host(&format!("Accept: */*\r\nhost:  {own} \r\n")).await;
        assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("# EOF"), "{own}: {text}");
    }
    let two = format!("127.0.0.1:{port}\r\nHost: evil.example");
    for other in ["evil.example", "", "127.0.0.1", "localhost:1", &format!("127.0.0.1.evil.example:{port}"), &two] {
        let text = with_host(&format!("Host: {other}\r\n")).await;
        assert!(text.starts_with("HTTP/1.1 421 ") && !text.contains("hookrail_bus"), "{other}: {text}");
    }
    assert!(with_host("").await.starts_with("HTTP/1.1 421 "));
}

//! Bad input: an error with a code if an answer is possible, a counter, and no effect on other clients.

#![cfg(unix)]

use std::time::Duration;

use hookrail_testkit::HANG;

use crate::support::{Raw, Sandbox, code, tool, within};
use hookrail_bus::Bus;
use hookrail_bus::transport::Lines;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// How often an error was counted.
fn counted(bus: &Bus, code: &str) -> u64 {
    let line = format!("hookrail_bus_errors_total{{code=\"{code}\"}} ");
    let text = bus.metrics().text();
    text.lines().find_map(|found| found.strip_prefix(&line)?.parse().ok()).unwrap_or_default()
}

#[tokio::test]
async fn what_is_not_a_message_is_answered_and_counted() {
    let sandbox = Sandbox::new();
    let bus = sandbox.bus();
    let mut client = Raw::new(&bus);
    for (line, expected) in [
        ("nonsense", "invalid_request"),
        ("[]", "invalid_request"),
        ("{\"type\":", "invalid_request"),
        ("{\"type\":\"HOOK_EXECUTION_REQUEST\",\"payload\":7}", "invalid_request"),
        ("{\"type\":\"dance\",\"payload\":{}}", "unsupported_type"),
        ("{\"type\":\"cancel\",\"payload\":{}}", "invalid_request"),
        ("{\"type\":\"hello\",\"payload\":{\"protocol\":\"one\"}}", "invalid_request"),
    ] {
        client.send(line).await;
        let response = client.response().await;
        assert_eq!(code(&response), expected, "{line}");
        assert!(response["correlationId"].as_str().is_some_and(|name| !name.is_empty()));
    }
    // Empty lines are nothing, and nothing is broken.
    client.send("\n   \n").await;
    assert_eq!(client.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await["success"], true);
    assert_eq!(counted(&bus, "invalid_request"), 6);
    assert_eq!(counted(&bus, "unsupported_type"), 1);
}

#[tokio::test]
async fn what_says_two_things_is_refused_and_a_tool_input_that_does_is_denied_where_a_guard_matches() {
    let sandbox = Sandbox::new();
    let guard = json!({"type": "command", "name": "guard", "command": "touch ran", "onFailure": "block"});
    sandbox.hooks(json!({"BeforeTool": [{"hooks": [guard]}]}));
    let mut client = Raw::new(&sandbox.bus());
    let request =
        |payload: &str| format!(r#"{{"type":"HOOK_EXECUTION_REQUEST","payload":{{"correlationId":"c",{payload}}}}}"#);
    let (safe, other) = (tool("x"), tool("y"));
    for twice in [
        format!(r#""eventName":"BeforeTool","input":{safe},"input":{other}"#),
        r#""eventName":"BeforeTool","input":{"tool_name":"x","tool_input":{"path":"a"},"tool_input":{"path":"b"}}"#
            .to_owned(),
    ] {
        client.send(&request(&twice)).await;
        let response = client.response().await;
        assert_eq!((code(&response), &response["correlationId"]), ("invalid_request", &json!("c")), "{twice}");
    }
    client
        .send(&request(r#""eventName":"BeforeTool","input":{"tool_name":"x","tool_input":{"path":"a","path":"b"}}"#))
        .await;
    let response = client.response().await;
    assert_eq!(response["outcome"]["decision"], "deny", "{response}");
    assert!(!sandbox.project.join("ran").exists());
}

#[tokio::test]
async fn bytes_that_are_no_text_are_answered() {
    let sandbox = Sandbox::new();
    let bus = sandbox.bus();
    let (near, far) = tokio::io::duplex(1024);
    let (reader, writer) = tokio::io::split(far);
    let serving = bus.clone();
    tokio::spawn(async move { serving.serve(Lines::new(reader, writer)).await });
    let (mut reader, mut writer) = tokio::io::split(near);
    writer.write_all(b"\xff\xfe{}\n").await.unwrap();
    writer.shutdown().await.unwrap();
    let mut text = String::new();
    within(reader.read_to_string(&mut text)).await.unwrap();
    assert!(text.contains("the line is not UTF-8"), "{text}");
}

#[tokio::test]
async fn a_line_over_the_limit_is_skipped_and_the_next_is_served() {
    let sandbox = Sandbox::new();
    let bus = sandbox.bus();
    let mut client = Raw::new(&bus);
    let long = "x".repeat(hookrail_bus::LINE_LIMIT + 1);
    client.send(&long).await;
    assert_eq!(code(&client.response().await), "line_too_long");
    assert_eq!(client.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await["success"], true);
    assert_eq!(counted(&bus, "line_too_long"), 1);
}

#[tokio::test]
async fn a_name_in_flight_is_refused_and_the_first_is_not_affected() {
    let sandbox = Sandbox::with_hook("BeforeTool", "read line < pipe; echo \"$line\"");
    let pipe = sandbox.project.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut client = Raw::new(&sandbox.bus());
    let request = json!({"correlationId": "c", "eventName": "BeforeTool", "input": tool("x")});
    client.request(request.clone()).await;
    let refused = client.ask(request.clone()).await;
    assert_eq!((code(&refused), &refused["correlationId"]), ("duplicate_correlation_id", &json!("c")));
    within(tokio::task::spawn_blocking(move || std::fs::write(pipe, "first\n"))).await.unwrap().unwrap();
    assert_eq!(client.response().await["outcome"]["systemMessage"], "first");
    // A name whose request is answered is free again.
    sandbox.hooks(json!({}));
    assert_eq!(
        client.ask(json!({"correlationId": "c", "eventName": "SessionStart", "input": {}})).await["success"],
        true
    );
}

#[tokio::test]
async fn a_project_that_is_none_is_refused() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.base.join("file"), "").unwrap();
    let mut client = Raw::new(&sandbox.bus());
    for project in [sandbox.base.join("missing"), sandbox.base.join("file")] {
        let request = json!({"eventName": "BeforeTool", "input": tool("x"), "project": project});
        assert_eq!(code(&client.ask(request).await), "invalid_project");
    }
}

#[tokio::test]
async fn a_client_that_never_reads_is_disconnected_and_others_are_served() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let bus = Bus::new(sandbox.settings().in_flight(16).patience(Duration::from_millis(200)));
    // The pipe takes less than one answer.
    let mut deaf = Raw::with_pipe(&bus, 64);
    let mut polite = Raw::new(&bus);
    let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"eventName": "BeforeTool", "input": tool("x")}});
    let request = request.to_string();
    let shouting = tokio::spawn(async move {
        for _ in 0..64 {
            deaf.send(&request).await;
        }
        deaf
    });
    for _ in 0..5 {
        let response = polite.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await;
        assert_eq!(response["success"], true);
    }
    // The server gives up by itself: what it serves ends although the client is still there, shouting.
    let closed = "hookrail_bus_connections_closed_total{why=\"stalled\"} 1";
    let gone = || bus.metrics().text().contains(closed);
    within(async {
        while !gone() {
            polite.say("ping", json!({})).await;
            polite.next().await;
            tokio::task::yield_now().await;
        }
    })
    .await;
    let _ = shouting.await;
}

#[tokio::test]
async fn a_heap_of_unread_answers_is_bounded() {
    let sandbox = Sandbox::with_hook("BeforeTool", "head -c 20000 /dev/zero | tr '\\0' x");
    let bus = Bus::new(sandbox.settings().most_buffered(50_000));
    let mut deaf = Raw::with_pipe(&bus, 4096);
    for _ in 0..8 {
        deaf.request(json!({"eventName": "BeforeTool", "input": tool("x")})).await;
    }
    within(&mut deaf.served).await.unwrap();
    assert!(bus.metrics().text().contains("hookrail_bus_connections_closed_total{why=\"overfull\"} 1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_at_full_speed_does_not_slow_other_clients_down() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let bus = sandbox.bus();
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(far);
    let serving = bus.clone();
    let served = tokio::spawn(async move { serving.serve(Lines::new(reader, writer)).await });
    let (mut reader, mut writer) = tokio::io::split(near);
    let reading = tokio::spawn(async move {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await.unwrap();
        bytes.iter().filter(|byte| **byte == b'\n').count()
    });
    let shouting = tokio::spawn(async move {
        let garbage = "{garbage}\n\u{1}\u{2}\n[[[[\n".repeat(100);
        for _ in 0..100 {
            writer.write_all(garbage.as_bytes()).await.unwrap();
        }
        writer.shutdown().await.unwrap();
    });
    let mut polite = Raw::new(&bus);
    for _ in 0..20 {
        let response = polite.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await;
        assert_eq!(response["success"], true);
    }
    tokio::time::timeout(HANG, shouting).await.unwrap().unwrap();
    assert_eq!(within(reading).await.unwrap(), 30_000, "every line has its answer");
    within(served).await.unwrap();
    assert_eq!(counted(&bus, "invalid_request"), 30_000);
}

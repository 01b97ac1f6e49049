//! What is too much: for a line, for an answer, for a connection and for the server. Every request still has its answer.

#![cfg(unix)]

use std::time::Duration;

use crate::support::{Raw, Sandbox, code, tool, within};
use hookrail::Json;
use hookrail_bus::transport::{Lines, SocketListener, connect};
use hookrail_bus::{Bus, Client, ErrorCode, LINE_LIMIT, NotGuarded, Request};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn request() -> Request {
    Request::new("BeforeTool", Json::from(tool("x")))
}

/// A shell command that prints a JSON string of so many bytes.
fn long_text(bytes: usize) -> String {
    format!("printf '\"'; head -c {bytes} /dev/zero | tr '\\0' x; printf '\"'")
}

async fn over_socket(bus: &Bus, sandbox: &Sandbox) -> Client {
    let path = sandbox.base.join("s");
    let listener = SocketListener::bind(&path).unwrap();
    let bus = bus.clone();
    tokio::spawn(async move { bus.listen(listener).await });
    Client::new(connect(&path).await.unwrap())
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_under_its_own_name() {
    let sandbox = Sandbox::new();
    let mut client = Raw::new(&sandbox.bus());
    let long = "x".repeat(LINE_LIMIT);
    let lines = [
        format!(r#"{{"type":"HOOK_EXECUTION_REQUEST","payload":{{"correlationId":"early","input":"{long}"}}}}"#),
        format!(r#"{{"type":"HOOK_EXECUTION_REQUEST","payload":{{"input":"{long}","correlationId":"late"}}}}"#),
    ];
    for (line, name) in lines.iter().zip(["early", "late"]) {
        client.send(line).await;
        let response = client.response().await;
        assert_eq!((code(&response), response["correlationId"].as_str()), ("line_too_long", Some(name)));
    }
    assert_eq!(client.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await["success"], true);
}

#[tokio::test]
async fn what_is_not_json_is_refused_under_its_own_name() {
    let sandbox = Sandbox::new();
    let mut client = Raw::new(&sandbox.bus());
    client.send(r#"{"type":"HOOK_EXECUTION_REQUEST","payload":{"correlationId":"n","input":{"a":NaN}}}"#).await;
    let response = client.response().await;
    assert_eq!((code(&response), &response["correlationId"]), ("invalid_request", &json!("n")));
}

#[tokio::test]
async fn the_client_hears_that_its_request_was_too_long() {
    let sandbox = Sandbox::new();
    let client = over_socket(&sandbox.bus(), &sandbox).await;
    let input = json!({"tool_name": "x", "tool_input": {"text": "x".repeat(LINE_LIMIT)}});
    let error = within(client.execute(Request::new("BeforeTool", Json::from(input)))).await.unwrap_err();
    let NotGuarded::Refused(error) = error else { panic!("{error}") };
    assert_eq!(error.known(), Some(ErrorCode::LineTooLong));
    within(client.execute(request())).await.unwrap();
}

#[tokio::test]
async fn a_denial_with_an_endless_reason_arrives() {
    let command = format!("printf '{{\"decision\":\"deny\",\"reason\":'; {}; printf '}}'", long_text(6_000_000));
    let sandbox = Sandbox::with_hook("BeforeTool", &command);
    let bus = sandbox.bus();
    let executed = within(over_socket(&bus, &sandbox).await.execute(request())).await.unwrap();
    assert!(executed.report.is_denied() && executed.truncated);
    assert!(executed.report.reason().unwrap().starts_with("xxxx"));
    let document = executed.report.document();
    assert!(document.text().len() < LINE_LIMIT, "{}", document.text().len());
    assert_eq!(document.to_value()["runs"][0]["stdoutTruncated"], true);
    assert_eq!(executed.report.output().to_value()["finalOutput"]["decision"], "deny");
    // In this process there is no line, and nothing is cut.
    let whole = within(bus.client().execute(request())).await.unwrap();
    assert!(!whole.truncated && whole.report.reason().unwrap().len() == 6_000_000);
    assert!(whole.report.outcome().unwrap().runs[0].stdout.len() > 6_000_000);
}

#[tokio::test]
async fn a_denial_loses_everything_but_itself_before_it_is_lost() {
    // Neither the context nor the input can be cut, and both together are more than a line.
    let command = format!(
        "printf '{{\"decision\":\"deny\",\"reason\":\"no\",\"hookSpecificOutput\":{{\"additionalContext\":'; {}; printf '}}}}'",
        long_text(600_000)
    );
    let sandbox = Sandbox::with_hook("BeforeTool", &command);
    let bus = Bus::new(sandbox.settings().longest_line(1_000_000));
    let executed = within(over_socket(&bus, &sandbox).await.execute(request())).await.unwrap();
    assert!(executed.report.is_denied() && executed.truncated);
    assert_eq!(executed.report.reason().as_deref(), Some("no"));
    let document = executed.report.document().to_value();
    assert_eq!((&document["additionalContext"], &document["runs"]), (&Value::Null, &json!([])));
}

#[tokio::test]
async fn what_changes_an_operation_is_never_cut() {
    let command = format!(
        "printf '{{\"hookSpecificOutput\":{{\"tool_input\":{{\"text\":'; {}; printf '}}}}}}'",
        long_text(600_000)
    );
    let sandbox = Sandbox::with_hook("BeforeTool", &command);
    let bus = Bus::new(sandbox.settings().longest_line(1_000_000));
    let client = over_socket(&bus, &sandbox).await;
    let error = within(client.execute(request())).await.unwrap_err();
    let NotGuarded::Refused(error) = error else { panic!("{error}") };
    assert_eq!(error.known(), Some(ErrorCode::AnswerTooLong), "{error}");
    let whole = within(bus.client().execute(request())).await.unwrap();
    assert!(whole.report.tool_input().unwrap().text().len() > 600_000);
}

#[tokio::test]
async fn what_a_hook_wrote_is_cut_and_marked() {
    let sandbox = Sandbox::with_hook("BeforeTool", "head -c 100000 /dev/zero | tr '\\0' x; printf 'short' >&2");
    let mut client = Raw::new(&sandbox.bus());
    let response = client.ask(json!({"eventName": "BeforeTool", "input": tool("x")})).await;
    let run = &response["outcome"]["runs"][0];
    assert_eq!((&run["stdoutTruncated"], &response["truncated"]), (&json!(true), &json!(true)));
    assert_eq!(run["stdout"].as_str().unwrap().trim_end_matches('…').len(), 64 * 1024);
    assert_eq!((&run["stderr"], run.get("stderrTruncated")), (&json!("short"), None));
    sandbox.hooks(json!({}));
}

#[tokio::test]
async fn a_slow_reader_is_not_a_stalled_one() {
    let sandbox = Sandbox::with_hook("BeforeTool", "head -c 60000 /dev/zero | tr '\\0' x");
    let patience = Duration::from_millis(400);
    let bus = Bus::new(sandbox.settings().patience(patience));
    let (near, far) = tokio::io::duplex(4096);
    let (reader, writer) = tokio::io::split(far);
    let serving = bus.clone();
    let served = tokio::spawn(async move { serving.serve(Lines::new(reader, writer)).await });
    let (mut reader, mut writer) = tokio::io::split(near);
    let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"eventName": "BeforeTool", "input": tool("x")}});
    writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    writer.shutdown().await.unwrap();
    // Some of it every now and then, for many times as long as a client may take nothing.
    let (mut text, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        tokio::time::sleep(patience / 8).await;
        match within(reader.read(&mut piece)).await.unwrap() {
            0 => break,
            count => text.extend_from_slice(&piece[..count]),
        }
    }
    within(served).await.unwrap();
    let answer: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(answer["payload"]["success"], true);
    assert!(bus.metrics().text().contains("why=\"served\"} 1"));
}

/// A hook that waits until its gate is opened.
fn gated() -> (Sandbox, impl Fn()) {
    let sandbox = Sandbox::with_hook("BeforeTool", "cat > /dev/null; while [ ! -e gate ]; do sleep 0.02; done");
    let gate = sandbox.project.join("gate");
    (sandbox, move || std::fs::write(&gate, "").unwrap())
}

fn in_flight(bus: &Bus) -> usize {
    let text = bus.metrics().text();
    text.lines().find_map(|line| line.strip_prefix("hookrail_bus_in_flight ")?.parse().ok()).unwrap()
}

fn large(name: usize, bytes: usize) -> String {
    let input = json!({"tool_name": "x", "tool_input": {"text": "x".repeat(bytes)}});
    let payload = json!({"correlationId": name.to_string(), "eventName": "BeforeTool", "input": input});
    format!("{}\n", json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload}))
}

/// Sends requests of so many bytes, then reads all answers.
async fn many(path: std::path::PathBuf, count: usize, bytes: usize) -> usize {
    let (reader, mut writer) = tokio::net::UnixStream::connect(path).await.unwrap().into_split();
    let writing = tokio::spawn(async move {
        for name in 0..count {
            writer.write_all(large(name, bytes).as_bytes()).await.unwrap();
        }
        writer.shutdown().await.unwrap();
    });
    let mut text = String::new();
    tokio::io::BufReader::new(reader).read_to_string(&mut text).await.unwrap();
    writing.await.unwrap();
    text.lines().filter(|line| line.contains("\"success\":true")).count()
}

async fn until_it_stays(bus: &Bus, least: usize) -> usize {
    within(async {
        while in_flight(bus) < least {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    // Nothing says that no more is read; this is long for a line that only has to be read.
    tokio::time::sleep(Duration::from_millis(500)).await;
    in_flight(bus)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_connection_queues_is_bounded_in_bytes() {
    let (sandbox, open) = gated();
    let bus = Bus::new(sandbox.settings().most_queued(1_000_000));
    let path = sandbox.base.join("s");
    let listener = SocketListener::bind(&path).unwrap();
    let serving = bus.clone();
    tokio::spawn(async move { serving.listen(listener).await });
    let asking = tokio::spawn(many(path.clone(), 20, 300_000));
    assert_eq!(until_it_stays(&bus, 4).await, 4, "the fourth is over a million");
    // Another client is served meanwhile.
    let other = Client::connect(&path).await.unwrap();
    within(other.ping()).await.unwrap();
    within(other.execute(Request::new("SessionStart", Json::empty_object()))).await.unwrap();
    open();
    assert_eq!(within(asking).await.unwrap(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_all_connections_queue_is_bounded_in_bytes() {
    let (sandbox, open) = gated();
    let settings = sandbox.settings().longest_line(500_000).most_queued_in_all(1_000_000);
    let bus = Bus::new(settings);
    let path = sandbox.base.join("s");
    let listener = SocketListener::bind(&path).unwrap();
    let serving = bus.clone();
    tokio::spawn(async move { serving.listen(listener).await });
    let asking: Vec<_> = (0..5).map(|_| tokio::spawn(many(path.clone(), 4, 300_000))).collect();
    let most = until_it_stays(&bus, 2).await;
    assert!(most <= 3, "{most} of 300 kB in a million");
    // A small request needs no reservation.
    let other = Client::connect(&path).await.unwrap();
    within(other.execute(Request::new("SessionStart", Json::empty_object()))).await.unwrap();
    open();
    for asked in asking {
        assert_eq!(within(asked).await.unwrap(), 4);
    }
}

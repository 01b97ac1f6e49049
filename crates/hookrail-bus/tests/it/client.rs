//! The Rust client: every call ends, and no failure looks like an approval.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::{Sandbox, tool, within};
use hookrail::Json;
use hookrail_bus::transport::{BindError, ConnectError, Lines, SocketListener, UnsafeSocketPath};
use hookrail_bus::{Bus, Client, ErrorCode, NotGuarded, Request};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

fn request(name: &str) -> Request {
    Request::new("BeforeTool", Json::from(tool("x"))).named(name)
}

/// A server whose every line is written by the test.
struct FakeServer {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl FakeServer {
    fn new() -> (Self, Client) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(far);
        let client = Client::new(Lines::new(reader, writer));
        let (reader, writer) = tokio::io::split(near);
        (Self { reader: BufReader::new(reader), writer }, client)
    }

    async fn heard(&mut self) -> String {
        let mut line = String::new();
        within(self.reader.read_line(&mut line)).await.unwrap();
        line
    }

    async fn say(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
}

fn serve(sandbox: &Sandbox) -> (Bus, PathBuf) {
    let path = sandbox.base.join("s");
    let listener = SocketListener::bind(&path).unwrap();
    let bus = sandbox.bus();
    let serving = bus.clone();
    tokio::spawn(async move { serving.listen(listener).await });
    (bus, path)
}

/// Asks, lets the server say something, and gives back the error.
async fn error_of(lines: &[&str]) -> NotGuarded {
    let (mut server, client) = FakeServer::new();
    let asked = tokio::spawn(async move { client.execute(request("a")).await });
    server.heard().await;
    for line in lines {
        server.say(line).await;
    }
    within(asked).await.unwrap().unwrap_err()
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_an_error() {
    let response =
        |rest: &str| format!(r#"{{"type":"HOOK_EXECUTION_RESPONSE","payload":{{"correlationId":"a",{rest}}}}}"#);
    let long =
        response(&format!(r#""success":true,"output":{{}},"outcome":"{}""#, "x".repeat(hookrail_bus::LINE_LIMIT)));
    for line in [
        "garbage".to_owned(),
        "[]".to_owned(),
        response(r#""success":true"#),
        response(r#""success":true,"outcome":null"#),
        response(r#""success":true,"outcome":{"decision":"perhaps"}"#),
        response(r#""success":true,"outcome":{"decision":7}"#),
        response(r#""success":"yes","outcome":{}"#),
        response(r#""success":true,"outcome":{"#),
        long,
    ] {
        let error = error_of(&[&line]).await;
        assert!(matches!(error, NotGuarded::Unreadable(_)), "{error} for {}", line.get(..80).unwrap_or(&line));
    }
    let pong = error_of(&[r#"{"type":"pong","payload":{"correlationId":"a"}}"#]).await;
    assert!(matches!(pong, NotGuarded::Unreadable(_)), "{pong}");
    let refused = error_of(&[&response(r#""success":false,"error":{"code":"new_code","message":"m"}"#)]).await;
    assert!(matches!(refused, NotGuarded::Refused(_)), "{refused}");
    assert!(refused.to_string().starts_with("not guarded: "), "{refused}");
}

#[tokio::test]
async fn what_a_newer_server_says_besides_is_skipped_and_only_the_named_request_fails() {
    let (mut server, client) = FakeServer::new();
    let ask = |name: &'static str| {
        let client = client.clone();
        tokio::spawn(async move { client.execute(request(name)).await })
    };
    let (a, b) = (ask("a"), ask("b"));
    server.heard().await;
    server.heard().await;
    server.say(r#"{"type":"news","payload":{"correlationId":"b"}}"#).await;
    server.say(r#"{"type":"HOOK_EXECUTION_RESPONSE","payload":{"correlationId":"a","success":true}}"#).await;
    assert!(matches!(within(a).await.unwrap(), Err(NotGuarded::Unreadable(_))));
    let fine = json!({"correlationId": "b", "success": true, "output": {}, "outcome": {"decision": "deny"}});
    server.say(&json!({"type": "HOOK_EXECUTION_RESPONSE", "payload": fine}).to_string()).await;
    assert!(within(b).await.unwrap().unwrap().report.is_denied());
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_not_waited_for_for_ever() {
    let (mut server, client) = FakeServer::new();
    let client = client.deadline(Duration::from_millis(100));
    let error = within(client.execute(request("a"))).await.unwrap_err();
    assert_eq!(error, NotGuarded::TimedOut(Duration::from_millis(100)));
    assert!(matches!(within(client.ping()).await, Err(NotGuarded::TimedOut(_))));
    assert!(server.heard().await.contains("HOOK_EXECUTION_REQUEST"));
    assert!(server.heard().await.contains("cancel"), "what was given up is cancelled");
    // Nor is one that reads nothing: more than the pipe takes waits to be sent.
    let input = json!({"tool_name": "x", "tool_input": {"text": "x".repeat(1_000_000)}});
    for _ in 0..3 {
        let asked = client.execute(Request::new("BeforeTool", Json::from(&input)));
        assert!(matches!(within(asked).await, Err(NotGuarded::TimedOut(_))));
    }
}

#[tokio::test]
async fn everything_that_waits_is_settled_when_the_connection_ends() {
    let (mut server, client) = FakeServer::new();
    let asked: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .map(|name| {
            let client = client.clone();
            tokio::spawn(async move { client.execute(request(name)).await })
        })
        .collect();
    for _ in 0..3 {
        server.heard().await;
    }
    drop(server);
    for asked in asked {
        assert_eq!(within(asked).await.unwrap().unwrap_err(), NotGuarded::Closed);
    }
    assert_eq!(within(client.execute(request("d"))).await.unwrap_err(), NotGuarded::Closed);
}

#[tokio::test]
async fn a_client_there_is_no_room_for_hears_so_under_the_name_it_waits_for() {
    let sandbox = Sandbox::new();
    let bus = Bus::new(sandbox.settings().most_connections(1));
    let path = sandbox.base.join("s");
    let listener = SocketListener::bind(&path).unwrap();
    let serving = bus.clone();
    tokio::spawn(async move { serving.listen(listener).await });
    let first = Client::connect(&path).await.unwrap();
    within(first.ping()).await.unwrap();
    let second = Client::connect(&path).await.unwrap();
    let error = within(second.execute(request("mine"))).await.unwrap_err();
    let NotGuarded::Refused(error) = error else { panic!("{error}") };
    assert_eq!(error.known(), Some(ErrorCode::Overloaded));
    within(first.ping()).await.unwrap();
    // The place is free again when its client is gone, and the next request of the other connects anew.
    drop(first);
    within(async {
        while second.execute(request("again")).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_client_finds_a_server_that_was_started_again() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let (bus, path) = serve(&sandbox);
    let client = Client::connect(&path).await.unwrap();
    let mut lifecycles = client.lifecycles();
    assert!(within(client.execute(request("a"))).await.unwrap().report.is_denied());
    within(bus.drain()).await;
    drop(bus);
    let again = tokio::spawn({
        let client = client.clone();
        async move { client.execute(request("b")).await }
    });
    // It looks for the server before there is one again.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (_bus, _) = serve(&sandbox);
    assert!(within(again).await.unwrap().unwrap().report.is_denied());
    // What it wanted to be told it is told by the new server too.
    within(async { while lifecycles.next().await.unwrap().correlation_id != "b" {} }).await;
}

#[tokio::test]
async fn a_missing_server_is_named_with_what_to_do() {
    let sandbox = Sandbox::new();
    let path = sandbox.base.join("s");
    let error = within(Client::connect(&path)).await.unwrap_err();
    assert_eq!(error, NotGuarded::Unreachable(ConnectError::Missing(path.clone())));
    assert!(error.to_string().contains("hookrail serve --socket"), "{error}");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let error = within(Client::connect(&path)).await.unwrap_err();
    assert_eq!(error, NotGuarded::Unreachable(ConnectError::NotServed(path)));
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn a_socket_that_others_could_replace_is_neither_made_nor_used() {
    let sandbox = Sandbox::new();
    let folder = sandbox.base.join("open");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("s");
    for mode in [0o777, 0o770, 0o702] {
        set_mode(&folder, mode);
        let error = SocketListener::bind(&path).unwrap_err();
        assert!(matches!(error, BindError::Unsafe(UnsafeSocketPath::WritableByOthers { .. })), "{error}");
    }
    // Only the owner can replace a file in a folder with the sticky bit.
    set_mode(&folder, 0o1777);
    let listener = SocketListener::bind(&path).unwrap();
    let bus = sandbox.bus();
    tokio::spawn(async move { bus.listen(listener).await });
    within(Client::connect(&path).await.unwrap().ping()).await.unwrap();
    let is_unsafe = |error: NotGuarded| matches!(error, NotGuarded::Unreachable(ConnectError::Unsafe(_)));
    set_mode(&folder, 0o777);
    assert!(is_unsafe(within(Client::connect(&path)).await.unwrap_err()));
    set_mode(&folder, 0o755);
    within(Client::connect(&path).await.unwrap().ping()).await.unwrap();
    set_mode(&path, 0o622);
    assert!(is_unsafe(within(Client::connect(&path)).await.unwrap_err()));
    set_mode(&path, 0o600);
    // Not 65534, as which tests may run themselves.
    if std::os::unix::fs::chown(&path, Some(65533), None).is_ok() {
        assert!(is_unsafe(within(Client::connect(&path)).await.unwrap_err()));
    } else {
        println!("skipped: only root can give a socket to another user");
    }
}

//! The socket: for one user only, never two servers at one place, and a client may close its writing end.

#![cfg(unix)]

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};

use crate::support::{Sandbox, tool, within};
use hookrail::Json;
use hookrail_bus::transport::{BindError, SocketListener, connect};
use hookrail_bus::{Bus, Client, ErrorCode, Hello, Request};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn listen(bus: &Bus, sandbox: &Sandbox) -> std::path::PathBuf {
    let path = sandbox.base.join("s");
    let listener = SocketListener::bind(&path).unwrap();
    let bus = bus.clone();
    tokio::spawn(async move { bus.listen(listener).await });
    path
}

#[tokio::test]
async fn only_its_user_may_use_it_and_it_is_gone_afterwards() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let bus = sandbox.bus();
    let path = listen(&bus, &sandbox);
    let found = std::fs::symlink_metadata(&path).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(&sandbox.base).unwrap().count(), 3, "nothing but the socket was added");
    let client = Client::new(connect(&path).await.unwrap());
    assert_eq!(within(client.hello(Hello::new(1).from_client("test"))).await.unwrap().protocol, 1);
    let error = within(client.hello(Hello::new(2))).await.unwrap_err();
    assert!(error.to_string().contains("unsupported_protocol"), "{error}");
    within(client.hello(Hello::new(1))).await.unwrap();
    within(client.ping()).await.unwrap();
    let report = within(client.execute(Request::new("BeforeTool", Json::from(tool("x"))))).await.unwrap().report;
    assert!(report.is_denied() && report.outcome().is_none());
    assert_eq!(report.document().to_value()["runs"][0]["exitCode"], 2);
    within(bus.drain()).await;
    let gone = within(tokio::task::spawn_blocking(move || {
        hookrail_testkit::wait_until(|| !path.exists(), hookrail_testkit::HANG)
    }));
    assert!(gone.await.unwrap());
}

#[tokio::test]
async fn a_socket_that_was_left_behind_is_replaced_and_nothing_else_is() {
    let sandbox = Sandbox::new();
    let path = sandbox.base.join("s");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let first = SocketListener::bind(&path).unwrap();
    assert!(matches!(SocketListener::bind(&path), Err(BindError::InUse(_))));
    drop(first);
    assert!(!path.exists());
    std::fs::write(&path, "precious").unwrap();
    assert!(matches!(SocketListener::bind(&path), Err(BindError::NotASocket(_))));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert!(matches!(SocketListener::bind(sandbox.base.join("missing/s")), Err(BindError::Io { .. })));
}

#[tokio::test]
async fn a_client_that_has_said_everything_still_gets_its_answers() {
    let sandbox = Sandbox::with_hook("BeforeTool", "sleep 0.2; echo late");
    let bus = sandbox.bus();
    let path = listen(&bus, &sandbox);
    let mut stream = tokio::net::UnixStream::connect(&path).await.unwrap();
    let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"eventName": "BeforeTool", "input": tool("x")}});
    stream.write_all(request.to_string().as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut text = String::new();
    within(stream.read_to_string(&mut text)).await.unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["payload"]["outcome"]["systemMessage"], "late");
}

#[tokio::test]
async fn one_client_too_many_is_told_so() {
    let sandbox = Sandbox::new();
    let bus = Bus::new(sandbox.settings().most_connections(1));
    let path = listen(&bus, &sandbox);
    let first = Client::new(connect(&path).await.unwrap());
    within(first.ping()).await.unwrap();
    let mut second = tokio::net::UnixStream::connect(&path).await.unwrap();
    let mut text = String::new();
    within(second.read_to_string(&mut text)).await.unwrap();
    assert!(text.contains(ErrorCode::Overloaded.name()), "{text}");
    within(first.ping()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_servers_that_start_at_once_one_has_the_socket() {
    let sandbox = Sandbox::new();
    let path = sandbox.base.join("s");
    for _ in 0..50 {
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let barrier = std::sync::Arc::new(std::sync::Barrier::new(6));
        let starting: Vec<_> = (0..6)
            .map(|_| {
                let (path, barrier) = (path.clone(), std::sync::Arc::clone(&barrier));
                let runtime = tokio::runtime::Handle::current();
                std::thread::spawn(move || {
                    let _inside = runtime.enter();
                    barrier.wait();
                    SocketListener::bind(&path)
                })
            })
            .collect();
        let bound: Vec<_> = starting.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(bound.iter().filter(|bound| bound.is_ok()).count(), 1);
        assert!(bound.iter().all(|bound| matches!(bound, Ok(_) | Err(BindError::InUse(_)))));
        drop(bound);
        assert!(!path.exists());
    }
}

#[tokio::test]
async fn a_server_that_accepts_nothing_is_one_all_the_same() {
    let sandbox = Sandbox::new();
    let path = sandbox.base.join("s");
    let _busy = std::os::unix::net::UnixListener::bind(&path).unwrap();
    // Its queue is filled, so that a connection would have to wait.
    let mut waiting = Vec::new();
    loop {
        let connecting = tokio::net::UnixStream::connect(&path).await;
        match connecting {
            Ok(stream) if waiting.len() < 10_000 => waiting.push(stream),
            _ => break,
        }
    }
    let bound = within(tokio::task::spawn_blocking(move || SocketListener::bind(&path))).await.unwrap();
    assert!(matches!(bound, Err(BindError::InUse(_))), "{bound:?}");
}

#[tokio::test]
async fn a_socket_that_was_removed_is_made_again() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let bus = sandbox.bus();
    let path = listen(&bus, &sandbox);
    let before = Client::connect(&path).await.unwrap();
    within(before.ping()).await.unwrap();
    std::fs::remove_file(&path).unwrap();
    within(async {
        while !path.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    within(before.ping()).await.unwrap();
    let after = Client::connect(&path).await.unwrap();
    let executed = within(after.execute(Request::new("BeforeTool", Json::from(tool("x"))))).await.unwrap();
    assert!(executed.report.is_denied());
}

#[tokio::test]
async fn a_server_whose_name_was_taken_ends_and_says_so() {
    let sandbox = Sandbox::new();
    let path = sandbox.base.join("s");
    let (first, second) = (sandbox.bus(), sandbox.bus());
    let listener = SocketListener::bind(&path).unwrap();
    let serving = tokio::spawn(async move { first.listen(listener).await });
    std::fs::remove_file(&path).unwrap();
    let taken = SocketListener::bind(&path).unwrap();
    let serving_second = second.clone();
    tokio::spawn(async move { serving_second.listen(taken).await });
    assert!(matches!(within(serving).await.unwrap(), Err(BindError::InUse(_))));
    // What is there now belongs to the other server, and stays.
    within(Client::connect(&path).await.unwrap().ping()).await.unwrap();
}

/// The mode alone keeps others out; this is about a socket whose mode was changed. Only root can pass for another.
#[tokio::test]
async fn another_user_is_turned_away() {
    let program = "import os, socket, sys\nos.setgid(65534); os.setuid(65534)\n\
                   s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); sys.stdout.write(repr(s.recv(10)))";
    let root = std::process::Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    let python = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !root || !python {
        assert!(std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_none_or(|all| all != "1") || !python, "needs python3");
        println!("skipped: another_user_is_turned_away needs root and python3");
        return;
    }
    let sandbox = Sandbox::new();
    let bus = sandbox.bus();
    let path = listen(&bus, &sandbox);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
    std::fs::set_permissions(&sandbox.base, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut other = tokio::process::Command::new("python3");
    let ran = within(other.arg("-c").arg(program).arg(&path).output()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "b''", "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(bus.metrics().text().contains("why=\"stranger\"} 1"));
}

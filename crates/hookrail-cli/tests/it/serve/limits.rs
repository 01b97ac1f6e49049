//! The limits of a server under load, and the loss of its socket.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hookrail_testkit::{HANG, Holdings, wait_until};
use serde_json::json;

use crate::serve::support::Sandbox;

const MIB: usize = 1024 * 1024;

/// The most memory a process ever had, in KiB.
#[cfg(target_os = "linux")]
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn large_requests_that_wait_are_bounded_and_their_memory_is_given_back() {
    let sandbox = Sandbox::with_hook("cat > /dev/null; exec sleep 600");
    let (server, path, mut talk) = sandbox.on_socket(&[]);
    talk.ask_for("warm", "x");
    talk.say("cancel", &json!({"correlationId": "warm"}));
    talk.next_error();
    let idle = Holdings::of_process(server.id()).memory;
    let stream = UnixStream::connect(&path).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let input = json!({"tool_name": "x", "tool_input": {"text": "x".repeat(10 * MIB)}});
    let request = format!(
        "{}\n",
        json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"eventName": "BeforeTool", "input": input}})
    );
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let writing = std::thread::spawn(move || {
        for _ in 0..120 {
            for piece in request.as_bytes().chunks(64 * 1024) {
                if writer.write_all(piece).is_err() {
                    return;
                }
                counted.fetch_add(piece.len(), Ordering::Relaxed);
            }
        }
    });
    // The server stops reading at its limit; the only sign is that a write blocks.
    let mut before = 0;
    let has_stopped = || {
        std::thread::sleep(Duration::from_millis(1500));
        let now = sent.load(Ordering::Relaxed);
        now > 10 * MIB && now == std::mem::replace(&mut before, now)
    };
    assert!(wait_until(has_stopped, HANG));
    assert!(sent.load(Ordering::Relaxed) < 60 * MIB, "{} bytes were read", sent.load(Ordering::Relaxed));
    let most = peak(server.id());
    assert!(most < 300 * 1024, "{most} KiB for requests that wait");
    // Other clients are served, and the memory is freed when the client disconnects.
    talk.say("ping", &json!({}));
    assert_eq!(talk.next().unwrap()["type"], "pong");
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    writing.join().unwrap();
    let is_given_back = || Holdings::of_process(server.id()).memory < idle + 24 * 1024;
    assert!(wait_until(is_given_back, HANG), "{} KiB before, {:?} now", idle, Holdings::of_process(server.id()));
}

#[test]
fn a_server_whose_socket_was_replaced_ends_and_says_why() {
    let sandbox = Sandbox::with_hook("true");
    let (mut server, path, _talk) = sandbox.on_socket(&[]);
    // Moved there, so that the server never finds the name free.
    std::fs::write(sandbox.base.join("new"), "something else").unwrap();
    std::fs::rename(sandbox.base.join("new"), &path).unwrap();
    let mut said = String::new();
    server.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("cannot be created again"), "{said}");
    server.ends_with(1);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "something else");
}

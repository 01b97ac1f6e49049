//! Ctrl-C while hooks run: nothing of them is left, and the status says what happened.

#![cfg(unix)]

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Starts `fire` with a hook that says when it runs, and sends the signal then.
fn interrupted(signal: &str) -> (i32, String, Sandbox) {
    let sandbox = Sandbox::with_hook("BeforeTool", "echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 60");
    let mut child = sandbox.command(&["fire", "BeforeTool", "--trust-project", "--json"]).spawn().unwrap();
    wait_for(&mut child, &sandbox.project.join("pid"));
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    (child.wait().unwrap().code().unwrap(), stdout, sandbox)
}

fn wait_for(child: &mut Child, file: &Path) {
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the hook never started");
        assert!(child.try_wait().unwrap().is_none(), "the command ended early");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_interrupt_cancels_and_waits() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129), ("-QUIT", 131)] {
        let (ended, stdout, sandbox) = interrupted(signal);
        assert_eq!(ended, code);
        let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(document["runs"][0]["end"], "cancelled");
        let hook = std::fs::read_to_string(sandbox.project.join("pid")).unwrap();
        let alive = Command::new("kill").args(["-0", hook.trim()]).output().unwrap().status.success();
        assert!(!alive, "the hook is still there");
    }
}

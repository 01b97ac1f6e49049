//! The check whether any hook wants an event allocates nothing.

#![cfg(target_os = "linux")]

use std::process::Command;

use serde_json::Value;

#[test]
fn an_event_that_no_hook_wants_allocates_nothing() {
    let said = Command::new(env!("CARGO_BIN_EXE_hookrail-bench-allocations")).output().unwrap();
    let counts: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(counts["box"], 1_000, "the counter does not count: {counts}");
    assert_eq!(counts["wants"], 0, "{counts}");
}

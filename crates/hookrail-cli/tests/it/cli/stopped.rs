//! A host that is suspended past the deadline of a hook uses an answer that the hook gave in time, when it is continued.

#![cfg(unix)]

use std::time::Duration;

use hookrail_testkit::{HANG, Signal, send_signal, wait_until};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

const TIMEOUT: Duration = Duration::from_secs(3);

/// Reports that it runs, continues while the host is suspended, and reports its end.
const DENIES_LATER: &str = "echo > began; until [ -e stopped ]; do sleep 0.02; done; \
    echo '{\"decision\":\"deny\",\"reason\":\"in time\"}'; echo > done";

/// Stops `fire` while its hook runs, until the hook has ended and its deadline has passed.
fn stopped(hook: &str, options: &str) -> ProgramOutput {
    let command = serde_json::Value::from(hook);
    let timeout = TIMEOUT.as_millis();
    let sandbox = Sandbox::with_hooks(&format!(
        r#""BeforeTool": [{{"hooks": [{{"type": "command", "command": {command}, "timeout": {timeout}{options}}}]}}]"#
    ));
    let child = sandbox.command(&["fire", "BeforeTool", "--trust-project", "--json"]).spawn().unwrap();
    let file = |name: &str| sandbox.project.join(name);
    assert!(wait_until(|| file("began").exists(), HANG), "the hook never started");
    send_signal(child.id(), Signal::STOP);
    std::fs::write(file("stopped"), "").unwrap();
    assert!(wait_until(|| file("done").exists(), HANG), "the hook does not end");
    std::thread::sleep(TIMEOUT + Duration::from_millis(500));
    send_signal(child.id(), Signal::CONT);
    ProgramOutput::from(child.wait_with_output().unwrap())
}

#[test]
fn a_hook_that_denied_while_its_host_was_stopped_has_denied() {
    let ran = stopped(DENIES_LATER, "").ends_with(2);
    let document = ran.json();
    assert_eq!(document["reason"], "in time", "{document}");
    assert_eq!(document["runs"][0]["end"], "answered", "{document}");
}

#[test]
fn a_worker_that_denied_while_its_host_was_stopped_has_denied() {
    let worker = "while read -r line; do id=${line#*\\\"id\\\":}; id=${id%%,*}; echo > began; \
        until [ -e stopped ]; do sleep 0.02; done; \
        echo \"{\\\"id\\\":$id,\\\"output\\\":{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"in time\\\"}}\"; echo > done; done";
    let document = stopped(worker, r#", "mode": "worker""#).ends_with(2).json();
    assert_eq!(document["reason"], "in time", "{document}");
}

#[test]
fn a_hook_that_still_runs_when_its_host_goes_on_has_timed_out() {
    let never = "echo > began; until [ -e stopped ]; do sleep 0.02; done; echo > done; exec sleep 600";
    let document = stopped(never, "").ends_with(0).json();
    assert_eq!(document["runs"][0]["end"], "timed-out", "{document}");
    let document = stopped(never, r#", "onFailure": "block""#).ends_with(2).json();
    assert_eq!(document["runs"][0]["end"], "timed-out", "{document}");
}

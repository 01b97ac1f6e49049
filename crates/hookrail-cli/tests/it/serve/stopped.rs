//! A server that is suspended past the deadline of a hook still uses an answer that the hook gave in time.

use std::time::Duration;

use hookrail_testkit::{HANG, Signal, wait_until};
use serde_json::json;

use crate::serve::support::Sandbox;

const TIMEOUT: Duration = Duration::from_secs(3);

#[test]
fn a_hook_that_denied_while_the_server_was_stopped_has_denied() {
    let command = "echo > began; until [ -e stopped ]; do sleep 0.02; done; \
        echo '{\"decision\":\"deny\",\"reason\":\"in time\"}'; echo > done";
    let hook = json!({"type": "command", "command": command, "timeout": 3000});
    let sandbox = Sandbox::new(&json!({"BeforeTool": [{"hooks": [hook]}]}));
    let (server, mut talk) = sandbox.on_stdio(&[]);
    talk.ask_for("c", "x");
    let file = |name: &str| sandbox.project.join(name);
    assert!(wait_until(|| file("began").exists(), HANG), "the hook never started");
    server.signal(Signal::STOP);
    std::fs::write(file("stopped"), "").unwrap();
    assert!(wait_until(|| file("done").exists(), HANG), "the hook does not end");
    std::thread::sleep(TIMEOUT + Duration::from_millis(500));
    server.signal(Signal::CONT);
    let answer = talk.next().unwrap();
    assert_eq!(answer["payload"]["outcome"]["decision"], "deny", "{answer}");
    assert_eq!(answer["payload"]["outcome"]["reason"], "in time", "{answer}");
}

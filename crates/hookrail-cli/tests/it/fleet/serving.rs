//! A running server notices the switch.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fleet::support::{Fleet, denying};

/// A limit that no test reaches.
const HANG: Duration = Duration::from_secs(60);

struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start(fleet: &Fleet) -> Self {
        let mut command = fleet.command(&["serve", "--stdio"]);
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, stdin, stdout: BufReader::new(stdout) }
    }

    /// Fires a tool call and returns the response.
    fn fire(&mut self) -> Value {
        let payload = json!({"eventName": "BeforeTool", "input": {"tool_name": "write_file", "tool_input": {}}});
        let request = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload});
        writeln!(self.stdin, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["type"] == "HOOK_EXECUTION_RESPONSE" {
                return message["payload"].clone();
            }
        }
    }

    /// Fires until the response contains a text.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let found = hookrail_testkit::wait_until(|| self.fire().to_string().contains(text), HANG);
        assert!(found, "never `{text}`: {}", self.fire());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_running_server_takes_each_new_bundle() {
    let fleet = Fleet::new();
    let mut server = Server::start(&fleet);
    server.wait_for("no bundle is installed");
    for number in 1..=4 {
        fleet.publish(&denying(&format!("policy number {number}")), &[]);
        assert_eq!(fleet.apply(), "switched");
        server.wait_for(&format!("policy number {number}"));
    }
}

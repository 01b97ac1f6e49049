//! Hooks whose program does not begin to run, as on a disk that does not answer: they end at their timeout, and no other hook waits.

#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use hookrail_testkit::has_program;
use serde_json::{Value, json};

use crate::serve::support::Sandbox;

/// Much longer than the timeout of the hooks, in microseconds. The tracer lets no process end before.
const DELAY: &str = "inject=execve:delay_enter=40000000";

/// A project with a guard for the tool `slow`, whose program never begins to run, and a healthy one for the tool `quick`.
struct Lab {
    sandbox: Sandbox,
    stalls: PathBuf,
}

impl Lab {
    fn new(keys: &Value) -> Option<Self> {
        if !has_program("strace") {
            return None;
        }
        let program = |sandbox: &Sandbox, name: &str, text: &str| {
            let file = sandbox.base.join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
            file
        };
        let sandbox = Sandbox::with_user_hook("true");
        let stalls = program(&sandbox, "stalls", &format!("#!/bin/sh\ntouch {}\n", sandbox.base.join("ran").display()));
        let healthy = program(&sandbox, "healthy", "#!/bin/sh\necho keep out >&2\nexit 2\n");
        let entry = |tool: &str, command: &PathBuf| {
            let mut hook =
                json!({"type": "command", "command": command, "args": ["x"], "onFailure": "block", "timeout": 2000});
            hook.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
            json!({"matcher": tool, "hooks": [hook]})
        };
        let hooks = json!({"BeforeTool": [entry("slow", &stalls), entry("quick", &healthy)]});
        let settings = json!({"hooksConfig": {"enabled": true}, "hooks": hooks});
        std::fs::write(sandbox.base.join("home/.llxprt/settings.json"), settings.to_string()).unwrap();
        Some(Self { sandbox, stalls })
    }

    /// The program under a tracer that delays the `execve` of the first guard.
    fn traced(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command("strace");
        command.args(["-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=execve", "-e", DELAY]);
        command.arg("-P").arg(&self.stalls).arg(Sandbox::program()).args(args);
        command
    }

    fn has_run(&self) -> bool {
        self.sandbox.base.join("ran").exists()
    }
}

/// The first run of an outcome timed out because it did not start.
fn is_not_started(outcome: &Value) {
    assert_eq!(outcome["runs"][0]["end"], "timed-out", "{outcome}");
    let found = outcome["diagnostics"].as_array().unwrap().iter().find(|found| found["code"] == "hook-timed-out");
    assert!(found.unwrap()["message"].as_str().unwrap().contains("did not start within"), "{outcome}");
}

#[test]
fn the_timeout_of_a_hook_covers_its_start() {
    // A worker and a process in a sandbox are started in other ways.
    for keys in [json!({}), json!({"mode": "worker"}), json!({"sandbox": "guard"})] {
        let Some(lab) = Lab::new(&keys) else { return };
        let project = lab.sandbox.project.to_str().unwrap().to_owned();
        let fire = |tool: &str| {
            // Not a pipe: the tracer holds it.
            let answer = lab.sandbox.base.join(tool);
            let mut command = lab.traced(&["fire", "before-tool", "--json", "--project", &project, "--tool", tool]);
            let status = command.stdout(std::fs::File::create(&answer).unwrap()).status().unwrap();
            let answer = std::fs::read_to_string(answer).unwrap();
            serde_json::from_str::<Value>(&answer).unwrap_or_else(|_| panic!("{keys}: {status}: {answer}"))
        };
        let outcome = fire("slow");
        is_not_started(&outcome);
        assert_eq!(outcome["decision"], "deny", "{keys}: {outcome}");
        assert!(!lab.has_run(), "{keys}");
        let outcome = fire("quick");
        assert_ne!(outcome["runs"][0]["end"], "timed-out", "{keys}: {outcome}");
    }
}

#[test]
fn a_hook_that_does_not_start_delays_no_other_client() {
    for keys in [json!({}), json!({"sandbox": "guard"})] {
        let Some(lab) = Lab::new(&keys) else { return };
        let socket = lab.sandbox.base.join("s");
        let mut server = lab.traced(&["serve", "--socket", socket.to_str().unwrap(), "--trust-project"]);
        let server = crate::serve::support::Server(server.current_dir(&lab.sandbox.project).spawn().unwrap());
        let mut waiting = Sandbox::talk_over(&socket);
        let mut other = Sandbox::talk_over(&socket);
        waiting.ask_for("waiting", "slow");
        // The other client is answered while the first one waits, and after it.
        for _ in 0..3 {
            let answer = other.ask("quick");
            assert_eq!(answer["outcome"]["decision"], "deny", "{answer}");
        }
        is_not_started(&waiting.next().unwrap()["payload"]["outcome"]);
        assert_eq!(other.ask("quick")["outcome"]["decision"], "deny");
        assert!(!lab.has_run());
        server.signal("-TERM");
        drop(server);
    }
}

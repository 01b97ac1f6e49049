//! Hooks whose program does not begin to run, as on a disk that does not answer: they end at their timeout, and no other hook waits.

#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use hookrail_testkit::{ProgramOutput, RunningProgram, Signal, Talk, has_program};
use serde_json::{Value, json};

use crate::serve::support::Sandbox;

/// Much longer than the timeout of the hooks, in microseconds. The tracer lets no process end before.
const DELAY: &str = "inject=execve:delay_enter=40000000";

/// A project with a guard for the tool `slow`, whose program never begins to run, and a healthy one for the tool `quick`. In the
/// reference agent they guard two of its tools.
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
        let hooks =
            json!({"BeforeTool": [entry("^(slow|list_directory)$", &stalls), entry("^(quick|read_file)$", &healthy)]});
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

    /// Runs the program under the tracer, which holds no pipe of it, and returns its status and what it wrote.
    fn run(&self, args: &[&str], input: &str) -> (Option<i32>, String) {
        let file = |name: &str| self.sandbox.base.join(name);
        std::fs::write(file("input"), input).unwrap();
        let output = std::fs::File::create(file("output")).unwrap();
        let mut command = self.traced(args);
        command.current_dir(&self.sandbox.project).stdin(std::fs::File::open(file("input")).unwrap());
        command.stderr(output.try_clone().unwrap()).stdout(output);
        let status = command.status().unwrap();
        (status.code(), std::fs::read_to_string(file("output")).unwrap())
    }

    /// The call of a tool, as Claude Code sends it.
    fn call(&self, tool: &str) -> String {
        json!({"session_id": "s", "transcript_path": "/t", "cwd": self.sandbox.project, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"x": 1}})
        .to_string()
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
        let server = RunningProgram::start(server.current_dir(&lab.sandbox.project));
        let mut waiting = Talk::over(&socket);
        let mut other = Talk::over(&socket);
        waiting.ask_for("waiting", "slow");
        // The other client is answered while the first one waits, and after it.
        for _ in 0..3 {
            let answer = other.ask("quick");
            assert_eq!(answer["outcome"]["decision"], "deny", "{answer}");
        }
        is_not_started(&waiting.next().unwrap()["payload"]["outcome"]);
        assert_eq!(other.ask("quick")["outcome"]["decision"], "deny");
        assert!(!lab.has_run());
        server.signal(Signal::TERM);
        drop(server);
    }
}

#[test]
fn a_hook_that_does_not_start_ends_at_its_timeout_in_the_agent_and_the_next_call_is_guarded() {
    let Some(lab) = Lab::new(&json!({})) else { return };
    let calls = json!([{"name": "list_directory", "args": {}}, {"name": "read_file", "args": {"path": "a"}}]);
    let script = lab.sandbox.base.join("script.json");
    std::fs::write(&script, json!({"turns": [{"calls": calls}, {"text": "the-end"}]}).to_string()).unwrap();
    let (code, said) = lab.run(&["agent", "--headless", "--prompt", "go", "--script", script.to_str().unwrap()], "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("did not start within") && said.contains("keep out") && said.contains("the-end"), "{said}");
    assert!(!lab.has_run());
}

#[test]
fn a_bridge_answers_at_the_timeout_of_a_hook_that_does_not_start() {
    let Some(lab) = Lab::new(&json!({})) else { return };
    let bridge = ["bridge", "claude", "--event", "PreToolUse", "--alone"];
    let (code, said) = lab.run(&bridge, &lab.call("slow"));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("\"deny\"") && said.contains("not started after 2000 ms"), "{said}");
    assert!(!lab.has_run());
    let (_, said) = lab.run(&bridge, &lab.call("quick"));
    assert!(said.contains("\"deny\"") && said.contains("keep out"), "{said}");
    let (_, said) = lab.run(&bridge, &lab.call("other"));
    assert!(!said.contains("deny"), "a call that no guard wants passes: {said}");
}

#[test]
fn bridges_of_a_server_wait_for_no_hook_of_another_one_that_does_not_start() {
    let Some(lab) = Lab::new(&json!({})) else { return };
    let folder = lab.sandbox.runtime_folder();
    let socket = folder.join("hookrail.sock");
    let mut server = lab.traced(&["serve", "--socket", socket.to_str().unwrap()]);
    let server = RunningProgram::start(server.current_dir("/"));
    drop(Talk::over(&socket));
    let ask = |tool: &str| {
        let mut command = lab.sandbox.command(Sandbox::program());
        command.args(["bridge", "claude", "--event", "PreToolUse"]).env("XDG_RUNTIME_DIR", &folder);
        (command, lab.call(tool))
    };
    let (mut slow, call) = ask("slow");
    let waiting = std::thread::spawn(move || ProgramOutput::with_input(&mut slow, &call));
    for _ in 0..3 {
        let (mut quick, call) = ask("quick");
        let ran = ProgramOutput::with_input(&mut quick, &call);
        assert!(ran.stdout.contains("keep out"), "{ran:?}");
    }
    let ran = waiting.join().unwrap();
    assert!(ran.stdout.contains("\"deny\"") && ran.stdout.contains("not started after 2000 ms"), "{ran:?}");
    assert!(!lab.has_run());
    server.signal(Signal::TERM);
    drop(server);
}

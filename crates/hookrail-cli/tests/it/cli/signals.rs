//! Ctrl-C while hooks run: no process of them is left, and the exit status names the signal.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hookrail_testkit::{Signal, send_signal};

use crate::cli::sandbox::Sandbox;

/// Starts `fire` with a hook that reports its start, and then sends the signal.
fn interrupted(signal: Signal, more: &[&str]) -> (i32, String, Sandbox) {
    let sandbox = Sandbox::with_hook("BeforeTool", "echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 60");
    let mut child = sandbox.command(&["fire", "BeforeTool", "--trust-project"]).args(more).spawn().unwrap();
    wait_for(&mut child, &sandbox.project.join("pid"));
    send_signal(child.id(), signal);
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
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)] {
        let (ended, stdout, sandbox) = interrupted(signal, &["--json"]);
        assert_eq!(ended, code);
        let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(document["runs"][0]["end"], "cancelled");
        let hook = std::fs::read_to_string(sandbox.project.join("pid")).unwrap();
        let alive = Command::new("kill").args(["-0", hook.trim()]).output().unwrap().status.success();
        assert!(!alive, "the hook is still there");
    }
}

/// A module that starts a process and a daemon, each of which writes its number into a file.
#[test]
fn an_interrupted_event_is_not_called_allowed() {
    let (_, stdout, _) = interrupted(Signal::INT, &[]);
    assert!(stdout.starts_with("interrupted  before-tool"), "{stdout}");
}

fn with_module(handler: &str) -> Sandbox {
    let sandbox = Sandbox::with_hooks("{}");
    sandbox.write(
        "m.ts",
        format!(
            "import {{ execSync }} from 'node:child_process';\nconst daemon = () => execSync(\"setsid sh -c 'echo $$ > daemon.tmp; mv daemon.tmp daemon; exec sleep 600' >/dev/null 2>&1 </dev/null & until test -e daemon; do sleep 0.01; done\");\n\
             const child = 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 600';\nexport default (pi) => {{ pi.on('tool_call', async () => {{ daemon(); {handler} }}); }};"
        ),
    );
    sandbox
}

fn are_gone(sandbox: &Sandbox, files: &[&str]) {
    for file in files {
        let process = std::fs::read_to_string(sandbox.project.join(file)).unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.trim())).unwrap_or_default();
        // An orphan that has ended is a zombie until the first process of the system waits for it.
        let alive = stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'));
        assert!(!alive, "the process in `{file}` is still there");
    }
}

#[test]
fn what_a_module_has_started_ends_with_the_command() {
    let sandbox = with_module(
        "pi.exec('sh', ['-c', child]); while (!(await import('node:fs')).existsSync('pid')) await new Promise((go) => setTimeout(go, 10));",
    );
    sandbox.run(&["fire", "tool_call", "--tool", "bash", "--hook", "m.ts"]).ends_with(0);
    are_gone(&sandbox, &["pid", "daemon"]);
}

#[test]
fn what_a_module_has_started_ends_with_an_interrupt() {
    for handler in ["await pi.exec('sh', ['-c', child]);", "execSync(child);"] {
        let sandbox = with_module(handler);
        let mut child = sandbox.command(&["fire", "tool_call", "--tool", "bash", "--hook", "m.ts"]).spawn().unwrap();
        wait_for(&mut child, &sandbox.project.join("pid"));
        send_signal(child.id(), Signal::TERM);
        assert_eq!(child.wait().unwrap().code(), Some(143), "{handler}");
        are_gone(&sandbox, &["pid", "daemon"]);
    }
}

#[test]
fn what_a_module_has_started_ends_with_the_server() {
    let sandbox = with_module(
        "pi.exec('sh', ['-c', child]); while (!(await import('node:fs')).existsSync('pid')) await new Promise((go) => setTimeout(go, 10));",
    );
    let mut command = sandbox.command(&["serve", "--stdio", "--hook", "m.ts"]);
    let mut server = command.stdin(Stdio::piped()).spawn().unwrap();
    let request = r#"{"type":"HOOK_EXECUTION_REQUEST","payload":{"eventName":"BeforeTool","input":{"tool_name":"bash","tool_input":{}}}}"#;
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{request}").unwrap();
    let mut answer = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("HOOK_EXECUTION_RESPONSE"), "{answer}");
    send_signal(server.id(), Signal::TERM);
    server.wait().unwrap();
    are_gone(&sandbox, &["pid", "daemon"]);
}

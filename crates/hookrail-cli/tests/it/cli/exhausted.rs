//! A machine without free processes or descriptors: a guard that cannot be started does not allow the event.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use hookrail_testkit::is_root;

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A system guard with the default policy that would allow everything.
fn guarded() -> Sandbox {
    let sandbox = Sandbox::new();
    let settings = r#"{"hooksConfig": {"enabled": true},
        "hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    fs::write(sandbox.home.join("system.json"), settings).unwrap();
    sandbox
}

/// Runs `fire` through another program that limits its resources.
fn fire(sandbox: &Sandbox, by: &[&str], program: &std::path::Path) -> ProgramOutput {
    let mut command = Command::new(by[0]);
    command.args(&by[1..]).arg(program).args(["fire", "BeforeTool", "--tool", "write_file", "--json"]);
    command.current_dir(&sandbox.project).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", &sandbox.home).env("LLXPRT_SYSTEM_SETTINGS_PATH", sandbox.home.join("system.json"));
    ProgramOutput::capture(&mut command)
}

#[test]
fn without_processes_a_system_guard_denies() {
    let sandbox = guarded();
    let base = sandbox.project.parent().unwrap();
    // The limit does not apply to root, so root runs the command as another user, who must be able to read the files.
    for folder in [base, &*sandbox.home, &*sandbox.project] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let program = base.join("hookrail");
    fs::copy(env!("CARGO_BIN_EXE_hookrail"), &program).unwrap();
    let other_user = ["setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups"];
    let by: Vec<&str> = other_user.into_iter().filter(|_| is_root()).chain(["prlimit", "--nproc=1"]).collect();
    let ran = fire(&sandbox, &by, &program).ends_with(2);
    let document = ran.json();
    assert_eq!(document["runs"][0]["end"], "spawn-failed", "{document}");
    assert_eq!(document["decision"], "deny", "{document}");
}

#[test]
fn with_ever_fewer_descriptors_nothing_is_allowed_without_the_guard() {
    let sandbox = guarded();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_hookrail"));
    let mut answered = 0;
    for limit in (4..40).step_by(2) {
        let script = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
        let ran = fire(&sandbox, &["/bin/sh", "-c", &script], program);
        if ran.code == 0 {
            assert_eq!(ran.json()["runs"][0]["end"], "silent", "{limit}: {}", ran.stdout);
            answered += 1;
        }
    }
    assert!(answered > 0, "with enough of them the guard is asked");
}

/// Every number of descriptors and processes, so that none of them meets a library that panics.
#[test]
fn nothing_panics_when_descriptors_or_processes_are_used_up() {
    let sandbox = guarded();
    let base = sandbox.project.parent().unwrap();
    for folder in [base, &*sandbox.home, &*sandbox.project] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let program = base.join("hookrail");
    fs::copy(env!("CARGO_BIN_EXE_hookrail"), &program).unwrap();
    let other_user = ["setpriv", "--reuid", "65531", "--regid", "65531", "--clear-groups"];
    let other_user: Vec<&str> = other_user.into_iter().filter(|_| is_root()).collect();
    let limits =
        (3..12).map(|number| format!("--nofile={number}")).chain((1..8).map(|number| format!("--nproc={number}")));
    let request = r#"{"type":"HOOK_EXECUTION_REQUEST","payload":{"eventName":"BeforeTool","correlationId":"1","input":{"tool_name":"x","tool_input":{}}}}"#;
    for limit in limits {
        for (command, input) in [
            (&["fire", "BeforeTool", "--tool", "x"][..], ""),
            (&["serve", "--stdio"], request),
            (&["bridge", "claude", "--event", "PreToolUse"], r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#),
        ] {
            let by: Vec<&str> = other_user.iter().copied().chain(["prlimit", &limit]).collect();
            let mut started = Command::new(by[0]);
            started.args(&by[1..]).arg(&program).args(command).current_dir(&*sandbox.project).env_clear();
            started.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &*sandbox.home);
            started.env("LLXPRT_SYSTEM_SETTINGS_PATH", sandbox.home.join("system.json"));
            started.stdout(Stdio::piped()).stderr(Stdio::piped());
            let ran = ProgramOutput::with_input(&mut started, input);
            assert!(!ran.stderr.contains("panicked") && ran.code != 101, "{limit} {command:?}: {ran:?}");
        }
    }
}

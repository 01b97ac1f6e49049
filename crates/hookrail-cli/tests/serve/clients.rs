//! The reference clients and their examples, each against the real server in both ways.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::Sandbox;

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients").canonicalize().unwrap()
}

/// Whether a program is there. With HOOKRAIL_REQUIRE_ALL=1 it must be.
fn have(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    let all = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(found || !all, "{program} is missing");
    if !found {
        println!("skipped: {program} is missing");
    }
    found
}

fn hook(tool: &str, command: &str) -> serde_json::Value {
    json!({"matcher": tool, "hooks": [{"type": "command", "command": command}]})
}

/// Runs a script with the server in both ways and gives what it printed.
fn both_ways(sandbox: &Sandbox, arguments: impl Fn(&str, &str) -> Vec<String>, program: &str) -> Vec<String> {
    let stdio = arguments("stdio", "");
    let (_server, path, _talk) = sandbox.on_socket(&[]);
    let socket = arguments("socket", path.to_str().unwrap());
    [stdio, socket]
        .into_iter()
        .map(|arguments| {
            let ran = sandbox.command(program).args(&arguments).output().unwrap();
            let errors = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{arguments:?}: {errors}");
            String::from_utf8(ran.stdout).unwrap()
        })
        .collect()
}

fn check(program: &str, script: &str) {
    if !have(program) {
        return;
    }
    let sandbox = Sandbox::new(&json!({"BeforeTool": [
        hook("blocked", "echo no >&2; exit 2"),
        hook("slow", "exec sleep 600"),
        hook("write", r#"printf '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"path":"b"}}}'"#),
    ]}));
    let script = clients().join(script).to_str().unwrap().to_owned();
    let project = sandbox.project.to_str().unwrap().to_owned();
    let server = Sandbox::program().to_str().unwrap();
    let arguments = |way: &str, path: &str| match way {
        "stdio" => vec![script.clone(), "stdio".to_owned(), server.to_owned(), project.clone()],
        _ => vec![script.clone(), "socket".to_owned(), path.to_owned()],
    };
    assert_eq!(both_ways(&sandbox, arguments, program), ["ok\n", "ok\n"]);
}

/// What every example prints in a project that guards `.env`.
const PRINTED: &str = "read_file README.md -> read_file README.md: done\n\
                       write_file .env -> blocked: secrets stay as they are\n\
                       write_file notes.txt -> write_file notes.txt: done\n";

fn guarding_secrets() -> Sandbox {
    let guard = "grep -q '\\.env' && { echo 'secrets stay as they are' >&2; exit 2; }; exit 0";
    Sandbox::new(&json!({"BeforeTool": [hook("write_file", guard)]}))
}

fn example(program: &str, script: &str) {
    if !have(program) {
        return;
    }
    let sandbox = guarding_secrets();
    let script = clients().join(script).to_str().unwrap().to_owned();
    let server = Sandbox::program().to_str().unwrap();
    let arguments = |way: &str, path: &str| match way {
        "stdio" => vec![script.clone(), "--program".to_owned(), server.to_owned(), "--trust-project".to_owned()],
        _ => vec![script.clone(), "--socket".to_owned(), path.to_owned()],
    };
    assert_eq!(both_ways(&sandbox, arguments, program), [PRINTED, PRINTED]);
}

#[path = "../../../hookrail-bus/examples/bus_agent_loop.rs"]
mod agent_loop;

/// The Rust example is part of this test, because only the binary of this package is known here.
#[tokio::test]
async fn the_rust_example() {
    let sandbox = guarding_secrets();
    let mut command = sandbox.command(Sandbox::program());
    command.args(["serve", "--stdio", "--trust-project"]);
    let (client, mut server) = agent_loop::start(command.into()).unwrap();
    let stdio = agent_loop::session(&client).await.unwrap();
    drop(client);
    assert!(server.wait().await.unwrap().success(), "the end of its input is the end of the server");
    let (_server, path, _talk) = sandbox.on_socket(&[]);
    let client = hookrail_bus::Client::new(hookrail_bus::transport::connect(path).await.unwrap());
    let socket = agent_loop::session(&client).await.unwrap();
    for printed in [stdio, socket] {
        assert_eq!(printed.iter().map(|line| format!("{line}\n")).collect::<String>(), PRINTED);
    }
}

#[test]
fn the_python_client() {
    check("python3", "python/test_client.py");
}

#[test]
fn the_python_example() {
    example("python3", "python/example_agent.py");
}

#[test]
fn the_typescript_client() {
    check("node", "typescript/test-client.mjs");
}

#[test]
fn the_typescript_example() {
    example("node", "typescript/example-agent.mjs");
}

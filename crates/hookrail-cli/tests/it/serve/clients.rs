//! The Python and Node clients: their own suites with the server of this build, and the Rust example.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::serve::support::Sandbox;

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients").canonicalize().unwrap()
}

/// Returns whether a program is installed. With HOOKRAIL_REQUIRE_ALL=1 it must be.
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

/// Runs a suite in its package, with the server of this build and in a clean environment.
fn suite(program: &str, arguments: &[&str], package: &str) {
    suite_on(&hookrail_testkit::search_path(), program, arguments, package);
}

/// The same with this search path.
fn suite_on(search_path: &OsStr, program: &str, arguments: &[&str], package: &str) {
    if !have(program) {
        return;
    }
    let sandbox = Sandbox::with_hook("true");
    let mut command = sandbox.command(program);
    command.args(arguments).current_dir(clients().join(package)).env("HOOKRAIL_PROGRAM", Sandbox::program());
    command.env("PATH", search_path);
    if let Some(all) = std::env::var_os("HOOKRAIL_REQUIRE_ALL") {
        command.env("HOOKRAIL_REQUIRE_ALL", all);
    }
    let ran = command.output().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    // A suite names what it skipped.
    println!("{out}\n{errors}");
    assert!(ran.status.success(), "{program} {arguments:?}");
}

/// What every example prints in a project that guards `.env`.
const PRINTED: &str = "read_file README.md -> read_file README.md: done\n\
                       write_file .env -> blocked: secrets stay as they are\n\
                       write_file notes.txt -> write_file notes.txt: done\n";

fn guarding_secrets() -> Sandbox {
    let guard = "grep -q '\\.env' && { echo 'secrets stay as they are' >&2; exit 2; }; exit 0";
    Sandbox::new(&json!({"BeforeTool": [hook("write_file", guard)]}))
}

#[path = "../../../../hookrail-bus/examples/bus_agent_loop.rs"]
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
fn the_packages_have_the_version_of_this_program() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("python/pyproject.toml", format!("\nversion = \"{version}\"\n")),
        ("python/src/hookrail_client/__init__.py", format!("\n__version__ = \"{version}\"\n")),
        ("typescript/package.json", format!("\"version\": \"{version}\"")),
    ] {
        let text = std::fs::read_to_string(clients().join(file)).unwrap();
        assert!(text.contains(&line), "{file} does not have version {version}");
    }
}

fn python(module: &str) {
    suite("python3", &["-m", "unittest", "-v", module], "python");
}

#[test]
fn the_python_client_with_the_real_server() {
    python("tests.test_real_server");
}

#[test]
fn the_python_client_with_servers_that_misbehave() {
    python("tests.test_misbehaving_server");
}

#[test]
fn the_python_client_uses_no_socket_of_another_user() {
    python("tests.test_socket_checks");
}

/// Also runs its examples and what its README shows. The pip of the machine's own Python serves every environment that the
/// suite makes; without it each one would first get a pip.
#[test]
fn the_python_package_is_installed_in_an_empty_environment() {
    let machine = std::env::var_os("PATH").unwrap_or_default();
    suite_on(&machine, "python3", &["-m", "unittest", "-v", "tests.test_package"], "python");
}

fn node(file: &str) {
    suite("node", &["--test", "--test-reporter=spec", &format!("tests/{file}.test.mjs")], "typescript");
}

#[test]
fn the_node_client_with_the_real_server() {
    node("real-server");
}

#[test]
fn the_node_client_with_servers_that_misbehave() {
    node("misbehaving-server");
}

#[test]
fn the_node_client_uses_no_socket_of_another_user() {
    node("socket-checks");
}

/// Also runs its example and what its README shows.
#[test]
fn the_node_package_is_installed_in_an_empty_folder() {
    node("package");
}

//! The server under a service manager: the socket that it passes, the notifications that it gets, and the units.

use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hookrail_testkit::{HANG, RunningProgram, Signal, Talk};

use crate::serve::support::Sandbox;

/// Starts a server as a service manager does: with a socket as descriptor 3.
pub(super) fn activated(sandbox: &Sandbox, listener: UnixListener, count: &str, path: &Path) -> Command {
    let passing = "exec 3<&0 0</dev/null; LISTEN_FDS=$0 LISTEN_PID=$$ exec \"$@\"";
    let own = ["-c".as_ref(), passing.as_ref(), count.as_ref(), Sandbox::program().as_os_str()];
    let mut command = sandbox.serve_with("sh", &own, &["--socket", path.to_str().unwrap(), "--trust-project"]);
    command.stdin(Stdio::from(OwnedFd::from(listener)));
    command
}

#[test]
fn a_socket_that_the_manager_passes_is_served_and_left_there() {
    let sandbox = Sandbox::with_hook("echo sockets: $(ls -l /proc/self/fd | grep -c socket)");
    let path = sandbox.base.join("s");
    let listener = UnixListener::bind(&path).unwrap();
    // A client that comes before the server waits in the socket.
    let kept = listener.try_clone().unwrap();
    let server = RunningProgram::start(&mut activated(&sandbox, listener, "1", &path));
    let mut talk = Talk::over(&path);
    // No hook inherits the socket.
    assert_eq!(talk.message(), "sockets: 0");
    drop(talk);
    server.signal(Signal::TERM);
    server.ends_with(0);
    assert!(path.exists(), "the socket is the manager's");
    // The next server takes over where the last one ended.
    let server = RunningProgram::start(&mut activated(&sandbox, kept, "1", &path));
    assert_eq!(Talk::over(&path).message(), "sockets: 0");
    server.signal(Signal::TERM);
    server.ends_with(0);
}

#[test]
fn what_a_manager_passes_must_be_what_was_named() {
    let sandbox = Sandbox::with_hook("true");
    let (path, other) = (sandbox.base.join("s"), sandbox.base.join("other"));
    let refused = |count: &str, expected: &str| {
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let ran = activated(&sandbox, listener, count, &other).output().unwrap();
        let text = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(1), "{text}");
        assert!(text.contains(expected) && text.contains("hint: "), "{text}");
    };
    refused("1", "it is bound to");
    refused("2", "passed 2 sockets");
}

#[test]
fn sockets_for_another_process_are_not_taken() {
    let sandbox = Sandbox::with_hook("echo served");
    let path = sandbox.base.join("s");
    let mut command = sandbox.serve(&["--socket", path.to_str().unwrap(), "--trust-project"]);
    command.env("LISTEN_FDS", "1").env("LISTEN_PID", "1");
    let _server = RunningProgram::start(&mut command);
    assert_eq!(Talk::over(&path).message(), "served");
}

/// Returns the next notification to the manager.
fn heard(manager: &UnixDatagram) -> String {
    let mut buffer = [0; 4096];
    // The system calls of a thread are interrupted when its process is stopped and goes on, as a terminal does it.
    let length = loop {
        match manager.recv(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            received => break received.unwrap(),
        }
    };
    String::from_utf8(buffer[..length].to_vec()).unwrap()
}

#[test]
fn the_manager_is_told_when_the_server_is_ready_reloads_and_stops() {
    let sandbox = Sandbox::with_hook("echo served");
    let named = sandbox.base.join("notify");
    let abstractly = format!("@hookrail-test-{}", std::process::id());
    for place in [named.to_str().unwrap(), &abstractly] {
        let manager = match place.strip_prefix('@') {
            #[cfg(target_os = "linux")]
            Some(name) => {
                use std::os::linux::net::SocketAddrExt as _;
                let address = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
                UnixDatagram::bind_addr(&address).unwrap()
            }
            #[cfg(not(target_os = "linux"))]
            Some(_) => continue,
            None => UnixDatagram::bind(place).unwrap(),
        };
        manager.set_read_timeout(Some(HANG)).unwrap();
        let path = sandbox.base.join("s");
        let mut command = sandbox.serve(&["--socket", path.to_str().unwrap(), "--trust-project"]);
        let server = RunningProgram::start(command.env("NOTIFY_SOCKET", place));
        let ready = heard(&manager);
        assert!(ready.starts_with("READY=1\n"), "{ready}");
        // A server that is ready answers at once.
        let mut talk = Talk::over(&path);
        assert!(talk.hello()["revision"].as_u64().is_some(), "configuration is loaded when the server is ready");
        server.signal(Signal::HUP);
        let reloading = heard(&manager);
        assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
        assert!(heard(&manager).starts_with("READY=1\n"));
        server.signal(Signal::TERM);
        assert!(heard(&manager).starts_with("STOPPING=1\n"));
        drop(talk);
        server.ends_with(0);
    }
}

/// Without the pause every signal would read the configuration again while requests wait. The control is the last signal: what was
/// written before it is in force.
#[test]
fn signals_in_quick_succession_are_few_reloads_and_none_is_lost() {
    let sandbox = Sandbox::with_user_hook("echo first");
    let (place, path) = (sandbox.base.join("notify"), sandbox.base.join("s"));
    let manager = UnixDatagram::bind(&place).unwrap();
    manager.set_read_timeout(Some(HANG)).unwrap();
    let mut command = sandbox.serve(&["--socket", path.to_str().unwrap(), "--trust-project", "--no-watch"]);
    let server = RunningProgram::start(command.env("NOTIFY_SOCKET", &place));
    let told = std::thread::spawn(move || {
        let mut began = Vec::new();
        loop {
            let told = heard(&manager);
            if told.starts_with("STOPPING=1\n") {
                return began;
            }
            let time = told.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").and_then(|rest| rest.lines().next());
            began.extend(time.map(|time| time.parse::<u64>().unwrap()));
        }
    });
    let mut talk = Talk::over(&path);
    for _ in 0..20 {
        server.signal(Signal::HUP);
        assert_eq!(talk.message(), "first");
    }
    sandbox.edit("echo second");
    server.signal(Signal::HUP);
    talk.until_message("second");
    server.signal(Signal::TERM);
    let began = told.join().unwrap();
    drop(talk);
    server.ends_with(0);
    assert!(began.len() > 1, "{began:?}");
    assert!(began.windows(2).all(|two| two[1] - two[0] >= 99_000), "microseconds: {began:?}");
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

#[test]
fn systemd_starts_a_server_for_the_first_client() {
    if !have("systemd-socket-activate") {
        return;
    }
    let sandbox = Sandbox::with_hook("echo served");
    let path = sandbox.base.join("s");
    let path = path.to_str().unwrap();
    let own = ["-l".as_ref(), path.as_ref(), Sandbox::program().as_os_str()];
    let command = sandbox.serve_with("systemd-socket-activate", &own, &["--socket", path, "--trust-project"]).spawn();
    let server = RunningProgram::from(command.unwrap());
    assert_eq!(Talk::over(path.as_ref()).message(), "served");
    server.signal(Signal::TERM);
    server.ends_with(0);
}

fn units() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd").canonicalize().unwrap()
}

#[test]
fn the_units_are_valid() {
    if !have("systemd-analyze") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let of_user = ["hookrail.service", "hookrail.socket"];
    let of_system = ["hookrail-bundle.service", "hookrail-bundle.timer"];
    for unit in of_user.iter().chain(&of_system) {
        // The program is not installed where the unit expects it.
        let text = std::fs::read_to_string(units().join(unit)).unwrap();
        let text = text.replace("/usr/bin/hookrail", Sandbox::program().to_str().unwrap());
        std::fs::write(folder.path().join(unit), text).unwrap();
    }
    for (manager, units) in [("--user", of_user), ("--system", of_system)] {
        let mut verify = Command::new("systemd-analyze");
        verify.args([manager, "--recursive-errors=yes", "verify"]).env("XDG_RUNTIME_DIR", folder.path());
        verify.args(units.map(|unit| folder.path().join(unit)));
        let ran = verify.output().unwrap();
        let text = String::from_utf8_lossy(&ran.stderr);
        let about_ours: Vec<&str> = text.lines().filter(|line| line.contains("hookrail")).collect();
        assert!(about_ours.is_empty(), "{text}");
    }
}

/// Starts the command line of the unit, with the placeholders of systemd filled in.
#[test]
fn the_command_line_of_the_unit_serves_and_reloads() {
    let text = std::fs::read_to_string(units().join("hookrail.service")).unwrap();
    let sandbox = Sandbox::with_hook("true");
    let line = |key: &str| -> Vec<String> {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        let (runtime, home) = (sandbox.base.to_str().unwrap(), sandbox.project.to_str().unwrap());
        let words = line.split_whitespace().map(|word| word.replace("%t", runtime).replace("%h", home));
        words.skip(1).collect()
    };
    let started = line("ExecStart=");
    let mut command = sandbox.command(Sandbox::program());
    let server = command.args(&started).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let _server = RunningProgram::from(server.unwrap());
    let socket = sandbox.base.join("hookrail.sock");
    drop(Talk::over(&socket));
    let reload = line("ExecReload=");
    let (status, text) = sandbox.run(&reload.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(status, Some(0), "{text}");
}

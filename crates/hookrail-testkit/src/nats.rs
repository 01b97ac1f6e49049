//! Real servers of NATS on this machine, for tests.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::processes::wait_until;
#[cfg(unix)]
use crate::running::Signal;
use crate::running::{HANG, RunningProgram};

/// The version that `scripts/nats-server.sh` installs.
const VERSION: &str = "2.15.1";

/// How far the port for other servers is from the port for clients.
const ROUTE_PORTS: u16 = 2000;

/// Finds nats-server: the one that `scripts/nats-server.sh` installs, or one in `PATH`. A test that needs it returns if it is missing.
///
/// # Panics
/// With `HOOKRAIL_REQUIRE_ALL=1`, if it is missing.
#[must_use]
pub fn nats_server_program() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = workspace.join(target).join(format!("tools/nats-server-{VERSION}/bin/nats-server"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|folder| folder.join("nats-server"));
    if let Some(program) = std::iter::once(program).chain(in_path).find(|program| program.is_file()) {
        return Some(program);
    }
    let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "HOOKRAIL_REQUIRE_ALL=1, and nats-server is missing: run scripts/nats-server.sh");
    eprintln!("skipped: nats-server is missing; run scripts/nats-server.sh");
    None
}

/// A running server. It ends with this value.
#[derive(Debug)]
pub struct NatsServerProcess {
    program: PathBuf,
    configuration: PathBuf,
    port: u16,
    child: RunningProgram,
}

impl NatsServerProcess {
    /// Starts a server with a configuration, and waits until it accepts connections on its port.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(program: &Path, configuration: &Path, port: u16) -> Self {
        let child = spawn(program, configuration);
        let mut server = Self { program: program.to_owned(), configuration: configuration.to_owned(), port, child };
        server.wait();
        server
    }

    /// Ends the server as a loss of power would: it cannot say anything.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    /// Starts the server again.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn(&self.program, &self.configuration);
        self.wait();
    }

    /// Makes the server read its configuration again.
    #[cfg(unix)]
    pub fn reload(&self) {
        self.child.signal(Signal::HUP);
    }

    /// Stops the server without ending it, as if no packet of it arrived any more.
    #[cfg(unix)]
    pub fn suspend(&self) {
        self.child.signal(Signal::STOP);
    }

    /// Lets a server go on that was stopped.
    #[cfg(unix)]
    pub fn resume(&self) {
        self.child.signal(Signal::CONT);
    }

    /// Returns the file with what the server has to say.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        log_file(&self.configuration)
    }

    fn wait(&mut self) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let connects = || TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok();
        let log = log_file(&self.configuration);
        let child = &mut self.child;
        let mut has_ended = false;
        let is_up = wait_until(
            || {
                has_ended = child.try_wait().is_ok_and(|ended| ended.is_some());
                has_ended || connects()
            },
            HANG,
        );
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        assert!(is_up && !has_ended, "nats-server did not start: {}", said());
    }
}

fn log_file(configuration: &Path) -> PathBuf {
    configuration.with_extension("log")
}

#[allow(clippy::expect_used, reason = "a failure here is a failed test")]
fn spawn(program: &Path, configuration: &Path) -> RunningProgram {
    let log = std::fs::OpenOptions::new().create(true).append(true).open(log_file(configuration));
    let log = log.expect("the log can be written");
    let mut command = Command::new(program);
    RunningProgram::start(command.arg("-c").arg(configuration).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log))
}

/// Returns ports that are free now, and whose ports for other servers are free too.
///
/// # Panics
/// If there are none.
#[must_use]
pub fn free_server_ports(count: usize) -> Vec<u16> {
    let mut found = Vec::new();
    let mut held = Vec::new();
    for _ in 0..1000 {
        if found.len() == count {
            return found;
        }
        let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) else { continue };
        let Ok(port) = listener.local_addr().map(|address| address.port()) else { continue };
        let Some(route) = port.checked_add(ROUTE_PORTS) else { continue };
        if let Ok(other) = TcpListener::bind((Ipv4Addr::LOCALHOST, route)) {
            found.push(port);
            held.extend([listener, other]);
        }
    }
    assert!(found.len() == count, "there are no free ports");
    found
}

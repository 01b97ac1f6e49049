//! The service manager: the socket that it passes, and the notifications that it gets.
//!
//! This is the protocol of systemd, which other managers use too: `LISTEN_PID` and `LISTEN_FDS` for sockets, datagrams to
//! `NOTIFY_SOCKET` for notifications. Without these variables there is no manager and nothing is sent.

#[cfg(unix)]
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
#[cfg(unix)]
use std::path::Path;

#[cfg(unix)]
use crate::failure::{Failure, Result};

/// The first descriptor that a manager passes (`SD_LISTEN_FDS_START`).
#[cfg(unix)]
const FIRST_DESCRIPTOR: i32 = 3;

/// Returns the socket that the manager passed to this process, if any.
#[cfg(unix)]
pub(super) fn passed_socket(expected: &Path) -> Result<Option<UnixListener>> {
    let is_ours = std::env::var("LISTEN_PID").is_ok_and(|pid| pid == std::process::id().to_string());
    let Some(count) = std::env::var("LISTEN_FDS").ok().filter(|_| is_ours) else { return Ok(None) };
    match count.as_str() {
        "0" => return Ok(None),
        "1" => {}
        _ => {
            return Err(Failure::new(format!("the service manager passed {count} sockets (LISTEN_FDS); expected one"))
                .hint("use one socket unit with one `ListenStream=`"));
        }
    }
    let unusable = |why: String| {
        Failure::new(format!("the socket that the service manager passed cannot be used: {why}"))
            .hint("the socket unit needs `ListenStream=` with the path that `--socket` names")
    };
    let descriptor =
        hookrail_spawn::inherited_descriptor(FIRST_DESCRIPTOR).map_err(|error| unusable(error.to_string()))?;
    // The conversion checks nothing. The address below and the first use show whether it is a listening Unix socket.
    let listener = UnixListener::from(descriptor);
    let address = listener.local_addr().map_err(|error| unusable(error.to_string()))?;
    let is_expected = address.as_pathname().is_some_and(|bound| is_same_file(bound, expected));
    if !is_expected {
        let bound = address.as_pathname().map_or_else(|| "no path".to_owned(), |path| format!("`{}`", path.display()));
        return Err(unusable(format!("it is bound to {bound}, and `--socket` is `{}`", expected.display())));
    }
    Ok(Some(listener))
}

/// Returns whether two paths lead to the same file.
#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino()));
    one == other || matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

/// Notifies the service manager of the server's state. Failures are ignored: requests are served even if the manager
/// does not listen.
#[derive(Debug, Default)]
pub(super) struct ServiceManager {
    #[cfg(unix)]
    socket: Option<(UnixDatagram, SocketAddr)>,
}

impl ServiceManager {
    #[cfg(unix)]
    pub(super) fn from_environment() -> Self {
        let named = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty());
        let socket = named.and_then(|name| {
            let socket = UnixDatagram::unbound().ok()?;
            // A manager that reads nothing must not delay requests.
            socket.set_nonblocking(true).ok()?;
            Some((socket, parse_address(&name)?))
        });
        Self { socket }
    }

    #[cfg(not(unix))]
    pub(super) fn from_environment() -> Self {
        Self::default()
    }

    /// Reports that requests are served.
    pub(super) fn ready(&self, status: &str) {
        self.notify(&format!("READY=1\nSTATUS={status}"));
    }

    /// Reports that the configuration is being reloaded; [`ServiceManager::ready`] follows.
    pub(super) fn reloading(&self) {
        #[cfg(unix)]
        {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            let microseconds = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
            self.notify(&format!("RELOADING=1\nMONOTONIC_USEC={microseconds}\nSTATUS=reloading"));
        }
    }

    /// Reports that running requests are finished and no new ones are accepted.
    pub(super) fn stopping(&self) {
        self.notify("STOPPING=1\nSTATUS=finishing the requests that run");
    }

    #[cfg(unix)]
    fn notify(&self, state: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
    }

    #[cfg(not(unix))]
    fn notify(&self, _state: &str) {}
}

/// Parses a path, or a name in Linux's abstract namespace, which begins with `@`.
#[cfg(unix)]
fn parse_address(name: &std::ffi::OsStr) -> Option<SocketAddr> {
    use std::os::unix::ffi::OsStrExt as _;
    match name.as_bytes().split_first()? {
        #[cfg(target_os = "linux")]
        (b'@', rest) => {
            use std::os::linux::net::SocketAddrExt as _;
            SocketAddr::from_abstract_name(rest).ok()
        }
        (b'/', _) => SocketAddr::from_pathname(name).ok(),
        _ => None,
    }
}

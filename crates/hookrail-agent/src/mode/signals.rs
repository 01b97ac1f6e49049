//! The signals that ask the agent to end.

use std::io;

#[cfg(unix)]
use crate::view::output::process_ends;

/// SIGINT, which Ctrl-C sends.
pub(super) const INTERRUPT: u8 = 2;
/// SIGHUP, which a terminal sends when it is closed.
pub(super) const HANG_UP: u8 = 1;

/// Waits for the signals that ask a program to end.
pub(super) struct Signals {
    #[cfg(unix)]
    listening: Vec<(u8, tokio::signal::unix::Signal)>,
    /// Handled so that a file at its size limit is a write error, like a full disk, and does not end the agent.
    #[cfg(unix)]
    _file_too_large: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Handles the signals, because their default action would leave processes of hooks and tools behind. A signal that is
    /// ignored when the agent starts stays ignored: `nohup` and shells with background jobs rely on that.
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        const QUIT: u8 = 3;
        const TERMINATE: u8 = 15;
        let ignored = ignored_signals();
        let listening = [HANG_UP, INTERRUPT, QUIT, TERMINATE]
            .into_iter()
            .filter(|number| ignored & (1 << (number - 1)) == 0)
            .map(|number| Ok((number, signal(SignalKind::from_raw(i32::from(number)))?)))
            .collect::<io::Result<_>>()?;
        let file_too_large = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
        Ok(Self { listening, _file_too_large: file_too_large })
    }

    /// Starts a thread that handles signals while the agent's own thread is blocked by a reader that reads nothing, and
    /// then lets the write fail. An interrupt has this effect only if it ends the agent.
    pub(super) fn watch(interrupt_ends: bool) -> io::Result<()> {
        let body = move || {
            let runtime = hookrail_spawn::start_runtime(tokio::runtime::Builder::new_current_thread().enable_all())?;
            runtime.block_on(async {
                let mut signals = Self::listen()?;
                while signals.next().await == INTERRUPT && !interrupt_ends {}
                process_ends();
                io::Result::Ok(())
            })
        };
        std::thread::Builder::new().name("hookrail-signals".to_owned()).spawn(body).map(drop)
    }

    /// The number of the next signal.
    pub(super) async fn next(&mut self) -> u8 {
        std::future::poll_fn(|context| {
            for (number, signal) in &mut self.listening {
                if let std::task::Poll::Ready(Some(())) = signal.poll_recv(context) {
                    return std::task::Poll::Ready(*number);
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}

/// Returns the signals that were ignored when the process started, one bit each; none if the system does not tell.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
impl Signals {
    /// Does nothing: Ctrl-C is handled from the first call of [`Signals::next`].
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Does nothing: writes block on this system.
    pub(super) fn watch(_interrupt_ends: bool) -> io::Result<()> {
        Ok(())
    }

    /// The number of the next signal.
    pub(super) async fn next(&mut self) -> u8 {
        match tokio::signal::ctrl_c().await {
            Ok(()) => INTERRUPT,
            Err(_) => std::future::pending().await,
        }
    }
}

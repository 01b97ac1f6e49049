//! Being told to end while hooks run.

use std::io;

/// Waits for the signals that ask a command to end.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    /// The terminal went away.
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
    #[cfg(unix)]
    quit: tokio::signal::unix::Signal,
}

const SIGINT: u8 = 2;
#[cfg(unix)]
const SIGTERM: u8 = 15;
#[cfg(unix)]
const SIGHUP: u8 = 1;
#[cfg(unix)]
const SIGQUIT: u8 = 3;

#[cfg(unix)]
impl Interrupts {
    /// Takes the signals over from their default, which would leave hooks behind.
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// The number of the next signal.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => SIGINT,
            _ = self.terminate.recv() => SIGTERM,
            _ = self.hang_up.recv() => SIGHUP,
            _ = self.quit.recv() => SIGQUIT,
        }
    }
}

#[cfg(not(unix))]
impl Interrupts {
    /// Ctrl-C is taken over when it is first waited for.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The number of the next signal.
    pub(crate) async fn next(&mut self) -> u8 {
        match tokio::signal::ctrl_c().await {
            Ok(()) => SIGINT,
            Err(_) => std::future::pending().await,
        }
    }
}

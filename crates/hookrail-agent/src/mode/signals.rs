//! Being told to end.

use std::io;

/// What Ctrl-C sends.
pub(super) const INTERRUPT: u8 = 2;
#[cfg(unix)]
const TERMINATE: u8 = 15;

/// Waits for the signals that ask a program to end.
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Takes the signals over from their default, which would leave hooks behind.
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// The number of the next signal.
    pub(super) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => INTERRUPT,
            _ = self.terminate.recv() => TERMINATE,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Ctrl-C is taken over when it is first waited for.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The number of the next signal.
    pub(super) async fn next(&mut self) -> u8 {
        match tokio::signal::ctrl_c().await {
            Ok(()) => INTERRUPT,
            Err(_) => std::future::pending().await,
        }
    }
}

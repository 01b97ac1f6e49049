//! Signals that end a command while hooks run, or make a server reload its configuration.
//!
//! A signal that was ignored when the program was started stays ignored: `nohup` ignores SIGHUP, and a shell ignores SIGINT
//! and SIGQUIT for the background jobs of a script.

use std::io;

/// A signal that a command listens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: Ctrl-C on a terminal.
    Interrupt,
    /// SIGTERM: the usual way to end a program.
    #[cfg(unix)]
    Terminate,
    /// SIGHUP: the terminal was closed. A server on a socket reloads its configuration.
    #[cfg(unix)]
    HangUp,
    /// SIGQUIT: Ctrl-\ on a terminal.
    #[cfg(unix)]
    Quit,
}

impl Signal {
    /// Returns the signal's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            #[cfg(unix)]
            Self::Terminate => "SIGTERM",
            #[cfg(unix)]
            Self::HangUp => "SIGHUP",
            #[cfg(unix)]
            Self::Quit => "SIGQUIT",
        }
    }

    /// Returns the signal's number, to which a shell adds 128 for the exit status.
    pub fn number(self) -> u8 {
        match self {
            Self::Interrupt => 2,
            #[cfg(unix)]
            Self::Terminate => 15,
            #[cfg(unix)]
            Self::HangUp => 1,
            #[cfg(unix)]
            Self::Quit => 3,
        }
    }
}

/// Waits for the signals that a command listens to.
pub struct Interrupts {
    #[cfg(unix)]
    interrupt: SignalStream,
    #[cfg(unix)]
    terminate: SignalStream,
    #[cfg(unix)]
    hang_up: SignalStream,
    #[cfg(unix)]
    quit: SignalStream,
}

/// A handled signal, or none if the signal is ignored.
#[cfg(unix)]
struct SignalStream(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl SignalStream {
    fn start(signal: Signal) -> io::Result<Self> {
        let number = i32::from(signal.number());
        if hookrail_spawn::is_ignored(number)? {
            return Ok(Self(None));
        }
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(number)).map(|signal| Self(Some(signal)))
    }

    async fn received(&mut self) {
        let received = match &mut self.0 {
            Some(signal) => signal.recv().await,
            None => None,
        };
        if received.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(unix)]
impl Interrupts {
    /// Handles the signals, because their default action would leave processes of hooks behind.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: SignalStream::start(Signal::Interrupt)?,
            terminate: SignalStream::start(Signal::Terminate)?,
            hang_up: SignalStream::start(Signal::HangUp)?,
            quit: SignalStream::start(Signal::Quit)?,
        })
    }

    /// The next signal.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            () = self.interrupt.received() => Signal::Interrupt,
            () = self.terminate.received() => Signal::Terminate,
            () = self.hang_up.received() => Signal::HangUp,
            () = self.quit.received() => Signal::Quit,
        }
    }
}

#[cfg(not(unix))]
impl Interrupts {
    /// Does nothing: Ctrl-C is handled from the first call of [`Interrupts::next`].
    pub fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The next signal.
    pub async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}

//! Being told to end while hooks run, or to read configuration again.
//!
//! A signal that was ignored when the program was started stays ignored: `nohup` ignores SIGHUP, and a shell ignores SIGINT
//! and SIGQUIT for the background jobs of a script.

use std::io;

/// A signal that a command listens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGINT: Ctrl-C on a terminal.
    Interrupt,
    /// SIGTERM: the usual way to end a program.
    #[cfg(unix)]
    Terminate,
    /// SIGHUP: the terminal went away; to a server on a socket: read configuration again.
    #[cfg(unix)]
    HangUp,
    /// SIGQUIT: Ctrl-\ on a terminal.
    #[cfg(unix)]
    Quit,
}

impl Signal {
    /// The number that a shell adds to 128.
    pub(crate) fn number(self) -> u8 {
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
pub(crate) struct Interrupts {
    #[cfg(unix)]
    interrupt: Listening,
    #[cfg(unix)]
    terminate: Listening,
    #[cfg(unix)]
    hang_up: Listening,
    #[cfg(unix)]
    quit: Listening,
}

/// A signal that was taken over; none if it is ignored.
#[cfg(unix)]
struct Listening(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Listening {
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
    /// Takes the signals over from their default, which would leave hooks behind.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: Listening::start(Signal::Interrupt)?,
            terminate: Listening::start(Signal::Terminate)?,
            hang_up: Listening::start(Signal::HangUp)?,
            quit: Listening::start(Signal::Quit)?,
        })
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> Signal {
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
    /// Ctrl-C is taken over when it is first waited for.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}

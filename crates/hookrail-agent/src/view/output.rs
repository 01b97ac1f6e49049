//! Standard output: what is written there arrives, or it is known that it does not.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

/// Standard output, and what is wrong with it.
#[derive(Debug, Default)]
pub(crate) struct Output {
    failure: Mutex<Option<String>>,
}

impl Output {
    /// Writes all of a text, at once. After a failure nothing more is written: half of an answer is followed by nothing.
    pub(crate) fn write(&self, text: &str) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none()
            && let Err(error) = write_whole(text.as_bytes())
        {
            *failure = Some(error.to_string());
        }
    }

    /// Why nothing more can be written; a reader that is gone is noticed before anything is written for it.
    pub(crate) fn failure(&self) -> Option<String> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() && reader_is_gone() {
            *failure = Some(io::Error::from(io::ErrorKind::BrokenPipe).to_string());
        }
        failure.clone()
    }
}

/// Writes around the buffer of standard output, which the agent leaves empty: after an error nobody knows what is in it.
#[cfg(unix)]
fn write_whole(mut bytes: &[u8]) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut stdout = io::stdout().lock();
    stdout.flush()?;
    while !bytes.is_empty() {
        match rustix::io::write(&stdout, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            // A pipe that another program made non-blocking is full: that is no reason to lose anything.
            Err(rustix::io::Errno::AGAIN) => {
                poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn write_whole(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Whether the other end of standard output was closed.
#[cfg(unix)]
fn reader_is_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    let mut waits = [PollFd::new(&stdout, PollFlags::empty())];
    let polled = poll(&mut waits, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    let [wait] = &waits;
    polled.is_ok() && wait.revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

#[cfg(not(unix))]
fn reader_is_gone() -> bool {
    false
}

//! Standard output: what is written there arrives, or it is known that it does not.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hookrail_spawn::lock;

/// Whether the process was told to end. Then a reader that takes nothing is not waited for without end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Lets writes that wait for their reader give up soon.
pub(crate) fn process_ends() {
    ENDING.store(true, Ordering::Relaxed);
}

/// Standard output, and what is wrong with it.
#[derive(Debug, Default)]
pub(crate) struct Output {
    failure: Mutex<Option<String>>,
}

impl Output {
    /// Writes all of a text, at once. After a failure nothing more is written: half of an answer is followed by nothing.
    pub(crate) fn write(&self, text: &str) {
        let mut failure = lock(&self.failure);
        if failure.is_none()
            && let Err(error) = write_whole(&mut io::stdout().lock(), text.as_bytes())
        {
            *failure = Some(error.to_string());
        }
    }

    /// Why nothing more can be written; a reader that is gone is noticed before anything is written for it.
    pub(crate) fn failure(&self) -> Option<String> {
        let mut failure = lock(&self.failure);
        if failure.is_none() && reader_is_gone() {
            *failure = Some(io::Error::from(io::ErrorKind::BrokenPipe).to_string());
        }
        failure.clone()
    }
}

/// Writes around the buffer of a stream, which the agent leaves empty: after an error nobody knows what is in it.
///
/// The write itself never waits: a pipe that has room takes 4 KiB at once. So a signal ends the agent although nobody reads
/// what it writes, and a pipe that another program made non-blocking loses nothing when it is full.
#[cfg(unix)]
pub(crate) fn write_whole(stream: &mut (impl io::Write + std::os::fd::AsFd), mut bytes: &[u8]) -> io::Result<()> {
    use rustix::io::Errno;
    stream.flush()?;
    while !bytes.is_empty() {
        wait_for_room(stream)?;
        let piece = bytes.get(..4096).unwrap_or(bytes);
        match rustix::io::write(&*stream, piece) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Waits until something can be written, however long that takes, unless the process is to end.
#[cfg(unix)]
fn wait_for_room(stream: &impl std::os::fd::AsFd) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    const TRIES_AT_THE_END: u32 = 20;
    let mut tries = 0;
    loop {
        match poll(&mut [PollFd::new(stream, PollFlags::OUT)], Some(&PAUSE)) {
            Ok(0) if ENDING.load(Ordering::Relaxed) => tries += 1,
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            // An error of the stream is told by the write.
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if tries >= TRIES_AT_THE_END {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "its reader takes nothing, and the agent is to end"));
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn write_whole(stream: &mut impl io::Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
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

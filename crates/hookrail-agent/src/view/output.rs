//! Standard output: a text is written completely, or the failure is recorded.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hookrail_spawn::lock_mutex;

/// Whether the process is ending. Then a write does not wait without end for a reader that reads nothing.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Makes writes that wait for their reader fail soon.
pub(crate) fn process_ends() {
    ENDING.store(true, Ordering::Relaxed);
}

/// Standard output, and its first failure.
#[derive(Debug, Default)]
pub(crate) struct Output {
    failure: Mutex<Option<String>>,
}

impl Output {
    /// Writes a whole text. After a failure nothing more is written, so that a gap in the output cannot go unnoticed.
    pub(crate) fn write(&self, text: &str) {
        let mut failure = lock_mutex(&self.failure);
        if failure.is_none()
            && let Err(error) = write_whole(&mut io::stdout().lock(), text.as_bytes())
        {
            *failure = Some(error.to_string());
        }
    }

    /// Returns the reason if nothing more can be written. A closed pipe is noticed before the next write.
    pub(crate) fn failure(&self) -> Option<String> {
        let mut failure = lock_mutex(&self.failure);
        if failure.is_none() && reader_is_gone() {
            *failure = Some(io::Error::from(io::ErrorKind::BrokenPipe).to_string());
        }
        failure.clone()
    }
}

/// Writes without the buffer of a stream, because after an error the content of the buffer is unknown.
///
/// A write never blocks: a pipe with room takes 4 KiB at once. So a signal can end the agent while its output is not read,
/// and a full pipe that another program made non-blocking loses nothing.
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

/// Waits until something can be written, without a timeout unless the process is ending.
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
            // The next write returns the error of the stream.
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if tries >= TRIES_AT_THE_END {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "its reader reads nothing, and the agent is ending"));
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn write_whole(stream: &mut impl io::Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}

/// Returns whether the other end of standard output was closed.
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

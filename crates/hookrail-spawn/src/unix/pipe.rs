//! The three pipes of a child, and reading and writing them without blocking.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, fcntl_dupfd_cloexec, ioctl_fionread, read};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::sigpipe;
use super::wait::becomes_readable;

/// How much fits a pipe on every system without asking.
const DEFAULT_CAPACITY: usize = 64 << 10;

/// The capacity to ask for when there is more to write: what Linux grants without privilege.
#[cfg(target_os = "linux")]
const LARGE_CAPACITY: usize = 1 << 20;

/// How much is written at once. A larger write would keep the child out of the pipe for as long as it takes.
const WRITTEN_AT_ONCE: usize = 128 << 10;

/// How much is read at once.
const CHUNK: usize = 32 << 10;

/// How often is written before others get their turn.
const TURNS: usize = 16;

/// The child's ends; they block, as programs expect.
pub(super) struct Theirs {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// The host's end of a pipe, which does not block.
#[derive(Debug)]
enum Pipe {
    /// No runtime knows of it.
    Idle(OwnedFd),
    Watched(AsyncFd<OwnedFd>),
}

impl Pipe {
    fn idle(fd: OwnedFd) -> io::Result<Self> {
        // Each end of a pipe has its own flags, so the child's end goes on blocking.
        fcntl_setfl(&fd, OFlags::NONBLOCK)?;
        Ok(Self::Idle(fd))
    }

    /// Takes it from its runtime.
    fn unwatched(self) -> Self {
        match self {
            Self::Watched(fd) => Self::Idle(fd.into_inner()),
            Self::Idle(fd) => Self::Idle(fd),
        }
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Idle(fd) => fd.as_fd(),
            Self::Watched(fd) => fd.as_fd(),
        }
    }
}

/// The write end of a child's stdin and what is still to be written.
#[derive(Debug)]
pub(crate) struct Input {
    /// None once the input has ended or nobody wants it; watched while there is something to be written.
    pipe: Option<Pipe>,
    after: After,
    payload: Arc<[u8]>,
    written: usize,
}

/// What follows the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Its end.
    End,
    /// More, some time.
    Open,
}

impl Input {
    /// A fresh pipe for stdin, with the child's end of it.
    pub(super) fn open() -> io::Result<(Self, OwnedFd)> {
        let (theirs, ours) = pipe()?;
        sigpipe::quiet(ours.as_fd());
        let input = Self { pipe: Some(Pipe::idle(ours)?), after: After::Open, payload: Arc::default(), written: 0 };
        Ok((input, theirs))
    }

    /// Begins to write; the runtime in which this is called hears of what does not fit the pipe.
    pub(crate) fn feed(&mut self, payload: &Arc<[u8]>, after: After) -> io::Result<()> {
        let Some(Pipe::Idle(fd)) = self.pipe.take() else { return Ok(()) };
        (self.payload, self.written, self.after) = (Arc::clone(payload), 0, after);
        if payload.len() > DEFAULT_CAPACITY {
            enlarge(fd.as_fd());
        }
        match write_some(fd.as_fd(), payload, &mut self.written) {
            // The child does not want its input, which is its right.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.written = payload.len(),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Ok(()) | Err(_) => {}
        }
        self.pipe = if self.written < payload.len() {
            Some(Pipe::Watched(register(fd, Interest::WRITABLE)?))
        } else {
            Some(Pipe::Idle(fd)).filter(|_| after == After::Open)
        };
        Ok(())
    }

    /// Whether there is nothing left to write.
    pub(crate) fn is_written(&self) -> bool {
        !matches!(self.pipe, Some(Pipe::Watched(_)))
    }

    /// Whether everything was written and the pipe is still open.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.pipe, Some(Pipe::Idle(_)))
    }

    /// Writes what the child takes now; closes stdin when all is written or refused.
    pub(crate) fn poll_feed(&mut self, cx: &mut Context<'_>) {
        if let Some(Pipe::Watched(fd)) = &self.pipe
            && poll_write(fd, &self.payload, &mut self.written, cx).is_ready()
        {
            let stays = self.after == After::Open && self.written == self.payload.len();
            self.pipe = self.pipe.take().filter(|_| stays).map(Pipe::unwatched);
        }
    }

    /// Closes stdin.
    pub(crate) fn close(&mut self) {
        self.pipe = None;
    }
}

/// Ready when there is nothing more to write, for whatever reason.
fn poll_write(fd: &AsyncFd<OwnedFd>, payload: &[u8], written: &mut usize, cx: &mut Context<'_>) -> Poll<()> {
    loop {
        let Ok(mut guard) = ready!(fd.poll_write_ready(cx)) else {
            return Poll::Ready(());
        };
        match write_some(fd.as_fd(), payload, written) {
            Ok(()) if *written < payload.len() => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
            // EPIPE, mostly: the child does not want its input, which is its right.
            Ok(()) | Err(_) => return Poll::Ready(()),
        }
    }
}

/// Writes what fits now, and no longer than its turn lasts. The pipe may be smaller than usual: the system shrinks
/// those of a user who has very many.
fn write_some(fd: BorrowedFd<'_>, payload: &[u8], written: &mut usize) -> io::Result<()> {
    for _ in 0..TURNS {
        let rest = payload.get(*written..).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        match sigpipe::write(fd, rest.get(..WRITTEN_AT_ONCE).unwrap_or(rest)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            count => *written += count?,
        }
    }
    Ok(())
}

/// The read end of a child's stdout or stderr. The runtime hears of it when it is first waited for.
#[derive(Debug)]
pub(crate) struct Output {
    /// None once the end was read.
    pipe: Option<Pipe>,
}

impl Output {
    /// A fresh pipe for an output, with the child's end of it.
    pub(super) fn open() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = pipe()?;
        Ok((Self { pipe: Some(Pipe::idle(ours)?) }, theirs))
    }

    /// Hands the pipe to the runtime this is called in. Where that fails the pipe is lost.
    pub(super) fn watch(&mut self) -> io::Result<()> {
        self.pipe = match self.pipe.take() {
            Some(Pipe::Idle(fd)) => Some(Pipe::Watched(register(fd, Interest::READABLE)?)),
            other => other,
        };
        Ok(())
    }

    /// Takes the pipe from its runtime.
    pub(super) fn unwatch(&mut self) {
        self.pipe = self.pipe.take().map(Pipe::unwatched);
    }

    /// Whether there are bytes to read at this moment.
    pub(crate) fn has_bytes(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| bytes_available(pipe.as_fd()) > 0)
    }

    /// Whether there is nothing to read, and not the end either.
    pub(super) fn is_quiet(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| !becomes_readable(pipe.as_fd(), Duration::ZERO))
    }

    /// Whether the end was read: nobody can write any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.pipe.is_none()
    }

    /// Hands out what there is to read; ready at the end of the stream.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, sink: &mut dyn FnMut(&[u8])) -> Poll<()> {
        // What the runtime refuses to watch cannot be read any more, which is its end.
        let _ = self.watch();
        if let Some(Pipe::Watched(fd)) = &self.pipe {
            ready!(poll_read(fd, cx, sink));
            self.pipe = None;
        }
        Poll::Ready(())
    }

    /// Hands out what is in the pipe at this moment, without waiting.
    pub(crate) fn drain(&mut self, sink: &mut dyn FnMut(&[u8])) {
        if let Some(pipe) = &self.pipe
            && let Ok(Reached::End) = read_available(pipe.as_fd(), sink)
        {
            self.pipe = None;
        }
    }
}

/// Ready at the end of the stream.
fn poll_read(fd: &AsyncFd<OwnedFd>, cx: &mut Context<'_>, sink: &mut dyn FnMut(&[u8])) -> Poll<()> {
    loop {
        let Ok(mut guard) = ready!(fd.poll_read_ready(cx)) else {
            return Poll::Ready(());
        };
        match read_available(fd.as_fd(), sink) {
            Ok(Reached::More) => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Err(Errno::WOULDBLOCK) => guard.clear_ready(),
            Ok(Reached::End) | Err(_) => return Poll::Ready(()),
        }
    }
}

/// How far reading came.
enum Reached {
    End,
    /// What was there has been read, and there is more by now.
    More,
}

/// Reads what is in the pipe at this moment.
///
/// Not until the pipe is empty: somebody may be filling it all the time.
fn read_available(fd: BorrowedFd<'_>, sink: &mut dyn FnMut(&[u8])) -> Result<Reached, Errno> {
    let available = bytes_available(fd);
    let mut taken = 0;
    let mut buffer = [MaybeUninit::uninit(); CHUNK];
    // One read more than what is there tells whether this is the end.
    while taken <= available {
        match read(fd, &mut buffer) {
            Ok(([], _)) => return Ok(Reached::End),
            Ok((chunk, _)) => {
                taken += chunk.len() as u64;
                sink(chunk);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Reached::More)
}

fn bytes_available(fd: BorrowedFd<'_>) -> u64 {
    ioctl_fionread(fd).unwrap_or(0)
}

/// A pipe, read end first, both ends close-on-exec and not below 3.
///
/// The host may have closed its own streams. An end with the number of a
/// stream would be overwritten in the child before it is duplicated.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((above_streams(read.into())?, above_streams(write.into())?))
}

pub(super) fn above_streams(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > 2 { Ok(fd) } else { Ok(fcntl_dupfd_cloexec(fd, 3)?) }
}

#[cfg(target_os = "linux")]
fn enlarge(fd: BorrowedFd<'_>) {
    // A refusal only makes the writing slower.
    let _ = rustix::pipe::fcntl_setpipe_size(fd, LARGE_CAPACITY);
}

#[cfg(not(target_os = "linux"))]
fn enlarge(_fd: BorrowedFd<'_>) {}

/// Hands a descriptor to the runtime's reactor.
pub(super) fn register<T: AsRawFd + Owning>(fd: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    // SAFETY: `Owning` types own their one descriptor for as long as they live,
    // and the `AsyncFd` owns the value.
    unsafe { AsyncFd::register_with_interest(fd, interest) }.map_err(io::Error::from)
}

/// Types that own one descriptor, always the same, until they are dropped.
pub(super) trait Owning {}

impl Owning for OwnedFd {}

impl Owning for Arc<OwnedFd> {}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::Output;

    fn drained(output: &mut Output) -> Vec<u8> {
        let mut bytes = Vec::new();
        output.drain(&mut |chunk| bytes.extend_from_slice(chunk));
        bytes
    }

    #[tokio::test]
    async fn draining_takes_what_is_there_without_waiting_for_the_reactor() {
        let (mut output, write) = Output::open().unwrap();
        let mut writer = File::from(write);
        assert_eq!(drained(&mut output), b"");
        writer.write_all(&[b'x'; 50_000]).unwrap();
        assert_eq!(drained(&mut output), [b'x'; 50_000]);
        assert!(!output.has_ended());
        writer.write_all(b"last").unwrap();
        drop(writer);
        assert_eq!(drained(&mut output), b"last");
        assert!(output.has_ended());
    }

    #[tokio::test]
    async fn draining_ends_although_somebody_goes_on_writing() {
        let (mut output, write) = Output::open().unwrap();
        let mut writer = File::from(write);
        writer.write_all(&[b'x'; 60_000]).unwrap();
        let mut refills = 0;
        output.drain(&mut |chunk| {
            refills += 1;
            assert!(refills < 10, "the drain follows the writer");
            writer.write_all(chunk).unwrap();
        });
        assert!(!output.has_ended());
    }
}

//! The three pipes of a child, and reading and writing them without blocking.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, ioctl_fionread, read};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::pipe_holders::PipeName;
use super::sigpipe;
use super::wait::becomes_readable;
use crate::inherited::above_streams;

/// The capacity that a pipe has by default.
const DEFAULT_CAPACITY: usize = 64 << 10;

/// The capacity to request if there is more to write: the most that Linux grants without privileges.
#[cfg(target_os = "linux")]
const LARGE_CAPACITY: usize = 1 << 20;

/// The size of one write. The kernel locks the pipe during a write, so a larger one would block the child's reads for
/// longer.
const WRITTEN_AT_ONCE: usize = 128 << 10;

/// The size of one read.
const CHUNK: usize = 32 << 10;

/// The number of writes before other tasks of the runtime are polled.
const WRITES_PER_POLL: usize = 16;

/// The child's ends of its three pipes. They block, as programs expect.
pub(super) struct ChildPipeEnds {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// The host's non-blocking end of a pipe.
#[derive(Debug)]
enum Pipe {
    /// It is registered with no runtime.
    Idle(OwnedFd),
    Watched(AsyncFd<OwnedFd>),
}

impl Pipe {
    fn idle(fd: OwnedFd) -> io::Result<Self> {
        // Each end of a pipe has its own flags, so the child's end still blocks.
        fcntl_setfl(&fd, OFlags::NONBLOCK)?;
        Ok(Self::Idle(fd))
    }

    /// Removes it from its runtime.
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
pub(crate) struct StdinPipe {
    /// `None` once stdin is closed; watched while there is something to write.
    pipe: Option<Pipe>,
    after: AfterInput,
    payload: Arc<[u8]>,
    written: usize,
}

/// What follows the bytes that are written to stdin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterInput {
    /// Stdin is closed.
    End,
    /// Stdin stays open for more.
    Open,
}

impl StdinPipe {
    /// Creates a pipe for stdin, and returns it with the child's end.
    pub(super) fn open() -> io::Result<(Self, OwnedFd)> {
        let (theirs, ours) = create_pipe()?;
        sigpipe::disable_sigpipe(ours.as_fd());
        let input =
            Self { pipe: Some(Pipe::idle(ours)?), after: AfterInput::Open, payload: Arc::default(), written: 0 };
        Ok((input, theirs))
    }

    /// Begins to write. If the bytes do not fit into the pipe, it is registered with the current runtime.
    pub(crate) fn feed(&mut self, payload: &Arc<[u8]>, after: AfterInput) -> io::Result<()> {
        let Some(Pipe::Idle(fd)) = self.pipe.take() else { return Ok(()) };
        (self.payload, self.written, self.after) = (Arc::clone(payload), 0, after);
        if payload.len() > DEFAULT_CAPACITY {
            enlarge(fd.as_fd());
        }
        match write_some(fd.as_fd(), payload, &mut self.written) {
            // The child has closed its stdin. A program need not read its input.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.written = payload.len(),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Ok(()) | Err(_) => {}
        }
        self.pipe = if self.written < payload.len() {
            Some(Pipe::Watched(register(fd, Interest::WRITABLE)?))
        } else {
            Some(Pipe::Idle(fd)).filter(|_| after == AfterInput::Open)
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

    /// Writes what fits into the pipe; closes stdin when everything is written or the child has closed it.
    pub(crate) fn poll_feed(&mut self, cx: &mut Context<'_>) {
        if let Some(Pipe::Watched(fd)) = &self.pipe
            && poll_write(fd, &self.payload, &mut self.written, cx).is_ready()
        {
            let stays = self.after == AfterInput::Open && self.written == self.payload.len();
            self.pipe = self.pipe.take().filter(|_| stays).map(Pipe::unwatched);
        }
    }

    /// Closes stdin.
    pub(crate) fn close(&mut self) {
        self.pipe = None;
    }
}

/// Writes what fits into the pipe; ready when everything is written or no more can be written.
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
            // In most cases EPIPE: the child has closed its stdin. A program need not read its input.
            Ok(()) | Err(_) => return Poll::Ready(()),
        }
    }
}

/// Writes what fits into the pipe, at most [`WRITES_PER_POLL`] times. A pipe may be smaller than the default: Linux shrinks
/// the pipes of a user who has very many.
fn write_some(fd: BorrowedFd<'_>, payload: &[u8], written: &mut usize) -> io::Result<()> {
    for _ in 0..WRITES_PER_POLL {
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

/// The read end of a child's stdout or stderr. It is registered with the runtime at its first poll.
#[derive(Debug)]
pub(crate) struct OutputPipe {
    /// `None` once the end was read.
    pipe: Option<Pipe>,
}

impl OutputPipe {
    /// Creates a pipe for an output, and returns it with the child's end.
    pub(super) fn open() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = create_pipe()?;
        Ok((Self { pipe: Some(Pipe::idle(ours)?) }, theirs))
    }

    /// Registers the pipe with the current runtime. If that fails, the pipe is closed.
    pub(super) fn watch(&mut self) -> io::Result<()> {
        self.pipe = match self.pipe.take() {
            Some(Pipe::Idle(fd)) => Some(Pipe::Watched(register(fd, Interest::READABLE)?)),
            other => other,
        };
        Ok(())
    }

    /// Removes the pipe from its runtime.
    pub(super) fn unwatch(&mut self) {
        self.pipe = self.pipe.take().map(Pipe::unwatched);
    }

    /// Whether there are unread bytes in the pipe.
    pub(crate) fn has_bytes(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| bytes_available(pipe.as_fd()) > 0)
    }

    /// Whether the pipe is open and has no unread bytes.
    pub(super) fn is_quiet(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| !becomes_readable(pipe.as_fd(), Duration::ZERO))
    }

    /// Returns the name by which the processes that hold the pipe are found; `None` if it has ended or cannot be named.
    pub(crate) fn name(&self) -> Option<PipeName> {
        self.pipe.as_ref().and_then(|pipe| PipeName::of(pipe.as_fd()))
    }

    /// Whether the end of the stream was read.
    pub(crate) fn has_ended(&self) -> bool {
        self.pipe.is_none()
    }

    /// Passes what can be read to `sink`; ready at the end of the stream.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, sink: &mut dyn FnMut(&[u8])) -> Poll<()> {
        // A pipe that cannot be registered is closed, which is treated as its end. Callers for which that would hide an
        // answer register it first.
        let _ = self.watch();
        if let Some(Pipe::Watched(fd)) = &self.pipe {
            ready!(poll_read(fd, cx, sink));
            self.pipe = None;
        }
        Poll::Ready(())
    }

    /// Passes what is in the pipe to `sink`, without waiting.
    pub(crate) fn drain(&mut self, sink: &mut dyn FnMut(&[u8])) {
        if let Some(pipe) = &self.pipe
            && let Ok(ReadProgress::End) = read_available(pipe.as_fd(), sink)
        {
            self.pipe = None;
        }
    }
}

/// Passes what can be read to `sink`; ready at the end of the stream.
fn poll_read(fd: &AsyncFd<OwnedFd>, cx: &mut Context<'_>, sink: &mut dyn FnMut(&[u8])) -> Poll<()> {
    loop {
        let Ok(mut guard) = ready!(fd.poll_read_ready(cx)) else {
            return Poll::Ready(());
        };
        match read_available(fd.as_fd(), sink) {
            Ok(ReadProgress::More) => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Err(Errno::WOULDBLOCK) => guard.clear_ready(),
            Ok(ReadProgress::End) | Err(_) => return Poll::Ready(()),
        }
    }
}

/// Where a read stopped.
enum ReadProgress {
    /// At the end of the stream.
    End,
    /// At the bytes that have arrived since.
    More,
}

/// Reads what is in the pipe at the time of the call.
///
/// It does not read until the pipe is empty, because a child that writes all the time would then never let it return.
fn read_available(fd: BorrowedFd<'_>, sink: &mut dyn FnMut(&[u8])) -> Result<ReadProgress, Errno> {
    let available = bytes_available(fd);
    let mut taken = 0;
    let mut buffer = [MaybeUninit::uninit(); CHUNK];
    // One read more than the bytes that were there shows whether this is the end of the stream.
    while taken <= available {
        match read(fd, &mut buffer) {
            Ok(([], _)) => return Ok(ReadProgress::End),
            Ok((chunk, _)) => {
                taken += chunk.len() as u64;
                sink(chunk);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(ReadProgress::More)
}

fn bytes_available(fd: BorrowedFd<'_>) -> u64 {
    ioctl_fionread(fd).unwrap_or(0)
}

/// Creates a pipe, and returns its read end and its write end. Both are close-on-exec and have numbers above 2.
///
/// A host that has closed its own streams gets the numbers 0 to 2 for new descriptors. In the child such an end would be
/// overwritten by the `dup2` of another stream before it is duplicated itself.
fn create_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((above_streams(read.into())?, above_streams(write.into())?))
}

#[cfg(target_os = "linux")]
fn enlarge(fd: BorrowedFd<'_>) {
    // If this is refused, writing takes more turns.
    let _ = rustix::pipe::fcntl_setpipe_size(fd, LARGE_CAPACITY);
}

#[cfg(not(target_os = "linux"))]
fn enlarge(_fd: BorrowedFd<'_>) {}

/// Registers a descriptor with the runtime's reactor.
pub(super) fn register<T: AsRawFd + OwnsDescriptor>(fd: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    // SAFETY: `OwnsDescriptor` types own their one descriptor for as long as they live,
    // and the `AsyncFd` owns the value.
    unsafe { AsyncFd::register_with_interest(fd, interest) }.map_err(io::Error::from)
}

/// Types that own one descriptor, which does not change until they are dropped.
pub(super) trait OwnsDescriptor {}

impl OwnsDescriptor for OwnedFd {}

impl OwnsDescriptor for Arc<OwnedFd> {}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::OutputPipe;

    fn drained(output: &mut OutputPipe) -> Vec<u8> {
        let mut bytes = Vec::new();
        output.drain(&mut |chunk| bytes.extend_from_slice(chunk));
        bytes
    }

    #[tokio::test]
    async fn draining_takes_what_is_there_without_waiting_for_the_reactor() {
        let (mut output, write) = OutputPipe::open().unwrap();
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
    async fn draining_ends_although_the_pipe_is_refilled() {
        let (mut output, write) = OutputPipe::open().unwrap();
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

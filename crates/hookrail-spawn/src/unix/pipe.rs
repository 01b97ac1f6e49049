//! The three pipes of a child, and reading and writing them without blocking.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use libc::c_int;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::sigpipe;
use super::wait::becomes_readable;
use crate::command::Command;

/// How much fits a pipe on every system without asking.
const DEFAULT_CAPACITY: usize = 64 << 10;

/// The capacity to ask for when there is more to write: what Linux grants without privilege.
#[cfg(target_os = "linux")]
const LARGE_CAPACITY: c_int = 1 << 20;

/// How much is written at once. A larger write would keep the child out of the pipe for as long as it takes.
const WRITTEN_AT_ONCE: usize = 128 << 10;

/// How much is read at once.
const CHUNK: usize = 32 << 10;

/// How many chunks are moved before others get their turn.
const TURNS: usize = 16;

/// All six ends.
pub(super) struct Pipes {
    pub(super) ours: Ours,
    pub(super) theirs: Theirs,
}

/// The host's ends; they do not block.
pub(super) struct Ours {
    pub(super) stdin: Input,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
}

/// The child's ends; they block, as programs expect.
pub(super) struct Theirs {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

impl Pipes {
    /// Opens three fresh pipes and puts as much of the payload into stdin as fits. A sealed input takes the place of
    /// the first pipe.
    pub(super) fn open(command: &Command) -> io::Result<Self> {
        let (their_stdin, our_stdin) = match &command.sealed {
            Some(sealed) => (sealed.0.reader()?, Input::nothing()),
            None => {
                let (theirs, ours) = pipe()?;
                (theirs, Input::prefill(ours, Arc::clone(&command.stdin))?)
            }
        };
        let (our_stdout, their_stdout) = pipe()?;
        let (our_stderr, their_stderr) = pipe()?;
        Ok(Self {
            ours: Ours { stdin: our_stdin, stdout: Output::new(our_stdout)?, stderr: Output::new(our_stderr)? },
            theirs: Theirs { stdin: their_stdin, stdout: their_stdout, stderr: their_stderr },
        })
    }
}

/// The host's ends of a child that nobody talks to at the moment; no runtime knows of them.
#[derive(Debug)]
pub(super) struct Idle {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

impl Idle {
    /// Opens three fresh pipes for a child that gets its input later.
    pub(super) fn open() -> io::Result<(Self, Theirs)> {
        let (their_stdin, our_stdin) = pipe()?;
        let (our_stdout, their_stdout) = pipe()?;
        let (our_stderr, their_stderr) = pipe()?;
        for end in [&our_stdin, &our_stdout, &our_stderr] {
            set_nonblocking(end.as_fd())?;
        }
        sigpipe::quiet(our_stdin.as_fd());
        let ours = Self { stdin: our_stdin, stdout: our_stdout, stderr: our_stderr };
        Ok((ours, Theirs { stdin: their_stdin, stdout: their_stdout, stderr: their_stderr }))
    }
}

/// The write end of a child's stdin and what is still to be written.
#[derive(Debug)]
pub(crate) struct Input {
    /// None once everything is written or nobody wants it.
    fd: Option<AsyncFd<OwnedFd>>,
    /// The pipe once everything is written, where more may follow.
    kept: Option<OwnedFd>,
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
    /// Nothing to write.
    fn nothing() -> Self {
        Self { fd: None, kept: None, after: After::End, payload: Arc::default(), written: 0 }
    }

    /// Writes what fits before the child exists; mostly that is everything.
    ///
    /// The read end is still ours then, so this cannot raise SIGPIPE, and a
    /// payload that fits needs no writer at all while the child runs.
    fn prefill(fd: OwnedFd, payload: Arc<[u8]>) -> io::Result<Self> {
        if payload.is_empty() {
            return Ok(Self { fd: None, kept: None, after: After::End, payload, written: 0 });
        }
        set_nonblocking(fd.as_fd())?;
        sigpipe::quiet(fd.as_fd());
        let written = fill(fd.as_fd(), &payload, sigpipe::plain_write)?;
        let fd = if written < payload.len() { Some(register(fd, Interest::WRITABLE)?) } else { None };
        Ok(Self { fd, kept: None, after: After::End, payload, written })
    }

    /// Begins to write to a child that has waited for it, and says whether the end of the input follows.
    pub(crate) fn deliver(fd: OwnedFd, payload: Arc<[u8]>, after: After) -> io::Result<Self> {
        let written = match fill(fd.as_fd(), &payload, sigpipe::write) {
            // The child does not want its input, which is its right.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => payload.len(),
            filled => filled?,
        };
        if written < payload.len() {
            return Ok(Self { fd: Some(register(fd, Interest::WRITABLE)?), kept: None, after, payload, written });
        }
        let kept = (after == After::Open).then_some(fd);
        Ok(Self { fd: None, kept, after, payload, written })
    }

    /// Whether there is nothing left to write.
    pub(crate) fn is_written(&self) -> bool {
        self.fd.is_none()
    }

    /// Whether everything was written and the pipe is still open.
    pub(crate) fn is_idle(&self) -> bool {
        self.kept.is_some()
    }

    /// The pipe, when everything was written and it is still open.
    pub(crate) fn into_idle(self) -> Option<OwnedFd> {
        self.kept
    }

    /// Writes what the child takes now; closes stdin when all is written or refused.
    pub(crate) fn poll_feed(&mut self, cx: &mut Context<'_>) {
        if let Some(fd) = &self.fd
            && poll_write(fd, &self.payload, &mut self.written, cx).is_ready()
        {
            let fd = self.fd.take().map(AsyncFd::into_inner);
            self.kept = fd.filter(|_| self.after == After::Open && self.written == self.payload.len());
        }
    }

    /// Closes stdin.
    pub(crate) fn close(&mut self) {
        self.fd = None;
        self.kept = None;
    }
}

/// Writes once.
type Write = fn(BorrowedFd<'_>, &[u8]) -> io::Result<usize>;

/// Writes what fits now, and says how much that was.
fn fill(fd: BorrowedFd<'_>, payload: &[u8], write: Write) -> io::Result<usize> {
    if payload.len() > DEFAULT_CAPACITY {
        enlarge(fd);
    }
    let mut written = 0;
    while let Some(rest) = payload.get(written..).filter(|rest| !rest.is_empty()) {
        match write(fd, rest) {
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Full. The pipe may be smaller than usual, too: the system
            // shrinks those of a user who has very many.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

/// Ready when there is nothing more to write, for whatever reason.
fn poll_write(fd: &AsyncFd<OwnedFd>, payload: &[u8], written: &mut usize, cx: &mut Context<'_>) -> Poll<()> {
    for _ in 0..TURNS {
        let Some(rest) = payload.get(*written..).filter(|rest| !rest.is_empty()) else {
            return Poll::Ready(());
        };
        let Ok(mut guard) = ready!(fd.poll_write_ready(cx)) else {
            return Poll::Ready(());
        };
        match sigpipe::write(fd.as_fd(), rest.get(..WRITTEN_AT_ONCE).unwrap_or(rest)) {
            Ok(count) => *written += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // EPIPE, mostly: the child does not want its input, which is its right.
            Err(_) => return Poll::Ready(()),
        }
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// The read end of a child's stdout or stderr.
#[derive(Debug)]
pub(crate) struct Output {
    /// None once the end was read.
    fd: Option<Source>,
}

/// A read end, which is handed to the runtime when it is first waited for.
#[derive(Debug)]
enum Source {
    Idle(OwnedFd),
    Watched(AsyncFd<OwnedFd>),
}

impl Source {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Idle(fd) => fd.as_fd(),
            Self::Watched(fd) => fd.as_fd(),
        }
    }
}

impl Output {
    fn new(fd: OwnedFd) -> io::Result<Self> {
        set_nonblocking(fd.as_fd())?;
        Ok(Self::watch_later(fd))
    }

    /// Hands the pipe to the runtime this is called in. Where that fails the pipe is lost.
    pub(super) fn watch(&mut self) -> io::Result<()> {
        self.fd = match self.fd.take() {
            Some(Source::Idle(fd)) => Some(Source::Watched(register(fd, Interest::READABLE)?)),
            other => other,
        };
        Ok(())
    }

    /// A pipe that does not block, for the runtime in which it is first waited for.
    pub(super) fn watch_later(fd: OwnedFd) -> Self {
        Self { fd: Some(Source::Idle(fd)) }
    }

    /// Takes the pipe from the runtime; none when its end was read.
    pub(super) fn into_idle(self) -> Option<OwnedFd> {
        match self.fd? {
            Source::Idle(fd) => Some(fd),
            Source::Watched(fd) => Some(fd.into_inner()),
        }
    }

    /// Whether there are bytes to read at this moment.
    pub(crate) fn has_bytes(&self) -> bool {
        self.fd.as_ref().is_some_and(|fd| bytes_available(fd.as_fd()) > 0)
    }

    /// Whether the end was read: nobody can write any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.fd.is_none()
    }

    /// Hands out what there is to read; ready at the end of the stream.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, sink: &mut dyn FnMut(&[u8])) -> Poll<()> {
        // What the runtime refuses to watch cannot be read any more, which is its end.
        let _ = self.watch();
        if let Some(Source::Watched(fd)) = &self.fd {
            ready!(poll_read(fd, cx, sink));
            self.fd = None;
        }
        Poll::Ready(())
    }

    /// Hands out what is in the pipe at this moment, without waiting.
    ///
    /// Not until the pipe is empty: somebody may be filling it all the time.
    pub(crate) fn drain(&mut self, sink: &mut dyn FnMut(&[u8])) {
        let Some(fd) = &self.fd else {
            return;
        };
        let available = bytes_available(fd.as_fd());
        let mut taken = 0;
        let mut buffer = [MaybeUninit::uninit(); CHUNK];
        // One read more than what is there tells whether this is the end.
        while taken <= available {
            match read(fd.as_fd(), &mut buffer) {
                Ok([]) => {
                    self.fd = None;
                    return;
                }
                Ok(chunk) => {
                    taken += chunk.len();
                    sink(chunk);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

/// Ready at the end of the stream.
fn poll_read(fd: &AsyncFd<OwnedFd>, cx: &mut Context<'_>, sink: &mut dyn FnMut(&[u8])) -> Poll<()> {
    let mut buffer = [MaybeUninit::uninit(); CHUNK];
    for _ in 0..TURNS {
        let Ok(mut guard) = ready!(fd.poll_read_ready(cx)) else {
            return Poll::Ready(());
        };
        match read(fd.as_fd(), &mut buffer) {
            Ok([]) => return Poll::Ready(()),
            Ok(chunk) => sink(chunk),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Poll::Ready(()),
        }
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// Reads once and returns the filled part of the buffer.
fn read<'a>(fd: BorrowedFd<'_>, buffer: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a [u8]> {
    // SAFETY: the descriptor is open, and `buffer` is writable for its length.
    let count = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the call has written the first `count` bytes, and never writes
    // more than there is room for.
    Ok(unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), count) })
}

/// Whether there is nothing to read, and not the end either.
pub(super) fn is_quiet(fd: BorrowedFd<'_>) -> bool {
    !becomes_readable(fd, Duration::ZERO)
}

fn bytes_available(fd: BorrowedFd<'_>) -> usize {
    let mut count: c_int = 0;
    // SAFETY: the descriptor is open, and FIONREAD writes one int.
    let answer = unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &raw mut count) };
    if answer == 0 { usize::try_from(count).unwrap_or(0) } else { 0 }
}

/// A pipe, read end first, both ends close-on-exec and not below 3.
///
/// The host may have closed its own streams. An end with the number of a
/// stream would be overwritten in the child before it is duplicated.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = raw_pipe()?;
    Ok((above_streams(read)?, above_streams(write)?))
}

#[cfg(target_os = "linux")]
fn raw_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [-1; 2];
    // SAFETY: there is room for the two numbers the call writes.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    let [read, write] = ends;
    // SAFETY: both are open and nobody else knows them.
    unsafe { Ok((OwnedFd::from_raw_fd(read), OwnedFd::from_raw_fd(write))) }
}

/// Without `pipe2` there is a moment in which a fork elsewhere in the host inherits the ends.
#[cfg(not(target_os = "linux"))]
fn raw_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [-1; 2];
    // SAFETY: there is room for the two numbers the call writes.
    check(unsafe { libc::pipe(ends.as_mut_ptr()) })?;
    let [read, write] = ends;
    // SAFETY: both are open and nobody else knows them.
    let (read, write) = unsafe { (OwnedFd::from_raw_fd(read), OwnedFd::from_raw_fd(write)) };
    for end in [&read, &write] {
        // SAFETY: the descriptor is open, and the command takes an integer.
        check(unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) })?;
    }
    Ok((read, write))
}

/// The same file once more, for reading only and with a position of its own.
pub(super) fn read_only(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let file = std::fs::File::open(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
    Ok(file.into())
}

pub(super) fn above_streams(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > 2 {
        return Ok(fd);
    }
    // SAFETY: the descriptor is open, and the command takes an integer.
    let copy = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3) };
    check(copy)?;
    // SAFETY: the copy is open and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

#[cfg(target_os = "linux")]
fn enlarge(fd: BorrowedFd<'_>) {
    // A refusal only makes the writing slower.
    // SAFETY: the descriptor is open, and the command takes an integer.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETPIPE_SZ, LARGE_CAPACITY) };
}

#[cfg(not(target_os = "linux"))]
fn enlarge(_fd: BorrowedFd<'_>) {}

/// Each end of a pipe has its own flags, so the child's end goes on blocking.
fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the descriptor is open, and the command takes an integer.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) })
}

pub(super) fn check(answer: c_int) -> io::Result<()> {
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

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

    use super::{Output, pipe};

    fn drained(output: &mut Output) -> Vec<u8> {
        let mut bytes = Vec::new();
        output.drain(&mut |chunk| bytes.extend_from_slice(chunk));
        bytes
    }

    #[tokio::test]
    async fn draining_takes_what_is_there_without_waiting_for_the_reactor() {
        let (read, write) = pipe().unwrap();
        let mut output = Output::new(read).unwrap();
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
        let (read, write) = pipe().unwrap();
        let mut output = Output::new(read).unwrap();
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

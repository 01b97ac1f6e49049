//! What a server that runs the program of this process sends, and nothing that another process sends.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::OwnedReadHalf;

/// Reads from a socket whose listening process runs the program of this process: the same file, by device and inode.
///
/// A process that listens can leave its socket to a child and then run another program, so the process that listens says nothing
/// about who answers. Everything that arrives must have been sent by the process that listens; anything else is an error.
#[derive(Debug)]
pub struct OwnProgramReader {
    reader: OwnedReadHalf,
    #[cfg(target_os = "linux")]
    pid: i32,
    foreign: ForeignSender,
}

/// Whether another process than the one that listens has sent something.
#[derive(Clone, Debug, Default)]
pub struct ForeignSender(Arc<AtomicBool>);

impl ForeignSender {
    /// Whether it was seen so far.
    #[must_use]
    pub fn was_seen(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(target_os = "linux")]
impl OwnProgramReader {
    /// A reader of what this process sends; none if it does not run the program of this process, or that cannot be found out.
    pub(super) fn of_process(reader: OwnedReadHalf, pid: Option<i32>) -> Option<(Self, ForeignSender)> {
        let foreign = ForeignSender::default();
        let pid = pid.filter(|pid| *pid > 0 && runs_own_program(*pid))?;
        rustix::net::sockopt::set_socket_passcred(reader.as_ref(), true).ok()?;
        Some((Self { reader, pid, foreign: foreign.clone() }, foreign))
    }

    fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        use std::os::fd::AsFd as _;
        let stream = self.reader.as_ref();
        let receive = || hookrail_spawn::receive_with_sender(stream.as_fd(), buffer);
        match stream.try_io(tokio::io::Interest::READABLE, receive)? {
            // The end of a stream has no sender.
            (0, _) => Ok(0),
            (count, sender) if sender == Some(self.pid) => Ok(count),
            (_, _) => {
                self.foreign.0.store(true, Ordering::Relaxed);
                Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "another process than the one that listens answers",
                ))
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl AsyncRead for OwnProgramReader {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.reader.as_ref().poll_read_ready(context))?;
            match self.receive(buffer.initialize_unfilled()) {
                Ok(count) => {
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                // Another wake-up took what was there.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

/// Whether a process runs the same file as this one. A process of which that cannot be found out does not.
#[cfg(target_os = "linux")]
fn runs_own_program(pid: i32) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |process: &str| {
        let program = std::fs::metadata(format!("/proc/{process}/exe")).ok()?;
        Some((program.dev(), program.ino()))
    };
    identity(&pid.to_string()).is_some_and(|program| identity("self") == Some(program))
}

#[cfg(not(target_os = "linux"))]
impl OwnProgramReader {
    pub(super) fn of_process(reader: OwnedReadHalf, _pid: Option<i32>) -> Option<(Self, ForeignSender)> {
        Some((Self { reader, foreign: ForeignSender::default() }, ForeignSender::default()))
    }
}

#[cfg(not(target_os = "linux"))]
impl AsyncRead for OwnProgramReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.reader).poll_read(context, buffer)
    }
}

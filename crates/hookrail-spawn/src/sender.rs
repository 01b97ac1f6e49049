//! Which process sent what arrives on a Unix socket.
//!
//! The credentials of a connection are those of the process that called `listen`. That process may since run another program, while
//! a child that inherited the socket answers. The kernel adds to every piece the process that sent it, if the reader asks for that.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// The process that sent something; none if the kernel does not tell, as for one outside of this process's namespace.
pub type Sender = Option<i32>;

/// The room for the credentials of one sender, and for nothing else: descriptors that a sender adds are then not received.
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

// SAFETY: it only computes a size.
const CONTROL: usize = unsafe { libc::CMSG_SPACE(size_of::<libc::ucred>() as u32) } as usize;

/// Reads from a socket on which `SO_PASSCRED` is set, and returns the process that sent what was read. Pieces of two senders are
/// never read together.
///
/// # Errors
/// If the operating system cannot read, or nothing is there and the socket does not wait.
pub fn receive_with_sender(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Sender)> {
    let mut control = Control([0; CONTROL]);
    let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a header without addresses is valid when it is all zero.
    let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    header.msg_iov = &raw mut piece;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = CONTROL as _;
    // SAFETY: the header names the two buffers, which outlive the call, with their lengths.
    let read = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
    let read = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel has filled in the header and the control buffer that it names.
    Ok((read, unsafe { sender(&header) }))
}

/// # Safety
/// The header must be one that `recvmsg` has filled in, and its control buffer must still be there.
unsafe fn sender(header: &libc::msghdr) -> Sender {
    // SAFETY: as the caller promises; the kernel returns a null pointer where there is no room for a first message.
    let first = unsafe { libc::CMSG_FIRSTHDR(header) };
    // SAFETY: as above.
    let message = unsafe { first.as_ref() }?;
    // SAFETY: it only computes a length.
    let length = unsafe { libc::CMSG_LEN(size_of::<libc::ucred>() as u32) } as usize;
    if (message.cmsg_level, message.cmsg_type) != (libc::SOL_SOCKET, libc::SCM_CREDENTIALS)
        || (message.cmsg_len as usize) < length
    {
        return None;
    }
    // SAFETY: the message is one of credentials and long enough; it need not be aligned.
    let found = unsafe { libc::CMSG_DATA(first).cast::<libc::ucred>().read_unaligned() };
    (found.pid > 0).then_some(found.pid)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};

    use rustix::net::sockopt::set_socket_passcred;

    use super::receive_with_sender;

    #[test]
    fn every_piece_has_its_own_sender() -> std::io::Result<()> {
        let (ours, mut other) = UnixStream::pair()?;
        let mut buffer = [0; 64];
        other.write_all(b"before")?;
        assert_eq!(receive_with_sender(ours.as_fd(), &mut buffer)?, (6, None), "the sender was not asked for");
        set_socket_passcred(&ours, true)?;
        other.write_all(b"here")?;
        let output = Stdio::from(std::os::fd::OwnedFd::from(other.try_clone()?));
        let mut child = Command::new("/bin/sh").args(["-c", "printf there"]).stdout(output).spawn()?;
        assert!(child.wait()?.success());
        let this = i32::try_from(std::process::id()).ok();
        assert_eq!(receive_with_sender(ours.as_fd(), &mut buffer)?, (4, this));
        assert_eq!(receive_with_sender(ours.as_fd(), &mut buffer)?, (5, i32::try_from(child.id()).ok()));
        drop(other);
        assert_eq!(receive_with_sender(ours.as_fd(), &mut buffer)?.0, 0, "the end has no sender");
        Ok(())
    }
}

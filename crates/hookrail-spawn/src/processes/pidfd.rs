//! Descriptors of processes: open one, kill its process, and read how its process ended.
//!
//! Only Linux has them. On other systems opening fails, and the callers work without.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use libc::{c_int, pid_t};

/// Opens a descriptor of a process that has not been reaped.
#[cfg(target_os = "linux")]
pub(crate) fn open_pidfd(pid: pid_t) -> io::Result<OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_pidfd(_pid: pid_t) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Kills the process, and returns whether it existed.
#[cfg(target_os = "linux")]
pub(crate) fn kill_process(pidfd: BorrowedFd<'_>) -> bool {
    rustix::process::pidfd_send_signal(pidfd, rustix::process::Signal::KILL).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn kill_process(_pidfd: BorrowedFd<'_>) -> bool {
    false
}

/// Returns the status of a process that was already reaped, as `wait` would have returned it; `None` before Linux 6.15.
#[cfg(target_os = "linux")]
pub(crate) fn wait_status(pidfd: BorrowedFd<'_>) -> Option<c_int> {
    use std::os::fd::AsRawFd as _;
    let mut info = PidfdInfo { mask: INFO_EXIT, ..PidfdInfo::default() };
    // SAFETY: the descriptor is open, and the kernel writes at most the size
    // that the request number carries, which is that of `info`. A kernel or an
    // architecture with another encoding refuses the number.
    let answer = unsafe { libc::ioctl(pidfd.as_raw_fd(), GET_INFO as libc::Ioctl, &raw mut info) };
    (answer == 0 && info.mask & INFO_EXIT != 0).then_some(info.exit_code)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn wait_status(_pidfd: BorrowedFd<'_>) -> Option<c_int> {
    None
}

/// `struct pidfd_info` of `linux/pidfd.h` in its first version. The kernel
/// takes the size from the request number and writes no more than that.
#[cfg(target_os = "linux")]
#[repr(C)]
#[derive(Default)]
struct PidfdInfo {
    mask: u64,
    cgroup: u64,
    /// pid, tgid, ppid, and four pairs of user and group ids.
    ids: [u32; 11],
    exit_code: i32,
}

/// The bit of `mask` that requests `exit_code`, and that the kernel sets if it is valid.
#[cfg(target_os = "linux")]
const INFO_EXIT: u64 = 1 << 3;

/// `_IOWR(0xFF, 11, struct pidfd_info)` in the generic encoding.
#[cfg(target_os = "linux")]
const GET_INFO: u32 = (3 << 30) | ((size_of::<PidfdInfo>() as u32) << 16) | (0xFF << 8) | 11;

//! Asks a pidfd how its process ended, after somebody else has reaped it.

use std::os::fd::{AsRawFd, OwnedFd};

use libc::c_int;

/// `struct pidfd_info` of `linux/pidfd.h` in its first version; the kernel
/// takes the size from the request number and fills no more than that.
#[repr(C)]
#[derive(Default)]
struct PidfdInfo {
    mask: u64,
    cgroup: u64,
    /// pid, tgid, ppid, and four pairs of user and group ids.
    ids: [u32; 11],
    exit_code: i32,
}

/// The bit of `mask` that asks for, and then marks, `exit_code`.
const INFO_EXIT: u64 = 1 << 3;

/// `_IOWR(0xFF, 11, struct pidfd_info)` in the generic encoding.
const GET_INFO: u32 = (3 << 30) | ((size_of::<PidfdInfo>() as u32) << 16) | (0xFF << 8) | 11;

/// The status as `wait` would have given it; none before Linux 6.15.
pub(super) fn wait_status(pidfd: &OwnedFd) -> Option<c_int> {
    let mut info = PidfdInfo { mask: INFO_EXIT, ..PidfdInfo::default() };
    // SAFETY: the descriptor is open, and the kernel writes at most the size
    // that the request number carries, which is that of `info`. A kernel or an
    // architecture with another encoding refuses the number.
    let answer = unsafe { libc::ioctl(pidfd.as_raw_fd(), GET_INFO as libc::Ioctl, &raw mut info) };
    (answer == 0 && info.mask & INFO_EXIT != 0).then_some(info.exit_code)
}

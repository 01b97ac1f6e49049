//! The system calls behind the ledger: what identifies a process, and how a recorded child is ended.

use std::io;
use std::os::fd::AsFd as _;

use libc::pid_t;

use super::family::{ProcessFamily, ProcessStat, sweep};
use super::pidfd;

/// Returns the boot and the pid namespace in which the pids and start times of this program are valid.
pub(crate) fn system_identity() -> io::Result<String> {
    if !cfg!(target_os = "linux") {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let namespace = std::fs::read_link("/proc/self/ns/pid")?;
    Ok(format!("{} {}", boot.trim(), namespace.display()))
}

/// Whether a record was written in the same boot and another pid namespace, so that its processes may still run.
pub(crate) fn is_of_another_container(record: &[u8], world: &str) -> bool {
    let boot = world.split(' ').next().unwrap_or_default();
    !boot.is_empty() && record.starts_with(boot.as_bytes()) && !record.starts_with(world.as_bytes())
}

/// Returns when a process was started, in ticks since the boot.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    ProcessStat::read(pid.cast_signed()).map(|stat| stat.started)
}

/// Ends a recorded child and its relatives, and returns the number of processes that were ended.
///
/// The ids of the child's group and session are used only while the child itself exists, because they may be given to other
/// processes afterwards. The marker is unique to the run, so it is always used.
pub(crate) fn end_recorded(child: Option<(u32, u64)>, marker: Option<Vec<u8>>) -> u32 {
    let leader = child.map(|(pid, start)| (pid.cast_signed(), start));
    let end_all = |family: &ProcessFamily| sweep(|dead| family.kill_relatives(dead)).map_or(0, |(killed, _)| killed);
    let mut ended = 0;
    if let Some((pid, start)) = leader
        && let Ok(pidfd) = pidfd::open_pidfd(pid)
        // The start time is read after the descriptor was opened, so the descriptor refers to the recorded process.
        && ProcessStat::read(pid).is_some_and(|stat| stat.started == start && !stat.is_dead)
    {
        let family = ProcessFamily::since(start, pid, marker.clone());
        family.note_descendants();
        ended += end_all(&family);
        ended += u32::from(pidfd::kill_process(pidfd.as_fd()));
    }
    if marker.is_some() {
        ended += end_all(&ProcessFamily::since(ANY_TIME, NO_LEADER, marker));
    }
    ended
}

/// An id that no process, group or session has.
const NO_LEADER: pid_t = -1;

/// When the child of a record was started is known only while it exists.
const ANY_TIME: u64 = 0;

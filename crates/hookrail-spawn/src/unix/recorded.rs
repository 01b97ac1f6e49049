//! What a record of running children means on this system, and how those are ended that were left.

use std::io;
use std::os::fd::AsFd as _;

use libc::pid_t;

use super::pidfd;
use super::proc::{Family, Stat, sweep};

/// The boot and the namespace in which process numbers and times mean what they mean here.
pub(crate) fn world() -> io::Result<String> {
    if !cfg!(target_os = "linux") {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let namespace = std::fs::read_link("/proc/self/ns/pid")?;
    Ok(format!("{} {}", boot.trim(), namespace.display()))
}

/// Whether a record was written in the same boot and another namespace, so that its processes may live.
pub(crate) fn is_of_another_container(record: &[u8], world: &str) -> bool {
    let boot = world.split(' ').next().unwrap_or_default();
    !boot.is_empty() && record.starts_with(boot.as_bytes()) && !record.starts_with(world.as_bytes())
}

/// When a process was started, in ticks since the boot.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    Stat::read(pid.cast_signed()).map(|stat| stat.started)
}

/// Ends a child that was left, and everything that belongs to it; returns how many processes that were.
///
/// The group and the session of the child are believed only while the child itself is there, because their numbers may be
/// somebody else's afterwards. The marker is always believed.
pub(crate) fn end(child: Option<(u32, u64)>, marker: Option<Vec<u8>>) -> u32 {
    let leader = child.map(|(pid, start)| (pid.cast_signed(), start));
    let end_all = |family: &Family| sweep(|dead| family.kill_relatives(dead)).map_or(0, |(killed, _)| killed);
    let mut ended = 0;
    if let Some((pid, start)) = leader
        && let Ok(pidfd) = pidfd::open(pid)
        // Asked after it was opened, so the descriptor is that of the process which was recorded.
        && Stat::read(pid).is_some_and(|stat| stat.started == start && !stat.is_dead)
    {
        let family = Family::new(pid, marker.clone());
        family.note_descendants();
        ended += end_all(&family);
        ended += u32::from(pidfd::kill(pidfd.as_fd()));
    }
    if marker.is_some() {
        ended += end_all(&Family::new(NO_LEADER, marker));
    }
    ended
}

/// The number of no process, group or session.
const NO_LEADER: pid_t = -1;

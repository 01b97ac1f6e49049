//! Children that have not reached their `execve`.

#[cfg(target_os = "linux")]
use std::os::fd::{AsFd as _, OwnedFd};

/// A thread that starts children.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct ThreadId(libc::pid_t);

#[cfg(target_os = "linux")]
impl ThreadId {
    pub(super) fn current() -> Self {
        // SAFETY: it reads a number of the thread.
        Self(unsafe { libc::gettid() })
    }

    /// Whether a child of this thread has not reached its `execve`. Where the kernel does not tell, there may be one.
    pub(super) fn has_stalled_child(&self) -> bool {
        self.stalled_children().is_none_or(|children| !children.is_empty())
    }

    /// Kills the child for whose `execve` this thread waits. A child that cannot be killed, because it waits for a disk,
    /// dies before it runs its program. Where the kernel does not list the children of a thread, the child is killed when the
    /// thread has it.
    pub(super) fn kill_stalled_child(&self) {
        for child in self.stalled_children().unwrap_or_default() {
            crate::processes::pidfd::kill_process(child.as_fd());
        }
    }

    /// The children of this thread that have not reached their `execve`, of which there is one at most; nothing if the kernel
    /// does not tell.
    fn stalled_children(&self) -> Option<Vec<OwnedFd>> {
        let list = std::fs::read_to_string(format!("/proc/self/task/{}/children", self.0)).ok()?;
        let children = list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
        // Opened before it is looked at, so that no other process of the same number is meant.
        let opened = children.filter_map(|pid| Some((pid, crate::processes::pidfd::open_pidfd(pid).ok()?)));
        Some(opened.filter(|(pid, _)| has_not_executed(*pid)).map(|(_, child)| child).collect())
    }
}

/// Whether a process runs the program of its parent since it was forked. The other children of a thread have executed theirs.
#[cfg(target_os = "linux")]
fn has_not_executed(pid: libc::pid_t) -> bool {
    /// `PF_FORKNOEXEC`
    const FORKED_ONLY: u64 = 0x40;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program is in brackets and may hold anything. The flags are the seventh field after it.
    let flags = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_ascii_whitespace().nth(6));
    flags.and_then(|flags| flags.parse::<u64>().ok()).is_some_and(|flags| flags & FORKED_ONLY != 0)
}

/// Other systems do not tell which children a thread has, so the child is killed when the thread has it.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(super) struct ThreadId;

#[cfg(not(target_os = "linux"))]
impl ThreadId {
    pub(super) fn current() -> Self {
        Self
    }

    pub(super) fn has_stalled_child(&self) -> bool {
        true
    }

    pub(super) fn kill_stalled_child(&self) {}
}

//! The direct child as the owner of its pid.
//!
//! The id of a process, a group or a session may be used only while it cannot belong to another process. A child that has
//! not been reaped reserves all three. So a signal by id is sent under a lock that reaping takes too, and is not sent once
//! the child has been reaped.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard};

use libc::pid_t;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid};

use crate::end::ChildExit;
use crate::ledger::LedgerEntry;
use crate::lock::lock_mutex;
use crate::processes::family::{ProcessFamily, ProcessSearch, sweep};
use crate::processes::pidfd;

/// A child that leads its own session and process group.
#[derive(Debug)]
pub(super) struct SessionLeader {
    pid: Pid,
    pidfd: Option<Arc<OwnedFd>>,
    family: ProcessFamily,
    state: Mutex<PidState>,
}

/// Whether the pid is still reserved for the child.
#[derive(Debug)]
enum PidState {
    /// It is reserved. The child's entry in the ledger is removed when this value is dropped.
    Reserved(#[expect(dead_code, reason = "dropping it removes the entry")] Option<LedgerEntry>),
    Reaped,
}

impl SessionLeader {
    pub(super) fn new(pid: Pid, pidfd: Option<OwnedFd>, marker: Option<Vec<u8>>, entry: Option<LedgerEntry>) -> Self {
        let family = ProcessFamily::of_child(pid.as_raw_pid(), marker);
        Self { pid, pidfd: pidfd.map(Arc::new), family, state: Mutex::new(PidState::Reserved(entry)) }
    }

    pub(super) fn pid(&self) -> pid_t {
        self.pid.as_raw_pid()
    }

    pub(super) fn pidfd(&self) -> Option<&Arc<OwnedFd>> {
        self.pidfd.as_ref()
    }

    pub(super) fn family(&self) -> &ProcessFamily {
        &self.family
    }

    /// Sends a signal to the whole group, unless the child has been reaped.
    pub(super) fn signal_group(&self, signal: Signal) {
        if let PidState::Reserved(_) = &*self.lock() {
            // A failure means that the group has no process left.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Whether the group has a member. A zombie leader is a member, so call this after reaping.
    ///
    /// The pid is not reserved then. But a new process gets it only if the group is empty and the kernel has gone through
    /// all other pids since, and no signal is sent here.
    pub(super) fn group_exists(&self) -> bool {
        test_kill_process_group(self.pid).is_ok()
    }

    /// Returns how the child ended, without reaping it; `Unknown` if it has not ended, or its status is lost.
    pub(super) fn peek_exit(&self) -> ChildExit {
        match self.wait(WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT) {
            Ok(Some(exit)) => exit,
            Ok(None) => ChildExit::Unknown,
            Err(_) => self.lost_status(),
        }
    }

    /// Whether the child has exited, without reaping it.
    pub(super) fn has_exited(&self) -> bool {
        // An error means that the host or the kernel has reaped the child, so it has exited.
        !matches!(self.wait(WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT), Ok(None))
    }

    /// Blocks until the child has exited, without reaping it.
    pub(super) fn wait_for_exit(&self) {
        // An error means that the host or the kernel has reaped the child, so it has exited.
        let _ = self.wait(WaitIdOptions::NOWAIT);
    }

    /// Reaps the child if it has exited, which releases its pid and removes its entry from the ledger.
    pub(super) fn reap(&self) {
        let mut state = self.lock();
        if matches!(*state, PidState::Reserved(_)) && !matches!(self.wait(WaitIdOptions::NOHANG), Ok(None)) {
            *state = PidState::Reaped;
        }
    }

    pub(super) fn is_reaped(&self) -> bool {
        matches!(*self.lock(), PidState::Reaped)
    }

    /// Kills the relatives until none is found any more, and returns how many were killed and how many were left.
    pub(super) fn sweep(&self) -> Option<(u32, u32)> {
        sweep(|dead| match &*self.lock() {
            PidState::Reserved(_) => self.family.kill_relatives(dead),
            PidState::Reaped => Some(ProcessSearch::EMPTY),
        })
    }

    /// Ends the child and all its relatives, and reaps the child. Blocks until it has exited.
    pub(super) fn end_all_blocking(&self) {
        self.family.note_descendants();
        self.signal_group(Signal::KILL);
        self.wait_for_exit();
        self.sweep();
        self.reap();
    }

    fn lock(&self) -> MutexGuard<'_, PidState> {
        lock_mutex(&self.state)
    }

    /// Waits for this child only; returns `None` if it still runs.
    fn wait(&self, options: WaitIdOptions) -> io::Result<Option<ChildExit>> {
        let status = rustix::io::retry_on_intr(|| waitid(self.wait_target(), options | WaitIdOptions::EXITED))?;
        Ok(status.map(|status| match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => ChildExit::Code(code),
            (None, Some(signal)) => ChildExit::Signal(signal),
            (None, None) => ChildExit::Unknown,
        }))
    }

    #[cfg(target_os = "linux")]
    fn wait_target(&self) -> WaitId<'_> {
        self.pidfd.as_ref().map_or(WaitId::Pid(self.pid), |pidfd| WaitId::PidFd(pidfd.as_fd()))
    }

    #[cfg(not(target_os = "linux"))]
    fn wait_target(&self) -> WaitId<'_> {
        WaitId::Pid(self.pid)
    }

    /// Returns the status of a child that the kernel has reaped by itself, because the host ignores SIGCHLD.
    fn lost_status(&self) -> ChildExit {
        match self.pidfd.as_ref().and_then(|pidfd| pidfd::wait_status(pidfd.as_fd())) {
            Some(status) if libc::WIFEXITED(status) => ChildExit::Code(libc::WEXITSTATUS(status)),
            Some(status) if libc::WIFSIGNALED(status) => ChildExit::Signal(libc::WTERMSIG(status)),
            _ => ChildExit::Unknown,
        }
    }
}

//! The direct child as the owner of a process number.
//!
//! The hard idea: a number (of a process, a group or a session) may be used
//! only as long as it cannot have been given to somebody else. An unreaped
//! child reserves all three. So whoever signals by number holds a lock that
//! the reaping takes too, and does nothing once the child has been reaped.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard};

use libc::pid_t;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid};

use super::pidfd;
use super::proc::{Family, Look, sweep};
use crate::ledger::Entry;
use crate::lock::lock;
use crate::outcome::Exit;

/// A child that leads its session.
#[derive(Debug)]
pub(super) struct Leader {
    pid: Pid,
    pidfd: Option<Arc<OwnedFd>>,
    family: Family,
    state: Mutex<State>,
}

/// Whether the number is still reserved.
#[derive(Debug)]
enum State {
    /// It is, and the child has this entry in a record of running ones.
    Reserved(#[expect(dead_code, reason = "it is kept for its end")] Option<Entry>),
    Reaped,
}

impl Leader {
    pub(super) fn new(pid: Pid, pidfd: Option<OwnedFd>, marker: Option<Vec<u8>>, entry: Option<Entry>) -> Self {
        let family = Family::new(pid.as_raw_pid(), marker);
        Self { pid, pidfd: pidfd.map(Arc::new), family, state: Mutex::new(State::Reserved(entry)) }
    }

    pub(super) fn pid(&self) -> pid_t {
        self.pid.as_raw_pid()
    }

    pub(super) fn pidfd(&self) -> Option<&Arc<OwnedFd>> {
        self.pidfd.as_ref()
    }

    pub(super) fn family(&self) -> &Family {
        &self.family
    }

    /// Sends a signal to the whole group, unless the number has been given back.
    pub(super) fn signal_group(&self, signal: Signal) {
        if let State::Reserved(_) = &*self.lock() {
            // A failure means that nobody is left to be signalled.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Whether anybody is in the group. A zombie leader counts, so ask after reaping.
    ///
    /// The number is not reserved then, but a new process gets it only if the
    /// group is empty and all other numbers were used since; and it is a
    /// question, not a signal.
    pub(super) fn group_exists(&self) -> bool {
        test_kill_process_group(self.pid).is_ok()
    }

    /// How the child ended, without reaping it. Unknown if it has not, or nobody can tell.
    pub(super) fn peek(&self) -> Exit {
        match self.wait(WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT) {
            Ok(Some(exit)) => exit,
            Ok(None) => Exit::Unknown,
            Err(_) => self.lost_status(),
        }
    }

    /// Whether the child has exited, without reaping it.
    pub(super) fn has_exited(&self) -> bool {
        // An error means that somebody else has reaped it, so it is gone.
        !matches!(self.wait(WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT), Ok(None))
    }

    /// Blocks until the child has exited, without reaping it.
    pub(super) fn wait_for_exit(&self) {
        // An error means that somebody else has reaped it, so it is gone.
        let _ = self.wait(WaitIdOptions::NOWAIT);
    }

    /// Reaps the child if it has exited, which gives its number back and removes its entry from the record.
    pub(super) fn reap(&self) {
        let mut state = self.lock();
        if matches!(*state, State::Reserved(_)) && !matches!(self.wait(WaitIdOptions::NOHANG), Ok(None)) {
            *state = State::Reaped;
        }
    }

    pub(super) fn is_reaped(&self) -> bool {
        matches!(*self.lock(), State::Reaped)
    }

    /// Kills the family until nobody is found any more: how many were killed one by one, and how many were left.
    pub(super) fn sweep(&self) -> Option<(u32, u32)> {
        sweep(|dead| match &*self.lock() {
            State::Reserved(_) => self.family.kill_relatives(dead),
            State::Reaped => Some(Look::NOBODY),
        })
    }

    /// Ends and reaps everything, blocking.
    pub(super) fn end(&self) {
        self.family.note_descendants();
        self.signal_group(Signal::KILL);
        self.wait_for_exit();
        self.sweep();
        self.reap();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Waits for the exit of this child only; none if it still runs.
    fn wait(&self, options: WaitIdOptions) -> io::Result<Option<Exit>> {
        let status = rustix::io::retry_on_intr(|| waitid(self.wait_target(), options | WaitIdOptions::EXITED))?;
        Ok(status.map(|status| match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, Some(signal)) => Exit::Signal(signal),
            (None, None) => Exit::Unknown,
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

    /// The status of a child that the kernel has reaped because the host ignores SIGCHLD.
    fn lost_status(&self) -> Exit {
        match self.pidfd.as_ref().and_then(|pidfd| pidfd::wait_status(pidfd.as_fd())) {
            Some(status) if libc::WIFEXITED(status) => Exit::Code(libc::WEXITSTATUS(status)),
            Some(status) if libc::WIFSIGNALED(status) => Exit::Signal(libc::WTERMSIG(status)),
            _ => Exit::Unknown,
        }
    }
}

//! The direct child as the owner of a process number.
//!
//! The hard idea: a number (of a process, a group or a session) may be used
//! only as long as it cannot have been given to somebody else. An unreaped
//! child reserves all three. So whoever signals by number holds a lock that
//! the reaping takes too, and does nothing once the child has been reaped.

use std::collections::BTreeSet;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use crate::lock::lock;
use libc::{c_int, pid_t};

use super::proc::Family;
use crate::ledger::Entry;
use crate::outcome::Exit;

/// How often a sweep looks before it gives up, and how long it pauses between looks.
const LOOKS: u32 = 400;
const LOOK_PAUSE: Duration = Duration::from_millis(2);

/// A sweep is over when a look has proved that nobody is there. On a busy machine
/// there may be no such look; then so many that found nobody must do.
const EMPTY_LOOKS: u32 = 20;

/// A child that leads its session.
#[derive(Debug)]
pub(super) struct Leader {
    pid: pid_t,
    pidfd: Option<Arc<OwnedFd>>,
    family: Family,
    state: Mutex<State>,
    /// Its entry in a record of running children, until it has been reaped.
    entry: OnceLock<Mutex<Option<Entry>>>,
}

/// Whether the number is still reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reserved,
    Reaped,
}

impl Leader {
    pub(super) fn new(pid: pid_t, pidfd: Option<OwnedFd>, marker: Option<Vec<u8>>) -> Self {
        let state = Mutex::new(State::Reserved);
        let family = Family::new(pid, marker);
        Self { pid, pidfd: pidfd.map(Arc::new), family, state, entry: OnceLock::new() }
    }

    /// Keeps the entry of this child in a record of running ones until it has been reaped.
    pub(super) fn record(&self, entry: Entry) {
        // There is one for each child.
        let _ = self.entry.set(Mutex::new(Some(entry)));
    }

    pub(super) fn pid(&self) -> pid_t {
        self.pid
    }

    pub(super) fn pidfd(&self) -> Option<&Arc<OwnedFd>> {
        self.pidfd.as_ref()
    }

    pub(super) fn family(&self) -> &Family {
        &self.family
    }

    /// Sends a signal to the whole group, unless the number has been given back.
    pub(super) fn signal_group(&self, signal: c_int) {
        let state = self.lock();
        if *state == State::Reserved {
            // A failure means that nobody is left to be signalled.
            // SAFETY: the call takes two integers.
            unsafe { libc::kill(-self.pid, signal) };
        }
    }

    /// Whether anybody is in the group. A zombie leader counts, so ask after reaping.
    ///
    /// The number is not reserved then, but a new process gets it only if the
    /// group is empty and all other numbers were used since; and it is a
    /// question, not a signal.
    pub(super) fn group_exists(&self) -> bool {
        // SAFETY: the call takes two integers; signal 0 only asks.
        unsafe { libc::kill(-self.pid, 0) == 0 }
    }

    /// How the child ended, without reaping it. Unknown if it has not, or nobody can tell.
    pub(super) fn peek(&self) -> Exit {
        match self.wait(libc::WNOHANG | libc::WNOWAIT) {
            Ok(Some(exit)) => exit,
            Ok(None) => Exit::Unknown,
            Err(_) => self.lost_status(),
        }
    }

    /// Whether the child has exited, without reaping it.
    pub(super) fn has_exited(&self) -> bool {
        // An error means that somebody else has reaped it, so it is gone.
        !matches!(self.wait(libc::WNOHANG | libc::WNOWAIT), Ok(None))
    }

    /// Blocks until the child has exited, without reaping it.
    pub(super) fn wait_for_exit(&self) {
        // An error means that somebody else has reaped it, so it is gone.
        let _ = self.wait(libc::WNOWAIT);
    }

    /// Reaps the child if it has exited, which gives its number back.
    pub(super) fn reap(&self) {
        let mut state = self.lock();
        if *state == State::Reserved && !matches!(self.wait(libc::WNOHANG), Ok(None)) {
            *state = State::Reaped;
            if let Some(entry) = self.entry.get() {
                drop(lock(entry).take());
            }
        }
    }

    pub(super) fn is_reaped(&self) -> bool {
        *self.lock() == State::Reaped
    }

    /// Kills the family until nobody is found any more.
    ///
    /// Returns how many were killed one by one, and how many were still there
    /// at the last look; none if the system cannot be searched. Blocks for some
    /// milliseconds, longer if somebody does not die.
    pub(super) fn sweep(&self) -> Option<(u32, u32)> {
        let mut killed = BTreeSet::new();
        let mut dead = BTreeSet::new();
        let mut empty = 0;
        let mut left = 0;
        for _ in 0..LOOKS {
            let look = {
                let state = self.lock();
                if *state == State::Reaped {
                    break;
                }
                self.family.kill_relatives(&mut dead)?
            };
            left = u32::try_from(look.found.len()).unwrap_or(u32::MAX);
            empty = if look.found.is_empty() { empty + 1 } else { 0 };
            if empty == EMPTY_LOOKS || (empty > 0 && look.is_settled) {
                break;
            }
            if empty == 0 {
                // The dead need a moment to become dead.
                std::thread::sleep(LOOK_PAUSE);
            }
            killed.extend(look.found);
        }
        Some((u32::try_from(killed.len()).unwrap_or(u32::MAX), left))
    }

    /// Ends and reaps everything, blocking.
    pub(super) fn end(&self) {
        self.family.note_descendants();
        self.signal_group(libc::SIGKILL);
        self.wait_for_exit();
        self.sweep();
        self.reap();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is one word and always whole.
        lock(&self.state)
    }

    /// Waits for the exit of this child only; none if it still runs.
    fn wait(&self, flags: c_int) -> io::Result<Option<Exit>> {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let (kind, id) = self.wait_target();
        loop {
            // SAFETY: there is room for one `siginfo_t`; the id is ours to wait for.
            let answer = unsafe { libc::waitid(kind, id, info.as_mut_ptr(), flags | libc::WEXITED) };
            if answer == 0 {
                break;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        // SAFETY: the memory was zeroed, which is a valid `siginfo_t`, and
        // `waitid` has filled it for a child or left the process number zero.
        let (code, pid, status) = unsafe {
            let info = info.assume_init();
            (info.si_code, info.si_pid(), info.si_status())
        };
        Ok(match code {
            _ if pid == 0 => None,
            libc::CLD_EXITED => Some(Exit::Code(status)),
            libc::CLD_KILLED | libc::CLD_DUMPED => Some(Exit::Signal(status)),
            _ => Some(Exit::Unknown),
        })
    }

    #[cfg(target_os = "linux")]
    fn wait_target(&self) -> (libc::idtype_t, libc::id_t) {
        use std::os::fd::AsRawFd;
        match &self.pidfd {
            Some(fd) => (libc::P_PIDFD, fd.as_raw_fd().cast_unsigned()),
            None => (libc::P_PID, self.pid.cast_unsigned()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn wait_target(&self) -> (libc::idtype_t, libc::id_t) {
        (libc::P_PID, self.pid.cast_unsigned())
    }

    /// The status of a child that the kernel has reaped because the host ignores SIGCHLD.
    #[cfg(target_os = "linux")]
    fn lost_status(&self) -> Exit {
        match self.pidfd.as_deref().and_then(super::pidinfo::wait_status) {
            Some(status) if libc::WIFEXITED(status) => Exit::Code(libc::WEXITSTATUS(status)),
            Some(status) if libc::WIFSIGNALED(status) => Exit::Signal(libc::WTERMSIG(status)),
            _ => Exit::Unknown,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn lost_status(&self) -> Exit {
        Exit::Unknown
    }
}

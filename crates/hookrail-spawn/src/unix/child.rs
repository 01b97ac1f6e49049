//! The interface of a child process for the rest of the crate.

use std::sync::Arc;
use std::task::{Context, Poll};

use rustix::process::{Pid, Signal};

use super::pipe_holders::{PipeName, pipe_holders};
use super::session_leader::SessionLeader;
use super::wait::ExitWaiter;
use crate::end::ChildExit;
use crate::end::OutputHolder;
use crate::ledger::LedgerEntry;
use crate::processes::family::FamilyScope;
use crate::processes::pidfd;

/// A started child. Unless it was released, dropping it kills it and all its relatives.
#[derive(Debug)]
pub(crate) struct Child {
    leader: Arc<SessionLeader>,
    waiter: ExitWaiter,
}

impl Child {
    /// Takes ownership of a process that has just been started. Its entry in the ledger is kept until it is reaped.
    pub(super) fn adopt(pid: Pid, marker: Option<Vec<u8>>, entry: Option<LedgerEntry>) -> Self {
        if let Some(entry) = &entry {
            entry.add_process(pid.as_raw_pid().cast_unsigned());
        }
        // Without a pidfd a thread waits for the exit, and everything else works the same.
        let pidfd = pidfd::open_pidfd(pid.as_raw_pid()).ok();
        Self::from_leader(SessionLeader::new(pid, pidfd, marker, entry))
    }

    fn from_leader(leader: SessionLeader) -> Self {
        let leader = Arc::new(leader);
        Self { waiter: ExitWaiter::NotBegun(Arc::clone(&leader)), leader }
    }

    /// Removes the wait for its exit from the runtime.
    pub(super) fn unwatch(&mut self) {
        self.waiter = ExitWaiter::NotBegun(Arc::clone(&self.leader));
    }

    pub(crate) fn pid(&self) -> u32 {
        self.leader.pid().cast_unsigned()
    }

    /// Ready when the direct child has exited.
    pub(crate) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.waiter.poll(cx)
    }

    /// Whether the direct child has exited. This asks the system, because the runtime may not have noticed yet.
    pub(crate) fn has_exited(&self) -> bool {
        self.leader.has_exited()
    }

    /// Returns how the direct child ended, once [`poll_exit`](Self::poll_exit) was ready.
    pub(crate) fn exit(&self) -> ChildExit {
        self.leader.peek_exit()
    }

    /// Notes which processes descend from the child. This cannot be found out any more once a parent has exited, so call it
    /// before a signal.
    pub(crate) fn note_descendants(&self) {
        self.leader.family().note_descendants();
    }

    /// Does the same as [`note_descendants`](Self::note_descendants) without blocking the caller.
    pub(crate) async fn note_descendants_off_thread(&self) {
        self.off_thread(|leader| {
            leader.family().note_descendants();
            Some(())
        })
        .await;
    }

    /// Sends SIGTERM to the group, then SIGCONT, because a stopped process handles no signal until it is continued.
    pub(crate) fn terminate(&self) {
        self.leader.signal_group(Signal::TERM);
        self.leader.signal_group(Signal::CONT);
    }

    /// Sends SIGKILL to the group.
    pub(crate) fn kill(&self) {
        self.leader.signal_group(Signal::KILL);
    }

    /// Returns the number of other living processes in the group, or `None` if it cannot be known.
    pub(crate) async fn count_group(&self) -> Option<u32> {
        self.off_thread(|leader| leader.family().count(FamilyScope::Group)).await
    }

    /// Returns the number of living relatives, or `None` if it cannot be known.
    pub(crate) async fn count_relatives(&self) -> Option<u32> {
        self.off_thread(|leader| leader.family().count(FamilyScope::Any)).await
    }

    /// Returns the processes that hold one of these pipes.
    pub(crate) async fn pipe_holders(&self, pipes: Vec<PipeName>) -> Vec<OutputHolder> {
        self.off_thread(move |_| Some(pipe_holders(&pipes))).await.unwrap_or_default()
    }

    /// Kills all relatives, and returns how many were killed and how many are left.
    pub(crate) async fn sweep(&self) -> Option<(u32, u32)> {
        self.off_thread(SessionLeader::sweep).await
    }

    /// Reaps the direct child, which must have exited, and does not touch its relatives.
    pub(crate) fn release(&mut self) {
        self.leader.reap();
    }

    /// Whether the group has a member. Call it after [`release`](Self::release).
    pub(crate) fn group_exists(&self) -> bool {
        self.leader.group_exists()
    }

    /// Does work on a thread for blocking work: searching `/proc` takes milliseconds on a busy machine, too long for a
    /// reactor.
    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SessionLeader) -> Option<T> + Send + 'static,
    ) -> Option<T> {
        let leader = Arc::clone(&self.leader);
        // This fails only while no thread can be started.
        crate::run_blocking(move || work(&leader)).await.ok().flatten()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.leader.is_reaped() {
            return;
        }
        self.leader.family().note_descendants();
        self.leader.signal_group(Signal::KILL);
        // Reaping may block, and a drop must not.
        let leader = Arc::clone(&self.leader);
        let thread = std::thread::Builder::new().name("hookrail-reap".into()).spawn(move || leader.end_all_blocking());
        if thread.is_err() {
            // No thread can be started, so this blocks. After SIGKILL it does not take long.
            self.leader.end_all_blocking();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::os::unix::process::CommandExt;

    use hookrail_testkit::{process_state, wait_until};

    use rustix::process::Pid;

    use super::{Child, SessionLeader};
    use crate::end::ChildExit;

    /// Starts a shell script as the leader of a group, without a pidfd.
    #[expect(clippy::zombie_processes, reason = "reaping it is what is tested")]
    fn start(script: &str) -> Child {
        let mut shell = std::process::Command::new("/bin/sh");
        let started = shell.args(["-c", script]).process_group(0).spawn().unwrap();
        let pid = Pid::from_raw(started.id().cast_signed()).unwrap();
        Child::from_leader(SessionLeader::new(pid, None, None, None))
    }

    fn is_reaped(pid: u32) -> bool {
        wait_until(|| process_state(pid).is_none(), std::time::Duration::from_secs(30))
    }

    #[tokio::test]
    async fn without_a_pidfd_a_thread_waits_and_the_status_is_known() {
        let mut child = start("exit 3");
        poll_fn(|cx| child.poll_exit(cx)).await;
        assert_eq!(child.exit(), ChildExit::Code(3));
        child.release();
        assert!(is_reaped(child.pid()));
    }

    #[tokio::test]
    async fn without_a_pidfd_and_without_a_thread_the_child_is_checked_until_it_has_exited() {
        let mut child = start("sleep 0.05; exit 4");
        child.waiter = super::ExitWaiter::with_checks(&child.leader);
        poll_fn(|cx| child.poll_exit(cx)).await;
        assert_eq!(child.exit(), ChildExit::Code(4));
        child.release();
        assert!(is_reaped(child.pid()));
    }

    #[tokio::test]
    async fn without_a_pidfd_a_dropped_child_is_killed_and_reaped() {
        let child = start("sleep 600; :");
        let pid = child.pid();
        drop(child);
        assert!(is_reaped(pid));
    }
}

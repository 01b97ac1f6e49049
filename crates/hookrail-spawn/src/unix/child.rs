//! A child as the rest of the crate sees it.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::leader::Leader;
use super::pidfd;
use super::proc::Kin;
use super::wait::{Waiter, becomes_readable};
use crate::ledger::Entry;
use crate::outcome::Exit;

/// A started child. Unless it was released, dropping it kills it with all its relatives.
#[derive(Debug)]
pub(crate) struct Child {
    leader: Arc<Leader>,
    waiter: Waiter,
}

impl Child {
    /// Takes charge of a process that has just been started, and adds it to the record of running ones for as long as it
    /// has not been reaped.
    pub(super) fn adopt(pid: Pid, marker: Option<Vec<u8>>, entry: Option<Entry>) -> Self {
        if let Some(entry) = &entry {
            entry.started(pid.as_raw_pid().cast_unsigned());
        }
        // Without a pidfd everything works, only a thread waits.
        let pidfd = pidfd::open(pid.as_raw_pid()).ok();
        Self::led_by(Leader::new(pid, pidfd, marker, entry))
    }

    fn led_by(leader: Leader) -> Self {
        let leader = Arc::new(leader);
        Self { waiter: Waiter::Later(Arc::clone(&leader)), leader }
    }

    /// Takes the wait for its exit from the runtime.
    pub(super) fn unwatch(&mut self) {
        self.waiter = Waiter::Later(Arc::clone(&self.leader));
    }

    pub(crate) fn pid(&self) -> u32 {
        self.leader.pid().cast_unsigned()
    }

    /// Ready when the direct child has exited.
    pub(crate) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.waiter.poll(cx)
    }

    /// Whether the direct child has exited, asked of the system and not of the runtime.
    pub(crate) fn has_exited(&self) -> bool {
        self.leader.has_exited()
    }

    /// Holds the thread until the direct child has exited, for at most that time, and says whether it has.
    pub(super) fn exits_within(&mut self, time: Duration) -> bool {
        let Some(pidfd) = self.leader.pidfd() else { return false };
        let exited = becomes_readable(pidfd.as_fd(), time);
        if exited {
            self.waiter = Waiter::Over;
        }
        exited
    }

    /// How the direct child ended, once [`poll_exit`](Self::poll_exit) was ready.
    pub(crate) fn exit(&self) -> Exit {
        self.leader.peek()
    }

    /// Notes which processes descend from the child, which nothing tells any more once it has been signalled.
    pub(crate) fn note_descendants(&self) {
        self.leader.family().note_descendants();
    }

    /// The same for a caller that must not be held up.
    pub(crate) async fn note_descendants_off_thread(&self) {
        self.off_thread(|leader| {
            leader.family().note_descendants();
            Some(())
        })
        .await;
    }

    /// Asks the group to end. A stopped process must be continued to hear it.
    pub(crate) fn terminate(&self) {
        self.leader.signal_group(Signal::TERM);
        self.leader.signal_group(Signal::CONT);
    }

    /// Ends the group.
    pub(crate) fn kill(&self) {
        self.leader.signal_group(Signal::KILL);
    }

    /// How many others are alive in the group; none if that cannot be known.
    pub(crate) async fn count_group(&self) -> Option<u32> {
        self.off_thread(|leader| leader.family().count(Kin::Group)).await
    }

    /// How many relatives are alive; none if that cannot be known.
    pub(crate) async fn count_relatives(&self) -> Option<u32> {
        self.off_thread(|leader| leader.family().count(Kin::Any)).await
    }

    /// Kills all relatives: how many there were, how many are left.
    pub(crate) async fn sweep(&self) -> Option<(u32, u32)> {
        self.off_thread(Leader::sweep).await
    }

    /// Reaps the direct child, which must have exited, and leaves its relatives alone.
    pub(crate) fn release(&mut self) {
        self.leader.reap();
    }

    /// Whether anybody is left in the group, after [`release`](Self::release).
    pub(crate) fn group_exists(&self) -> bool {
        self.leader.group_exists()
    }

    /// Searching `/proc` takes milliseconds on a busy machine, too long for a reactor.
    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Leader) -> Option<T> + Send + 'static,
    ) -> Option<T> {
        let leader = Arc::clone(&self.leader);
        // It fails only while the runtime shuts down.
        tokio::task::spawn_blocking(move || work(&leader)).await.ok().flatten()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.leader.is_reaped() {
            return;
        }
        self.leader.family().note_descendants();
        self.leader.signal_group(Signal::KILL);
        // Reaping may have to wait, and a drop must not.
        let leader = Arc::clone(&self.leader);
        let thread = std::thread::Builder::new().name("hookrail-reap".into()).spawn(move || leader.end());
        if thread.is_err() {
            // No thread to be had. After SIGKILL this does not take long.
            self.leader.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::os::unix::process::CommandExt;

    use hookrail_testkit::{process_state, wait_until};

    use rustix::process::Pid;

    use super::{Child, Leader};
    use crate::outcome::Exit;

    /// Starts a shell script as the leader of a group, without a pidfd.
    #[expect(clippy::zombie_processes, reason = "reaping it is what is tested")]
    fn start(script: &str) -> Child {
        let mut shell = std::process::Command::new("/bin/sh");
        let started = shell.args(["-c", script]).process_group(0).spawn().unwrap();
        let pid = Pid::from_raw(started.id().cast_signed()).unwrap();
        Child::led_by(Leader::new(pid, None, None, None))
    }

    fn is_reaped(pid: u32) -> bool {
        wait_until(|| process_state(pid).is_none(), std::time::Duration::from_secs(30))
    }

    #[tokio::test]
    async fn without_a_pidfd_a_thread_waits_and_the_status_is_known() {
        let mut child = start("exit 3");
        poll_fn(|cx| child.poll_exit(cx)).await;
        assert_eq!(child.exit(), Exit::Code(3));
        child.release();
        assert!(is_reaped(child.pid()));
    }

    #[tokio::test]
    async fn without_a_pidfd_and_without_a_thread_the_child_is_looked_at_until_it_has_exited() {
        let mut child = start("sleep 0.05; exit 4");
        child.waiter = super::Waiter::by_looking(&child.leader);
        poll_fn(|cx| child.poll_exit(cx)).await;
        assert_eq!(child.exit(), Exit::Code(4));
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

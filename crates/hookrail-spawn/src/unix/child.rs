//! A child as the rest of the crate sees it.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use libc::pid_t;

use super::leader::Leader;
use super::proc::Kin;
use super::wait::{Waiter, becomes_readable, open_pidfd};
use crate::ledger::Entry;
use crate::outcome::Exit;

/// A started child that no runtime knows of. Unless it was reaped, dropping it kills it with all its relatives.
#[derive(Debug)]
pub(crate) struct Owned {
    leader: Arc<Leader>,
}

impl Owned {
    /// Adds the child to the record of running ones, for as long as it has not been reaped.
    pub(super) fn recorded(self, entry: Option<Entry>) -> Self {
        if let Some(entry) = entry {
            entry.started(self.pid());
            self.leader.record(entry);
        }
        self
    }
}

impl Owned {
    /// Takes charge of a process that has just been started.
    pub(super) fn adopt(pid: pid_t, marker: Option<Vec<u8>>) -> Self {
        // Without a pidfd everything works, only a thread waits.
        Self::with_pidfd(pid, open_pidfd(pid).ok(), marker)
    }

    /// The same, with a descriptor for the process.
    fn with_pidfd(pid: pid_t, pidfd: Option<OwnedFd>, marker: Option<Vec<u8>>) -> Self {
        Self { leader: Arc::new(Leader::new(pid, pidfd, marker)) }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.leader.pid().cast_unsigned()
    }

    /// Whether the direct child has exited.
    pub(crate) fn has_exited(&self) -> bool {
        self.leader.has_exited()
    }

    /// Lets the runtime in which its exit is first waited for do so.
    pub(crate) fn watched_later(self) -> Child {
        let waiter = Waiter::Later(Arc::clone(&self.leader));
        Child { owned: self, waiter }
    }
}

/// A started child whose exit can be waited for. Unless it was released, dropping it kills it with all its relatives.
#[derive(Debug)]
pub(crate) struct Child {
    owned: Owned,
    waiter: Waiter,
}

impl Child {
    /// Takes the wait for its exit from the runtime.
    pub(crate) fn unwatched(self) -> Owned {
        self.owned
    }

    fn leader(&self) -> &Arc<Leader> {
        &self.owned.leader
    }

    pub(crate) fn pid(&self) -> u32 {
        self.owned.pid()
    }

    /// Ready when the direct child has exited.
    pub(crate) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.waiter.poll(cx)
    }

    /// Whether the direct child has exited, asked of the system and not of the runtime.
    pub(crate) fn has_exited(&self) -> bool {
        self.owned.has_exited()
    }

    /// Holds the thread until the direct child has exited, for at most that time, and says whether it has.
    pub(super) fn exits_within(&mut self, time: Duration) -> bool {
        let Some(pidfd) = self.leader().pidfd() else { return false };
        let exited = becomes_readable(pidfd.as_fd(), time);
        if exited {
            self.waiter = Waiter::Over;
        }
        exited
    }

    /// How the direct child ended, once [`poll_exit`](Self::poll_exit) was ready.
    pub(crate) fn exit(&self) -> Exit {
        self.leader().peek()
    }

    /// Notes which processes descend from the child, which nothing tells any more once it has been signalled.
    pub(crate) fn note_descendants(&self) {
        self.leader().family().note_descendants();
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
        self.leader().signal_group(libc::SIGTERM);
        self.leader().signal_group(libc::SIGCONT);
    }

    /// Ends the group.
    pub(crate) fn kill(&self) {
        self.leader().signal_group(libc::SIGKILL);
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
        self.leader().reap();
    }

    /// Whether anybody is left in the group, after [`release`](Self::release).
    pub(crate) fn group_exists(&self) -> bool {
        self.leader().group_exists()
    }

    /// Searching `/proc` takes milliseconds on a busy machine, too long for a reactor.
    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Leader) -> Option<T> + Send + 'static,
    ) -> Option<T> {
        let leader = Arc::clone(self.leader());
        // It fails only while the runtime shuts down.
        tokio::task::spawn_blocking(move || work(&leader)).await.ok().flatten()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if self.leader.is_reaped() {
            return;
        }
        self.leader.family().note_descendants();
        self.leader.signal_group(libc::SIGKILL);
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

    use super::{Child, Owned};
    use crate::outcome::Exit;

    /// Starts a shell script as the leader of a group, without a pidfd.
    #[expect(clippy::zombie_processes, reason = "reaping it is what is tested")]
    fn start(script: &str) -> Child {
        let mut shell = std::process::Command::new("/bin/sh");
        let started = shell.args(["-c", script]).process_group(0).spawn().unwrap();
        Owned::with_pidfd(started.id().cast_signed(), None, None).watched_later()
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
        child.waiter = super::Waiter::by_looking(child.leader());
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

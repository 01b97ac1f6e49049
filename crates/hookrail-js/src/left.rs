//! Ending what processes of modules have left behind: children in the background, daemons.
//!
//! They are known by a variable in their environment, which children inherit. Where the system does not show the
//! environment of processes, nothing is found; see `docs/reliability/platforms.md`.

use std::time::{Duration, Instant};

/// The variable by which they are known. Its value begins with what all processes of a module have in common, followed by
/// the number of the runtime and of the call.
pub(crate) const MARK: &str = "HOOKRAIL_MODULE_RUN";

/// How long they may tidy up, and how long they may take to vanish after that.
const GRACE: Duration = Duration::from_secs(1);
const VANISHING: Duration = Duration::from_secs(5);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Ends every process whose mark begins this way, and waits until they are gone.
pub(crate) async fn end(mark: &str) {
    let begun = Instant::now();
    let mut asked = Vec::new();
    loop {
        let found = system::find(mark);
        let waited = begun.elapsed();
        if found.is_empty() || waited > GRACE + VANISHING {
            return;
        }
        for process in &found {
            if waited > GRACE {
                process.kill();
            } else if !asked.contains(&process.pid()) {
                process.ask();
                asked.push(process.pid());
            }
        }
        drop(found);
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::MARK;

    /// A process that was found. What stands for it is the process itself and not its number, which may be given to
    /// another one.
    pub(super) struct Process {
        pid: Pid,
        handle: OwnedFd,
    }

    impl Process {
        pub(super) fn pid(&self) -> i32 {
            self.pid.as_raw_nonzero().get()
        }

        pub(super) fn ask(&self) {
            // One that is stopped cannot end before it goes on. One that is gone needs nothing.
            for signal in [Signal::TERM, Signal::CONT] {
                let _ = pidfd_send_signal(&self.handle, signal);
            }
        }

        pub(super) fn kill(&self) {
            let _ = pidfd_send_signal(&self.handle, Signal::KILL);
        }
    }

    pub(super) fn find(mark: &str) -> Vec<Process> {
        let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
        let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let sought = format!("{MARK}={mark}");
        let found = numbers.filter_map(|number| {
            if !has_mark(number, &sought) {
                return None;
            }
            let pid = Pid::from_raw(number)?;
            let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
            // Only now is it certain that the number means the same process.
            has_mark(number, &sought).then_some(Process { pid, handle })
        });
        found.collect()
    }

    /// A process that has ended and was not waited for has no environment any more.
    fn has_mark(number: i32, sought: &str) -> bool {
        let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(sought.as_bytes()))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// There is none.
    pub(super) enum Process {}

    impl Process {
        pub(super) fn pid(&self) -> i32 {
            match *self {}
        }

        pub(super) fn ask(&self) {
            match *self {}
        }

        pub(super) fn kill(&self) {
            match *self {}
        }
    }

    pub(super) fn find(_mark: &str) -> Vec<Process> {
        Vec::new()
    }
}

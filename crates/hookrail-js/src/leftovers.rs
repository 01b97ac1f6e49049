//! Ends processes that the processes of a module left behind, such as background children and daemons.
//!
//! They are recognised by an environment variable, which children inherit. On systems that do not show the environment
//! of other processes none is found; see `docs/get-started/install.md`.

/// The environment variable that marks a module's processes. Its value begins with an identifier of the module,
/// followed by the number of the instance and the number of the call.
pub(crate) const MARK: &str = "HOOKRAIL_MODULE_RUN";

#[cfg(target_os = "linux")]
pub(crate) use linux::end_marked;

#[cfg(not(target_os = "linux"))]
pub(crate) fn end_marked(_mark: &str) -> std::future::Ready<()> {
    std::future::ready(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::MARK;

    /// How long they may take to exit after SIGTERM, and how long to disappear after SIGKILL.
    const GRACE: Duration = Duration::from_secs(1);
    const KILL_WAIT: Duration = Duration::from_secs(5);

    /// The time between two scans of `/proc`.
    const SCAN_INTERVAL: Duration = Duration::from_millis(20);

    /// Ends every process whose mark begins with this text, and waits until they are gone.
    pub(crate) async fn end_marked(mark: &str) {
        let begun = Instant::now();
        let mut asked = Vec::new();
        loop {
            let found = find(&format!("{MARK}={mark}"));
            let waited = begun.elapsed();
            if found.is_empty() || waited > GRACE + KILL_WAIT {
                return;
            }
            for (number, process) in found {
                let signals: &[Signal] = if waited > GRACE {
                    &[Signal::KILL]
                } else if asked.contains(&number) {
                    &[]
                } else {
                    asked.push(number);
                    // A stopped process handles SIGTERM only after SIGCONT.
                    &[Signal::TERM, Signal::CONT]
                };
                for signal in signals {
                    // The process may have exited since the scan.
                    let _ = pidfd_send_signal(&process, *signal);
                }
            }
            tokio::time::sleep(SCAN_INTERVAL).await;
        }
    }

    /// The processes with this text in their environment. A process is returned as a pidfd, because its number may be
    /// reused for another process before it is signalled.
    fn find(sought: &str) -> Vec<(i32, OwnedFd)> {
        let all = std::fs::read_dir("/proc").into_iter().flatten();
        let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let marked = numbers.filter(|number| has_mark(*number, sought));
        let opened = marked.filter_map(|number| {
            let process = pidfd_open(Pid::from_raw(number)?, PidfdFlags::empty()).ok()?;
            // The number may have been reused before the pidfd was opened, so the mark is read again.
            has_mark(number, sought).then_some((number, process))
        });
        opened.collect()
    }

    /// Whether a process has the mark. A zombie has no environment any more, so it has not.
    fn has_mark(number: i32, sought: &str) -> bool {
        let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(sought.as_bytes()))
    }
}

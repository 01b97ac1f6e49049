//! Ending what processes of modules have left behind: children in the background, daemons.
//!
//! They are known by a variable in their environment, which children inherit. Where the system does not show the
//! environment of processes, nothing is found; see `docs/reliability/platforms.md`.

/// The variable by which they are known. Its value begins with what all processes of a module have in common, followed by
/// the number of the runtime and of the call.
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

    /// How long they may tidy up, and how long they may take to vanish after that.
    const GRACE: Duration = Duration::from_secs(1);
    const VANISHING: Duration = Duration::from_secs(5);

    /// The pause between two looks.
    const PAUSE: Duration = Duration::from_millis(20);

    /// Ends every process whose mark begins this way, and waits until they are gone.
    pub(crate) async fn end_marked(mark: &str) {
        let begun = Instant::now();
        let mut asked = Vec::new();
        loop {
            let found = find(&format!("{MARK}={mark}"));
            let waited = begun.elapsed();
            if found.is_empty() || waited > GRACE + VANISHING {
                return;
            }
            for (number, process) in found {
                let signals: &[Signal] = if waited > GRACE {
                    &[Signal::KILL]
                } else if asked.contains(&number) {
                    &[]
                } else {
                    asked.push(number);
                    // One that is stopped cannot end before it goes on.
                    &[Signal::TERM, Signal::CONT]
                };
                for signal in signals {
                    // One that is gone needs nothing.
                    let _ = pidfd_send_signal(&process, *signal);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The processes with this in their environment. What stands for one is a handle and not its number, which may be given
    /// to another process.
    fn find(sought: &str) -> Vec<(i32, OwnedFd)> {
        let all = std::fs::read_dir("/proc").into_iter().flatten();
        let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let marked = numbers.filter(|number| has_mark(*number, sought));
        let opened = marked.filter_map(|number| {
            let process = pidfd_open(Pid::from_raw(number)?, PidfdFlags::empty()).ok()?;
            // Only now is it certain that the number means the same process.
            has_mark(number, sought).then_some((number, process))
        });
        opened.collect()
    }

    /// A process that has ended and was not waited for has no environment any more.
    fn has_mark(number: i32, sought: &str) -> bool {
        let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(sought.as_bytes()))
    }
}

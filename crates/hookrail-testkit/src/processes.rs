//! Observes the machine's processes, for tests.

use std::time::{Duration, Instant};

/// The first and the longest pause between two checks of [`wait_until`]. Each pause is twice the one before: some checks look
/// at every process of the machine.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Checks until the predicate is true, and returns whether it was in time.
///
/// The guard ends a test that would hang; it is not a measurement. Give it ten
/// times what the slowest machine needs.
#[must_use]
pub fn wait_until(mut predicate: impl FnMut() -> bool, hang_guard: Duration) -> bool {
    let start = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        if predicate() {
            return true;
        }
        if start.elapsed() > hang_guard {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Returns the processes, except this one, that were started with `name=value` in their environment, and since this program
/// was.
///
/// Zombies have no environment and are not listed. The list is empty on a system without `/proc`.
#[must_use]
pub fn processes_with_marker(name: &str, value: &str) -> Vec<u32> {
    let wanted = format!("\0{name}={value}\0");
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own_start = start_time(std::process::id());
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
        .filter(|pid| *pid != std::process::id() && start_time(*pid) >= own_start)
        .filter(|pid| {
            // One search in the whole text: tests ask this about many processes, many times.
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            format!("\0{}", String::from_utf8_lossy(&environment)).contains(&wanted)
        })
        .collect()
}

/// Returns the state letter of a process (`R`, `S`, `T`, `Z` ...), or `None` if there is no such process.
#[must_use]
pub fn process_state(pid: u32) -> Option<char> {
    field_after_name(pid, 0)?.chars().next()
}

/// When a process was started, in ticks since the boot.
fn start_time(pid: u32) -> Option<u64> {
    field_after_name(pid, 19)?.parse().ok()
}

/// A field of a process' state, counted from the one after its name.
fn field_after_name(pid: u32, index: usize) -> Option<String> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses, and may itself contain some.
    String::from_utf8_lossy(&stat).rsplit_once(')')?.1.split_ascii_whitespace().nth(index).map(str::to_owned)
}

/// Whether this process has the rights of root.
#[cfg(unix)]
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

//! Observes the machine's processes, for tests.

use std::time::{Duration, Instant};

/// The pause between two checks of [`wait_until`].
const PAUSE: Duration = Duration::from_millis(5);

/// Checks until the predicate is true, and returns whether it was in time.
///
/// The guard ends a test that would hang; it is not a measurement. Give it ten
/// times what the slowest machine needs.
#[must_use]
pub fn wait_until(mut predicate: impl FnMut() -> bool, hang_guard: Duration) -> bool {
    let start = Instant::now();
    loop {
        if predicate() {
            return true;
        }
        if start.elapsed() > hang_guard {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns the processes, except this one, that were started with `name=value` in their environment.
///
/// Zombies have no environment and are not listed. The list is empty on a system without `/proc`.
#[must_use]
pub fn processes_with_marker(name: &str, value: &str) -> Vec<u32> {
    let wanted = format!("\0{name}={value}\0");
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
        .filter(|pid| *pid != std::process::id())
        .filter(|pid| {
            // One search in the whole text: tests ask this about every process of the machine, many times.
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            format!("\0{}", String::from_utf8_lossy(&environment)).contains(&wanted)
        })
        .collect()
}

/// Returns the state letter of a process (`R`, `S`, `T`, `Z` ...), or `None` if there is no such process.
#[must_use]
pub fn process_state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it is in parentheses, and may itself contain some.
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

//! The resources that a process holds, as the operating system counts them, for tests that nothing leaks.

use std::path::Path;

/// The resources that a process holds. Everything is zero on a system without `/proc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Its children, dead or alive.
    pub children: usize,
    /// Those of them that are dead and not reaped.
    pub zombies: usize,
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
    /// Resident memory in KiB.
    pub memory: u64,
}

impl Holdings {
    /// Returns what this process holds.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self::of_process(std::process::id())
    }

    /// Returns what a process holds.
    #[must_use]
    pub fn of_process(process: u32) -> Self {
        let folder = Path::new("/proc").join(process.to_string());
        let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
        let field = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).unwrap_or_default()
        };
        let count = |name: &str| std::fs::read_dir(folder.join(name)).map_or(0, Iterator::count);
        let children = children(&folder);
        Self {
            zombies: children.iter().filter(|child| crate::process_state(**child) == Some('Z')).count(),
            children: children.len(),
            descriptors: count("fd"),
            threads: count("task"),
            memory: field("VmRSS:"),
        }
    }
}

/// Returns the children of all threads of a process.
fn children(folder: &Path) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(folder.join("task")) else { return Vec::new() };
    let lists = threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect::<Vec<_>>())
        .collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::Holdings;

    #[test]
    fn a_child_is_counted_dead_or_alive() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let alive = Holdings::of_this_process();
        assert!(alive.children >= 1 && alive.descriptors > 3 && alive.threads >= 1 && alive.memory > 0, "{alive:?}");
        drop(child.stdin.take());
        let id = child.id();
        assert!(crate::wait_until(|| crate::process_state(id) == Some('Z'), std::time::Duration::from_secs(30)));
        assert!(Holdings::of_this_process().zombies >= 1);
        child.wait().unwrap();
    }
}

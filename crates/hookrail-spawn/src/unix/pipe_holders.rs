//! Finds the processes that hold a pipe.

use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::Path;

use crate::end::OutputHolder;

/// A pipe as `/proc` names it in the descriptors of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PipeName(std::path::PathBuf);

impl PipeName {
    /// Returns the name of an open pipe, or `None` without `/proc`.
    pub(super) fn of(pipe: BorrowedFd<'_>) -> Option<Self> {
        std::fs::read_link(format!("/proc/self/fd/{}", pipe.as_raw_fd())).ok().map(Self)
    }
}

/// Returns the other processes that hold one of these pipes. Those of other users cannot be examined.
///
/// This reads the descriptors of all processes of the machine, so it is done only for a diagnostic.
pub(super) fn pipe_holders(pipes: &[PipeName]) -> Vec<OutputHolder> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others = pids.filter(|pid: &u32| *pid != std::process::id());
    let holding = others.filter(|pid| holds_one_of(*pid, pipes));
    holding.map(|pid| OutputHolder { pid, name: name_of(pid) }).collect()
}

fn holds_one_of(pid: u32, pipes: &[PipeName]) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let is_one = |target: &Path| pipes.iter().any(|PipeName(name)| name == target);
    descriptors.flatten().any(|descriptor| std::fs::read_link(descriptor.path()).is_ok_and(|target| is_one(&target)))
}

fn name_of(pid: u32) -> String {
    let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().to_owned()
}

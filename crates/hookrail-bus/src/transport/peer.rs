//! Whether the process at the other end of a socket may ask a server to run hooks.
//!
//! A hook in a sandbox that may open sockets could otherwise have the server, which is not in the sandbox, run something for it.

use std::fs;

/// The number of filters for system calls that a process has. Everything a process starts inherits them, and none can be
/// removed: a process with more filters than the server is in a sandbox that the server is not in. In a container the server has
/// those of the container, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FilterCount(u32);

/// The restrictions of this process, with which those of others are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnRestrictions(Option<FilterCount>);

/// How restricted a peer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeerRestrictions {
    /// No more than this process.
    AsOurs,
    /// It is in a sandbox.
    Sandboxed,
    /// It has ended, or the system does not tell.
    Unknown,
}

impl OwnRestrictions {
    pub(super) fn read() -> Self {
        Self(filter_count("self"))
    }

    /// Compares a process with this one. Systems other than Linux have no such sandbox.
    pub(super) fn compare(self, peer: Option<i32>) -> PeerRestrictions {
        if cfg!(not(target_os = "linux")) {
            return PeerRestrictions::AsOurs;
        }
        let peer = peer.filter(|pid| *pid > 0).and_then(|pid| filter_count(&pid.to_string()));
        match (self.0, peer) {
            (Some(own), Some(peer)) if peer > own => PeerRestrictions::Sandboxed,
            (Some(_), Some(_)) => PeerRestrictions::AsOurs,
            (None, _) | (_, None) => PeerRestrictions::Unknown,
        }
    }
}

fn filter_count(process: &str) -> Option<FilterCount> {
    count_in_status(&fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// Kernels before 5.9 tell only whether there is a filter.
fn count_in_status(status: &str) -> Option<FilterCount> {
    let number = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        value.trim().parse::<u32>().ok()
    };
    number("Seccomp_filters").or_else(|| Some(number("Seccomp")?.min(1))).map(FilterCount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_counted_and_an_older_kernel_has_some_or_none() {
        for (status, count) in [
            ("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t3\n", Some(3)),
            ("Seccomp:\t0\nSeccomp_filters:\t0\n", Some(0)),
            ("Seccomp:\t2\n", Some(1)),
            ("Seccomp:\t0\n", Some(0)),
            ("Name:\tSeccomp_filters: 1\n", None),
            ("", None),
        ] {
            assert_eq!(count_in_status(status), count.map(FilterCount), "{status:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_cannot_be_seen_is_not_known_and_one_with_more_filters_is_in_a_sandbox() {
        let own = OwnRestrictions::read();
        let this = i32::try_from(std::process::id()).ok();
        assert_eq!(own.compare(this), PeerRestrictions::AsOurs);
        assert_eq!(own.compare(None), PeerRestrictions::Unknown);
        assert_eq!(own.compare(Some(0)), PeerRestrictions::Unknown);
        assert_eq!(own.compare(Some(i32::MAX)), PeerRestrictions::Unknown);
        assert_eq!(OwnRestrictions(None).compare(this), PeerRestrictions::Unknown);
    }
}

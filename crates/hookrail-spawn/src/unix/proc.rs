//! Finds the relatives of a child among the machine's processes.
//!
//! Everything here reads `/proc`, which costs some ten microseconds for each
//! process of the machine. So it is done only when there is a reason: on a
//! kill, or when a child visibly left somebody behind.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::Mutex;
use std::time::Duration;

use libc::pid_t;
use rustix::process::{Pid, Signal, kill_process};

use super::pidfd;
use crate::command::OUTER;
use crate::lock::lock;

/// How often a sweep looks before it gives up, and how long it pauses between looks.
const LOOKS: u32 = 400;
const LOOK_PAUSE: Duration = Duration::from_millis(2);

/// A sweep is over when a look has proved that nobody is there. On a busy machine
/// there may be no such look; then so many that found nobody must do.
const EMPTY_LOOKS: u32 = 20;

/// Which processes are relatives: by group, by session, by a marker in the environment, or by descent.
#[derive(Debug)]
pub(super) struct Family {
    leader: pid_t,
    marker: Option<Marker>,
    /// Descendants that a look has seen, by number and start. A parent that ends takes the proof of the descent with it,
    /// so this is noted before anything is signalled. It finds processes whose environment cannot be read or is empty.
    seen: Mutex<BTreeSet<(pid_t, u64)>>,
}

/// How near a relative must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kin {
    /// In the child's process group.
    Group,
    /// In its group or session, with its marker, or seen as a descendant.
    Any,
}

/// What one look at all processes has come to.
pub(super) struct Look {
    /// The relatives that were alive; they have been killed.
    pub(super) found: Vec<pid_t>,
    /// Whether the look can be trusted to have missed nobody.
    pub(super) is_settled: bool,
}

impl Look {
    /// A look that proves that nobody is there.
    pub(super) const NOBODY: Self = Self { found: Vec::new(), is_settled: true };
}

/// Looks again and again, with the zombies that were seen before, until nobody is found any more.
///
/// Returns how many were killed one by one, and how many were still there
/// at the last look; none if the system cannot be searched. Blocks for some
/// milliseconds, longer if somebody does not die.
pub(super) fn sweep(mut look: impl FnMut(&mut BTreeSet<pid_t>) -> Option<Look>) -> Option<(u32, u32)> {
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let (mut killed, mut dead) = (BTreeSet::new(), BTreeSet::new());
    let (mut empty, mut left) = (0, 0);
    for _ in 0..LOOKS {
        let look = look(&mut dead)?;
        left = count(look.found.len());
        empty = if look.found.is_empty() { empty + 1 } else { 0 };
        if empty == EMPTY_LOOKS || (empty > 0 && look.is_settled) {
            break;
        }
        if empty == 0 {
            // The dead need a moment to become dead.
            std::thread::sleep(LOOK_PAUSE);
        }
        killed.extend(look.found);
    }
    Some((count(killed.len()), left))
}

/// What a process turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Relative,
    Stranger,
    /// A zombie.
    Dead,
    /// It vanished while it was looked at, or is just starting another program.
    Unsure,
}

impl Family {
    pub(super) fn new(leader: pid_t, marker: Option<Vec<u8>>) -> Self {
        Self { leader, marker: marker.and_then(Marker::new), seen: Mutex::default() }
    }

    /// Notes the relatives, and the descendants of each of them.
    ///
    /// Call it before a signal that may end one of them.
    pub(super) fn note_descendants(&self) {
        let Some(processes) = processes() else { return };
        let is_relative = |pid: pid_t| self.examine(pid, Kin::Any) == Verdict::Relative;
        let others = processes.filter(|pid| pid.cast_unsigned() != std::process::id());
        let all: Vec<(pid_t, Stat, bool)> =
            others.filter_map(|pid| Some((pid, Stat::read(pid)?, is_relative(pid)))).collect();
        let mut family = BTreeSet::from([self.leader]);
        let mut seen = lock(&self.seen);
        loop {
            let before = family.len();
            for (pid, stat, is_relative) in &all {
                if (*is_relative || family.contains(&stat.parent)) && family.insert(*pid) {
                    seen.insert((*pid, stat.started));
                }
            }
            if family.len() == before {
                return;
            }
        }
    }

    /// How many relatives are alive, the leader not counted; none where there is no `/proc`.
    pub(super) fn count(&self, kin: Kin) -> Option<u32> {
        let count = processes()?.filter(|pid| self.examine(*pid, kin) == Verdict::Relative).count();
        u32::try_from(count).ok()
    }

    /// Looks at all processes and kills the relatives; none where there is no `/proc`.
    ///
    /// A look that is settled and has found nobody is proof: each process that
    /// was listed was either no relative or dead since before. So no relative
    /// was alive that could have had a child meanwhile. A process that died
    /// during the look may have had one, and then the look is not settled.
    /// `dead` holds the zombies that earlier looks have seen.
    pub(super) fn kill_relatives(&self, dead: &mut BTreeSet<pid_t>) -> Option<Look> {
        let mut look = Look { found: Vec::new(), is_settled: true };
        for pid in processes()? {
            match self.examine(pid, Kin::Any) {
                Verdict::Relative if self.kill(pid) => look.found.push(pid),
                Verdict::Stranger => {}
                Verdict::Dead => look.is_settled &= !dead.insert(pid),
                Verdict::Relative | Verdict::Unsure => look.is_settled = false,
            }
        }
        Some(look)
    }

    /// Kills one process, and says whether it was a relative.
    fn kill(&self, pid: pid_t) -> bool {
        let pidfd = pidfd::open(pid);
        // Asked again, because the process may have been replaced by another
        // before it was opened. Without a pidfd a tiny gap remains.
        if self.examine(pid, Kin::Any) != Verdict::Relative {
            return false;
        }
        match pidfd {
            Ok(pidfd) => pidfd::kill(pidfd.as_fd()),
            Err(_) => Pid::from_raw(pid).is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok()),
        }
    }

    fn examine(&self, pid: pid_t, kin: Kin) -> Verdict {
        if pid == self.leader || pid.cast_unsigned() == std::process::id() {
            return Verdict::Stranger;
        }
        let Some(stat) = Stat::read(pid) else {
            return Verdict::Unsure;
        };
        if stat.is_dead {
            Verdict::Dead
        } else if stat.group == self.leader
            || kin == Kin::Any && (stat.session == self.leader || lock(&self.seen).contains(&(pid, stat.started)))
        {
            Verdict::Relative
        } else if kin == Kin::Group || stat.is_kernel_thread {
            Verdict::Stranger
        } else {
            self.examine_environment(pid)
        }
    }

    /// Whether the process was started with the marker. Those of other users cannot be read, nor those that closed
    /// themselves to others.
    fn examine_environment(&self, pid: pid_t) -> Verdict {
        let Some(marker) = &self.marker else {
            return Verdict::Stranger;
        };
        match std::fs::read(format!("/proc/{pid}/environ")) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Verdict::Stranger,
            // In the middle of an `execve`, or of dying, it reads as empty.
            Err(_) => Verdict::Unsure,
            Ok(environment) if environment.is_empty() => Verdict::Unsure,
            Ok(environment) if environment.split(|byte| *byte == 0).any(|it| marker.is(it)) => Verdict::Relative,
            Ok(_) => Verdict::Stranger,
        }
    }
}

/// A variable by which descendants are known.
#[derive(Debug)]
struct Marker {
    /// `name=value`.
    variable: Vec<u8>,
    /// `name_OUTER=`, before the values of runs around the one of `name`.
    outer: Vec<u8>,
    value: Vec<u8>,
}

impl Marker {
    fn new(variable: Vec<u8>) -> Option<Self> {
        let equals = variable.iter().position(|byte| *byte == b'=')?;
        let (name, value) = variable.split_at(equals);
        let outer = [name, OUTER.as_bytes(), b"="].concat();
        let value = value.get(1..)?.to_vec();
        Some(Self { variable, outer, value })
    }

    /// Whether a variable of a process is this marker, or hands it down to a run inside of this one.
    fn is(&self, variable: &[u8]) -> bool {
        variable == self.variable
            || variable
                .strip_prefix(self.outer.as_slice())
                .is_some_and(|values| values.split(|byte| *byte == b' ').any(|value| value == self.value))
    }
}

fn processes() -> Option<impl Iterator<Item = pid_t>> {
    let entries = std::fs::read_dir("/proc").ok()?;
    Some(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

/// The bit of a process's flags that marks a thread of the kernel.
const PF_KTHREAD: u32 = 0x0020_0000;

/// What is needed of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) is_dead: bool,
    /// Ticks since the boot.
    pub(super) started: u64,
    parent: pid_t,
    group: pid_t,
    session: pid_t,
    is_kernel_thread: bool,
}

impl Stat {
    pub(super) fn read(pid: pid_t) -> Option<Self> {
        Self::parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// `PID (NAME) STATE PARENT GROUP SESSION TTY TTYGROUP FLAGS …`, the start as field 22; the name may hold anything.
    fn parse(stat: &[u8]) -> Option<Self> {
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let mut fields = str::from_utf8(stat.get(name_end + 1..)?).ok()?.split_ascii_whitespace();
        let is_dead = matches!(fields.next()?, "Z" | "X" | "x");
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let flags: u32 = fields.nth(2)?.parse().ok()?;
        let started = fields.nth(12)?.parse().ok()?;
        Some(Self { is_dead, started, parent, group, session, is_kernel_thread: flags & PF_KTHREAD != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::{Marker, Stat};

    #[test]
    fn a_marker_is_found_in_its_own_variable_and_in_that_of_runs_inside_of_it() {
        let marker = Marker::new(b"RUN=b".to_vec()).unwrap();
        for variable in ["RUN=b", "RUN_OUTER=b", "RUN_OUTER=a b", "RUN_OUTER=b c"] {
            assert!(marker.is(variable.as_bytes()), "{variable}");
        }
        for variable in ["RUN=bb", "RUN=a b", "RUN_OUTER=ab", "RUN_OUTER=", "OUTER=b", "XRUN=b"] {
            assert!(!marker.is(variable.as_bytes()), "{variable}");
        }
    }

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let stat = Stat::parse(b"7 (a) R 1 2 (b\xff) S 1 5 6 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 777 0").unwrap();
        assert_eq!((stat.parent, stat.group, stat.session, stat.started), (1, 5, 6, 777));
        assert!(!stat.is_dead && !stat.is_kernel_thread);
    }

    #[test]
    fn a_zombie_is_dead() {
        assert!(Stat::parse(b"7 (a) Z 1 5 6 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 777 0").unwrap().is_dead);
    }

    #[test]
    fn a_thread_of_the_kernel_is_known_by_its_flag() {
        assert!(
            Stat::parse(b"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 777 0").unwrap().is_kernel_thread
        );
    }
}

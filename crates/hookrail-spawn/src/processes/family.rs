//! Finds the relatives of a child among the machine's processes.
//!
//! A search reads `/proc`, which costs some microseconds for each process of the machine. So there is one only for a reason:
//! when a child is killed, or when it visibly left processes running.
//!
//! A child subreaper was considered instead. It changes the whole host process, needs code that reaps the orphans of other
//! libraries, and does not tell to which run an orphan belongs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use libc::pid_t;
use rustix::process::{Pid, Signal, kill_process};

use super::pidfd;
use crate::environment::OUTER_SUFFIX;
use crate::lock::lock_mutex;

/// The number of searches before a sweep gives up, and the pause between two searches.
const SEARCHES: u32 = 400;
const SEARCH_PAUSE: Duration = Duration::from_millis(2);

/// The number of searches in a row without a relative after which a sweep ends. It ends earlier if one search proves that
/// there is none, but on a busy machine processes come and go during each search, and none is a proof.
const EMPTY_SEARCHES: u32 = 20;

/// The relatives of a child: processes in its group or session, with its marker in the environment, or descended from it.
#[derive(Debug)]
pub(crate) struct ProcessFamily {
    leader: pid_t,
    /// When the first process of the family was started, or earlier. What was started before is a stranger: its environment,
    /// the slow part of a search, is not read, and its end during a search leaves nothing unproven.
    not_before: u64,
    marker: Option<Marker>,
    /// Descendants that a search has found, by pid and start time. When a parent exits, its children get another parent, so
    /// they are noted before a signal is sent. This finds processes whose environment cannot be read or is empty.
    seen: Mutex<BTreeSet<(pid_t, u64)>>,
}

/// Which relatives are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FamilyScope {
    /// In the child's process group.
    Group,
    /// In its group or session, with its marker, or seen as a descendant.
    Any,
}

/// The result of one search through all processes.
pub(crate) struct ProcessSearch {
    /// The relatives that were alive and have been killed.
    pub(crate) found: Vec<pid_t>,
    /// Whether the search cannot have missed a relative.
    pub(crate) is_settled: bool,
}

impl ProcessSearch {
    /// The search that proves that there is no relative.
    pub(crate) const EMPTY: Self = Self { found: Vec::new(), is_settled: true };
}

/// Searches and kills until no relative is found any more. `look` makes one search, and is given the zombies that earlier
/// searches have seen.
///
/// Returns how many processes were killed one by one, and how many were still there at the last search, or `None` if the
/// system cannot be searched. Blocks for some milliseconds, longer if a process does not die.
pub(crate) fn sweep(mut look: impl FnMut(&mut BTreeSet<pid_t>) -> Option<ProcessSearch>) -> Option<(u32, u32)> {
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let (mut killed, mut dead) = (BTreeSet::new(), BTreeSet::new());
    let (mut empty, mut left) = (0, 0);
    for _ in 0..SEARCHES {
        let look = look(&mut dead)?;
        left = count(look.found.len());
        empty = if look.found.is_empty() { empty + 1 } else { 0 };
        if empty == EMPTY_SEARCHES || (empty > 0 && look.is_settled) {
            break;
        }
        if empty == 0 {
            // A killed process takes a moment to exit.
            std::thread::sleep(SEARCH_PAUSE);
        }
        killed.extend(look.found);
    }
    Some((count(killed.len()), left))
}

/// How a process is related to the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Relative,
    Stranger,
    /// It is a zombie.
    Dead,
    /// It exited while it was examined, or is in the middle of an `execve`.
    Unsure,
}

impl ProcessFamily {
    /// The family of a child of this program.
    pub(crate) fn of_child(leader: pid_t, marker: Option<Vec<u8>>) -> Self {
        static OWN_START: LazyLock<u64> =
            LazyLock::new(|| ProcessStat::read(std::process::id().cast_signed()).map_or(0, |stat| stat.started));
        Self::since(*OWN_START, leader, marker)
    }

    /// A family whose first process was started at this time, in ticks since the boot, or later.
    pub(crate) fn since(not_before: u64, leader: pid_t, marker: Option<Vec<u8>>) -> Self {
        Self { leader, not_before, marker: marker.and_then(Marker::new), seen: Mutex::default() }
    }

    /// Notes the relatives, and the descendants of each of them. Call it before a signal that may end one of them.
    pub(crate) fn note_descendants(&self) {
        let Some(processes) = processes() else { return };
        let is_relative = |pid: pid_t| self.examine(pid, FamilyScope::Any) == Relation::Relative;
        let others = processes.filter(|pid| pid.cast_unsigned() != std::process::id());
        let all: Vec<(pid_t, ProcessStat, bool)> =
            others.filter_map(|pid| Some((pid, ProcessStat::read(pid)?, is_relative(pid)))).collect();
        // A child may be listed before its parent, because pids wrap around. So the list is gone through until nothing is
        // added.
        let mut family = BTreeSet::from([self.leader]);
        let mut seen = lock_mutex(&self.seen);
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

    /// Returns the number of living relatives without the leader, or `None` without `/proc`.
    pub(crate) fn count(&self, kin: FamilyScope) -> Option<u32> {
        let count = processes()?.filter(|pid| self.examine(*pid, kin) == Relation::Relative).count();
        u32::try_from(count).ok()
    }

    /// Searches all processes and kills the relatives; returns `None` without `/proc`.
    ///
    /// A settled search without a relative is a proof: each process in the list was either no relative or already dead
    /// before the search. So no relative was alive that could have started a child meanwhile. A process that died during
    /// the search may have started one, and then the search is not settled. `dead` holds the zombies that earlier searches
    /// have seen.
    pub(crate) fn kill_relatives(&self, dead: &mut BTreeSet<pid_t>) -> Option<ProcessSearch> {
        let mut look = ProcessSearch { found: Vec::new(), is_settled: true };
        for pid in processes()? {
            match self.examine(pid, FamilyScope::Any) {
                Relation::Relative if self.kill(pid) => look.found.push(pid),
                Relation::Stranger => {}
                Relation::Dead => look.is_settled &= !dead.insert(pid),
                Relation::Relative | Relation::Unsure => look.is_settled = false,
            }
        }
        Some(look)
    }

    /// Kills one process, and returns whether it was a relative.
    fn kill(&self, pid: pid_t) -> bool {
        let pidfd = pidfd::open_pidfd(pid);
        // Examined again, because the pid may have been given to another process before it was opened. Without a pidfd a
        // small gap remains between this and the signal.
        if self.examine(pid, FamilyScope::Any) != Relation::Relative {
            return false;
        }
        match pidfd {
            Ok(pidfd) => pidfd::kill_process(pidfd.as_fd()),
            Err(_) => Pid::from_raw(pid).is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok()),
        }
    }

    fn examine(&self, pid: pid_t, kin: FamilyScope) -> Relation {
        if pid == self.leader || pid.cast_unsigned() == std::process::id() {
            return Relation::Stranger;
        }
        let Some(stat) = ProcessStat::read(pid) else {
            return Relation::Unsure;
        };
        if stat.started < self.not_before {
            Relation::Stranger
        } else if stat.is_dead {
            Relation::Dead
        } else if stat.group == self.leader
            || kin == FamilyScope::Any
                && (stat.session == self.leader || lock_mutex(&self.seen).contains(&(pid, stat.started)))
        {
            Relation::Relative
        } else if kin == FamilyScope::Group || stat.is_kernel_thread {
            Relation::Stranger
        } else {
            self.examine_environment(pid)
        }
    }

    /// Examines whether the process was started with the marker. The environment of another user's process cannot be read,
    /// nor that of a process that made itself non-dumpable.
    fn examine_environment(&self, pid: pid_t) -> Relation {
        let Some(marker) = &self.marker else {
            return Relation::Stranger;
        };
        match std::fs::read(format!("/proc/{pid}/environ")) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Relation::Stranger,
            // During an `execve` or an exit the environment is empty.
            Err(_) => Relation::Unsure,
            Ok(environment) if environment.is_empty() => Relation::Unsure,
            Ok(environment) if environment.split(|byte| *byte == 0).any(|it| marker.matches(it)) => Relation::Relative,
            Ok(_) => Relation::Stranger,
        }
    }
}

/// The variable by which descendants are found.
#[derive(Debug)]
struct Marker {
    /// `name=value`.
    variable: Vec<u8>,
    /// `name_OUTER=`, the beginning of the variable with the markers of the runs around a nested run.
    outer: Vec<u8>,
    value: Vec<u8>,
}

impl Marker {
    fn new(variable: Vec<u8>) -> Option<Self> {
        let equals = variable.iter().position(|byte| *byte == b'=')?;
        let (name, value) = variable.split_at(equals);
        let outer = [name, OUTER_SUFFIX.as_bytes(), b"="].concat();
        let value = value.get(1..)?.to_vec();
        Some(Self { variable, outer, value })
    }

    /// Whether a variable of a process is this marker, or names it as the marker of an outer run.
    fn matches(&self, variable: &[u8]) -> bool {
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

/// The flag of a kernel thread in the flags of a process.
const PF_KTHREAD: u32 = 0x0020_0000;

/// More bytes than `/proc/PID/stat` has: a name of at most 64 bytes and 51 numbers.
const LONGEST_STAT: usize = 2048;

/// The fields of `/proc/PID/stat` that are used here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) is_dead: bool,
    /// The start time in ticks since the boot.
    pub(crate) started: u64,
    parent: pid_t,
    group: pid_t,
    session: pid_t,
    is_kernel_thread: bool,
}

impl ProcessStat {
    pub(crate) fn read(pid: pid_t) -> Option<Self> {
        // The kernel gives the line in one piece to a buffer that is large enough, and a search reads many.
        let mut line = [0; LONGEST_STAT];
        let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
        Self::parse(line.get(..length)?)
    }

    /// Parses `PID (NAME) STATE PARENT GROUP SESSION TTY TTYGROUP FLAGS …`; the start time is field 22. The name may contain
    /// spaces and parentheses, so the fields are counted from the last `)`.
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
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::{FamilyScope, Marker, ProcessFamily, ProcessStat, Relation};

    #[test]
    fn a_process_that_was_there_before_the_family_is_a_stranger() {
        let mut cat = Command::new("cat");
        let mut child = cat.env("RUN", "b").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It has its environment when it has answered.
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let pid = child.id().cast_signed();
        let started = ProcessStat::read(pid).unwrap().started;
        let relation = |not_before: u64| {
            ProcessFamily::since(not_before, 1, Some(b"RUN=b".to_vec())).examine(pid, FamilyScope::Any)
        };
        assert_eq!((relation(started), relation(started + 1)), (Relation::Relative, Relation::Stranger));
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn a_marker_is_found_in_its_own_variable_and_in_that_of_runs_inside_of_it() {
        let marker = Marker::new(b"RUN=b".to_vec()).unwrap();
        for variable in ["RUN=b", "RUN_OUTER=b", "RUN_OUTER=a b", "RUN_OUTER=b c"] {
            assert!(marker.matches(variable.as_bytes()), "{variable}");
        }
        for variable in ["RUN=bb", "RUN=a b", "RUN_OUTER=ab", "RUN_OUTER=", "OUTER=b", "XRUN=b"] {
            assert!(!marker.matches(variable.as_bytes()), "{variable}");
        }
    }

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let stat =
            ProcessStat::parse(b"7 (a) R 1 2 (b\xff) S 1 5 6 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 777 0").unwrap();
        assert_eq!((stat.parent, stat.group, stat.session, stat.started), (1, 5, 6, 777));
        assert!(!stat.is_dead && !stat.is_kernel_thread);
    }

    #[test]
    fn a_zombie_is_dead() {
        assert!(ProcessStat::parse(b"7 (a) Z 1 5 6 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 777 0").unwrap().is_dead);
    }

    #[test]
    fn a_kernel_thread_is_known_by_its_flag() {
        assert!(
            ProcessStat::parse(b"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 777 0")
                .unwrap()
                .is_kernel_thread
        );
    }
}

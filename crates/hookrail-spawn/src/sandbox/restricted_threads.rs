//! The thread that restricts itself with Landlock and seccomp and then starts others, which start children. All of them inherit the
//! restrictions. No other thread of the host is restricted.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use landlock::{
    ABI, Access as _, AccessFs, LandlockStatus, PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::system_calls::{ALLOWED, ALLOWED_FORMS, ALLOWED_WITH_NETWORK, Condition};
use super::{Network, Protection, Readable, SandboxError, SandboxRules};
use crate::start_queue::StartQueue;

/// The Landlock version whose rules are requested. It is the first with a rule for signals; an older kernel enforces the
/// rules that it has.
const REQUESTED_ABI: ABI = ABI::V6;

/// The folders that most programs need to start. They can always be read.
const SYSTEM_FOLDERS: [&str; 12] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/proc", "/dev", "/sys"];

/// The devices that every child may read and write, because writing to them changes nothing.
const HARMLESS_DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Threads whose children are all restricted. They end when this value is dropped.
#[derive(Debug)]
pub(crate) struct RestrictedThreads {
    queue: Arc<StartQueue>,
}

impl RestrictedThreads {
    /// Starts a thread that restricts itself and starts the others, and returns it with the protections that are missing. It
    /// starts no children, so that none of them can hold it up.
    pub(crate) fn start(rules: &SandboxRules, temporary: &Path) -> Result<(Self, Vec<Protection>), SandboxError> {
        let (orders, wanted) = mpsc::channel::<Arc<StartQueue>>();
        let (report, reported) = mpsc::channel();
        let (rules, temporary) = (rules.clone(), temporary.to_owned());
        let thread = move || {
            let missing = restrict(&rules, &temporary);
            if report.send(missing).is_ok() {
                wanted.iter().for_each(|queue| add_restricted_thread(&queue));
            }
        };
        let builder = std::thread::Builder::new().name("hookrail-sandbox".into());
        builder.spawn(thread).map_err(|source| SandboxError::Thread { source })?;
        let thread_ended = |_| SandboxError::Thread { source: io::Error::other("the thread ended unexpectedly") };
        let missing = reported.recv().map_err(thread_ended)?;
        let queue = StartQueue::new(move |queue| orders.send(Arc::clone(queue)).map_err(io::Error::other));
        Ok((Self { queue }, missing))
    }

    /// Runs a function on one of the threads and waits for its result; returns `None` if they have ended.
    pub(crate) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        self.queue.run(work)
    }
}

impl Drop for RestrictedThreads {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Starts a thread that is restricted as this one is. If there can be none, this one does one job.
fn add_restricted_thread(queue: &Arc<StartQueue>) {
    let builder = std::thread::Builder::new().name("hookrail-sandbox".into());
    let own = Arc::clone(queue);
    if builder.spawn(move || own.serve()).is_err() {
        queue.do_last();
    }
}

/// Restricts this thread, and returns the protections that could not be enforced.
fn restrict(rules: &SandboxRules, temporary: &Path) -> Vec<Protection> {
    let mut missing = match restrict_files(rules, temporary) {
        Ok(status) => missing_protections(&status),
        Err(_) => vec![Protection::Files, Protection::Signals],
    };
    let filtered = system_call_filter(rules.network).is_some_and(|filter| seccompiler::apply_filter(&filter).is_ok());
    if !filtered {
        missing.push(Protection::SystemCalls);
    }
    missing
}

fn restrict_files(rules: &SandboxRules, temporary: &Path) -> Result<RestrictionStatus, RulesetError> {
    let everything = AccessFs::from_all(REQUESTED_ABI);
    let handled = match rules.read {
        // Rights that are not handled are not restricted.
        Readable::Everything => AccessFs::from_write(REQUESTED_ABI),
        Readable::Only(_) => everything,
    };
    let mut ruleset = Ruleset::default().handle_access(handled)?.scope(Scope::from_all(REQUESTED_ABI))?.create()?;
    if let Readable::Only(paths) = &rules.read {
        let system = SYSTEM_FOLDERS.map(PathBuf::from);
        for path in system.iter().chain(paths) {
            ruleset = allow(ruleset, path, AccessFs::from_read(REQUESTED_ABI))?;
        }
    }
    for path in rules.write.iter().map(PathBuf::as_path).chain([temporary]) {
        ruleset = allow(ruleset, path, everything & handled)?;
    }
    for device in HARMLESS_DEVICES {
        ruleset = allow(ruleset, Path::new(device), (AccessFs::WriteFile | AccessFs::ReadFile) & handled)?;
    }
    ruleset.restrict_self()
}

/// Allows access beneath a path. A path that does not exist adds no right.
fn allow(
    ruleset: landlock::RulesetCreated,
    path: &Path,
    access: landlock::BitFlags<AccessFs>,
) -> Result<landlock::RulesetCreated, RulesetError> {
    let (Ok(opened), Ok(about)) = (PathFd::new(path), path.metadata()) else { return Ok(ruleset) };
    // The kernel refuses a rule with rights for folders on a file that is not a folder.
    let access = if about.is_dir() { access } else { access & AccessFs::from_file(REQUESTED_ABI) };
    if access.is_empty() { Ok(ruleset) } else { ruleset.add_rule(PathBeneath::new(opened, access)) }
}

fn missing_protections(status: &RestrictionStatus) -> Vec<Protection> {
    if status.ruleset == RulesetStatus::FullyEnforced {
        return Vec::new();
    }
    let kernel = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => ABI::Unsupported,
    };
    let mut missing = Vec::new();
    // Version 5 is the last one with a new right for files among the requested ones.
    if kernel < ABI::V5 {
        missing.push(Protection::Files);
    }
    if kernel < ABI::V6 {
        missing.push(Protection::Signals);
    }
    missing
}

/// Returns the seccomp filter, or `None` on a processor that the library does not support.
fn system_call_filter(network: Network) -> Option<BpfProgram> {
    let of_network = match network {
        Network::Allowed => ALLOWED_WITH_NETWORK,
        Network::Denied => &[],
    };
    let groups = ALLOWED.iter().chain(of_network);
    // A call without rules is allowed with all arguments.
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        groups.flat_map(|(_, calls)| calls.iter().map(|call| (*call, Vec::new()))).collect();
    for (_, call, forms) in ALLOWED_FORMS {
        if !rules.contains_key(call) {
            rules.insert(*call, forms.iter().map(|form| rule_for(form)).collect::<Option<_>>()?);
        }
    }
    let refusal = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let arch = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    SeccompFilter::new(rules, refusal, SeccompAction::Allow, arch).ok()?.try_into().ok()
}

/// Returns the rule for one form of a call.
fn rule_for(form: &[Condition]) -> Option<SeccompRule> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, Ge, Le, MaskedEq, Ne};
    let mut conditions = Vec::new();
    for condition in form {
        let (argument, tests) = match *condition {
            Condition::Is(argument, number) => (argument, vec![(Dword, Eq, number)]),
            Condition::IsNot(argument, number) => (argument, vec![(Dword, Ne, number)]),
            Condition::Between(argument, first, last) => (argument, vec![(Dword, Ge, first), (Dword, Le, last)]),
            Condition::Bits(argument, mask, value) => (argument, vec![(Dword, MaskedEq(mask.into()), value)]),
            Condition::Null(argument) => (argument, vec![(Qword, Eq, 0)]),
        };
        for (length, operator, number) in tests {
            conditions.push(SeccompCondition::new(argument, length, operator, number.into()).ok()?);
        }
    }
    SeccompRule::new(conditions).ok()
}

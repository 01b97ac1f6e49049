//! The thread that restricts itself with Landlock and seccomp and then starts children, which inherit the restrictions. No
//! other thread of the host is restricted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use landlock::{
    ABI, Access as _, AccessFs, LandlockStatus, PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use crate::sandbox::{Network, Protection, Readable, SandboxError, SandboxRules};

/// The Landlock version whose rules are requested. It is the first with a rule for signals; an older kernel enforces the
/// rules that it has.
const REQUESTED_ABI: ABI = ABI::V6;

/// The folders that most programs need to start. They can always be read.
const SYSTEM_FOLDERS: [&str; 12] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/proc", "/dev", "/sys"];

/// The devices that every child may read and write, because writing to them changes nothing.
const HARMLESS_DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

type Job = Box<dyn FnOnce() + Send>;

/// A thread whose children are all restricted. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct RestrictedThread {
    jobs: mpsc::Sender<Job>,
}

impl RestrictedThread {
    /// Starts the thread, and returns it with the protections that are missing.
    pub(crate) fn start(rules: &SandboxRules, temporary: &Path) -> Result<(Self, Vec<Protection>), SandboxError> {
        let (jobs, work) = mpsc::channel::<Job>();
        let (report, reported) = mpsc::channel();
        let (rules, temporary) = (rules.clone(), temporary.to_owned());
        let thread = move || {
            let missing = restrict(&rules, &temporary);
            if report.send(missing).is_ok() {
                work.iter().for_each(|job| job());
            }
        };
        let builder = std::thread::Builder::new().name("hookrail-sandbox".into());
        builder.spawn(thread).map_err(|source| SandboxError::Thread { source })?;
        let thread_ended = |_| SandboxError::Thread { source: std::io::Error::other("the thread ended unexpectedly") };
        let missing = reported.recv().map_err(thread_ended)?;
        Ok((Self { jobs }, missing))
    }

    /// Runs a function on the thread and waits for its result; returns `None` if the thread has ended.
    pub(crate) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (done, result) = mpsc::channel();
        // If the caller no longer waits, the result is dropped, which kills a child that was started.
        let job = Box::new(move || drop(done.send(work())));
        self.jobs.send(job).ok()?;
        result.recv().ok()
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

/// Returns the system calls that Landlock does not restrict and that have an effect outside the sandbox: on permissions and
/// attributes of files, on the system itself, and on other processes. `io_uring` is among them because it can create sockets
/// without the system call `socket`.
fn refused_system_calls() -> Vec<i64> {
    let mut calls = vec![
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_fchmodat2,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        libc::SYS_io_uring_setup,
        libc::SYS_ptrace,
        libc::SYS_process_vm_writev,
        libc::SYS_bpf,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_setns,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_kexec_load,
        libc::SYS_reboot,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_sethostname,
        libc::SYS_setdomainname,
        libc::SYS_add_key,
        libc::SYS_keyctl,
    ];
    #[cfg(target_arch = "x86_64")]
    calls.extend([libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown]);
    calls
}

/// Returns the seccomp filter, or `None` on a processor that the library does not support.
fn system_call_filter(network: Network) -> Option<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        refused_system_calls().into_iter().map(|call| (call, Vec::new())).collect();
    if network == Network::Denied {
        rules.insert(libc::SYS_socket, Vec::new());
    }
    // A process could be ended by lowering its limits from outside. The pid 0 means the calling process itself.
    let other_process = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0).ok()?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![other_process]).ok()?]);
    // The same calls have other numbers in the x32 ABI, which any program may use.
    #[cfg(target_arch = "x86_64")]
    for (call, conditions) in rules.clone() {
        const X32: i64 = 0x4000_0000;
        rules.insert(call | X32, conditions);
    }
    let refusal = SeccompAction::Errno(libc::EACCES.cast_unsigned());
    let arch = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, arch).ok()?.try_into().ok()
}

//! The call of `posix_spawn` with its attributes and file actions.

use std::cell::Cell;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};

use libc::{c_int, c_short, pid_t};
use rustix::process::Pid;

use super::ExecArguments;
use super::pipe::ChildPipeEnds;

/// The flag that starts a new session. Apple's headers have it, the libc crate does not.
#[cfg(target_vendor = "apple")]
const SETSID: c_int = 0x0400;
#[cfg(not(target_vendor = "apple"))]
const SETSID: c_int = libc::POSIX_SPAWN_SETSID as c_int;

/// The flag with which Apple closes every descriptor that no file action names. Other systems have a file action for that.
#[cfg(target_vendor = "apple")]
const CLOSE_REST: c_int = libc::POSIX_SPAWN_CLOEXEC_DEFAULT;
#[cfg(not(target_vendor = "apple"))]
const CLOSE_REST: c_int = 0;

/// Starts a process and returns its pid, or an errno.
///
/// It returns after the child's `execve`. The session then exists, and a failure of any step is reported.
pub(super) fn spawn(arguments: &ExecArguments, child_ends: &ChildPipeEnds) -> Result<Pid, c_int> {
    let attributes = SpawnAttributes::new()?;
    let prepared = PreparedActions::of(arguments, child_ends)?;
    let (argv, envp) = (arguments.argv_pointers(), arguments.envp_pointers());
    let mut pid: pid_t = 0;
    // SAFETY: both objects are initialised and outlive the call. `argv` and
    // `envp` end with a null pointer and point to C strings owned by `arguments`,
    // which outlives the call; `posix_spawn` does not write through them.
    let status = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            arguments.path.as_ptr(),
            &raw const prepared.actions.0,
            &raw const attributes.0,
            argv.as_ptr().cast(),
            envp.as_ptr().cast(),
        )
    };
    // A thread that is ending has no place for them.
    let _ = LAST_ACTIONS.try_with(|last| last.set(Some(prepared)));
    check(status)?;
    Pid::from_raw(pid).ok_or(libc::ECHILD)
}

/// File actions with what they were made from.
struct PreparedActions {
    actions: FileActions,
    streams: [RawFd; 3],
    cwd: Option<CString>,
}

thread_local! {
    /// The actions of the last child that this thread started. The next child most often gets descriptors of the same
    /// numbers, and the C library asks the kernel for the limit of descriptors twice for each number that is added.
    static LAST_ACTIONS: Cell<Option<PreparedActions>> = const { Cell::new(None) };
}

impl PreparedActions {
    fn of(arguments: &ExecArguments, child_ends: &ChildPipeEnds) -> Result<Self, c_int> {
        let ChildPipeEnds { stdin, stdout, stderr } = child_ends;
        let streams = [stdin, stdout, stderr].map(AsRawFd::as_raw_fd);
        let is_same = |last: &Self| last.streams == streams && last.cwd == arguments.cwd;
        if let Some(last) = LAST_ACTIONS.try_with(Cell::take).ok().flatten().filter(is_same) {
            return Ok(last);
        }
        Ok(Self { actions: FileActions::new(arguments, streams)?, streams, cwd: arguments.cwd.clone() })
    }
}

fn check(status: c_int) -> Result<(), c_int> {
    if status == 0 { Ok(()) } else { Err(status) }
}

/// The attributes of a child: its own session, an empty signal mask, and the default disposition of every signal.
///
/// Without them a child would inherit what the host blocks and ignores. A child that ignores SIGTERM by inheritance could not
/// clean up at its deadline.
struct SpawnAttributes(libc::posix_spawnattr_t);

impl SpawnAttributes {
    fn new() -> Result<Self, c_int> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: `init` gets room for one object.
        check(unsafe { libc::posix_spawnattr_init(raw.as_mut_ptr()) })?;
        // SAFETY: `init` has succeeded.
        let mut attributes = Self(unsafe { raw.assume_init() });
        let flags = SETSID | CLOSE_REST | libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
        let (empty, full) = (signal_set(Fill::Empty), signal_set(Fill::Full));
        // SAFETY: the object is initialised, the sets are whole, and all calls copy.
        unsafe {
            check(libc::posix_spawnattr_setflags(&raw mut attributes.0, flags as c_short))?;
            check(libc::posix_spawnattr_setsigmask(&raw mut attributes.0, &raw const empty))?;
            check(libc::posix_spawnattr_setsigdefault(&raw mut attributes.0, &raw const full))?;
        }
        Ok(attributes)
    }
}

impl Drop for SpawnAttributes {
    fn drop(&mut self) {
        // SAFETY: the object was initialised and is not used again.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

/// Which signals a set contains.
enum Fill {
    Empty,
    Full,
}

fn signal_set(fill: Fill) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    let byte = match fill {
        Fill::Empty => 0,
        // Not `sigfillset`: it leaves out the two signals that glibc uses itself, and `posix_spawn` would then start the
        // child with these signals ignored.
        Fill::Full => 0xFF,
    };
    // SAFETY: a signal set is an array of bits without padding, on all systems
    // that `unix.rs` supports, so every pattern of bytes is a valid one.
    unsafe {
        set.as_mut_ptr().write_bytes(byte, 1);
        set.assume_init()
    }
}

/// The file actions of a child before `execve`: it enters its directory, gets its three streams, and closes every other
/// descriptor.
struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    fn new(arguments: &ExecArguments, [stdin, stdout, stderr]: [RawFd; 3]) -> Result<Self, c_int> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: `init` gets room for one object.
        check(unsafe { libc::posix_spawn_file_actions_init(raw.as_mut_ptr()) })?;
        // SAFETY: `init` has succeeded.
        let mut actions = Self(unsafe { raw.assume_init() });
        if let Some(cwd) = &arguments.cwd {
            // SAFETY: the object is initialised; the C string is copied.
            check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut actions.0, cwd.as_ptr()) })?;
        }
        actions.duplicate(stdin, 0)?;
        actions.duplicate(stdout, 1)?;
        actions.duplicate(stderr, 2)?;
        actions.close_rest()?;
        Ok(actions)
    }

    /// Adds a `dup2`. The source is never below 3 (see `above_streams`), so no duplicate overwrites the source of another.
    fn duplicate(&mut self, from: RawFd, to: c_int) -> Result<(), c_int> {
        // SAFETY: the object is initialised. A number is not a descriptor: it is looked up when a child is started, and
        // the caller owns an open descriptor of that number then.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut self.0, from, to) })
    }

    /// Closes every descriptor except the three streams. The host may have opened some without close-on-exec, and a child
    /// that inherits the write end of a pipe keeps the pipe's reader waiting.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn close_rest(&mut self) -> Result<(), c_int> {
        // SAFETY: the object is initialised.
        check(unsafe { libc::posix_spawn_file_actions_addclosefrom_np(&raw mut self.0, 3) })
    }

    /// Does nothing: Apple closes them by [`CLOSE_REST`], and musl has no such action.
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    fn close_rest(&mut self) -> Result<(), c_int> {
        Ok(())
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: the object was initialised and is not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

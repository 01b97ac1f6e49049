//! The call of `posix_spawn` and nothing else.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

use libc::{c_int, c_short, pid_t};
use rustix::process::Pid;

use super::image::Image;
use super::pipe::Theirs;

/// Starts a new session; Apple's headers have it, the libc crate does not.
#[cfg(target_vendor = "apple")]
const SETSID: c_int = 0x0400;
#[cfg(not(target_vendor = "apple"))]
const SETSID: c_int = libc::POSIX_SPAWN_SETSID as c_int;

/// Apple closes everything that no file action names; elsewhere that is an action.
#[cfg(target_vendor = "apple")]
const CLOSE_REST: c_int = libc::POSIX_SPAWN_CLOEXEC_DEFAULT;
#[cfg(not(target_vendor = "apple"))]
const CLOSE_REST: c_int = 0;

/// Starts a process and returns its number, or an errno.
///
/// It returns after the child's `execve`, so the session exists by then and a
/// failure of any step is known.
pub(super) fn spawn(image: &Image, theirs: &Theirs) -> Result<Pid, c_int> {
    let attributes = Attributes::new()?;
    let actions = Actions::new(image, theirs)?;
    let (argv, envp) = (image.argv_pointers(), image.envp_pointers());
    let mut pid: pid_t = 0;
    // SAFETY: both objects are initialised and outlive the call. `argv` and
    // `envp` end with a null pointer and point to C strings owned by `image`,
    // which outlives the call; `posix_spawn` does not write through them.
    let answer = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            image.path.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            argv.as_ptr().cast(),
            envp.as_ptr().cast(),
        )
    };
    check(answer)?;
    Pid::from_raw(pid).ok_or(libc::ECHILD)
}

fn check(answer: c_int) -> Result<(), c_int> {
    if answer == 0 { Ok(()) } else { Err(answer) }
}

/// The attributes of a child: own session, empty mask, default dispositions.
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
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

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: the object was initialised and is not used again.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

enum Fill {
    Empty,
    Full,
}

fn signal_set(fill: Fill) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    let byte = match fill {
        Fill::Empty => 0,
        // Not `sigfillset`: that leaves out the two signals glibc uses itself,
        // and `posix_spawn` would then let the child ignore them for ever.
        Fill::Full => 0xFF,
    };
    // SAFETY: a signal set is an array of bits without padding, on all systems
    // that `unix.rs` admits, so every pattern of bytes is a valid one.
    unsafe {
        set.as_mut_ptr().write_bytes(byte, 1);
        set.assume_init()
    }
}

/// What the child does before `execve`: directory, three streams, nothing else open.
struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new(image: &Image, theirs: &Theirs) -> Result<Self, c_int> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: `init` gets room for one object.
        check(unsafe { libc::posix_spawn_file_actions_init(raw.as_mut_ptr()) })?;
        // SAFETY: `init` has succeeded.
        let mut actions = Self(unsafe { raw.assume_init() });
        if let Some(cwd) = &image.cwd {
            // SAFETY: the object is initialised; the C string is copied.
            check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut actions.0, cwd.as_ptr()) })?;
        }
        actions.duplicate(&theirs.stdin, 0)?;
        actions.duplicate(&theirs.stdout, 1)?;
        actions.duplicate(&theirs.stderr, 2)?;
        actions.close_rest()?;
        Ok(actions)
    }

    /// The source is never below 3 (see `pipe`), so no duplicate overwrites another's source.
    fn duplicate(&mut self, from: &OwnedFd, to: c_int) -> Result<(), c_int> {
        // SAFETY: the object is initialised; descriptors are passed by number
        // and stay open until after the spawn, as the caller owns them.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut self.0, from.as_raw_fd(), to) })
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn close_rest(&mut self) -> Result<(), c_int> {
        // SAFETY: the object is initialised.
        check(unsafe { libc::posix_spawn_file_actions_addclosefrom_np(&raw mut self.0, 3) })
    }

    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    fn close_rest(&mut self) -> Result<(), c_int> {
        Ok(())
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: the object was initialised and is not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

//! The start of a child with one `clone3`, for hosts that ask for it.
//!
//! `posix_spawn` of the C library asks for a stack of its own, looks at all 64 signals, one call each, and leaves the
//! descriptor of the process to another call. The kernel can do all that at once. The price is code of ours in the child,
//! between its birth and its `execve`, which is why nobody gets this by default.
//!
//! The hard idea: the child borrows the parent's memory while the parent's thread is suspended. So it may make system
//! calls and nothing else: no allocation, no lock, no unwinding, no handler of a signal. `CLONE_CLEAR_SIGHAND` takes care of
//! the last of these from the first moment on.
//!
//! Beside what `posix` does for a child, one thing is less: real-time signals that the host ignores stay ignored.

use std::arch::asm;
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr;

use libc::{c_char, c_int, c_long, c_uint, pid_t};

use super::image::Image;
use super::pipe::Theirs;

/// Room for the child until its `execve`, in units of sixteen bytes, because stacks are aligned to that.
const STACK: usize = 32 * 1024 / 16;

/// Those above are the real-time signals. The last two before them belong to the C library, whose `posix_spawn` lets its
/// children ignore them for ever, so a host may well do so.
const LAST_RESET_SIGNAL: c_int = 33;

/// How many bytes the kernel's set of signals has.
const SIGNAL_SET: usize = 8;

/// Handlers of the host are not the child's. The constant of the libc crate is of a type that is too small for it.
const CLONE_CLEAR_SIGHAND: u64 = 1 << 32;

const FLAGS: u64 = (libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD) as u64 | CLONE_CLEAR_SIGHAND;

/// What the child needs, in the memory that both share until `execve`.
struct Job {
    path: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
    /// Null to stay where the host is.
    cwd: *const c_char,
    streams: [c_int; 3],
    /// Written by the child when a step fails.
    errno: c_int,
}

/// Starts a process and returns its number and a descriptor for it, or an errno.
///
/// It returns after the child's `execve`, so the session exists by then and a failure of any step is known. `ENOSYS` says
/// that this kernel, or somebody who guards it, does not know one of the steps.
pub(super) fn spawn(image: &Image, theirs: &Theirs) -> Result<(pid_t, OwnedFd), c_int> {
    let (argv, envp) = (image.argv_pointers(), image.envp_pointers());
    let mut job = Job {
        path: image.path.as_ptr(),
        argv: argv.as_ptr(),
        envp: envp.as_ptr(),
        cwd: image.cwd.as_ref().map_or(ptr::null(), |cwd| cwd.as_ptr()),
        streams: [&theirs.stdin, &theirs.stdout, &theirs.stderr].map(|end| end.as_raw_fd()),
        errno: 0,
    };
    let mut stack: Vec<u128> = Vec::with_capacity(STACK);
    let mut pidfd: c_int = -1;
    // SAFETY: all fields are numbers, and zero is a valid value for each: nothing is asked for.
    let mut asked: libc::clone_args = unsafe { std::mem::zeroed() };
    asked.flags = FLAGS;
    asked.pidfd = (&raw mut pidfd) as u64;
    asked.exit_signal = libc::SIGCHLD as u64;
    asked.stack = stack.as_mut_ptr() as u64;
    asked.stack_size = (STACK * size_of::<u128>()) as u64;
    // SAFETY: the stack is memory of ours of that size, aligned to sixteen bytes. CLONE_VFORK suspends this thread until
    // the child has called `execve` or `_exit`, so `job`, the stack and everything they point to outlive the child's use
    // of them, and nobody here touches them meanwhile.
    let pid = unsafe { clone3(&raw mut asked, &raw mut job) };
    let pid = pid_t::try_from(pid).map_err(|_| libc::EAGAIN)?;
    if pid < 0 {
        return Err(-pid);
    }
    // SAFETY: the kernel has stored a descriptor that is open, close-on-exec and known to nobody else.
    let pidfd = unsafe { OwnedFd::from_raw_fd(ptr::read_volatile(&raw const pidfd)) };
    // SAFETY: the field is read after the child has stopped writing it; the volatile read keeps the compiler from
    // assuming that nobody else could have.
    let errno = unsafe { ptr::read_volatile(&raw const job.errno) };
    if errno == 0 {
        return Ok((pid, pidfd));
    }
    // SAFETY: the child is ours and nobody else waits for it; a null status is allowed.
    unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
    Err(errno)
}

/// The number of the child, or an errno below zero. The child enters [`enter`] on its own stack and never comes back.
///
/// # Safety
///
/// `asked` must ask for a stack that is free and aligned, and for `CLONE_VM` and `CLONE_VFORK`, under which everything that
/// `job` points to must stay valid for the time of the call.
#[cfg(target_arch = "x86_64")]
unsafe fn clone3(asked: *mut libc::clone_args, job: *mut Job) -> c_long {
    let answer: c_long;
    // SAFETY: the parent comes out of the block with nothing changed but the three registers that are named. The child has
    // a stack of its own, to which the kernel has set its stack pointer, and leaves the block through `enter` only, which
    // never returns. Both registers it takes with it are kept by the system call.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => answer,
            in("rdi") asked,
            in("rsi") size_of::<libc::clone_args>(),
            in("r12") job,
            in("r13") enter as extern "C" fn(*mut Job) -> !,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    answer
}

/// See above.
///
/// # Safety
///
/// See above.
#[cfg(target_arch = "aarch64")]
unsafe fn clone3(asked: *mut libc::clone_args, job: *mut Job) -> c_long {
    let answer: c_long;
    // SAFETY: see above; here the system call changes `x0` alone.
    unsafe {
        asm!(
            "svc #0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x20",
            "blr x21",
            "brk #1",
            "2:",
            inlateout("x0") asked => answer,
            in("x1") size_of::<libc::clone_args>(),
            in("x8") libc::SYS_clone3,
            in("x20") job,
            in("x21") enter as extern "C" fn(*mut Job) -> !,
        );
    }
    answer
}

/// The child, on its own stack in the parent's memory.
extern "C" fn enter(job: *mut Job) -> ! {
    // SAFETY: `spawn` passes a valid pointer and is suspended, so this is the only access. `_exit` runs nothing of the
    // parent's.
    unsafe {
        if become_the_program(&*job).is_none() {
            (*job).errno = *libc::__errno_location();
        }
        libc::_exit(127)
    }
}

/// Takes all steps to the program; comes back only when one fails.
///
/// # Safety
///
/// Only for the child of [`spawn`].
unsafe fn become_the_program(job: &Job) -> Option<()> {
    // The kernel's own form of a disposition, with room to spare: all zeroes are the default one with an empty mask.
    let default = [0_u64; 8];
    // SAFETY: an empty set is all zeroes.
    let no_signals: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: these are system calls with numbers, with the job's pointers, which are C strings and arrays that end with
    // null, and with the two values above.
    unsafe {
        // Handlers are gone, but what the host ignores would be ignored by the program, too.
        // The kernel refuses to hear of two of these, and the C library would refuse two more.
        for signal in 1..=LAST_RESET_SIGNAL {
            libc::syscall(libc::SYS_rt_sigaction, signal, &raw const default, ptr::null_mut::<u64>(), SIGNAL_SET);
        }
        succeeded(libc::setsid())?;
        if !job.cwd.is_null() {
            succeeded(libc::chdir(job.cwd))?;
        }
        for (to, from) in (0..).zip(job.streams) {
            // The source is never below 3 (see `pipe`), so no duplicate overwrites another's source.
            succeeded(libc::dup2(from, to))?;
        }
        let close_range = libc::syscall(libc::SYS_close_range, 3, c_uint::MAX, 0);
        succeeded(c_int::try_from(close_range).unwrap_or(-1))?;
        succeeded(libc::sigprocmask(libc::SIG_SETMASK, &raw const no_signals, ptr::null_mut()))?;
        libc::execve(job.path, job.argv, job.envp);
    }
    None
}

fn succeeded(answer: c_int) -> Option<()> {
    (answer != -1).then_some(())
}

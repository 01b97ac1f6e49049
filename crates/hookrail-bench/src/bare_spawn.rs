//! The cheapest way to start a process on Linux, to measure the real spawner against.
//!
//! [`BareSpawn::start`] is one `clone(CLONE_VM | CLONE_VFORK)`, two `dup2` and one `execve`. It has none of
//! the protections of the real spawner: no session, no signal reset, no closing of descriptors, no pidfd, no deadline. Only
//! the benchmark may use it.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use libc::{c_char, c_int, c_void};

/// The size of the child's stack until its `execve`, in units of 16 bytes, to which stacks are aligned.
const STACK: usize = 64 * 1024 / 16;

/// One program with its arguments and environment, ready to be started any number of times.
#[derive(Debug)]
pub struct BareSpawn {
    argv: Vec<CString>,
    envp: Vec<CString>,
    stack: Box<[u128]>,
}

/// What the child needs, in the memory that it shares with the parent until `execve`.
struct ChildArguments {
    path: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
    stdin: c_int,
    stdout: c_int,
    /// Written by the child when a step fails.
    errno: c_int,
}

impl BareSpawn {
    /// Prepares a program, by its path. The arguments do not include the program's name.
    ///
    /// # Errors
    /// If a value contains a NUL byte.
    pub fn new<'a>(
        program: &'a OsStr,
        arguments: impl IntoIterator<Item = &'a OsStr>,
        environment: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> io::Result<Self> {
        let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
        let argv = std::iter::once(program).chain(arguments).map(text).collect::<io::Result<_>>()?;
        let variable = |(name, value): (&OsStr, &OsStr)| {
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).map_err(io::Error::from)
        };
        let envp = environment.into_iter().map(variable).collect::<io::Result<_>>()?;
        Ok(Self { argv, envp, stack: vec![0; STACK].into_boxed_slice() })
    }

    /// Starts the program with these two streams and returns its process number, for `waitpid`. Its standard error is
    /// the caller's own.
    ///
    /// # Errors
    /// The error of `clone`, `dup2` or `execve`.
    pub fn start(&mut self, stdin: BorrowedFd<'_>, stdout: BorrowedFd<'_>) -> io::Result<i32> {
        let list = |texts: &[CString]| -> Vec<*const c_char> {
            texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
        };
        let (argv, envp) = (list(&self.argv), list(&self.envp));
        let path = argv.first().copied().unwrap_or(ptr::null());
        let mut shared = ChildArguments {
            path,
            argv: argv.as_ptr(),
            envp: envp.as_ptr(),
            stdin: stdin.as_raw_fd(),
            stdout: stdout.as_raw_fd(),
            errno: 0,
        };
        let top = self.stack.as_mut_ptr_range().end;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: `top` is the aligned upper end of memory that is ours, and stacks grow down on every architecture
        // that Linux runs Rust on. CLONE_VFORK suspends this thread until the child has called `execve` or `_exit`, so
        // `shared`, the stack and everything they point to outlive the child's use of them, and this thread does not touch
        // them meanwhile. `run_in_child` makes nothing but system calls.
        let pid = unsafe { libc::clone(run_in_child, top.cast(), flags, (&raw mut shared).cast()) };
        if pid == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the field is read after the child has stopped writing it; the volatile read keeps the compiler from
        // assuming that it is still 0.
        let errno = unsafe { ptr::read_volatile(&raw const shared.errno) };
        if errno == 0 {
            return Ok(pid);
        }
        // SAFETY: the call takes a pid, a null status, which is allowed, and flags. The child is not reaped elsewhere.
        unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
        Err(io::Error::from_raw_os_error(errno))
    }
}

/// Runs in the child, on its own stack in the parent's memory.
extern "C" fn run_in_child(shared: *mut c_void) -> c_int {
    let shared: *mut ChildArguments = shared.cast();
    // SAFETY: `start` passes a valid pointer and is suspended, so this is the only access. The calls take descriptors
    // that `start` borrows and arrays that end with a null pointer. `_exit` runs no exit handler of the parent.
    unsafe {
        if libc::dup2((*shared).stdin, 0) != -1 && libc::dup2((*shared).stdout, 1) != -1 {
            libc::execve((*shared).path, (*shared).argv, (*shared).envp);
        }
        (*shared).errno = *libc::__errno_location();
        libc::_exit(127)
    }
}

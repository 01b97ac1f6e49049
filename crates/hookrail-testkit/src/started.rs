//! Makes tests independent of the signals that their caller ignores or blocks, and of its descriptors.
//!
//! All are inherited by every process that is started: a background job of a script ignores SIGINT, `nohup` ignores SIGHUP,
//! and a program under test that finds a signal ignored leaves it so, as it should. A test that then sends the signal waits
//! for ever.

/// Gives a test executable the default signals before `main` runs: none ignored, none blocked. Its `main.rs` calls this once.
///
/// It must happen before the first thread starts, because each thread has its own mask, and the harness starts threads before
/// the first test. Tests that ignore a signal themselves still can.
#[macro_export]
macro_rules! start_with_default_signals {
    () => {
        // The loader of Linux programs calls the functions of this section.
        #[cfg(target_os = "linux")]
        #[used]
        #[unsafe(link_section = ".init_array")]
        static START_WITH_DEFAULT_SIGNALS: extern "C" fn() = $crate::restore_default_signals;
    };
}

/// See [`start_with_default_signals`].
#[doc(hidden)]
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "no safe function changes the disposition of a signal to the default")]
pub extern "C" fn restore_default_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: the default is a valid disposition, and this is the only thread. The two signals whose disposition cannot
        // be changed, and those that the C library keeps for itself, are refused, and stay as they are.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: `sigemptyset` initialises the set before it is used, and the old mask is not asked for.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
    // Tests of limits count descriptors: those of the caller, such as a lock that it holds, do not reach the children.
    // SAFETY: the call closes nothing in this process. A kernel without it leaves the descriptors as they are.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

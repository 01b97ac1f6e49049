//! Protection of the host's own process from its children.

use std::io;

/// Closes this process to other processes of the same user, its children among them: they cannot read its memory or its
/// environment (`/proc/PID/environ`), nor attach a debugger to it. Use it in a program that withholds secrets from its
/// children. Unlike everything else in this crate it changes the whole process, so only the host may call it.
///
/// The cost: there are no core dumps, no debugger or tracer can attach without the rights of root, and the files of
/// this process in `/proc` belong to root, so that tools such as `lsof` show less of it. Children that are started
/// afterwards are not affected. The rights of root are not limited by it.
///
/// # Errors
/// If the system does not support it. Linux does.
pub fn close_to_other_processes() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?);
    #[cfg(not(target_os = "linux"))]
    return Err(io::ErrorKind::Unsupported.into());
}

//! Closing the host's own process to its children.

use std::io;

/// Closes this process to other processes of the same user, its children among them: they cannot read its memory or its
/// environment (`/proc/PID/environ`), nor attach a debugger to it. That is for a program that withholds secrets from its
/// children. Unlike everything else in this crate it changes something that belongs to the whole process, so it is the
/// host's to call.
///
/// It has a price: there are no core dumps, no debugger or tracer can attach without the rights of root, and the files of
/// this process in `/proc` belong to root, so that tools such as `lsof` show less of it. Children that are started
/// afterwards are not affected. The rights of root are not limited by it.
///
/// # Errors
/// When the system knows no such thing; Linux does.
pub fn close_to_other_processes() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?);
    #[cfg(not(target_os = "linux"))]
    return Err(io::ErrorKind::Unsupported.into());
}
